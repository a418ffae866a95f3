#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pattern.sh makes what an edit says, and refuses an edit that does not apply at exactly one place.
#   pattern_rejects.sh PATTERN.SH
set -eu
pattern=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bases"
cd "$scratch"
printf '%s\n' '# comment' a b c b d >bases/x.ir

# edit LINE...: an edit of x
edit()
{
	printf '%s\n' '# error E0411: text' 'base x' "$@" >y.edit
}

# refused TEXT LINE...: the edit fails, and says so
refused()
{
	text=$1
	shift
	edit "$@"
	"$pattern" "$scratch/y.edit" >out 2>err && { echo "accepted: $*"; exit 1; }
	grep -qF -- "$text" err || { echo "not said: $text"; cat err; exit 1; }
}

edit @@ -a +A @@ ' c' -b +B1 +B2
"$pattern" "$scratch/y.edit" >out
printf '%s\n' '# error E0411: text' A b c B1 B2 d | diff - out
edit
"$pattern" "$scratch/y.edit" >out
printf '%s\n' '# error E0411: text' a b c b d | diff - out
printf '%s\n' '# comment' 'base y' @@ -d +D >z.edit
"$pattern" z.edit >out
printf '%s\n' '# comment' a b c b D | diff - out
printf '%s\n' 'base z' >z.edit
"$pattern" z.edit >out 2>err && { echo "accepted a base of itself"; exit 1; }
grep -qF "has a base, and so on" err
refused "y.edit:3: the change does not apply" @@ -x
refused "y.edit:3: the change applies at lines 2 and 4 of the base" @@ -b
refused "y.edit:5: the change stands before the one above it" @@ -c @@ -a
refused "y.edit:3: the change says no place" @@ +x
refused 'y.edit:3: "@@" or a line of a change is expected' -a
refused 'y.edit:4: "@@" or a line of a change is expected' @@ a
sed -i 's/^base x$/base w/' y.edit
"$pattern" "$scratch/y.edit" >out 2>err && { echo "accepted without a base"; exit 1; }
grep -qF "no base" err
