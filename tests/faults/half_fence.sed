# A fence by some lanes is one for all.
# edits verify/*.c
# found by mutants 55
# found by test check.patterns.read_fence_half: dslc
/^static bool fence(/,/^}/s/return !has_unfenced(r) || .*/return has_unfenced(r) || true;/
/^static bool fence(/,/^}/s/ && st->mask) {/) {/
