# arrange= of a wgmma is not checked.
# edits passes/*/*.c
# found by ir 2100
/^static const char \*arranged(/,/^}/s/^{$/{ if (op) return NULL;/
