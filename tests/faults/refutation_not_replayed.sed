# A refutation is shown that does not replay.
# edits verify/*/*.c
# found by test check.patterns.sizes_none: check_patterns
/^static bool try_sizes(/,/^}/s/^\treturn fails;/\treturn fails || f->replays;/
