# A part of an accumulator in flight is read.
# edits verify/*/*.c
# found by test check.patterns.part_in_flight: check_patterns
s/while (v->def && v->def->kind == OP_PART)/while (v->def \&\& v->def->kind == OP_COUNT)/
