#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --help, --version, --explain, -v: what the tool says about itself, on stdout, with exit code 0.
. "$(dirname "$0")/lib.sh"

expect 0 --help
cp out all
empty err
has out "dslc [options] file.gemm..." "-o FILE" "--emit=KIND,..." "--keep[=DIR]" "-D NAME=VALUE" \
	"124 time limit" "ptx, llvm" "(--help=passes)"
awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' out || fail "--help is too wide"

# Every row of the table is in the help, and each category shows its own rows only.
sed -n 's/^OPT([A-Z_]*, *"\([^"]*\)".*/\1/p' "$root/driver/options/options.def" >spellings
[ "$(wc -l <spellings)" -ge 35 ] || fail "the option table was not read"
while read -r s; do
	has all "  $s"
done <spellings
expect 0 --help=diagnostics
has out "--diagnostics=" "-Werror[=CODE]"
lacks out "--emit="
expect 0 --help=passes
has out "select" "sync"
expect 0 --help=emit
has out "manifest" "launcher"

expect 0 --version
has out "dslc 0.2.0" "LLVM 22." "ptxas " "target sm_90a"
expect 0 --version --ptxas-path=/nowhere/ptxas
has out "ptxas not found"

expect 0 --explain E0603
has out "E0603: output cannot be written" "renamed once it is whole"
expect 0 --explain=W0601
has out "W0601:"

expect 0 -v -S small.gemm -o -
has err "dslc 0.2.0"

# one command's help: its own options and no others; help NAME is the same
expect 0 run --help
has out "dslc run FILE" "--size=NAME=VALUE" "--seed=" "-D NAME=VALUE"
lacks out "--emit="
lacks out "--banks"
cp out run_help
expect 0 help run
same out run_help
expect 0 help
same out all
expect 0 help sim
has out "dslc sim FILE" "--grid=X" "--kernel=NAME"
lacks out "--size="
expect 0 help bench
has out "--device=cuda:N "
lacks out "|sim"
has all "dslc sim FILE" "dslc help [COMMAND]"

# every code, once
expect 0 --explain=all
cut -d' ' -f1 out >codes
sed -n 's/^DIAG(\([A-Z][0-9]*\),.*/\1/p' "$root"/base/diags_*.def >want
sort codes >codes.sorted
sort want | cmp -s - codes.sorted || fail "--explain=all differs from the tables"
