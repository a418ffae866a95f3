# Registers are set twice without a meeting.
# edits verify/*.c
# found by changed 1
/^static bool have_met(/,/^}/s/^{$/{ if (r) return true;/
