# A loop of -1 trips is not considered.
# edits verify/*/*.c
# found by test check.patterns.peeled_load: check_patterns
/^static bool choose(/,/^}/s/n->below && is.lo < 0/n->below \&\& is.lo < INT64_MIN/
