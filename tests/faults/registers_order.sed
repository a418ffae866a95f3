# In which order roles take registers is not looked at.
# edits verify/*/*.c
# found by test check.patterns.registers_order: check_patterns
s/return !open || run_wrong(&r, WHY_REGS_ORDER/return open || !open || run_wrong(\&r, WHY_REGS_ORDER/
