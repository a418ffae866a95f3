# Threads wait at a reconvergence point although others wait for them elsewhere.
# edits sim/*.c
# found by ptx 1
# found by test sim.warps: test_sim_warps
/^static bool warp_release(/,/^}/s/^{$/{ if (w) return false;/
