# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A kernel that is proved, and changes of its IR that are refused; $dslc, $scratch are set.
changes=0
# The kernel of a program with options.
kernel_of()
{
	"$dslc" -q --emit=ir "$@" -o "$scratch/k.ir"
	"$dslc" check "$scratch/k.ir" 2>&1 | grep -q 'verified for all' || { echo "$*: it is not proved as it is"; exit 1; }
}
# What a change of the kernel gives: an exit code, a part of the message, a sed script.
says()
{
	changes=$((changes + 1))
	sed "$3" "$scratch/k.ir" >"$scratch/m.ir"
	! cmp -s "$scratch/k.ir" "$scratch/m.ir" || { echo "$3 changes nothing"; exit 1; }
	code=0
	"$dslc" check "$scratch/m.ir" >"$scratch/out" 2>&1 || code=$?
	[ $code -eq "$1" ] && grep -qF -- "$2" "$scratch/out" || { echo "$3: $code, not $1: $2"; cat "$scratch/out"; exit 1; }
}
