#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fuzzes one entry point of tests/fuzz, starting from the inputs of the tests.
#   tools/fuzz.sh NAME [SECONDS]         e.g. tools/fuzz.sh frontend 600
# What it learns is kept in build/corpus/NAME, what breaks in build/crashes/NAME-*.
set -eu
cd "$(dirname -- "$0")/.."
[ $# -ge 1 ] || { sed -n '2,/^set/{/SPDX/d;s/^# //p}' "$0" >&2; exit 2; }
name=$1 seconds=${2:-60}
tools/setup.sh
cmake --preset fuzz
cmake --build --preset fuzz --target "fuzz_$name"
mkdir -p "build/corpus/$name" build/crashes
# shellcheck disable=SC2046
exec "$(find build/fuzz -type f -name "fuzz_$name" -perm -u+x)" -max_total_time="$seconds" \
	-max_len=65536 -timeout=10 -rss_limit_mb=4096 -artifact_prefix="build/crashes/$name-" \
	-print_final_stats=1 "build/corpus/$name" $(cat "build/fuzz/seeds/$name")
