#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Numbers from memory: random lengths, tables and rows, negative ones and ones beyond the end among them, others at each
# launch, under roles, persistent kinds and clusters: all as the reference has it. EVERY=1: with more seeds.
#   numbers.sh DSLC FOLDER
set -eu
dslc=$1 dir=$2
last=2
[ "${EVERY:-}" ] && last=12

# PROGRAM SIZES WORDS: right for each seed
right()
{
	file=$1 sizes=$2
	shift 2
	for seed in $(seq 1 $last); do
		"$dslc" run "$dir/$file.gemm" --size "$sizes" --device sim --seed "$seed" "$@" >"$file.out" 2>&1 || {
			echo "$file $* at $sizes, seed $seed:"
			cat "$file.out"
			exit 1
		}
	done
}

right block_sparse G=4,H=100,N=136,K=200,T=5 -DP=dynamic -DCN=2
right block_sparse G=3,H=70,N=72,K=72,T=3 -DR=none -DP=on
right block_sparse G=5,H=128,N=200,K=136,T=2 -DR=pingpong -DP=dynamic -DCM=2
right parts G=4,H=100,N=136,K=200,T=5,S=3 -DP=dynamic -DCN=2
right parts G=3,H=70,N=72,K=72,T=9,S=1 -DR=none -DP=on
right parts G=2,H=128,N=72,K=136,T=3,S=4 -DR=pingpong -DP=dynamic -DCM=2
right parts G=2,H=64,N=64,K=136,T=7,S=2 -DR=cooperative
right packed G=4,M=136,N=72,T=200 -DP=dynamic -DCM=2 -DCN=2
right packed G=3,M=72,N=136,T=130 -DR=none -DCN=2
right packed G=9,M=64,N=64,T=70 -DR=pingpong -DP=on
right pages B=5,M=8,P=4,L=64,T=3,E=64 -DR=cooperative -DX=dynamic
right pages B=3,M=200,P=7,L=64,T=4,E=40 -DR=cooperative -DX=on -DCM=2
