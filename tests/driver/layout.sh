#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc layout: values in CuTe's form, tables, threads and values, banks, pictures, lines of stdin.
. "$(dirname "$0")/lib.sh"

# is TEXT ARGS...: dslc layout prints this and nothing else.
is()
{
	answer=$1
	shift
	expect 0 layout "$@"
	empty err
	[ "$(cat out)" = "$answer" ] || fail "dslc layout $* does not give $answer"
}

is '((2,2),3):((24,2),8)' 'composition((6,2):(8,2), (4,3):(3,1))'
is '((2,2),(2,3)):((4,1),(2,8))' 'logical_divide((4,2,3):(2,1,8), 4:2)'
is '(128,M / 128):(1,128)' 'M:1 / 128 where M % 128 == 0'
is '9' 'crd2idx((1,2), (4,8))'
is '(2,1)' 'crd2idx((1,2), (4,8):(1@1,1@0))'
is '8:1
(4):(1)' 'coalesce((2,4))' 'select((4,8):(1,4),0)'

# Mistakes: with a place and the nearest name, each on its own; later expressions are still read.
expect 1 layout 'composition((8,8):(8,1), 5:3)' '4:1'
has err '<expression>:1:1' 'error[E0209]' '5:3' 'mode 0, 8:8' 'the nearest stride that fits is 2'
has out '4:1'
expect 1 layout 'coalesse(4)'
has err "unknown name 'coalesse'" "did you mean 'coalesce'?"
expect 1 layout 'composition(8:1, 4:-1)'
has err '<expression>:1:18' 'error[E0211]: a stride of a layout is not in 0..2^48'
for text in 'ceil_div(8,0)' 'ceil_div((8,4),(2,-1))' 'shape_div(8,0)'; do
	expect 1 layout "$text"
	has err "error[E0209]: ${text%%(*}: division by zero or less: argument 2 is "
done
for text in 'size((9223372036854775807,2))' 'product((4294967296,4294967296))'; do
	expect 1 layout "$text"
	has err "error[E0209]: ${text%%(*}: the result does not fit 64 bits"
done
is '9223372036854775807
M * 9223372036854775807' 'size((9223372036854775807,1))' 'size((9223372036854775807,M))'
expect 1 layout --diagnostics=json '(4,8'
has err '"code":"E0105"'

printf '(4,8)\n\n# a note\n(4,8):(1\nsize((4,8))\n' >lines
code=0
"$dslc" layout <lines >out 2>err || code=$?
[ $code = 1 ] || fail "a bad line exits with $code"
[ "$(cat out)" = '(4,8)
32' ] || fail "lines of stdin"
has err '<stdin, line 4>'
[ "$(printf '4:1' | "$dslc" layout)" = 4:1 ] || fail "a line without its newline"

# Every fact that the frontend is held to comes out of the tool too.
sed -n 's/^\([^#?]*\) -> \([^?]*\)$/\1/p' "$root/tests/frontend/facts/own.facts" >lines
sed -n 's/^\([^#?]*\) -> \([^?]*\)$/\2/p' "$root/tests/frontend/facts/own.facts" >answers
[ "$(wc -l <lines)" -ge 100 ] || fail "the facts were not read"
"$dslc" layout <lines >out 2>err || fail "facts"
same out answers

expect 0 layout --table '(2,3):(3,1)'
cat >table <<'END'
(2,3):(3,1)
  | 0 1 2
--+------
0 | 0 1 2
1 | 3 4 5
END
same out table
expect 0 layout --table 'Sw<3,4,3> o 0 o (8,64):(64,1)'
[ "$(wc -l <out)" = 11 ] || fail "8 rows"
has out '2 | 144 145'
expect 0 layout --table '(2,2):(1@0,1@1)'
has out '1 | (1,0) (1,1)'
expect 0 layout --table '(2,2):(M,1)'
has out '1 |     M M + 1'
expect 1 layout --table '(M,2):(1,2)'
has err 'all extents known'
expect 1 layout --table '1000000'

expect 0 layout --tv 'wgmma<64,16,16>(bf16, bf16, f32)'
has out '((4,8,4),(2,2,2)):((128,1,16),(64,8,512))'
grep -q '^ 8 |  *T0V2  *T0V3  *T1V2' out || fail "row 8 of the fragment"
expect 0 layout --tv 'wgmma<64,16,16>(bf16, bf16, f32) * (2,1,1)'
grep -q '^ 64 | T128V0' out || fail "the second warpgroup begins at row 64"
expect 0 layout --tv 'mma_sync<16,8,8>(tf32, tf32, f32) * (8,1,1)'
has out '(((4,8),8),(2,2)):(((256,1),16),(128,8))'
grep -q '^ 16 |  *T32V0' out || fail "the second warp begins at row 16"
expect 0 layout --tv 'make_layout_tv((4,8):(8,1), (2,2):(2,1))'
grep -q '^7 | T24V2 T24V3' out || fail "the last row of a tiled copy"
expect 0 layout --tv '(2,2):(2,1)'
has out '1 | 2 3'
expect 1 layout --tv '(2,2,2)'
has err 'two modes, threads and values'

expect 0 layout --banks '(8,64):(64,1)'
has out '8 threads, 16 bytes each at a time, 8 threads together: 64 turns of the banks, 8 without' \
	'worst: 8-way, threads 0..7, value 0'
expect 0 layout --banks 'Sw<3,3,3> o (8,64):(64,1)'
has out 'no conflicts'
expect 0 layout --banks --elem=f32 '(32,1):(32,1)'
has out '32 threads, 4 bytes' '32 turns of the banks, 1 without conflicts' 'worst: 32-way'
expect 0 layout --banks --elem=f32 '(32,1):(33,1)'
has out 'no conflicts'
expect 0 layout --banks --elem=f32 '(32,1):(0,1)'
has out 'no conflicts'
expect 1 layout --banks '(M,2)'
expect 1 layout --banks --elem=s4 '(32,4):(4,1)'
has err 'whole bytes'

expect 0 layout --svg a.svg 'Sw<3,3,3> o (128,64):(64,1)'
exists a.svg
has a.svg '<svg xmlns="http://www.w3.org/2000/svg"' '<title>(1,8) -&gt; 64' 'Sw&lt;3,3,3&gt;' \
	'g:hover' '</svg>'
[ "$(grep -c '<title>' a.svg)" = 8192 ] || fail "one hint a cell"
lacks a.svg '<script'
expect 0 layout --svg - 'make_layout_tv((4,8):(8,1), (2,2):(2,1))'
[ "$(head -c 4 out)" = '<svg' ] || fail "a picture on stdout stands alone"
has out 'thread 31, value 3'

expect 2 layout --svg a.svg 4 8
has err '--svg names one picture'
expect 2 layout --svg a.svg
expect 2 layout --table -O2 4
has err '-O is not an option of dslc layout'
expect 2 --table small.gemm
has err '--table is not an option of dslc; dslc layout takes it'
expect 0 --help=layout
has out '--banks' "dslc layout ['EXPR' ...]"

# docs/layouts.md has each operation in the words of the table.
sed -n 's/^LAYOUT_OP(\([a-z_0-9]*\),.*"\(.*\)")$/\1 \2/p' "$root/layout/layout_ops.def" >table
[ "$(wc -l <table)" -ge 60 ] || fail "the table was not read"
while read -r name text; do
	grep -F "\`$name(" "$root/docs/layouts.md" | grep -qF "| $text |" || fail "docs/layouts.md differs on $name: $text"
done <table
