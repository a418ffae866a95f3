#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# copies beside: where TMA cannot take an operand, the launcher copies the rows that the first tiles read, and warps without
# other work the rest. Each kernel is proved (else it is an error), and right on the simulator with few and many CTAs at a
# time, that start and run in several orders; what leaves out a step is refuted, and what cannot be is refused.
#   beside.sh DSLC DIR SCRATCH
set -eu
dslc=$1 dir=$2 scratch=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "$1"
	cat "$scratch/out"
	exit 1
}
# NAME FROM SED..: a program under copies beside
program()
{
	name=$1 from=$2
	shift 2
	sed -e 's/schedule {/schedule { copies beside;/' "$@" "$dir/$from.gemm" >"$scratch/$name.gemm"
}
# DEVICE FILE SIZES [-D..]
try()
{
	device=$1 file=$2 sizes=$3
	shift 3
	simulate "$scratch/$file.gemm" -q -Wno-N0401 "$@" --size "$sizes" --device "$device" >"$scratch/out" 2>&1 &&
		grep -q ': right' "$scratch/out" || fail "$file $* $sizes on $device:"
	! grep -qE '(warning|error)\[' "$scratch/out" || fail "$file $*: another message"
}
# Groups of one row of tiles: one row of tiles of A is copied ahead. Along n: one of B.
program rows schedules
program columns schedules -e 's/group(G)/group(G) along n/'
small="-DW=1 -DbM=64 -DbN=64 -DG=1"
try sim:sms=5,resident=1 rows M=200,N=392,K=137 $small -DP=on
try sim:sms=5,resident=2,seed=3 rows M=260,N=70,K=71 $small
try sim:resident=132,seed=4 rows M=333,N=264,K=9 $small -DP=dynamic
try sim:sms=5,resident=2,seed=5 columns M=130,N=392,K=135 $small -DP=on
try sim:sms=3,resident=3,seed=6 columns M=200,N=392,K=67 -DR=pingpong -DP=on -DbN=64 -DG=1
try sim:sms=6,resident=4,seed=7 rows M=500,N=140,K=71 $small -DCM=2
try sim:sms=8,resident=8,seed=8 columns M=300,N=392,K=71 $small -DCM=2 -DCN=2 -DP=dynamic
try sim:sms=4,resident=4 rows M=200,N=392,K=136 $small -DP=on
try sim:sms=4,resident=4 rows M=200,N=65,K=0 $small -DP=on
# A stand-in, whose threads copy, has no copies to make.
program stand_in schedules -e 's/group(G)/group(G); cp_async 4/'
try sim:sms=3,resident=2 stand_in M=200,N=70,K=71 $small
# Rows that are farther apart, and one operand that TMA takes; elements of 8 and 32 bits.
program apart majors -e 's/lda % 8 == 0, ldb % 8 == 0, //; s/(M,K):(1,lda)/(M,K):(lda,1)/; s/lda >= M/lda >= K/' \
	-e 's/(N,K):(1,ldb)/(N,K):(ldb,1)/; s/ldb >= N/ldb >= K/'
try sim:sms=4,resident=3 apart M=300,N=72,K=70,lda=73,ldb=72 $small
types()
{
	sed -e "s/bN,32>/bN,${5:-32}>/; s/\<TA\>/$1/g; s/\<TB\>/$1/g; s/\<TC\>/$2/g; s/\<TD\>/$3/g; s/PRODUCT/$4/" \
		-e 's/VALUE/acc/; s/K % 16 == 0, //; s/schedule {/schedule { group(1);/' "$dir/types.gemm" >"$scratch/$1.gemm"
}
types s8 s32 s32 'mm(sA, sB)'
try sim:sms=4,resident=3 s8 M=300,N=70,K=259,ldd=70 -DW=1 -DbM=64 -DbN=64 -DCO=beside
types tf32 f32 f32 'mm(sA, sB)' 8
try sim:sms=4,resident=3 tf32 M=300,N=70,K=139,ldd=70 -DW=1 -DbM=64 -DbN=64 -DbK=32 -DCO=beside
"$dslc" explain "$scratch/rows.gemm" $small >"$scratch/out"
grep -q 'of the copy it makes 64 rows, which the first tiles read; idle warps of producer' "$scratch/out" || fail "explain:"
grep -q 'copies beside; *//: as written' "$scratch/out" || fail "explain:"

# PATTERN TEXT MESSAGE: the kernel with the text in place of the last line of the pattern
refuted()
{
	awk -v pattern="$1" -v text="$2" '{ line[NR] = $0; if (index($0, pattern)) last = NR }
		END { for (i = 1; i <= NR; i++) if (i != last) print line[i]; else if (text) print text }' "$scratch/k.ir" >"$scratch/bad.ir"
	! "$dslc" check "$scratch/bad.ir" >"$scratch/out" 2>&1 && grep -qF "$3" "$scratch/out" ||
		fail "with \"$2\" for $1, it does not say \"$3\":"
}
"$dslc" -q --emit=ir "$scratch/rows.gemm" $small -DCM=2 -DP=on -o "$scratch/k.ir"
wait_a=$(grep 'rest.wait %A' "$scratch/k.ir") wait_b=$(grep 'rest.wait %B' "$scratch/k.ir")
copy_a=$(grep 'rest.copy %A' "$scratch/k.ir") idle=$(grep 'if (5 <= warp)' "$scratch/k.ir")
refuted 'rest.wait %A' '' 'rows of %A.map are loaded that may not have been copied yet'
refuted 'rest.wait %B' '' 'are loaded that may not have been copied yet'
refuted 'rest.wait %A' "$(echo "$wait_a" | sed 's/ + 64)/ + 63)/')" 'may not have been copied yet'
refuted 'rest.wait %A' "$(echo "$wait_a" | sed 's/ + 64)/ + N)/')" 'of which it is not known whether'
refuted 'rest.wait %A' "$(echo "$wait_a" | sed 's/ + 64)/ + 9223372036854775807)/')" 'of which it is not known whether'
refuted 'rest.wait %A' "$(echo "$wait_a" | sed 's/(m/(1 + m/')" 'may not have been copied yet'
refuted 'rest.wait %B' "$wait_a" 'may not have been copied yet'
refuted 'rest.copy %A' '' 'it waits for ever: no warp copies rows of %A.map'
refuted 'rest.copy %A' "$copy_a$(printf '\n%s' "$copy_a")" 'copies of rows of %A.map in several places'
refuted 'rest.copy %A' "$(echo "$wait_b" | sed 's/(.*/(0, 64)/')$(printf '\n%s' "$copy_a")" 'that no warp copies before it waits'
refuted 'rest.copy %A' "$(printf 'if (64 < M) {\n%s\n}' "$copy_a")" 'that no warp copies before it waits'
refuted 'if (5 <= warp)' 'if (5 <= warp, 1 < cluster) {' 'that no warp copies before it waits'
refuted 'if (5 <= warp)' 'if (64 <= warp) {' 'that no warp copies before it waits'
refuted '    grid.wait' '' 'before it waited for earlier launches'
refuted 'rest.copy %A' 'rest.copy %A.map (M)' 'are a number from 1 to 2^31 - 1'
refuted 'rest.copy %A' 'rest.copy %D.map (64)' 'of tensors of two modes, whose maps it always has'
[ -n "$idle" ] && [ -n "$wait_b" ] || fail "the kernel has other warps"

# FILE MESSAGE [-D..]: refused, with a remedy
refused()
{
	file=$1 text=$2
	shift 2
	! "$dslc" -q "$scratch/$file.gemm" "$@" -o "$scratch/k.cubin" >"$scratch/out" 2>&1 && grep -qF "error[E0407]: copies beside: $text" "$scratch/out" &&
		grep -q 'leave copies out' "$scratch/out" || fail "$file $*: it is not refused for \"$text\":"
}
refused rows 'all warps compute' -DR=none
refused rows 'a warp that copies takes 56 registers a thread' -DR=pingpong -DP=on -DbN=192
program constant schedules -e 's/(A : bf16/(A : constant bf16/; s/, B : bf16 (N/, B : constant bf16 (N/'
refused constant 'no operand is loaded by tma'
program batch ranks/batch
refused batch 'no operand is loaded by tma'
program columns_major majors
refused columns_major 'no operand is loaded by tma'
sed 's/schedule {/schedule { copies later;/' "$dir/schedules.gemm" >"$scratch/word.gemm"
! "$dslc" -fsyntax-only "$scratch/word.gemm" >"$scratch/out" 2>&1 && grep -q "unknown name 'later'" "$scratch/out" || fail "another word:"
