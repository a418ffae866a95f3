# The same, and the verifier does not ask for it either.
# edits passes/*/*.c verify/*/*.c
# found by kernels 1
/^static Op \*meet(/,/^}/s/if (s->effects & FX_AW)/if (false)/
/^static bool readers_fenced(/,/^}/s/^{$/{ if (r) return true;/
