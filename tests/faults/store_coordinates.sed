# A store may have any number of coordinates.
# edits ir/verify*.c
# found by ir 26700
# found by test ir.bad.ptx_stores: dslc
/^const char \*rule_tma_store(/,/^}/s/^{$/{ if (op) return NULL;/
