# Nothing: what the generators find without a fault.
# edits
# found by kernels 1
# found by sizes 1
# found by ir 1
# found by ptx 1
# found by roles 7
# found by judged 1
