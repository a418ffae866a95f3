# A fence by all lanes that read is not enough.
# edits verify/*/*.c
# found by test check.patterns.right_fence_half: check_patterns
/^static bool fence(/,/^}/s/ && st->mask) {/ \&\& st->mask > 64) {/
/^static bool fence(/,/^}/s/if (st->n)$/if (st->n > 64)/
