# A loop that threads may end in has no point where its lanes meet again.
# edits sim/*.c
# found by ptx 1
# found by test sim.warps: test_sim_warps
/^static void rest_reconverge(/,/^}/s/^{$/{ if (f \&\& c) return;/
