# Two equal values stored to one word are an error.
# edits sim/*.c
# found by test sim.levels: test_sim_levels
/^static bool equal_stores(/,/^}/s/return a->stored/return false \&\& a->stored/
