# Bytes of a constant tensor count as a sign that earlier launches are over; the verifier refuses the kernel.
# edits passes/*/*.c
# found by test sim.schedule.constant: dslc
/^static bool brings_waited(/,/^}/{
/op_takes(op, barrier) &&$/{
N
s/ &&\n.*touches_global(k, op)//
}
}
