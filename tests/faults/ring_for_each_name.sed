# A tile that an epilogue names more than once gets a ring each time.
# edits passes/*.c
# found by kernels 1
/^static bool same_read(/,/^}/s/^{$/{ if (a \&\& b) return false;/
s/MOST_SOURCES = 3 }/MOST_SOURCES = 9 }/
