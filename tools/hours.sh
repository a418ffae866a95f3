#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What takes hours. The suite with all that it leaves out where a commit is checked (CONTRIBUTING.md has the table):
#   tools/hours.sh suite [CTEST OPTION...]        e.g. -R e2e.registers: each program under every schedule, in two orders
# Every random generator for an hour each, on many cores, also where there is no compiler:
#   tools/hours.sh pack              on this machine: build/hours.tar.xz, with the release preset's binaries
#   sh hours.sh run SECONDS CORES [SEED [NAME...]]   beside what that unpacks to (tar -xJf hours.tar.xz; cd hours)
# Each generator, or each that is named, gets all cores for SECONDS, seeds of its own on each. What it printed is NAME.CORE.log;
# the last line of each and what failed are printed, and the exit code is 1 if anything failed.
set -eu

pack()
{
	root=$(cd "$(dirname -- "$0")/.." && pwd) out=$root/build/hours build=$root/build/release/tests
	cd "$root"
	cmake --preset release >/dev/null
	cmake --build --preset release --target dslc random_sizes random_kernels random_programs random_plain random_ptx ir_mutants check_random \
		check_mutate check_simulate check_stepper_roles
	rm -rf "$out"
	mkdir -p "$out/texts" "$out/ir"
	for binary in random/random_sizes random/random_kernels random/random_programs random/random_plain random/random_ptx fuzz/ir_mutants check/check_random \
		check/check_mutate check/check_simulate check/check_stepper_roles; do
		strip -o "$out/${binary##*/}" "$build/$binary"
	done
	for text in $(cat "$build/fuzz/ir_mutants.kernels"); do # FILE[:CONST=VALUE,...]
		file=${text%%:*} consts=${text#"${text%%:*}"}
		name=$(echo "${file#"$root"/}" | tr / _) # two of one name are in two folders
		cp "$file" "$out/texts/$name"
		echo "texts/$name$consts"
	done >"$out/kernels"
	tests/check/mutate.sh "$root/build/release/dslc" true "$root" "$out/ir" all
	(cd tests/check/patterns/bases && cp told.ir relay.ir tokens.ir handed.ir signal.ir budget.ir "$out/ir")
	cp "$0" "$out"
	tar -C "$root/build" -cJf "$out.tar.xz" hours
	ls -l "$out.tar.xz"
}

# In the release preset, whose counts are those without sanitizers.
suite()
{
	cd "$(dirname -- "$0")/.."
	cmake --preset release >/dev/null
	cmake --build --preset release
	EVERY=1 ctest --preset release -j "$(nproc)" "$@"
}

# The command of a generator, a seed and a time.
generator()
{
	case $1 in
	sizes) ./random_sizes "$2" "$3" ;;
	kernels) ./random_kernels "$2" "$3" ;;
	programs) ./random_programs "$2" "$3" ;;
	plain) ./random_plain "$2" "$3" ;;
	ptx) ./random_ptx "$2" "$3" ;;
	ir) ./ir_mutants -s "$2" "$3" 0 $(cat kernels) ;;
	mutants)
		mkdir -p "proved.$3"
		./check_mutate -w "proved.$3" 1 -p "$3" "$2" ir/*.ir && ./check_simulate "proved.$3"/*.ir
		;;
	changed) ./check_mutate mutated/*.ir ;;
	roles) again "$2" "$3" ./check_random 4000 ;;
	judged) again "$2" "$3" ./check_stepper_roles 10000 ;;
	esac
}

# One seed after another.
again()
{
	end=$(($(date +%s) + $1)) seed=$2
	shift 2
	while [ "$(date +%s)" -lt "$end" ]; do
		"$@" "$seed" || { echo "FAILED: $* $seed"; return 1; }
		seed=$((seed + 1))
	done
}

run()
{
	seconds=$1 cores=$2 first=${3:-1} failed=0
	[ $# -ge 3 ] && shift 3 || set --
	[ $# -gt 0 ] || set -- sizes kernels programs plain ptx ir mutants roles judged
	for name; do
		core=0
		while [ "$core" -lt "$cores" ]; do
			(generator "$name" "$seconds" $(((first + core) * 100000)) >"$name.$core.log" 2>&1 ||
				echo "FAILED: $name, seed $(((first + core) * 100000))" >>"$name.$core.log") &
			core=$((core + 1))
		done
		wait
		tail -q -n 1 "$name".*.log | sed "s/^/$name: /"
		if grep -h FAILED "$name".*.log; then
			failed=1
		fi
	done
	return "$failed"
}

[ $# -ge 1 ] || { sed -n '3,/^set/{/^set/d;s/^# //p}' "$0" >&2; exit 2; }
"$@"
