#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tensors of rank 3 to 5, grids of three to five names, and modes inside modes: proved (else it is an error), and right on the simulator against the reference
# interpreter, under every kind of schedule, with residues along every mode, and with strides of a batch that are 0 or
# that TMA cannot take.
#   ranks.sh DSLC FOLDER SCRATCH      [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 folder=$2 scratch=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
n=0 turn=-1
run()
{
	n=$((n + 1))
	simulate "$folder/$name.gemm" "$@" --size "$sizes" --device "${DEVICE:-sim}" --sms 4 >"$scratch/out" 2>"$scratch/err" ||
		{ echo "$name $*:"; cat "$scratch/err" "$scratch/out"; exit 1; }
	! grep -qE '(warning|error)\[' "$scratch/err" || { echo "$name $*: another message"; cat "$scratch/err"; exit 1; }
}
# All schedules with EVERY=1, else the next two of the six.
every()
{
	for schedule in "-DR=none" "-DR=cooperative -DCM=2" "-DR=pingpong -DP=on -DS=2" \
		"-DR=none -DP=on -DCM=2" "-DR=cooperative -DP=on" "-DR=pingpong -DP=on -DCM=2 -DW=1 -DbM=64"; do
		turn=$((turn + 1))
		[ "${EVERY:-0}" = 1 ] || [ $((turn / 2 % 3)) = 0 ] || continue
		# shellcheck disable=SC2086
		run $schedule
	done
	turn=$((turn + 2))
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
name=vectors sizes=L=3,M=136,N=72,K=72,sN=1,sL=72
every
name=vectors sizes=L=2,M=70,N=75,K=72,sN=3,sL=0
every
name=five sizes=X=2,Y=2,Z=2,M=136,N=72,K=72,sZ=39168,sC=144,sX=39168,sD=19584
every
name=one_tile sizes=H=2,J=3,M=136,K=72,sJ=19584,sH=48,ldd=96,sD=13056
every
name=heads sizes=M=200,H=3,K=72,sB=4608,sD=12800,sV=64
every
run -DR=cooperative -DP=on -DCN=2 -DbN=32
name=heads sizes=M=70,H=3,K=72,sB=4616,sD=4487,sV=67 # D by threads: TMA takes no such stride
every
name=strided sizes=L=3,M=136,N=75,K=72,sL=1,sM=225,sN=3
every
name=strided sizes=L=2,M=70,N=72,K=72,sL=10500,sM=2,sN=142
every
name=parts sizes=G=128,Q=3,T=2,H=5,gA=8192,pA=24576,pB=10240,hC=160,gC=20480,gD=4096,hD=12288,qS=128
every
run -DbM=64 -DW=1 -DbN=16 -DbK=32 -DR=none
echo "$n runs"
