# A branch around ret, trap or brkpt has no point where its sides meet again.
# edits sim/*.c
# found by ptx 1
# found by test sim.warps: test_sim_warps
/^static s32 common_entry(/,/^}/s/^{$/{ if (f) return -1;/
/^static void rest_reconverge(/,/^}/s/^{$/{ if (f \&\& c) return;/
