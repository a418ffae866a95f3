#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program without an mma: proved, assembled without another message, and right on the simulator against the interpreter under every
# schedule, at each of the sizes; each in another order, or in two with EVERY=1. A line "// ptx: TEXT" of the file is
# a part of its PTX, "// no ptx: TEXT" is not, and "// explained: TEXT" is of dslc explain; "// not SCHEDULE: REASON": that is refused.
#   plain.sh DSLC SCRATCH FILE SIZES...     [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 scratch=$2 file=$3
. "${0%/*}/turns.sh"
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "$file: $name: $*"
	cat "$scratch/err" "$scratch/out"
	exit 1
}

sizes=$(echo "$*" | sed 's/ / --then /g')
source=$file same=$file order=0
for schedule in "as-is off" "persistent on" "few off threads 32;" "many on threads 256;"; do
	name=${schedule%% *} words=${schedule#* } flags=-DP=${words%% *}
	case $words in *" "*) words=${words#* } ;; *) words= ;; esac
	sed "s/schedule {/schedule { $words/" "$source" >"$scratch/$name.gemm"
	file=$scratch/$name.gemm
	: >"$scratch/out"
	if grep -q "^// not $name: " "$file"; then
		! "$dslc" "$file" $flags -o "$scratch/k" 2>"$scratch/err" || fail "it compiles now"
		grep -qF "$(sed -n "s/^\/\/ not $name: //p" "$file")" "$scratch/err" || fail "another reason"
		continue
	fi
	simulate "$file" $flags --device $(in_order $order) --size $sizes >"$scratch/out" 2>"$scratch/err" || fail "wrong"
	[ ! -s "$scratch/err" ] || fail "another message"
	order=$((order + 1))
done

name=ptx file=$source
"$dslc" "$file" -S -o "$scratch/k.ptx" 2>"$scratch/err" || fail "does not compile"
sed -n 's/^\/\/ ptx: //p' "$file" | while read -r line; do
	grep -qF "$line" "$scratch/k.ptx" || fail "no '$line'"
done
sed -n 's/^\/\/ no ptx: //p' "$file" | while read -r line; do
	! grep -qF "$line" "$scratch/k.ptx" || fail "'$line'"
done
name=explain
"$dslc" explain "$file" -o "$scratch/explained" 2>"$scratch/err" || fail "not explained"
sed -n 's/^\/\/ explained: //p' "$file" | while read -r line; do
	grep -qF "$line" "$scratch/explained" || fail "no '$line'"
done
