#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which files are written, under which names, and that they are whole or not there at all.
. "$(dirname "$0")/lib.sh"

# names
expect 0 small.gemm
empty err
expect 0 -v small.gemm
has err "small: verified for all M, K and N: no hang, no race on slots, bytes as announced"
tail -n 1 err | grep -q ": verified " || fail "what was proved is not said last"
sed 's/\bM\b/Rows/g; s/\bN\b/Cols/g; s/\bK\b/Depth/g' small.gemm >names.gemm
expect 0 check names.gemm
has err "small: verified for all Rows, Depth and Cols: "
rm names.gemm
expect 1 -v small.gemm -o nowhere/x.cubin
lacks err ": verified "
expect 0 -q small.gemm
exists small.cubin
empty out
empty err
mkdir d
expect 0 small.gemm -o d/x.bin
same d/x.bin small.cubin
expect 0 -c small.gemm -od/y
same d/y small.cubin
cp small.gemm d/two.gemm
expect 0 -S small.gemm d/two.gemm
exists small.ptx d/two.ptx
expect 0 -S small.gemm -o -
cp out s.ptx
same s.ptx small.ptx
has s.ptx ".visible .entry small" "sm_90a" "wgmma"
expect 0 --emit=ptx,llvm,manifest,ir,header,c,ast small.gemm -o d/all
exists d/all.ptx d/all.ll d/all.json d/all.ir d/all.h d/all.c d/all.ast
absent d/all d/all.cubin
same d/all.ptx small.ptx
has d/all.ll "define"
has d/all.json '"kernels"' '"source":"small.gemm"'
has d/all.h "small_launch" "small_can_run"
has d/all.c "const unsigned char small_cubin["
has d/all.ir "kernel small ptx sm_90a"
expect 0 --emit=ptx --emit=ir:tiles,cubin small.gemm -o d/some.ptx
exists d/some.ptx d/some.tiles.ir d/some.cubin
has d/some.tiles.ir "kernel small tile"
expect 0 --emit=ir:frontend small.gemm -o -
has out "kernel small tile" "grid m, n"

# stdin and stdout
"$dslc" -S - -o - <small.gemm >out 2>err || fail "stdin"
has out ".visible .entry small"
"$dslc" - <small.gemm >c.bin || fail "a cubin to a pipe"
head -c 4 c.bin | grep -q ELF || fail "stdout got no ELF file"
expect 0 --emit=ir:frontend small.gemm -o f.text
"$dslc" -x ir -S - <f.text >x.ptx || fail "-x ir"
has x.ptx ".visible .entry small"
expect 1 -x ir small.gemm
has err "error[E07"

# textual IR is taken wherever a .gemm is
cp f.text f.ir
expect 0 -S f.ir -o -
has out ".visible .entry small"
expect 1 --emit=ir f.ir
has err "error[E0604]: the output 'f.ir' is the input" "name another with -o"
same f.ir f.text
expect 0 -x gemm -S small.gemm -o -
expect 1 -fsyntax-only -x gemm f.ir
has err "error[E01"

# -I
mkdir inc
mv d/two.gemm inc/found.gemm
expect 1 found.gemm
has err "error[E0601]: cannot read 'found.gemm': No such file or directory"
expect 0 -I d -I inc found.gemm
exists inc/found.cubin

# inputs and outputs that cannot be
expect 1 d
has err "error[E0601]: cannot read 'd': Is a directory"
expect 1 small.gemm -o nowhere/x.cubin
has err "error[E0603]: cannot write 'nowhere/x.cubin': No such file or directory"
absent nowhere
expect 1 small.gemm -o d
has err "error[E0603]: cannot write 'd': Is a directory"
expect 1 small.gemm -o small.gemm
has err "error[E0604]"
same small.gemm "$here/small.gemm"
head -c 68000000 /dev/zero >huge.gemm
expect 1 huge.gemm
has err "error[E0602]: 'huge.gemm' is larger than 64 MiB"
rm huge.gemm
expect 0 -S small.gemm -o /dev/null
"$dslc" -S small.gemm -o - >/dev/full 2>err && fail "a full disk is no success"
has err "cannot write '-': No space left on device"
"$dslc" --help >/dev/full 2>err && fail "a full disk is no success"
has err "cannot write to stdout"

# whole or not at all: the old file stays, nothing temporary is left, links and modes are kept
echo old >d/keep
sed 's/gD\[m,n\] <- bf16(acc)/gD[m,n] <- bf16(nothing)/' small.gemm >bad.gemm
expect 1 bad.gemm -o d/keep
[ "$(cat d/keep)" = old ] || fail "a failed compilation touched its output"
ls -a d >listing
lacks listing ".tmp"
ln -s real.cubin link.cubin
expect 0 small.gemm -o link.cubin
[ -L link.cubin ] || fail "the link was replaced"
same real.cubin small.cubin
(umask 027; expect 0 -S small.gemm -o mode.ptx)
[ "$(stat -c %a mode.ptx)" = 640 ] || fail "umask: $(stat -c %a mode.ptx)"
expect 1 small.gemm -o /proc/small.cubin
has err "error[E0603]: cannot write '/proc/small.cubin'"

# several inputs: all are compiled, the worst code is given
expect 1 -S bad.gemm small.gemm
has err "bad.gemm:"
rm -f small.ptx
expect 1 -S nothere.gemm small.gemm
exists small.ptx
