# Any input may have the address of an output of its type, shape and strides.
# edits runtime/overlap.c
# found by plain 1
s/bool same = in->in_place && /bool same = /
