# A box may start anywhere; the passes make none that does.
# edits ir/verify*.c
# found by test ir.bad.ptx_boxes: dslc
/^const char \*box_rule(/,/^}/s/^{$/{ if (op) return NULL;/
