# A kernel is charged the shared variables of all functions.
# edits sim/*.c
# found by test sim.shared: test_sim_shared
/^bool func_names(/,/^}/s/^{$/{ if (f \&\& name) return true;/
/^static void reached_add(/,/^}/s/strcmp(f->name, name) != 0/(strcmp(f->name, name) != 0 \&\& false)/
