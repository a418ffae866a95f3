# No fence between the threads' reads of C and the release of its slot; the verifier refuses the kernel.
# edits passes/*/*.c
# found by kernels 1
/^static Op \*meet(/,/^}/s/if (s->effects & FX_AW)/if (false)/
