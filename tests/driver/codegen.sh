#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Options that reach the code: -D, -O, -lineinfo, -ffile-prefix-map, --target, ptxas and its limits;
# and that two compilations give the same bytes.
. "$(dirname "$0")/lib.sh"

# reproducible: from another folder, at another time, twice
expect 0 --emit=cubin,ptx,manifest,header,c small.gemm -o a.cubin
mkdir d
(cd d && cp ../small.gemm . && sleep 1 && "$dslc" --emit=cubin,ptx,manifest,header,c small.gemm -o a.cubin)
for e in cubin ptx json h c; do
	same a.$e d/a.$e
done
"$dslc" -ffile-prefix-map="$PWD/=/src/" --emit=cubin,ptx,manifest "$PWD/small.gemm" -o m.cubin
has m.ptx "/src/small.gemm"
has m.json '"source":"/src/small.gemm"'
lacks m.ptx "$PWD"
grep -qF "$PWD" m.cubin && fail "the cubin has the folder in it"
"$dslc" -ffile-prefix-map="$PWD/d=/src" --emit=ptx "$PWD/small.gemm" -o n.ptx
has n.ptx "$PWD/small.gemm"

# -D
expect 0 -S -DbN=32 small.gemm -o -
has out "m64n32k16"
expect 0 -S -D bN=32 -DbN=16 small.gemm -o -
has out "m64n16k16"
lacks out "m64n32k16"

# -O, -lineinfo, --target
expect 0 -O0 small.gemm -o o0.cubin
expect 0 -O3 small.gemm -o o3.cubin
differ o0.cubin o3.cubin
expect 0 -lineinfo small.gemm -o l.cubin
differ l.cubin a.cubin
expect 0 --target=sm_90a small.gemm -o t.cubin
same t.cubin a.cubin
expect 0 --target sm_90a small.gemm -o t.cubin
same t.cubin a.cubin

# what ptxas spills: narrower chunks, as if the schedule said so, else the value that takes the most
cp "$root/tests/e2e/found/spills.gemm" .
expect 0 -Wno-N0401 --emit=cubin,ptx spills.gemm -o s.cubin
has err "note[N0501]: ptxas spilled registers of x: it is compiled with subtile 16"
sed 's/schedule {/& subtile 16;/' spills.gemm >narrow.gemm
expect 0 -Wno-N0401 --emit=ptx narrow.gemm -o n.ptx
sed '/^\/\//d; /\.file/d' s.ptx >s.text
sed '/^\/\//d; /\.file/d' n.ptx >n.text
same s.text n.text
cat >plain.gemm <<'END'
kernel k(X : u16 (M,N):(N,1), s : f32 (M), D : out bf16 (M,N):(N,1))
{
    let gX = X / (64,64), gD = D / (64,64);
    for (m,n) in gD { gD[m,n] <- bf16(relu(f32(gX[m,n]) * s[m])); }
    schedule { threads 32; }
}
END
expect 3 plain.gemm
has err "error[E0504]: k spills" "'X' takes the most, 128 registers of a thread"
sed 's/threads 32/threads 64/' plain.gemm >more.gemm
expect 0 more.gemm

# ptxas: found, missing, failing, too slow
expect 3 --ptxas-path=/nowhere/ptxas small.gemm
has err "error[E0501]: /nowhere/ptxas"
absent small.cubin
(unset DSLC_PTXAS; PATH=/usr/bin:/bin; export PATH; expect 0 -S small.gemm -o -)
printf '#!/bin/sh\necho "ptxas fatal   : Internal error" >&2\nexit 255\n' >failing
printf '#!/bin/sh\nsleep 30\n' >slow
printf '#!/bin/sh\nkill -SEGV $$\n' >crashing
chmod +x failing slow crashing
expect 3 --ptxas-path=./failing small.gemm
has err "error[E05" "Internal error"
absent small.cubin
expect 3 --ptxas-path=./crashing small.gemm
has err "error[E05"
start=$(date +%s)
expect 124 --ptxas-path=./slow --ptxas-timeout=1 small.gemm
[ $(($(date +%s) - start)) -lt 20 ] || fail "the time limit came late"
has err "error[E0503]: ./slow ran for more than 1 s"
absent small.cubin
expect 3 -Xptxas --no-such-option small.gemm
has err "no-such-option"
(DSLC_PTXAS=$PWD/failing; export DSLC_PTXAS; expect 3 small.gemm)
expect 0 -S --ptxas-path=./failing small.gemm -o -

# --emit=sass: nvdisasm next to ptxas comes first; what it prints is the output
expect 0 --version
mkdir tools
ln -s "$(sed -n 's/^ptxas .*(\(.*\))$/\1/p' out)" tools/ptxas
printf '#!/bin/sh\necho "a listing of"; head -c 4 "$2"\n' >tools/nvdisasm
chmod +x tools/nvdisasm
expect 0 --emit=sass --ptxas-path=tools/ptxas small.gemm
has small.sass "a listing of" "ELF"
absent small.cubin
printf '#!/bin/sh\necho half; exit 1\n' >tools/nvdisasm
rm small.sass
expect 1 --emit=sass --ptxas-path=tools/ptxas small.gemm
has err "error[E0605]: tools/nvdisasm could not disassemble the cubin"
absent small.sass

# --report=resources: what the kernel's own description says
expect 0 --report=resources small.gemm -o r.cubin
has err "small: none, 128 threads, cluster 1 x 1 x 1, programmatic dependent launch" \
	"shared memory" "of 232448 bytes of a CTA" "sA" "ab.full" "(M + 63) / 64 * ((N + 63) / 64)"
expect 2 --report=everything small.gemm

# IR changed by hand so that a descriptor has no address: an error with its line, and no output
expect 0 -q --emit=ir small.gemm -o hand.ir
sed '/wgmma %acc/s/ (0, 0/ (8, 0/' hand.ir >odd.ir
cmp -s hand.ir odd.ir && fail "the IR was not changed"
expect 1 odd.ir -o odd.cubin
has err "odd.ir:" "error[E0704]: the byte in %sA is not known to be a multiple of 16"
absent odd.cubin
sed 's/if (1 <= k\.\{0,1\}[0-9]*)/if (9223372036854775807 <= m)/; s/<= m) {/<= cta) {/' hand.ir >large.ir
cmp -s hand.ir large.ir && fail "the IR was not changed"
expect 0 -S --verify=off large.ir -o large.ptx

# long PTX, of which ptxas takes long: a warning before it; the remedy is that of the help
chain()
{
	x=x
	for i in $(seq "$1"); do x="tanh($x)"; done
	printf 'kernel chain(X : f32 (N), D : out f32 (N)) where N %% 8 == 0\n{\n' >chain.gemm
	printf 'let tX = X / %s, tD = D / %s;\nfor i in tD { let x = tX[i]; tD[i] <- %s; }\n}\n' "$2" "$2" "$x" >>chain.gemm
}
printf '#!/bin/sh\nexit 1\n' >never
chmod +x never
chain 30 4096
expect 3 --ptxas-path=./never chain.gemm -o chain.cubin
has err "warning[W0505]: the PTX has" "help: use a smaller tile"
chain 30 256
expect 3 --ptxas-path=./never chain.gemm -o chain.cubin
lacks err "W0505"
