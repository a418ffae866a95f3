# Registers are set twice without a meeting.
# edits verify/*/*.c
# found by test check.patterns.registers_twice: check_patterns
/^static bool have_met(/,/^}/s/^{$/{ if (r) return true;/
