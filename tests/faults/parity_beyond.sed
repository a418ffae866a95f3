# A parity beyond 1 is accepted.
# edits verify/*/*.c
# found by roles 1
s/if (st->n != 0 && st->n != 1)/if (st->n < 0)/
