#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the driver makes of a source that leaves tile and schedule open: for which sizes, what is said of it, and what is refused.
. "$(dirname "$0")/lib.sh"
cp "$root/examples/pick/pick.gemm" open.gemm

# defines SIZE...: what is chosen for it, without the sizes
defines()
{
	"$dslc" check -v open.gemm --for "$1" --card H200 2>&1 | sed -n 's/^gemm for .* on [^:]*: //p'
}

# ------------------------------------------------------------------ sizes decide
few=$(defines M=16,N=4096,K=4096) many=$(defines M=4096,N=4096,K=4096)
case $few in *bK=128*swap*) ;; *) fail "16 rows: $few" ;; esac
case $many in *swap*) fail "4096 rows: $many" ;; *bK=64*persistent*) ;; *) fail "4096 rows: $many" ;; esac
[ "$few" = "$(defines K=4096,N=4096,M=16)" ] || fail "the order of sizes changes what is chosen"
[ "$few" != "$(defines M=1,N=1024,K=65536)" ] || fail "1 x 1024 x 65536 is chosen for like 16 x 4096 x 4096"

# five lines, and the same kernel as its defines make
expect 0 check -v open.gemm --for M=16,N=4096,K=4096
has err "estimate" "a step of k takes" "tiles, 1 on the busiest SM" "next: " "memory"
expect 0 -q -S open.gemm --for M=16,N=4096,K=4096 -o chosen.ptx
eval "expect 0 -q -S open.gemm $few -o given.ptx"
grep -v '^	*\.\(file\|loc\)\|"open' chosen.ptx >a
grep -v '^	*\.\(file\|loc\)\|"open' given.ptx >b
cmp a b || fail "what is chosen is not what its defines make"

# of two products the model counts the columns of both; what is said are the sizes that were named
sed '/schedule/d' "$root/examples/gallery/swiglu.gemm" >twice.gemm
expect 0 check -v twice.gemm --for M=4096,N=4096,K=4096
has err "swiglu for M=4096,N=4096,K=4096 on NVIDIA H200"

# groups count as equal: of 4096 rows in 8 groups each has 512, of rows that are summed too; with a fixed capacity each may have all
for case in "grouped M=4096,N=14336,K=4096,G=8 2400" "capacity M=4096,N=14336,K=4096,G=8 28672" \
	"wgrad N=14336,T=4096,K=4096,G=8 28672"; do
	set -- $case
	awk -v file="<!-- file: $1.gemm -->" '$0 == file { mine = 1 } /^```/ { if (on) exit; on = mine; next } on' "$root/docs/book/groups.md" >"$1.gemm"
	sed -i 's/pick(64, 128)/128/; s/pick(64, 128, 192)/192/' "$1.gemm"
	expect 0 check -v "$1.gemm" --for "$2"
	has err "  $3 tiles, " " for $2 on NVIDIA H200"
done
for us in $(sed -n 's/^  estimate \([0-9]*\).*/\1/p' err); do
	[ "$us" -lt 1600 ] || fail "the gradient of weights counts all rows for each group: $us us"
done

# what is written is kept
expect 0 check -v open.gemm -DbM=128 --for M=16,N=4096,K=4096
lacks err "bM="
sed 's/^}/    schedule { auto; cluster (2,1); roles cooperative; }\n}/' open.gemm >kept.gemm
expect 0 kept.gemm -q --emit=ir --stop-after=frontend -o kept.ir
expect 0 check -v kept.gemm --for M=4096,N=4096,K=4096
lacks err pingpong "cluster ("
expect 0 check -v kept.gemm --for M=96,N=18944,K=8952
lacks err "cluster ("
# nor is a clause of -D less than one of the source: what it omits is chosen
expect 0 check -v open.gemm -Dschedule="auto; cluster (2,1);" --for M=4096,N=4096,K=4096
has err 'schedule="roles'
lacks err "cluster ("
expect 0 -q --emit=ir open.gemm -Dschedule="auto; cluster (2,1);" --for M=4096,N=4096,K=4096 -o kept.ir
has kept.ir "cluster=(2,1)" roles=cooperative
# with a split of the source, clusters of more CTAs than run together are no candidates; nor is what split_k refuses
for clauses in "split_k 4" "split_k 16" "split_k 4; sums workspace" "cluster (8,1)"; do
	sed "s/^}/    schedule { auto; $clauses; }\n}/" open.gemm >split.gemm
	expect 0 check -v split.gemm
	lacks err W0604
	has err 'schedule="roles'
	lacks err nan
done

# ------------------------------------------------------------------ families
expect 0 -v --emit=manifest,ir open.gemm -o family
has err "variants for 196 sizes on NVIDIA H200" "gemm__2: -DbM="
has family.json '"family":"gemm"' '"symbol":"gemm__2"'
n=$(grep -c '"family":"gemm"' family.json)
[ "$n" -gt 3 ] && [ "$n" -le 16 ] || fail "$n variants"
# what every launch takes needs no workspace
sed 's/(M,K):(K,1), B : bf16 (N,K):(K,1), D : out bf16 (M,N):(N,1)/(128,65536):(65536,1), B : bf16 (256,65536):(65536,1), D : out bf16 (128,256):(256,1)/
	s/pick(8 .. 256 by 8)/128/g' open.gemm >long.gemm
expect 0 check -v long.gemm
has err "1 variant for 196 sizes" "split_k"
lacks err workspace
# each variant is the kernel that its cost is of; slots of 16 KiB are small, whatever their barriers take
sed 's/^}/    schedule { roles cooperative; }\n}/' open.gemm >written.gemm
expect 0 --emit=manifest written.gemm -DbM=64 -DbK=64 "-DbN=pick(64, 256)" --for M=64,N=64,K=8192 --for M=4096,N=8192,K=4096 -o small.json
has small.json '"stages":14'
python3 - family.json small.json <<'END' || fail "a variant is not what its cost says"
import json, re, sys
cluster = dict(re.findall(r"^kernel (\w+) .*cluster=\((\d+,\d+)", open("family.ir").read(), re.MULTILINE))
family, small = (json.load(open(file))["kernels"] for file in sys.argv[1:])
kernels = family + small
seen = set()
for k in kernels:
    c, grid = k["cost"], " ".join(map(str, k["grid"]))
    for tile, size in ((c["tile_m"], "M"), (c["tile_n"], "N")):
        assert f"{size} {tile - 1} + {tile} /" in grid, (k["symbol"], grid, c)
    ctas = c["cluster_m"] * c["cluster_n"] * (1 if c["workspace"] else c["split"])
    assert k in small or cluster.get(k["symbol"], "1,1") == f'{c["cluster_m"]},{c["cluster_n"]}', (k["symbol"], c)
    x, y, z = k["cluster"]
    assert x * y * z == ctas, (k["symbol"], k["cluster"], c)
    assert c["stages"] == next(b["slots"] for b in k["smem_map"] if b["name"] == "sA"), k["symbol"]
    assert k["schedule"] == ("none", "cooperative", "pingpong")[c["roles"]], k["symbol"]
    seen.add(tuple(c.values()))
assert len(seen) == len(kernels)
END
printf 'M=16,N=4096,K=4096 # few\n\nM=4096, N=4096, K=4096\n' >sizes
expect 0 -v --emit=manifest open.gemm --for-many sizes -o two.json
has err "2 variants for 2 sizes"
expect 0 -v --emit=manifest open.gemm --for M=16,N=4096,K=4096 --for M=4096,N=4096,K=4096 -o same.json
cmp two.json same.json || fail "--for twice is not --for-many"
sed 's/pick(8 .. 256 by 8)/128/g; s/pick(64, 128)/64/' open.gemm >schedule.gemm
expect 0 -v --emit=manifest schedule.gemm -o one.json
has err "1 variant for 196 sizes"
has one.json '"family":"gemm"' '"symbol":"gemm"' # for the estimate
lacks one.json gemm__ KP_WORK '"kind":"work"'

# two kernels, each for its own sizes of the same names
sed 's/kernel gemm/kernel more/; 1d' open.gemm | cat open.gemm - >both.gemm
expect 0 check -v both.gemm --for M=16,N=4096,K=4096
has err "gemm for 16 x 4096 x 4096" "more for 16 x 4096 x 4096" "-Dgemm.bM=" "-Dmore.bM="
# several variants of each: of the other kernel, the first values are not legal
sed 's/pick(8 .. 256 by 8)/pick(8, 64, 128)/g' both.gemm >few.gemm
expect 0 check -v few.gemm
has err "gemm__2: -Dgemm.bM=" "more__2: -Dmore.bM="
# of sizes of other names: all at once, or for one kernel, which is compiled alone
sed 's/kernel gemm/kernel more/; 1d; s/\<K\>/L/g; s/\<N\>/P/g' open.gemm | cat open.gemm - >other.gemm
expect 1 check other.gemm --for M=16,N=4096,K=4096
has err "error[E0612]: the sizes to choose for say nothing of P, L, which more has" "add P=4096,L=4096; or choose for one kernel"
expect 0 check -v other.gemm --for M=16,N=4096,K=4096,P=64,L=64
has err "gemm for 16 x 4096 x 4096" "more for 16 x 64 x 64"
expect 0 -q -S other.gemm --for M=16,P=64,L=64 --kernel more -o -
has out ".entry more"
lacks out gemm__ "entry gemm"
expect 0 run other.gemm --kernel more --size M=16,P=64,L=64
expect 0 --stop-after=frontend other.gemm -o other.ir
expect 0 -q -S other.ir --kernel more -o -
lacks out "entry gemm"
for file in other.gemm other.ir; do
	expect 1 check $file --kernel none
	has err "error[E0313]: there is no kernel none in this file"
done
# a pick outside of kernels has one value: that of the first kernel with choices of its own
{
	echo 'const bM = pick(64, 128), bX = pick(32, 64);'
	echo 'kernel doubled(X : f32 (P), Y : out f32 (P)) { let x = X / bX, y = Y / bX; for i in y { y[i] <- 2 * x[i]; } }'
	sed 's/bM = pick(8 .. 256 by 8), //' both.gemm
} >outer.gemm
expect 0 check -v outer.gemm --for M=4096,N=4096,K=4096
has err "gemm for 4096 x 4096 x 4096 on NVIDIA H200: -DbM=128 -DbX=32 -Dgemm.bN=256" "H200: -Dmore.bN=256"
[ "$(grep -cF "$(grep -m 1 estimate err)" err)" = 2 ] || fail "more has another bM than gemm"
lacks err "warning"
expect 0 --emit=manifest outer.gemm -o outer.json
python3 -c 'import json; assert len({k["cost"]["tile_m"] for k in json.load(open("outer.json"))["kernels"] if "cost" in k}) == 1' || fail "two values of bM"
expect 0 check -v outer.gemm --kernel doubled
has err "doubled: legal values, as the model does not know what it computes" # it has no roles
lacks err warning

# ------------------------------------------------------------------ what is refused
expect 1 check open.gemm --for M=16
has err "E0612" "say nothing of N, K, which gemm has" "add N=4096,K=4096"
sed 's/D : out bf16 (M,N):(N,1))/& where M >= 64, K % 64 == 0, M * N < 100000000/' open.gemm >where.gemm
for size in "M=16,N=64,K=64 M >= 64" "M=64,N=64,K=65 K % 64 == 0" "M=65536,N=65536,K=64 M * N < 100000000"; do
	expect 1 check where.gemm --for "${size%% *}"
	has err "error[E0619]: gemm cannot be launched at the sizes to choose for: where ${size#* }" "name sizes for which this holds"
done
expect 0 check where.gemm --for M=64,N=64,K=64
expect 0 check open.gemm --for M=16,N=4096,K=4096 --card B200
has err "warning[W0605]: the cost model does not know 'B200', and chooses as for an NVIDIA H200" "NVIDIA H200, NVIDIA H100 80GB HBM3"
expect 0 check open.gemm --for M=16,N=4096,K=4096 --card H100
lacks err warning
expect 1 check open.gemm --for M=16,N=4096,K=4096,Q=1
has err "E0612" "give Q, which no kernel here has"
echo "M=16, N=many" >wrong
expect 1 check open.gemm --for-many wrong
has err "error[E0615]: wrong, line 1: 'N=many' is no size" "write a line as M=16, N=4096, K=4096"
echo "M=16, N=4096, K=4096, M=16" >wrong
expect 1 check open.gemm --for-many wrong
has err "error[E0615]: wrong, line 1: M is given twice"
echo "# nothing" >none
expect 1 check open.gemm --for-many none
has err "error[E0615]: none has no sizes"
expect 1 check open.gemm --for-many missing
has err E0601
sed 's/bM = pick(8 .. 256 by 8)/bM = pick(100, 128)/' open.gemm >illegal.gemm
expect 0 check illegal.gemm --for M=512,N=512,K=512
has err "warning[W0603]: gemm: no kernel comes of bM = 100" "leave out what does not fit the mma"
sed 's/bM = pick(8 .. 256 by 8)/bM = pick(100, 101)/' open.gemm >never.gemm
expect 1 check never.gemm --for M=512,N=512,K=512
has err "error[E0303]"
sed 's/bK = pick(64, 128)/bK = pick(16 .. 128 by 16)/' open.gemm >many.gemm
expect 1 check many.gemm --for M=512,N=512,K=512
has err "error[E0618]: the picks of gemm come to 8192 combinations, and 4096 are looked at" "close one: -DbM=8"
expect 0 check many.gemm --for M=512,N=512,K=512 -DbM=64

# the error that counts is that of the program, not of the first tile
sed 's/mm(sA, sB)/mm(sA, sC)/' open.gemm >name.gemm
expect 1 check name.gemm
has err "error[E0201]: unknown name 'sC'"
lacks err E0303
# and what the target lacks counts more than any tile
expect 1 check open.gemm --target=sm_80
has err "error[E0304]: sm_80 has no wgmma"
expect 1 check open.gemm -Dschedule="stages 99;"
has err "<-Dschedule>:1:"
names=$(seq -s ', ' -f 'p%.0f = pick(1, 2)' 9)
sed "s/const bM/const $names, bM/; s/sA <-/let all = p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9; sA <-/" open.gemm >nine.gemm
expect 1 check nine.gemm
has err "error[E0618]: the picks of gemm come to 1048576 combinations" "close one: -D"
expect 0 check nine.gemm -DbM=64 -DbN=64 --for M=512,N=512,K=512
# a kernel of two loops is no product that the model knows: legal values, and warps that load
sed 's/bM = pick(8 .. 256 by 8)/bM = pick(32, 64)/; s/^        gD/        for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n&/' open.gemm >two.gemm
expect 0 check -v two.gemm
has err "gemm: warps that load"
# nor is one of which it counts all operands of four products as one stage
sed '/schedule/d' "$root/examples/gallery/attention_gradient_kv.gemm" >four.gemm
expect 0 check -v four.gemm
has err "keys: warps that load"
# no schedule compiles: the first candidate and its error; of a kernel without buffers none is open
sed "s/^{/target sm_80 where K % 8 == 0 {/; s/pick(8 .. 256 by 8)/256/; s/pick(8 .. 256 by 8)/128/; s/bK = pick(64, 128)/bK = 32/; s/wgmma(bf16, bf16, f32)/mma_sync<16,8,16>(bf16, bf16, f32) * (4,2,1)/" open.gemm >full.gemm
expect 0 check -q full.gemm
has err "warning[W0604]: gemm: no schedule that was tried compiles, and clauses have their defaults; with -Dschedule=\"roles cooperative;" \
	": E0304, sm_80 has no clusters" "correct this, or write schedule { roles none; }"
sed 's/acc += mm(sA, sB)/acc += mm(gA[m,k], gB[n,k])/; /smem\|pipeline\|sA <-\|sB <-/d' full.gemm >direct.gemm
expect 0 check -v direct.gemm
lacks err W0604 "gemm: n" "gemm: 1 variant"
