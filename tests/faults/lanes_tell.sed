# Lanes that arrive each for itself know of each other.
# edits verify/*/*.c
# found by judged 1
s/if (st->lanes == WARP_LANES && r->m->alike)/if (st->lanes == WARP_LANES)/
