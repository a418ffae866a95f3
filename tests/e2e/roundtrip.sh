#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The IR is text at every moment: for a source and some -D, what each pass leaves prints, after it is
# read back, as it was; and the passes go on from there to the same LLVM IR, of which PTX is made: from each second pass, the
# odd or the even ones as TURN says, or from each with EVERY=1.
#   roundtrip.sh DSLC SCRATCH FILE TURN [-D...]     [EVERY=1]
set -eu
dslc=$1 scratch=$2 file=$3 turn=$4 code=$(dirname "$0")/code.awk
shift 4
rm -rf "$scratch"
mkdir -p "$scratch/ir"
cd "$scratch"
"$dslc" --emit=llvm "$file" "$@" --keep=ir -o end.ll
awk -f "$code" end.ll end.ll >end.code
grep -q '^define ptx_kernel ' end.code || { echo "end.ll has no kernel"; exit 1; }
n=0
for f in ir/*.ir; do
	"$dslc" --emit=ir:frontend "$f" -o again
	cmp "$f" again
	n=$((n + 1))
	[ "${EVERY:-0}" = 1 ] || [ $(((n + turn) % 2)) = 0 ] || continue
	"$dslc" --emit=llvm --verify=off "$f" -o again.ll # the same code is proved above
	awk -f "$code" again.ll again.ll | cmp end.code -
done
[ $n -ge 9 ] || { echo "only $n files of IR"; exit 1; }
