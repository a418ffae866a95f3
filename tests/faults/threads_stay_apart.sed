# Threads of a group that meet do not go on as one.
# edits sim/*.c
# found by ptx 1
/^static bool splits_join(/,/^}/s/^{$/{ if (w) return true;/
