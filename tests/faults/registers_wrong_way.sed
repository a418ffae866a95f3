# Registers are set the wrong way.
# edits verify/*/*.c
# found by test check.patterns.registers_wrong_way: check_patterns
/^static bool set_regs(/,/^}/s/(st->n > a->regs) != (/false \&\& (/
