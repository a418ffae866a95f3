# Registers are set twice without a meeting.
# edits verify/*/*.c
# found by mutants 19
/^static bool have_met(/,/^}/s/^{$/{ if (r) return true;/
