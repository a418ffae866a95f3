#!/bin/sh
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

# make agrees: with the file it knows what to build again
if command -v make >/dev/null; then
	printf 'small.cubin:\n\t@echo built >>log\n\t@touch small.cubin\ninclude small.d\n' >Makefile
	expect 0 -MD small.gemm
	make >out 2>err
	absent log
	touch -d '+1 minute' small.gemm
	make >out 2>err
	exists log
fi
