#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# 512 x 512 x 512 under every schedule on the simulator: the table of docs/simulator.md. Wants a release
# build and an idle machine.
#   speed.sh DSLC SIM_SPEED ROOT SCRATCH
set -eu
dslc=$1 speed=$2 root=$3 scratch=$4
mkdir -p "$scratch"
printf '| schedule | checks | no checks | one thread, checks |\n|---|---|---|---|\n'

row()
{
	schedule=$1
	shift
	sed "s/^\( *schedule {\).*}/\1 $schedule }/" "$root/examples/gemm/gemm.gemm" >"$scratch/k.gemm"
	"$dslc" --emit=cubin,ir:frontend "$scratch/k.gemm" "$@" -o "$scratch/k"
	printf '| `%s`%s' "$schedule" "${1:+ \`$1\`}"
	for options in checks=all checks=none checks=all,threads=1; do
		printf ' | %s' "$("$speed" "$scratch/k.cubin" "$scratch/k.frontend.ir" "sim:$options" \
			"${ROUNDS:-5}" M=512 N=512 K=512)"
	done
	printf ' |\n'
}
row "roles none;"
row "roles none; persistent;"
row "roles cooperative;"
row "roles cooperative; persistent;"
row "roles cooperative; stages 2;"
row "roles cooperative;" -DbN=128
row "roles cooperative;" -DbN=64
row "roles pingpong; persistent;" -DbN=128
row "roles pingpong; persistent;" -DbN=192
