# No fence between the threads' reads of C and the release of its slot; the verifier refuses the kernel.
# edits passes/*.c
# found by kernels 1
s/end = sync_meet(s, end, FX_AW)/end = op_after(s->k, end, OP_BAR_WARP)/
