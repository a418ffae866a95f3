#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Brings faults that were mended back, one at a time, into a copy of the tree, and lets the generators or tests that are
# named beside each look for it: what finds nothing proves nothing.
#   tools/faults.sh check                       every file of tests/faults still changes what it names; builds nothing
#   tools/faults.sh run [-s SECONDS] NAME...    all: every fault; a row for each, rc 1 if one is not found
#   tools/faults.sh pack [NAME...]              build/faults.tar.xz: the generators of these faults, built here, run elsewhere
#                                               by what tools/faults_there.sh says
#   tools/faults.sh tree                        makes the copy, without a fault, and says where it is
#   tools/faults.sh table                       writes the rows of all runs into tests/check/faults.md; others stay
# A fault is a sed script, tests/faults/NAME.sed, with lines before it that say what it is, "# edits PATTERN...", and what
# looks for it: "# found by GENERATOR SEED" of tools/random.sh, or "# found by test REGEX: TARGET...".
# A generator gets 5 seconds, then 60, 200 and SECONDS (600): the row says within which of these it found the fault.
# e.g. tools/faults.sh run -s 60 parity_beyond
#   | A parity beyond 1 is accepted. | `roles`, seed 1 | found within 5 s |
set -eu
root=$(cd "$(dirname -- "$0")/.." && pwd)
faults=$root/tests/faults scratch=${FAULTS_SCRATCH:-$root/build/faults} seconds=600
tree=$scratch/tree results=$scratch/results

wanted() { sed -n 's/^# edits *//p' "$faults/$1.sed"; }
looked() { sed -n 's/^# found by //p' "$faults/$1.sed"; }
text_of() { sed -n '1s/^# //p' "$faults/$1.sed"; }
names() { ls "$faults" | sed 's/\.sed$//'; }
row_of() { echo "$results/$1.$(echo "$2" | tr -c 'a-z0-9_\n' .).row"; }
# What the ir generator finds may need a sanitizer; the others only need time.
preset_of() { [ "$1" = ir ] && echo dev || echo release; }

# Which files of a tree match the patterns of a fault and are changed by it.
edits()
{
	(cd "$2" && for file in $(wanted "$1"); do
		sed -f "$faults/$1.sed" "$file" | cmp -s - "$file" || echo "$file"
	done)
}

# Whether it changes anything in the files that one pattern matches.
bites()
{
	(cd "$root" && set +f && cat $2 >"$all" && ! sed -f "$faults/$1.sed" "$all" | cmp -s - "$all")
}

check()
{
	all=$(mktemp) bad=0
	trap 'rm -f "$all"' EXIT
	set -f
	for name in $(names); do
		[ -n "$(looked "$name")" ] || { echo "tests/faults/$name.sed: nothing looks for it"; bad=1; }
		for pattern in $(wanted "$name"); do
			! bites "$name" "$pattern" || continue
			echo "tests/faults/$name.sed changes nothing in $pattern: the code has moved; write the fault anew"
			bad=1
		done
	done
	return $bad
}

# The tree as it is, also where an earlier run was killed; what is the same is not built anew.
copy_tree()
{
	mkdir -p "$tree" "$results"
	(cd "$root" && git ls-files --cached --others --exclude-standard | while read -r file; do
		cmp -s "$file" "$tree/$file" || cp --parents "$file" "$tree"
	done)
	(cd "$tree" && find . -type f ! -path './build/*' | while read -r file; do
		[ -e "$root/$file" ] || rm "$file"
	done)
	[ -d "$root/build/cuda" ] && [ ! -e "$tree/build/cuda" ] && mkdir -p "$tree/build" &&
		ln -s "$root/build/cuda" "$tree/build/cuda"
	return 0
}

tree()
{
	copy_tree
	echo "$tree"
}

put_in()
{
	changed=$(edits "$1" "$tree")
	for file in $changed; do
		mkdir -p "$scratch/right/$(dirname "$file")"
		cp "$tree/$file" "$scratch/right/$file"
		sed -f "$faults/$1.sed" "$scratch/right/$file" >"$tree/$file"
	done
}

put_back()
{
	for file in $changed; do
		cp "$scratch/right/$file" "$tree/$file"
	done
}

# What it is looked for by, in the copy, with what was printed in $log. $took: the seconds that it was given.
# 0: nothing was found; 1: the fault was; 3: the copy does not build.
look()
{
	took=0
	log=$results/$1.$(echo "$2" | tr -c 'a-z0-9_\n' .).log
	cd "$tree"
	case $2 in
	test*) look_test "$(echo "$2" | sed 's/^test //;s/:.*//')" "$(echo "$2" | sed 's/.*://')" ;;
	*) look_random "${2% *}" "${2#* }" ;;
	esac
}

look_test()
{
	[ -f build/release/CMakeCache.txt ] || cmake --preset release >"$log" 2>&1
	# shellcheck disable=SC2086
	cmake --build --preset release --target $2 >"$log" 2>&1 || return 3
	took=$seconds
	EVERY=1 timeout "$seconds" ctest --preset release -C each -R "^$1" --no-tests=error >"$log" 2>&1 || return 1
}

look_random()
{
	preset=$(preset_of "$1")
	RANDOM_BUILD=1 RANDOM_PRESET=$preset tools/random.sh "$1" 1 1 >"$log" 2>&1 || return 3
	for took in 5 60 200 "$seconds"; do
		[ "$took" -le "$seconds" ] || continue
		code=0
		RANDOM_PRESET=$preset timeout $((took + 60)) tools/random.sh "$1" "$took" "$2" >"$log" 2>&1 || code=$?
		[ $code = 0 ] || [ $code = 124 ] || return 1
	done
	return 0
}

# For the table: generators by name and seed, tests by name.
called()
{
	case $1 in
	test*) echo "test \`$(echo "$1" | sed 's/^test //;s/:.*//')\`" ;;
	*) echo "\`${1% *}\`, seed ${1#* }" ;;
	esac
}

run_one()
{
	put_in "$name"
	trap 'put_back' EXIT
	trap 'exit 1' INT TERM HUP
	found=1
	looked "$name" | while read -r by; do
		code=0
		(look "$name" "$by"; c=$?; echo "$took" >"$scratch/took"; exit $c) || code=$?
		echo "$code $(cat "$scratch/took" 2>/dev/null || echo 0) $by"
	done >"$scratch/looked"
	while read -r code took by; do
		case $code$by in
		1test*) said="fails" found=0 ;;
		0test*) said="passes" ;;
		1*) said="found within $took s" found=0 ;;
		0*) said="not found in $took s" ;;
		*) said="did not build" found=2 ;;
		esac
		echo "| $(text_of "$name") | $(called "$by") | $said |" | tee "$(row_of "$name" "$by")"
	done <"$scratch/looked"
	put_back
	trap - EXIT
}

run()
{
	[ "${1:-}" = -s ] && seconds=$2 && shift 2
	[ "${1:-}" != all ] || set -- $(names)
	[ $# -gt 0 ] || { echo "which fault? $(names | tr '\n' ' ')" >&2; exit 2; }
	copy_tree
	missed=0
	for name; do
		run_one
		[ "$found" = "$([ "$name" = none ] && echo 1 || echo 0)" ] || missed=1
	done
	return $missed
}

# A shared library of what the generators need of LLVM, in the place of the whole one: it is sent once, and the rest is small.
pack_llvm()
{
	wanted=$(nm -u "$tree"/build/shared/*/*.a | sed -n 's/^ *U \(LLVM.*\)/-Wl,-u,\1/p' | sort -u)
	echo 'LLVM_22.1 { global: LLVM*; local: *; };' >"$scratch/llvm.map"
	# shellcheck disable=SC2046,SC2086
	c++ -shared -o "$out/libLLVM.so.22.1" -Wl,-soname,libLLVM.so.22.1 -Wl,--version-script="$scratch/llvm.map" \
		-Wl,--gc-sections $wanted -static-libstdc++ -static-libgcc \
		$(/usr/lib/llvm-22/bin/llvm-config --link-static --libfiles core analysis passes bitwriter target nvptx) \
		-l:libz.a -l:libzstd.a -ldl -lm -lpthread
	strip "$out/libLLVM.so.22.1"
}

binary_of()
{
	case $1 in
	sizes | kernels | programs | ptx) echo "random/random_$1" ;;
	ir) echo fuzz/ir_mutants ;;
	roles) echo check/check_random ;;
	judged) echo check/check_stepper_roles ;;
	changed) echo check/check_mutate ;;
	esac
}

# The generators of a fault, from the tree as it is.
pack_one()
{
	looked "$1" | { grep -v ^test || true; } | while read -r generator seed; do
		binary=$(binary_of "$generator")
		build=build/$([ "$(preset_of "$generator")" = dev ] && echo sanitized || echo shared)
		cmake --build "$build" --target "${binary##*/}" >"$scratch/log" 2>&1 ||
			{ echo "$1 does not build: see $scratch/log" >&2; exit 1; }
		mkdir -p "$out/$1"
		strip -o "$out/$1/${binary##*/}" "$build/tests/$binary"
		echo "$1|$generator|$seed|$(text_of "$1")" >>"$out/rows"
	done
}

# What is the same for all: the kernels' texts, and their IR.
pack_common()
{
	mkdir -p "$out/texts" "$out/mutated"
	for text in $(cat build/shared/tests/fuzz/ir_mutants.kernels); do # FILE[:CONST=VALUE,...]
		file=${text%%:*} consts=${text#"${text%%:*}"}
		cp "$file" "$out/texts/$(echo "${file#"$tree"/}" | tr / _)"
		echo "texts/$(echo "${file#"$tree"/}" | tr / _)$consts"
	done >"$out/kernels"
	cmake --build build/shared --target dslc >/dev/null
	tests/check/mutate.sh build/shared/dslc true . "$out/mutated" few
	cp tools/hours.sh tools/faults_there.sh "$out"
}

pack()
{
	out=$scratch/faults
	[ $# -gt 0 ] || set -- $(names)
	copy_tree
	rm -rf "$out"
	cd "$tree"
	cmake --preset release -B build/shared -DDSLC_LLVM_STATIC=OFF >/dev/null
	cmake --preset dev -B build/sanitized -DCMAKE_EXE_LINKER_FLAGS="-static-libasan -static-libubsan" >/dev/null
	pack_common
	pack_llvm
	trap 'put_back' EXIT
	trap 'exit 1' INT TERM HUP
	for name; do
		put_in "$name"
		pack_one "$name"
		put_back
	done
	trap - EXIT
	tar -C "$scratch" -c faults | xz -T2 -6 >"$root/build/faults.tar.xz"
	ls -l "$root/build/faults.tar.xz"
}

# What a row said before, where it was not looked at since.
row_before()
{
	grep -F "| $(text_of "$1") | $(called "$2") | " "$doc" || true
}

table()
{
	doc=$root/tests/check/faults.md
	{
		sed '/^<!-- faults -->$/q' "$doc"
		printf '\n| fault | looked for by | |\n|---|---|---|\n'
		for name in $(names); do
			looked "$name" | while read -r by; do
				cat "$(row_of "$name" "$by")" 2>/dev/null || row_before "$name" "$by"
			done
		done
		echo
		sed -n '/^<!-- end of faults -->$/,$p' "$doc"
	} >"$scratch/doc"
	cat "$scratch/doc" >"$doc"
}

case ${1:-} in
check | run | pack | table | tree) "$@" ;;
*) sed -n '3,/^set/{/^set/d;s/^# //p}' "$0" >&2; exit 2 ;;
esac
