# Of two loops in one role, one stands for both.
# edits verify/*.c
# found by mutants 1
# found by test check.patterns.loops_two: check_patterns
/^static bool one_outer_each(/,/^}/s/^{$/{ if (r \&\& all) return true;/
