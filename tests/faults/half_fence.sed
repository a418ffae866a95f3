# A fence by some lanes is one for all.
# edits verify/*/*.c
# found by test check.patterns.read_fence_half: check_patterns
/^static bool fence(/,/^}/s/return !has_unfenced(r) || .*/return has_unfenced(r) || true;/
/^static bool fence(/,/^}/s/ && st->mask) {/) {/
