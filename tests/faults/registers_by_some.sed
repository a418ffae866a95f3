# Part of a warpgroup sets its registers.
# edits verify/*/*.c
# found by test check.patterns.registers_some: check_patterns
/^static bool is_of_group(/,/^}/s/it->step.kind == STEP_REGS/false/
