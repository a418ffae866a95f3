# Where threads are needed elsewhere, all soft meetings are left.
# edits sim/*.c
# found by ptx 1
# found by test sim.warps: test_sim_warps
/^bool meets_release(/,/^}/s/soft < 2 && !any/soft < 2/
