# The same, and the IR has no rule for vectors and their guards.
# edits passes/*.c ir/verify*.c
# found by kernels 1
/^bool tile_in_vectors(/,/^}/s/^\treturn attrs_get.*/\treturn n > 0;/
/^const char \*access_rule(/,/^}/s/^{$/{ if (op) return NULL;/
