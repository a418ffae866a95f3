#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Epilogues at the shapes that models have, for a machine with a GPU, built where ptxas is:
#   epilogue_cases.sh DSLC ROOT OUT
#     OUT/epilogues/LABEL.cubin
#     OUT/works.txt               lines WORK M N K LABEL CUBIN are added, for against_torch.py
# A label that begins with plain is the same schedule without an epilogue. What registers or shared memory have no
# room for is printed and left out.
set -eu
dslc=$1 root=$2 out=$3
rm -rf "$out/epilogues"
mkdir -p "$out/epilogues"

# WORK LABEL IN ARGS TILES PRODUCT VALUE SIZES(;-separated) -D...
kernel()
{
	work=$1 label=$2 in=$3 args=$4 tiles=$5 product=$6 value=$7 sizes=$8
	shift 8
	bytes=2
	[ "$in" = bf16 ] || bytes=1
	name=$work-$label
	sed -e "s/@IN@/$in/g; s/@ARGS@/$args/g; s|@TILES@|$tiles|; s/@PRODUCT@/$product/; s/@BYTES@/$bytes/g" \
		-e "s|@VALUE@|$value|g; s/@JOIN@/${join-}/" "$root/tests/gpu/epilogue.gemm.in" >"$out/epilogues/$name.gemm"
	build "$work" "$label" "$name" "$sizes" "$@"
}

# WORK LABEL NAME SIZES -D...
build()
{
	work=$1 label=$2 name=$3 sizes=$4
	shift 4
	if ! "$dslc" -q "$out/epilogues/$name.gemm" "$@" -o "$out/epilogues/$name.cubin" 2>"$out/log"; then
		sed "s/^/$name: /" "$out/log"
		grep -q 'error\[E0[45]' "$out/log" || exit 1
		return
	fi
	rm "$out/epilogues/$name.gemm" "$out/log"
	echo "$sizes" | tr ';' '\n' | while read -r size; do
		echo "$work $size $label epilogues/$name.cubin" >>"$out/works.txt"
	done
}

mm='mm(sA, sB)'
wide="8192 14336 4096" small="2048 8192 2048" cube="4096 4096 4096"

# Each schedule with bias + GELU by the exact tanh, by the instruction, and without.
y='(acc + bias[n])'
approx="0.5 * $y * (1 + tanh_approx($y * (0.7978845608 + 0.0356774081 * square($y))))"
gelu()
{
	label=$1 sizes=$2
	shift 2
	kernel gelu "$label" bf16 ', bias : bf16 (N)' '' "$mm" 'gelu_tanh(acc + bias[n])' "$sizes" "$@"
	kernel gelu "approx_$label" bf16 ', bias : bf16 (N)' '' "$mm" "$approx" "$sizes" "$@"
	kernel gelu "plain_$label" bf16 '' '' "$mm" acc "$sizes" "$@"
}
gelu ping_192_g8 "$wide" -DbN=192 -DS=4 -DT=32
gelu ping_192_c2x1 "$wide" -DbN=192 -DS=4 -DT=32 -DCM=2 -DG=4
gelu ping_128_g8 "$wide;$small" -DS=6
gelu ping_128_g16 "$small" -DS=6 -DG=16
gelu ping_128_g16_t32 "$small" -DS=6 -DG=16 -DT=32
gelu ping_160_g8 "$wide;$small" -DbN=160 -DS=5
gelu coop_256_c2x1 "$wide" -DR=cooperative -DbN=256 -DS=4 -DCM=2 -DG=4

swiglu()
{
	label=$1
	shift
	cp "$root/tests/gpu/swiglu.gemm" "$out/epilogues/swiglu-$label.gemm"
	build swiglu "$label" "swiglu-$label" "$wide;$cube" "$@"
}
swiglu coop_128_g8
swiglu coop_128_g16 -DG=16
swiglu coop_128_c2x1 -DCM=2 -DG=4
swiglu ping_64_g8 -DR=pingpong -DbN=64 -DS=6
swiglu ping_80_g8 -DR=pingpong -DbN=80 -DS=5
swiglu ping_96_g8 -DR=pingpong -DbN=96 -DS=4
swiglu ping_96_c2x1 -DR=pingpong -DbN=96 -DS=4 -DCM=2 -DG=4

# The label of rows as they lie begins with plain_: the bar of those by indices is 0.93 of it.
gather()
{
	label=$1
	shift
	sed "${boxes:-}" "$root/tests/gpu/gather.gemm" >"$out/epilogues/gather-$label.gemm"
	build gather "$label" "gather-$label" "8192 4096 4096" "$@"
	sed 's/A : bf16 (Q,K)/A : bf16 (M,K)/; s/rows : s32 (M), //; s/rows\[m\]/m/' "$root/tests/gpu/gather.gemm" \
		>"$out/epilogues/gather-plain_$label.gemm"
	build gather "plain_$label" "gather-plain_$label" "8192 4096 4096" "$@"
}
gather ping_128_g8
gather ping_128_g16 -DG=16
gather coop_256_g8 -DR=cooperative -DbN=256 -DS=4
gather coop_256_s3 -DR=cooperative -DbN=256 -DS=3
gather coop_192_g8 -DR=cooperative -DbN=192 -DS=4
boxes='s/pipeline ab(S) { sA, sB }/tma ldA = load(A, sA); pipeline ab(S) { sA via ldA, sB }/'
gather coop_256_boxes -DR=cooperative -DbN=256 -DS=4
gather coop_256_c1x2_boxes -DR=cooperative -DbN=256 -DS=4 -DCN=2
gather ping_128_c1x2_boxes -DCN=2

residual()
{
	label=$1
	shift
	kernel residual "$label" bf16 ', C : bf16 (M,N):(N,1)' ', gC = C / (bM,bN)' "$mm" 'acc + gC[m,n]' "$wide;$small;$cube" "$@"
}
residual ping_128_g8 -DS=5
residual ping_128_g16 -DS=5 -DG=16
residual ping_160_g8 -DbN=160 -DS=4
residual coop_256_c2x1 -DR=cooperative -DbN=256 -DS=3 -DCM=2 -DG=4

scaled()
{
	label=$1
	shift
	kernel scaled "$label" e4m3 ', rows : f32 (M), cols : f32 (N)' '' "fast($mm)" 'rows[m] * acc * cols[n]' \
		"$cube;8192 8192 8192" "$@"
	kernel scaled "plain_$label" e4m3 '' '' "fast($mm)" acc "$cube;8192 8192 8192" "$@"
}
scaled ping_128_g8 -DS=6
scaled ping_128_c2x1 -DS=6 -DCM=2
scaled ping_192_c2x1 -DbN=192 -DS=4 -DCM=2
scaled ping_192_g4 -DbN=192 -DS=4 -DG=4
scaled coop_256_c2x1 -DR=cooperative -DbN=256 -DS=4 -DCM=2

# Scales of 128 elements of K, and one product of the tensor core's.
blocks()
{
	label=$1
	shift
	cp "$root/tests/gpu/blocks.gemm" "$out/epilogues/blocks-$label.gemm"
	build blocks "$label" "blocks-$label" "$blocks" "$@"
}
blocks="4096 7168 2048;4096 2112 7168;8192 8192 8192"
blocks coop_128_s5 -DS=5
blocks coop_128_s6 -DS=6
blocks coop_128_c2x1 -DS=6 -DCM=2
blocks coop_128_c1x2 -DS=6 -DCN=2
plain()
{
	label=plain_$1
	shift
	kernel blocks "$label" e4m3 '' '' "fast($mm)" acc "$blocks" "$@"
}
plain ping_128_g8 -DS=6
plain ping_128_c2x1 -DS=6 -DCM=2
plain coop_256_c2x1 -DR=cooperative -DbN=256 -DS=4 -DCM=2

# Weights of 4 and 8 bits and batches of 1, 16 and 64: those that are signed have no zeros.
weights()
{
	work=$1 type=$2 label=$3 size=$4
	shift 4
	case $type in
	u*) value='(f32(sW) - gZ[m,k])' ;;
	*) value='f32(sW)' ;;
	esac
	sed "s/@T@/$type/g; s/@W@/$value/" "$root/tests/gpu/weights.gemm.in" >"$out/epilogues/$work-$label.gemm"
	[ "$value" != 'f32(sW)' ] || sed -i '/zeros :/d; s|gZ = zeros / (bM,bK), ||' "$out/epilogues/$work-$label.gemm"
	build "$work" "$label" "$work-$label" "$size" "$@"
}
for type in u4 s4 u8 s8; do
	work=weights_$type
	weights "$work" $type k256_n8 "8192 1 8192" -DbN=8
	weights "$work" $type k256 "8192 16 8192"
	weights "$work" $type wide_k256 "8192 16 8192" -DWG=2 -DC=1
	weights "$work" $type k256_n64 "8192 64 8192" -DbN=64 -DS=2
done

# What rows, columns and all are joined to: sums of squares, the largest sizes, nothing; part is a sum of each column
# of each tile, stored where it is alone.
joined()
{
	schedule=$1 sizes=$2 vector=', row : out f32 (M)'
	shift 2
	join=' row[m] += rowsum(square(acc));'
	kernel joined "sum_$schedule" bf16 "$vector" '' "$mm" acc "$sizes" "$@"
	join=' row[m] <- max(row[m], rowmax(abs(acc)));'
	kernel joined "max_$schedule" bf16 "$vector" '' "$mm" acc "$sizes" "$@"
	join=' col[n] += colsum(square(acc));'
	kernel joined "col_$schedule" bf16 ', col : out f32 (N)' '' "$mm" acc "$sizes" "$@" -DT=32
	join=' gS[m,n] <- colsum(square(acc));'
	kernel joined "part_$schedule" bf16 ', part : out f32 (H,N):(N,1)' ', gS = part / (1,bN)' "$mm" acc "$sizes" "$@" -DT=32
	join=' all[0] <- max(all[0], tilemax(abs(acc)));'
	kernel joined "amax_$schedule" bf16 ', all : out f32 (1)' '' "$mm" acc "$sizes" "$@"
	join=
	kernel joined "plain_$schedule" bf16 '' '' "$mm" acc "$sizes" "$@"
}
joined ping_128_g8 "$wide;$small;$cube"
joined ping_160_g8 "$wide" -DbN=160 -DS=5
joined ping_192_c2x1 "$wide" -DbN=192 -DS=4 -DT=32 -DCM=2 -DG=4
echo "$(grep -c . "$out/works.txt") works"
