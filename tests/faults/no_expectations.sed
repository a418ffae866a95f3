# Passes expect nothing of IR text (passes/tile/expected.c).
# edits passes/*.c
# found by ir 1
/^static bool expect(/,/^}/s/^{$/{ if (opt) return true;/
