# A slot that does not exist is reduced to one that does.
# edits verify/*/*.c
# found by test check.patterns.slot_beyond: check_patterns
s/!is_below(x->slot, env, S, &s)/!is_below(x->slot, env, INT64_MAX, \&s)/
/^static int16_t place(/,/^}/s/v = value(mk, at, it->op);/v = (value(mk, at, it->op) % slots + slots) % slots;/
