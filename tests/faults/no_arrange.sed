# arrange= of a wgmma is not checked.
# edits passes/*.c
# found by ir 1
/^static const char \*arranged(/,/^}/s/^{$/{ if (op) return NULL;/
