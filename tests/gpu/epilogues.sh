#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Epilogues beside torch's, on a machine with a Hopper GPU, PyTorch and Triton:
#   epilogues.sh DIR [RESULTS] [ROUNDS]      DIR is what pack.sh gathered
# bias + GELU, SwiGLU, a residual, e4m3 with scales of rows and columns, sums of squares and the largest sizes of rows, weights of 4 and 8 bits, at the
# shapes that models have (epilogue_cases.sh; WORKS names some), and what each costs over the same kernel without it. The exit code is 1 where one is wrong.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
dir=$(CDPATH= cd -- "$1" && pwd)
results=${2:-results} rounds=${3:-30}
mkdir -p "$results"
python3 "$here/against_torch.py" "$dir" --rounds "$rounds" --works "${WORKS:-gelu,swiglu,residual,scaled,joined,weights_u4,weights_s4,weights_u8,weights_s8}" \
	--out "$results/epilogues.json" >"$results/epilogues.log" 2>&1
status=$?
cat "$results/epilogues.log"
[ $status = 0 ] && ! grep -q WRONG "$results/epilogues.log"
