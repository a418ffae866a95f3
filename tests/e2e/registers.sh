#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program of several register tiles: proved (else it is an error) under every schedule that FILE does not exclude by a line
#   // not SCHEDULE: reason
# whose kernel must then be refused; right on the simulator against the interpreter without another message,
# under three of them, the first assembled, each in another order; with EVERY=1 under all, assembled and in two orders. Which three TURN says (turns.sh).
# Where the loop uses an accumulator, which a line
#   // used in the loop
# says, the verifier refutes the kernel without its wait, and without its fence. "// explained: TEXT" is of dslc explain.
#   registers.sh DSLC SCRATCH FILE SIZES [TURN]     [DEVICE=cuda:0 EVERY=1]
set -eu
dslc=$1 scratch=$2 file=$3 sizes=$4 turn=${5:-0}
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
fail()
{
	echo "$file: $name: $*"
	cat "$scratch/err" "$scratch/out"
	exit 1
}

of_seven()
{
	case $1 in
	0) echo none -DR=none ;;
	1) echo cooperative -DR=cooperative ;;
	2) echo pingpong -DR=pingpong -DP=on ;;
	3) echo persistent -DR=cooperative -DP=on ;;
	4) echo cluster -DR=cooperative -DCM=2 ;;
	5) echo cluster-none -DR=none -DP=on -DCM=2 -DX=slice ;;
	6) echo alone -DR=cooperative -DI=0 ;;
	esac
}
ran=0 proved=0
for turn in $(turns "$turn"); do
	schedule=$(of_seven "$turn")
	name=${schedule%% *} flags=${schedule#* }
	: >"$scratch/out"
	if grep -q "^// not $name: " "$file"; then
		! "$dslc" "$file" $flags -o "$scratch/k" 2>"$scratch/err" || fail "it compiles now"
		grep -qF "$(sed -n "s/^\/\/ not $name: //p" "$file")" "$scratch/err" || fail "another reason"
		continue
	fi
	if [ $ran -lt "$most" ]; then
		simulate "$file" $flags --size "$sizes" --device $(in_order $ran) >"$scratch/out" 2>"$scratch/err" || fail "wrong"
		ran=$((ran + 1))
	else
		"$dslc" --emit=llvm "$file" $flags -o "$scratch/k.ll" 2>"$scratch/err" || fail "not proved"
	fi
	[ ! -s "$scratch/err" ] || fail "another message"
	proved=$((proved + 1))
done
[ $ran -ge 3 ] && [ $proved -ge 4 ]

# WHAT SED...: the kernel changed by sed is refuted
refuted()
{
	name=$1
	shift
	sed "$@" "$scratch/k.ir" >"$scratch/changed.ir"
	! cmp -s "$scratch/k.ir" "$scratch/changed.ir" || fail "nothing changed"
	! "$dslc" check "$scratch/changed.ir" >"$scratch/out" 2>"$scratch/err" || fail "not refuted"
	grep -q 'error\[E0412\]' "$scratch/err" || fail "another error"
}
name=explain
"$dslc" explain "$file" -o "$scratch/explained" 2>"$scratch/err" || fail "not explained"
sed -n 's/^\/\/ explained: //p' "$file" | while read -r line; do
	grep -qF "$line" "$scratch/explained" || fail "no '$line'"
done
grep -q '^// used in the loop' "$file" || exit 0
"$dslc" "$file" -DR=none --emit=ir -o "$scratch/k.ir"
refuted "without the wait" -e '0,/wgmma.wait n=0/s//wgmma.wait n=1/'
refuted "without the fence" -e '/wgmma.fence/d'
