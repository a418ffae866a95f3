# Part of a warpgroup sets its registers.
# edits verify/*.c
# found by judged 1
/^static bool is_of_group(/,/^}/s/it->step.kind == STEP_REGS/false/
