# Registers are set twice without a meeting.
# edits verify/*.c
# found by judged 1
/^static bool have_met(/,/^}/s/^{$/{ if (r) return true;/
