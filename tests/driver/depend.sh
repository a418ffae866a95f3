#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# -MD, -MF, -MT, -MP: files that make and ninja read.
. "$(dirname "$0")/lib.sh"

content()
{
	[ "$(cat "$1")" = "$2" ] || fail "$1 is: $(cat "$1")"
}

expect 0 -MD small.gemm
exists small.cubin
content small.d "small.cubin: small.gemm"
expect 0 -MD -S small.gemm -o out.ptx
content out.d "out.ptx: small.gemm"
expect 0 -MF deps small.gemm -o x.cubin
content deps "x.cubin: small.gemm"
expect 0 -MF deps -MT all -MT 'a b' small.gemm
content deps 'all a\ b: small.gemm'
expect 0 -MF deps -MP small.gemm
content deps 'small.cubin: small.gemm

small.gemm:'
expect 0 -MF deps -fsyntax-only small.gemm
cp small.gemm 'my $kernel#1.gemm'
expect 0 -MD 'my $kernel#1.gemm'
content 'my $kernel#1.d' 'my\ $$kernel\#1.cubin: my\ $$kernel\#1.gemm'
expect 1 -MF nowhere/deps small.gemm
has err "cannot write 'nowhere/deps'"

# with the output on stdout the names are those of the input
expect 0 -MD -S small.gemm -o -
content small.d "small.ptx: small.gemm"

# ninja agrees: it knows by the file what to build again
cat >build.ninja <<END
rule compile
  command = '$dslc' -MF \$out.d small.gemm -o \$out && echo built >>log
  depfile = \$out.d
build small.cubin: compile
END
ninja -d explain >out 2>err
ninja >out 2>err
[ "$(cat log)" = built ] || fail "ninja built again what was new"
sleep 1
touch small.gemm
ninja >out 2>err
[ "$(wc -l <log)" = 2 ] || fail "ninja did not see the change"
