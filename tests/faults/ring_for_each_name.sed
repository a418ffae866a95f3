# A tile that an epilogue names more than once gets a ring each time, and a fifth ring has no warp of the producer.
# edits passes/*/*.c
# found by kernels 170
/^static bool same_read(/,/^}/s/^{$/{ if (a \&\& b) return false;/
s/MOST_SOURCES = 3 }/MOST_SOURCES = 9 }/
s/warps == GROUP_WARPS - 1 ? all.n - i : 1/1/
