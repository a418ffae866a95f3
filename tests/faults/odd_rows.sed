# Stores of two elements although rows are odd.
# edits passes/*.c
# found by kernels 1
/^bool tile_in_vectors(/,/^}/s/^\treturn attrs_get.*/\treturn n > 0;/
