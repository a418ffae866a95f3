#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --check-indices: an index that is neither -1 nor a row is reported with its place, its value and what to do, whoever
# holds it and whether rows are read or written; without the option it reads zeros, or writes nothing.
#   check_indices.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"

# FILE COUNT AT VALUE: indices 0, 1, 2, ... with one other, as an .npy file
indices()
{
	python3 - "$scratch/$1.npy" "$2" "$3" "$4" <<-'EOF'
	import struct, sys
	file, count, at, value = sys.argv[1], *map(int, sys.argv[2:])
	rows = list(range(count))
	rows[at] = value
	head = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % count
	head = head.ljust(117) + "\n"
	open(file, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%di" % count, *rows))
	EOF
}

# WHAT SENTENCE ARGUMENTS...: refused so, and right without the option
refused()
{
	what=$1 sentence=$2
	shift 2
	"$dslc" run "$@" --device sim >"$scratch/out" 2>&1 && grep -q 'right as the source says: the given numbers' "$scratch/out" ||
		{ echo "$what: not right without the option"; cat "$scratch/out"; exit 1; }
	"$dslc" run "$@" --device sim --check-indices >"$scratch/out" 2>&1 && { echo "$what: not refused"; exit 1; }
	for text in "error.E0606.: an index names what its tensor does not have: $sentence" 'help: write -1 where there is none' \
		'gemm: WRONG: given: an index names'; do
		grep -q "$text" "$scratch/out" || { echo "$what: no '$text' in"; cat "$scratch/out"; exit 1; }
	done
}

indices last 200 199 300
indices below 200 77 -2
indices none 200 77 -1
gather=$root/tests/e2e/gather.gemm sizes=M=200,N=72,K=136,Q=300
for how in '-DR=none -DS=3' '-DR=cooperative -DP=on' '-DR=pingpong -DP=on'; do
	# shellcheck disable=SC2086
	refused "beyond $how" 'rows.199. is 300, and A has 300 along mode 0: the first of [1-9][0-9]* that threads of kernel gemm found' \
		"$gather" $how --size $sizes --in "rows=$scratch/last.npy"
done
refused below 'rows.77. is -2, and A has 300 along mode 0' "$gather" --size $sizes --in "rows=$scratch/below.npy"
"$dslc" run "$gather" --size $sizes --in "rows=$scratch/none.npy" --device sim --check-indices >"$scratch/out" 2>&1 ||
	{ echo "-1 says that there is no row"; cat "$scratch/out"; exit 1; }
"$dslc" run "$gather" --size $sizes --device sim --check-indices >"$scratch/out" 2>&1 ||
	{ echo "what dslc run fills in is right"; cat "$scratch/out"; exit 1; }
# By TMA, a box for each row; of groups, whose tiles go on after their end only where nothing is checked.
sed 's/pipeline ab(4) { sA, sB }/tma ld = load(A, sA); pipeline ab(4) { sA via ld, sB }/' "$gather" >"$scratch/boxes.gemm"
refused 'beyond, by boxes' 'rows.199. is 300, and A has 300 along mode 0' "$scratch/boxes.gemm" -DR=cooperative -DCN=2 --size $sizes --in "rows=$scratch/last.npy"
refused 'below, by boxes' 'rows.77. is -2, and A has 300 along mode 0' "$scratch/boxes.gemm" --size $sizes --in "rows=$scratch/below.npy"
# Rows that are written; and of two lists the one that is wrong.
indices to 150 3 250
refused scatter 'to.3. is 250, and D has 250 along mode 0' "$root/tests/e2e/scatter.gemm" -Wno-N0401 --size M=150,N=72,K=136,Q=300,T=250 \
	--in "to=$scratch/to.npy"
sed 's/bM = 64 \* W, bN = 64/bM = 64, bN = 64 * W/; s/<64,bN,/<64,bM,/; s/schedule {/& swap;/' "$root/tests/e2e/scatter.gemm" >"$scratch/swap.gemm"
refused 'scatter under swap' 'to.3. is 250, and D has 250 along mode 0' "$scratch/swap.gemm" -Wno-N0401 --size M=150,N=72,K=136,Q=300,T=250 \
	--in "to=$scratch/to.npy"
# A number that is the index of a tile: gK[page[b],..].
cat >"$scratch/number.gemm" <<'EOF'
kernel gemm(X : f32 (P,M,N):(M*N,N,1), page : s32 (B), D : out f32 (B,M,N):(M*N,N,1)) where N % 4 == 0
{
    let gX = X / (1,16,64), gD = D / (1,16,64);
    for (b,m,n) in gD {
        gD[b,m,n] <- 2 * gX[page[b],m,n];
    }
    schedule { threads 128; }
}
EOF
indices page 6 4 9
indices nowhere 6 4 -1
refused number 'page.4. is 9, and X has 8 along mode 0' "$scratch/number.gemm" --size B=6,P=8,M=20,N=72 --in "page=$scratch/page.npy"
"$dslc" run "$scratch/number.gemm" --size B=6,P=8,M=20,N=72 --in "page=$scratch/nowhere.npy" --device sim --check-indices >"$scratch/out" 2>&1 ||
	{ echo "-1 says that there is no tile"; cat "$scratch/out"; exit 1; }
# Of a kernel without indices there is nothing to note, and its PTX is the same.
for option in '' --check-indices; do
	# shellcheck disable=SC2086
	"$dslc" -q -S "$root/tests/e2e/schedules.gemm" $option -o "$scratch/plain$option.ptx"
done
cmp "$scratch/plain.ptx" "$scratch/plain--check-indices.ptx"
