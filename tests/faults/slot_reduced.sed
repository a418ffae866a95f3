# A slot that does not exist is reduced to one that does.
# edits verify/*.c
# found by mutants 7
s/!is_below(x->slot, env, S, &s)/!is_below(x->slot, env, INT64_MAX, \&s)/
