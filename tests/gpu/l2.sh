#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What one launch of 4096^3 reads from the L2 under each way to share loads, as ncu counts it.
#   l2.sh DSLC ROOT      on a machine with a Hopper GPU, ncu and ptxas
# sectors: 32-byte sectors that TMA and L1 read; xbar: cycles in which the L2 sends to SMs, one 32-byte
# packet each; received: bytes that arrive in SMs.
set -eu
dslc=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for way in off,1,1 off,2,1 leader,2,1 slice,2,1 slice,1,2 off,2,2 leader,2,2 slice,2,2 slice,4,1 slice,4,2 slice,8,1; do
	cluster=${way#*,}
	sed -e "s/schedule {.*}/schedule { roles cooperative; persistent group(8); cluster ($cluster); multicast ${way%%,*}; }/" \
		-e 's/^{/where N % 8 == 0 {/' "$root/examples/gemm/gemm.gemm" >"$work/gemm.gemm"
	ncu --launch-count 1 --launch-skip 1 --csv --print-units base \
		--metrics lts__t_sectors_srcunit_tex_op_read.sum,lts__lts2xbar_cycles_active.sum,l1tex__m_xbar2l1tex_read_bytes.sum \
		"$dslc" run "$work/gemm.gemm" --size M=4096,N=4096,K=4096 --tiles 1 >"$work/log" 2>&1 ||
		{ cat "$work/log"; exit 1; }
	grep -q 'within bounds' "$work/log"
	awk -F'","' -v way="$way" '/__/ { gsub(/[",]/, "", $NF); v[$(NF-2)] = $NF }
		END { printf "%-12s", way; for (m in v) printf "  %s %s", m, v[m]; print "" }' "$work/log"
done
