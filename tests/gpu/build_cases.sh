#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds, on a machine with ptxas, all that tests/gpu/all.sh needs on a machine with a GPU and no
# compiler of ours:
#   build_cases.sh DSLC ROOT OUT
#     OUT/cases.txt   NAME M N K SMS, a line each; four sizes a kernel; SMS 0 is
#                   all; persistent kernels also run on one and three, for many tiles a CTA
#     OUT/NAME.cubin  OUT/NAME.frontend.ir (what the reference interpreter reads)
#     OUT/bench/NAME.cubin
# EMIT=ptx writes OUT/NAME.ptx with its manifest, NAME.json, and OUT/bench/NAME.ptx instead, without ptxas: what
# tests/gpu/same_ptx.sh compares. EMIT=ir writes OUT/NAME.ir, which tests/check/times.c times the proofs of.
# The grid: bf16 and f16 inputs, bf16, f16 and f32 outputs, 1 to 3 atoms along m, five schedules (.p:
# persistent), and for each of these 90 four choices of N tile (8..256), K tile (16..128: all
# swizzles), stages (2..8), groups in flight (0..2), order of tiles (along m, along n; 1..5); then
# tensors with contiguous columns.
set -eu
dslc=$1 root=$2 out=$3
jobs=${JOBS:-$(nproc)}
emit=${EMIT:-cubin}
case $emit in ptx) grid_emit=ptx,manifest suffix=ptx ;; ir) grid_emit=ir suffix=ir ;; *) grid_emit=cubin,ir:frontend suffix=cubin ;; esac
mkdir -p "$out/src" "$out/bench"
: >"$out/cases.txt"
: >"$out/jobs.txt"

tiles_n="8 16 24 32 40 56 64 72 88 96 104 120 128 136 152 160 176 184 192 208 216 232 240 256"
tiles_k="64 32 128 16 64 64 128"
stages_of="4 2 3 5 6 7 8 3"
sizes="1,8,8 64,64,64 77,72,40 129,264,136 200,520,72 256,256,256 300,96,1000 65,1000,8 \
	127,248,24 512,384,320 33,16,2048 191,776,104 2,2048,64 384,136,648 255,512,16"
odd_sizes="1,1,8 77,71,41 131,259,136 201,513,77 255,130,200 129,1003,67 63,2,1001"

# nth N WORDS...: the N-th of the words, going round
nth()
{
	i=$1
	shift
	i=$((i % $# + 1))
	eval "echo \"\${$i}\""
}

# The most stages, up to the wanted, that fit 227 KiB with some room for barriers.
fit_stages()
{
	s=$1
	while [ $((s * (64 * $2 + $3) * $4 * 2)) -gt 231000 ] && [ $s -gt 2 ]; do
		s=$((s - 1))
	done
	echo $s
}

case_add()
{
	in=$1 to=$2 w=$3 role=$4 n=$5 cluster=${7-1 1 auto} stride=${6:-(N,1)}
	bn=$(nth $((n * 7)) $tiles_n)
	bk=$(nth "$n" $tiles_k)
	s=$(fit_stages "$(nth "$n" $stages_of)" "$w" "$bn" "$bk")
	persistent=off along= inflight=$((n % 3))
	case $role in *.p) persistent=on ;; esac
	[ $((n % 4)) != 1 ] || along=" along n"
	[ $inflight -lt "$s" ] || inflight=1
	# One warpgroup holds the whole tile of a pingpong kernel; three have 128 registers each.
	[ "${role#ping}" = "$role" ] || [ "$w" = 1 ] || [ "$bn" -le 192 ] || bn=$((bn - 96))
	[ "$w" -lt 3 ] || [ "$bn" -le 200 ] || bn=$((bn - 96))
	[ "${role#ping}" = "$role" ] || [ "$w" -lt 3 ] || [ "$bn" -le 136 ] || bn=$((bn / 16 * 8))
	name=$in-$to-w$w-$role-n$bn-k$bk-s$s-i$inflight
	[ "$stride" = "(N,1)" ] || name=$name-columns
	[ "$cluster" = "1 1 auto" ] || name=$name-c$(echo "$cluster" | tr ' ' x)
	[ -z "$(sed -n "/^$name /p" "$out/cases.txt")" ] || name=$name-$n
	cast=$to
	[ "$to" = f32 ] && cast=
	sed -e "s/@IN@/$in/g" -e "s/@OUT@/$to/g" -e "s/@CAST@/$cast/g" -e "s/@ALONG@/$along/" \
		-e "s/@STRIDE@/$stride/" \
		"$root/tests/gpu/case.gemm.in" >"$out/src/$name.gemm"
	# Rows and columns that TMA cannot take.
	echo "$name $(nth "$n" $odd_sizes | tr , ' ') 0" >>"$out/cases.txt"
	for k in 0 7; do
		sms=0
		[ $persistent = off ] || sms=$(nth $((n + k)) 1 3 0)
		echo "$name $(nth $((n + k)) $sizes | tr , ' ') $sms" >>"$out/cases.txt"
	done
	# Trip counts 0, 1, S - 1, S, S + 1 of the main loop, on one CTA and on all.
	echo "$name 200 264 $((bk * $(nth "$n" 0 1 $((s - 1)) "$s" $((s + 1))))) $((n % 2))" >>"$out/cases.txt"
	echo "$name -DW=$w -DbN=$bn -DbK=$bk -DS=$s -DR=${role%.p} -DP=$persistent -DG=$((n % 5 + 1))" \
		"-DI=$inflight" "$(echo "$cluster" | sed 's/\(.*\) \(.*\) \(.*\)/-DCM=\1 -DCN=\2 -DX=\3/')" \
		>>"$out/jobs.txt"
}

number=0
for in in bf16 f16; do
	for to in bf16 f16 f32; do
		for w in 1 2 3; do
			for role in none cooperative none.p cooperative.p pingpong.p; do
				for i in 0 1 2 3; do
					case_add $in $to $w $role $number
					number=$((number + 1))
				done
			done
		done
	done
done

# Contiguous columns, with other tiles.
for to in bf16 f16 f32; do
	for w in 1 2 3; do
		for role in none cooperative none.p cooperative.p pingpong.p; do
			for i in 0 1; do
				case_add bf16 $to $w $role $((number + 5)) "(1,M)"
				number=$((number + 1))
			done
		done
	done
done

# Clusters: the tiles of few of these problems are a multiple of the cluster, the SMs of none.
for shape in "2 1" "1 2" "2 2" "4 1" "4 2" "8 1" "3 1" "4 4"; do
	for role in none cooperative none.p cooperative.p pingpong.p; do
		for way in auto leader; do
			case_add bf16 bf16 $((number % 2 + 1)) $role "$number" "(N,1)" "$shape $way"
			number=$((number + 1))
		done
	done
done

# shellcheck disable=SC2016
xargs -P "$jobs" -L 1 sh -c 'dslc=$0 out=$1 emit=$2 suffix=$3 name=$4; shift 4
	"$dslc" -q -Wno-N0401 --emit="$emit" "$out/src/$name.gemm" "$@" -o "$out/$name.$suffix" ||
	{ echo "$name: not built" >&2; exit 1; }' "$dslc" "$out" "$grid_emit" "$suffix" <"$out/jobs.txt"
[ "$number" -ge 200 ]
echo "$number kernels, $(wc -l <"$out/cases.txt") cases in $out"

# The same body under many schedules; rows of D are multiples of 16 bytes, unless the name ends in _any.
schedule()
{
	name=$1 words=$2
	shift 2
	where="where N % 8 == 0 "
	case $name in *_any) where= ;; esac
	sed -e "s/schedule {.*}/schedule { $words }/" -e "s/^{/$where{/" "$root/examples/gemm/gemm.gemm" \
		>"$out/bench/$name.gemm"
	"$dslc" -q --emit="$emit" "$out/bench/$name.gemm" "$@" -o "$out/bench/$name.$emit"
	rm "$out/bench/$name.gemm"
}
schedule none_128x256x4 "roles none;"
schedule none_64 "roles none; stages 6;" -DbN=64
schedule coop_one_256 "roles cooperative;"
schedule coop_one_64 "roles cooperative; stages 6;" -DbN=64
schedule coop_256_g8 "roles cooperative; persistent group(8);"
for group in 2 8 16; do
	schedule ping_192_g$group "roles pingpong; persistent group($group);" -DbN=192
	schedule ping_160_g$group "roles pingpong; persistent group($group); stages 5;" -DbN=160
	schedule ping_128_g$group "roles pingpong; persistent group($group); stages 6;" -DbN=128
done
schedule ping_128_g32 "roles pingpong; persistent group(32); stages 6;" -DbN=128
schedule ping_128_g8n "roles pingpong; persistent group(8) along n; stages 6;" -DbN=128
for group in 6 12; do
	schedule ping_160_g$group "roles pingpong; persistent group($group); stages 5;" -DbN=160
done
schedule ping_192_any "roles pingpong; persistent group(8);" -DbN=192
schedule ping_128_any "roles pingpong; persistent group(16); stages 6;" -DbN=128
schedule ping_128_nopdl "roles pingpong; persistent group(16); stages 6; pdl off;" -DbN=128
for cluster in 2,1 1,2 2,2 4,1 4,2 8,1; do
	shape=${cluster%,*}x${cluster#*,}
	for way in slice leader off; do
		schedule "coop_256_c${shape}_$way" \
			"roles cooperative; persistent group(4); cluster ($cluster); multicast $way;"
	done
	schedule "ping_192_c$shape" "roles pingpong; persistent group(8); cluster ($cluster);" -DbN=192
	schedule "ping_128_c$shape" "roles pingpong; persistent group(8); stages 6; cluster ($cluster);" -DbN=128
done
schedule ping_160_c2x1 "roles pingpong; persistent group(8); stages 5; cluster (2,1);" -DbN=160
for group in 4 16; do
	schedule ping_128_c2x1_g$group "roles pingpong; persistent group($group); stages 6; cluster (2,1);" -DbN=128
	schedule ping_160_c2x1_g$group "roles pingpong; persistent group($group); stages 5; cluster (2,1);" -DbN=160
done
schedule ping_192_c2x1_g2 "roles pingpong; persistent group(2); cluster (2,1);" -DbN=192
schedule coop_256_c2x1_g8n "roles cooperative; persistent group(8) along n; cluster (2,1);"
schedule coop_256_c2x1_g2 "roles cooperative; persistent group(2); cluster (2,1);"
