#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The IR is text at every moment: for a source and some -D, what each pass leaves prints, after it is
# read back, as it was; and the passes go on from there to the same LLVM IR, of which PTX is made.
#   roundtrip.sh DSLC SCRATCH FILE [-D...]
set -eu
dslc=$1 scratch=$2 file=$3 code=$(dirname "$0")/code.awk
shift 3
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
	"$dslc" --emit=llvm --verify=off "$f" -o again.ll # the same code is proved above
	awk -f "$code" again.ll again.ll | cmp end.code -
	n=$((n + 1))
done
[ $n -ge 9 ] || { echo "only $n files of IR"; exit 1; }
