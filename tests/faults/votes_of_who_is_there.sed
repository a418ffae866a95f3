# Votes, shuffles and matches are among the threads that happen to execute together.
# edits sim/*.c
# found by ptx 1
/^static bool all_here(/,/^}/s/^{$/{ if (mask) return true;/
