# A part of an accumulator in flight is read.
# edits verify/*/*.c
# found by mutants 1
s/while (v->def && v->def->kind == OP_PART)/while (v->def \&\& v->def->kind == OP_COUNT)/
