# A 16-bit load is extended with zeros.
# edits sim/*.c
# found by ptx 1
s/arg_set(w, to, l, extended(t, x));/arg_set(w, to, l, extended(t, x) \& (each == 2 ? 0xffff : ~(u64)0));/
