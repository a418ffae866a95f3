#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The IR is text at every moment: for a source and some -D, what each pass leaves prints, after it is
# read back, as it was; and the passes go on from there to the same PTX.
#   roundtrip.sh DSLC SCRATCH FILE [-D...]
set -eu
dslc=$1 scratch=$2 file=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch/ir"
cd "$scratch"
"$dslc" -S "$file" "$@" --keep=ir -o end.ptx
n=0
for f in ir/*.ir; do
	"$dslc" --stop-after=frontend "$f" -o again
	cmp "$f" again
	"$dslc" -S --verify=off "$f" -o again.ptx # the same code is proved above
	# places differ: one source is the .gemm, the other the .ir
	for p in end.ptx again.ptx; do
		grep -vE '^[[:space:]]*(\.loc|\.file|//)|^\$L__tmp|\.debug|\.b8|\.b32|\.b64|^[[:space:]]*[{}]' $p >$p.code
	done
	cmp end.ptx.code again.ptx.code
	n=$((n + 1))
done
[ $n -ge 9 ] || { echo "only $n files of IR"; exit 1; }
