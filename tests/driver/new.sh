#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc new: the kernel is chosen, proved and right, and so is its C program, from the installed names; nothing is
# replaced. tests/python runs the Python program.
. "$(dirname "$0")/lib.sh"

expect 0 new first
has out "first.gemm" "first.py"
lacks first.gemm "@NAME@"
lacks first.py "@NAME@"
expect 0 fmt --check first.gemm
expect 0 check first.gemm
has err "verified for all"
expect 0 run first.gemm --size M=200,N=136,K=72 --device sim
has out "right as the source says"

mkdir sub
expect 0 new sub/my_kernel --host=c
has out "sub/my_kernel.gemm" "sub/my_kernel_host.c"
(cd sub && "$dslc" -q my_kernel.gemm --emit=header,c)
grep -q 'my_kernel_cubin' sub/my_kernel.h || fail "the header has no cubin of that name"
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$root/runtime" sub/my_kernel_host.c sub/my_kernel.c || fail "the C program does not compile"

# What is there stays, and nothing else is written.
echo mine >other.py
expect 1 new first
has err "error[E0614]: 'first.gemm' exists" "give another name, or remove the file"
expect 1 new other
has err "'other.py' exists"
[ ! -e other.gemm ] || fail "a kernel was written without its program"
[ "$(cat other.py)" = mine ] || fail "other.py was replaced"
rm other.py
expect 0 new other
expect 1 new nowhere/x
has err "error[E0603]: cannot write 'nowhere/x.gemm'"
for name in "" a-b a.gemm 1st sub/; do
	expect 2 new "$name"
	has err "dslc new takes one name of letters, digits and '_'"
done
expect 2 new a b
has err "dslc new takes one name"
expect 2 new a --host=rust
has err "--host does not accept 'rust'; it takes python, c"
