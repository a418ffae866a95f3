#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tensors of rank 3 to 5 and grids of three to five names: proved, and right on the simulator against the reference
# interpreter, under every kind of schedule, with residues along every mode, and with strides of a batch that are 0 or
# that TMA cannot take.
#   ranks.sh DSLC FOLDER SCRATCH      [DEVICE=cuda:0]
set -eu
dslc=$1 folder=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
n=0
run()
{
	n=$((n + 1))
	"$dslc" -v "$folder/$name.gemm" "$@" -o "$scratch/$n.cubin" 2>"$scratch/err" &&
		"$dslc" run "$folder/$name.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" --sms 4 >"$scratch/out" 2>&1 ||
		{ echo "$name $*:"; cat "$scratch/err" "$scratch/out"; exit 1; }
	grep -q ': verified ' "$scratch/err" && ! grep -qE '(warning|error)\[' "$scratch/err" ||
		{ echo "$name $* is not proved:"; cat "$scratch/err"; exit 1; }
}
every()
{
	run -DR=none
	run -DR=none -DP=on -DCM=2
	run -DR=cooperative -DCM=2
	run -DR=cooperative -DP=on
	run -DR=pingpong -DP=on -DS=2
	run -DR=pingpong -DP=on -DCM=2 -DW=1 -DbM=64
}
name=batch sizes=L=3,M=200,N=136,K=72,sA=14400,sB=9792,sC=27200,sD=28800,ldd=144
every
run -DR=cooperative -DP=on -DCM=2 -DCN=2
name=batch sizes=L=3,M=72,N=136,K=72,sA=0,sB=9792,sC=0,sD=9801,ldd=136 # D by threads: TMA takes no such stride
every
name=batch sizes=L=2,M=72,N=132,K=72,sA=5184,sB=0,sC=0,sD=9504,ldd=132
every
name=behind sizes=L=3,M=136,N=72,K=72
every
name=five sizes=X=2,Y=2,Z=2,M=136,N=72,K=72,sZ=39168,sC=144,sX=39168,sD=19584
every
name=one_tile sizes=H=2,J=3,M=136,K=72,sJ=19584,sH=48,ldd=96,sD=13056
every
echo "$n runs"
