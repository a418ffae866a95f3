# Writes anew are judged by slots, not by bytes.
# edits verify/*/*.c
# found by test check.patterns.read_next_unmet: check_patterns
/^static bool fills_again(/,/^}/s/if (r->m->fills)/if (r->m->fills \&\& st->lanes < 0)/
