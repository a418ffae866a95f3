# A vector may not be asked for even where a condition never holds.
# edits ir/verify*.c
# found by test sim.output.two_columns_none: dslc
/^static bool is_dead(/,/^}/s/^{$/{ if (s) return false;/
