# A parity that does not exist is reduced to one that does.
# edits verify/*.c
# found by mutants 405
s/!is_below(x->parity, env, 2, &v)/!is_below(x->parity, env, INT64_MAX, \&v)/
