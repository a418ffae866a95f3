# No fence between the threads' reads of C and the release of its slot; the verifier refuses the kernel.
# edits passes/*.c
# found by kernels 1
s/op_after(k, op_after(k, end, OP_FENCE_ASYNC), OP_BAR_WARP)/op_after(k, end, OP_BAR_WARP)/
