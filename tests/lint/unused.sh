#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Nothing stands in the tree that nothing uses: each global name is used by a file of the product
# other than its own (else it is static, or not there), or by tests alone if it stands in the list
# below; each row of a table is named somewhere.
#   unused.sh ROOT BUILD
set -eu
root=$1 build=$2

# What looks into the works for the tests: how much memory there is, single rules, what a module
# holds; the complement within a number, as the laws of the algebra state it.
for_tests='arena_bytes ix_rule_apply kernel_verify layout_complement sim_kernel_bounds
	sim_kernel_lacks sim_kernel_name'

scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
cd "$root"
rooms=
for room in base layout ir frontend passes verify codegen runtime sim check driver; do
	[ ! -d $room ] || rooms="$rooms $room"
done

# ------------------------------------------------------------------ global names
# Not looked at: the interface (dsl_, dslc_), what flex and bison write, and functions that a row of
# a table names in pasted form (a row without its function does not link, a function without its row
# does not compile).
# shellcheck disable=SC2086
(cd "$build" && find $rooms tests examples -name '*.c.o' 2>/dev/null | xargs -r nm -A -g | grep -v __odr_asan) |
	awk -v for_tests="$for_tests" -v build="$build/" '
function source_of(object)
{
	sub(/CMakeFiles\/[^\/]*\.dir\//, "", object)
	sub(/\.o$/, "", object)
	return object
}

# How many lines of a file have the word.
function lines_with(file, word,   n, line)
{
	while ((getline line < file) > 0)
		n += (" " line " ") ~ "[^A-Za-z0-9_]" word "[^A-Za-z0-9_]"
	close(file)
	return n
}

function is_there(file,   line, r)
{
	r = (getline line < file) >= 0
	close(file)
	return r
}

{
	split($1, object, ":")
	source = source_of(object[1])
	if (!(source in written)) {
		written[source] = is_there(source)
		generated[source] = !written[source] && is_there(build source)
	}
	if (!written[source] && !generated[source])
		next # of a file that is gone
	objects++
	name = $NF
	if ($(NF - 1) == "U" && source ~ /^(tests|examples)\//)
		tested[name] = 1
	else if ($(NF - 1) == "U")
		used[name] = 1
	else if ($(NF - 1) ~ /^[TDRBCV]$/ && written[source] && source !~ /^(tests|examples)\//)
		defined[name] = source
}

END {
	if (!objects)
		print "no objects in the build"
	for (name in defined) {
		if (name in used || name ~ /^(main|dsl_.*|dslc_.*|alg_.*|emit_.*)$/)
			continue
		if (!(name in tested))
			print defined[name] ": " name ": no other file uses it"
		else if (lines_with(defined[name], name) < 2 && !match(for_tests, name))
			print defined[name] ": " name ": only tests use it"
	}
}' | sort >"$scratch/complaints"

# ------------------------------------------------------------------ rows
# shellcheck disable=SC2086,SC2046
{
	find $rooms -name '*.[chly]' -exec cat {} + | tr -cs 'A-Za-z0-9_' '\n'
	# An operation that a row of another table has is used by who reads that row.
	find $rooms -name '*.def' -exec sed -nE 's/^(MMA|COPY|DONE|WAY)\(//p' {} + |
		tr -cs 'A-Z0-9_' '\n' | sed 's/^/OP_/'
} | sort -u >"$scratch/words"
awk -v words="$scratch/words" '
BEGIN {
	while ((getline word < words) > 0)
		named[word] = 1
	n = split("ATTR A_ OP OP_ REASON REASON_ NODE N_ SAID SAID_ VALUE V_ STEP STEP_ WHY WHY_ " \
		  "KIND SIM_ NOTE SIM_ DSL_STATUS DSL_ DIAG D_", pair, " ")
	for (i = 1; i < n; i += 2)
		prefix[pair[i]] = pair[i + 1]
}

match($0, /^[A-Z_]+\([A-Za-z0-9_]+/) {
	split(substr($0, RSTART, RLENGTH), part, "(")
	if (part[1] in prefix)
		row[FILENAME ": " part[2]] = prefix[part[1]] part[2]
	if (part[1] == "WHY" && match($0, /[EW][0-9]+/))
		named["D_" substr($0, RSTART, RLENGTH)] = 1
}

END {
	for (r in row)
		if (!(row[r] in named))
			print r ": nothing names " row[r]
}' $(find $rooms -name '*.def') | sort >>"$scratch/complaints"

cat "$scratch/complaints"
[ ! -s "$scratch/complaints" ]
