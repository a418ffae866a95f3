# min and max return either zero.
# edits ir/elementwise.def
# found by kernels 1
s/x == y ? (signbit(x) ? x : y) : fminf(x, y)/x < y ? x : y/
/^ELT(MIN,/s/least_of(x, y))/x < y ? x : y)/
