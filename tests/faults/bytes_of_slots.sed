# Writes anew are judged by slots, not by bytes.
# edits verify/*/*.c
# found by mutants 1001
/^static bool fills_again(/,/^}/s/if (r->m->fills)/if (r->m->fills \&\& st->lanes < 0)/
