#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ptxas for tests that compile the same kernels again and again: what it made of a PTX text is kept in $DSLC_PTXAS_KEPT, which every
# configuring of the build empties, and given again where the text, the options and the ptxas ($DSLC_PTXAS_REAL) are the same.
# Only successes are kept. dslc calls ptxas OPTIONS... IN -o OUT.
set -eu
real=$DSLC_PTXAS_REAL
options='' in='' out=''
for a in "$@"; do
	[ "$out" = next ] && out=$a && continue
	[ "$a" = -o ] && out=next && continue
	options="$options $in" in=$a
done
[ -n "$out" ] || exec "$real" "$@"
key=$({
	printf '%s\n' "$real" "$options"
	cat "$in"
} | sha256sum)
kept=$DSLC_PTXAS_KEPT/${key%% *}
if [ ! -f "$kept/cubin" ]; then
	new=$(mktemp -d "$DSLC_PTXAS_KEPT/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	code=0
	"$real" "$@" >"$new/out" 2>"$new/err" || code=$?
	cat "$new/out"
	cat "$new/err" >&2
	[ $code = 0 ] || exit $code
	cp "$out" "$new/cubin"
	mv -T "$new" "$kept" 2>/dev/null || true # another was first
	exit 0
fi
cp "$kept/cubin" "$out"
cat "$kept/out"
cat "$kept/err" >&2
