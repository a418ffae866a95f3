#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Looking inside: --emit=ir:PASS, --print-after, --stop-after, --only, --keep, --time-report, -v, -###;
# and that the IR of every pass is a text which can be taken up where it was left.
. "$(dirname "$0")/lib.sh"

expect 0 --help=passes
has out "tile stage:" "warp stage:" "ptx stage:" "  select " "  sync " "  lower "
passes=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
[ "$(echo "$passes" | wc -w)" = "$(grep -c '^PASS(' "$root/passes/passes.def")" ] || fail "passes are missing"

# The same IR, but for the numbers after fresh names, which a text does not remember.
alike()
{
	sed 's/\.[0-9][0-9]*//g' "$1" >alike.1
	sed 's/\.[0-9][0-9]*//g' "$2" >alike.2
	same alike.1 alike.2
}

# --stop-after, --emit=ir:PASS and --only agree, and continuing from the text gives the same end
expect 0 --emit=ir small.gemm -o end.ir
expect 0 -S small.gemm -o end.ptx
expect 0 --stop-after=frontend small.gemm -o at.frontend.ir
expect 0 --emit=ir:frontend small.gemm -o -
same out at.frontend.ir
for p in $passes; do
	expect 0 --stop-after=$p small.gemm
	cp out at.$p.ir
	expect 0 --emit=ir:$p small.gemm -o -
	same out at.$p.ir
	expect 0 --emit=ir at.$p.ir -o -
	alike out end.ir
	expect 0 --stop-after=frontend at.$p.ir
	same out at.$p.ir
done
before=frontend
for p in $passes; do
	expect 0 --only=$p at.$before.ir
	alike out at.$p.ir
	before=$p
done
expect 1 --only=lower at.frontend.ir
has err "error[E0610]: pass lower does not run on the tile stage"
expect 1 --only=tiles end.ir
has err "error[E0610]"
sed 's/ after=multicast//' at.multicast.ir >lost.ir
expect 1 lost.ir
has err "lost.ir:1:1: error[E0610]: kernel small is at the warp stage, but not after a pass" "after=PASS"
expect 0 --only=roles lost.ir
sed 's/ after=multicast/ after=lower/' at.multicast.ir >lost.ir
expect 1 lost.ir
has err "error[E0610]: kernel small is at the warp stage, but not after lower"
sed 's/ after=simplify//' end.ir >hand.ir
expect 0 -S hand.ir -o -
has out ".visible .entry small"

# --print-after
expect 0 --print-after=select,init small.gemm
has err "# kernel small after select" "# kernel small after init" "mbar.init"
lacks err "after roles"
expect 0 --print-after=all -S small.gemm -o -
same out end.ptx
for p in frontend $passes; do
	has err "# kernel small after $p"
done
expect 0 --print-after frontend small.gemm
has err "kernel small tile"

# --keep
expect 0 --keep=kept small.gemm -o x.cubin
exists kept/small.00-frontend.ir kept/small.01-normal.ir kept/x.ptx kept/x.ll kept/x.json x.cubin
same kept/small.00-frontend.ir at.frontend.ir
same kept/x.ptx end.ptx
mkdir d
expect 0 --keep small.gemm -o d/y.cubin
exists d/y.cubin d/y.ptx d/small.00-frontend.ir
touch file
expect 1 --keep=file/under small.gemm -o z.cubin
has err "cannot make the folder 'file/under'"
absent z.cubin

# --time-report
expect 0 --time-report small.gemm
has err "frontend" "pass  select" "pass  prefetch" "LLVM" "ptxas" "total" "MiB at the peak"
empty out

# -v and -###
expect 0 -v small.gemm -Xptxas -warn-spills
has err "ptxas" "-arch=sm_90a" "-warn-spills" "dslc 0.2.0"
rm -f small.cubin
expect 0 '-###' small.gemm
has err "-arch=sm_90a"
absent small.cubin

# -fsyntax-only
expect 0 -fsyntax-only small.gemm
empty out
absent small.cubin
