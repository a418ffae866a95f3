#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What people type who know other languages: each line has an edit of a right program, by sed, that makes it so, what the
# help then says, and the edit that the help asks for, after which the program has no message.
#   habits.sh DSLC SCRATCH
set -eu
dslc=$1 scratch=$2
mkdir -p "$scratch"
cat >"$scratch/right.gemm" <<'END'
kernel gemm(A : f16 (M,K):(K,1), B : f16 (N,K):(K,1), D : out f16 (M,N):(N,1))
    where K % 64 == 0
{
    let gA = A / (128,64), gB = B / (128,64), gD = D / (128,128);
    mma mm = wgmma<64,128,16>(f16, f16, f32) * (2,1,1);
    smem sA : f16 (128,64), sB : f16 (128,64);
    pipeline ab(4) { sA, sB }
    for (m,n) in gD {
        acc : f32 mm.C(128,128) = 0;
        for k in gA[m] {
            sA <- gA[m,k];
            sB <- gB[n,k];
            acc += mm(sA, sB);
        }
        gD[m,n] <- f16(acc);
    }
    schedule { roles cooperative; persistent on; stages 4; }
}
END
fail()
{
	echo "$wrong: $*"
	cat "$scratch/err"
	exit 1
}
n=0
while IFS='@' read -r wrong help mend; do
	n=$((n + 1))
	sed "$wrong" "$scratch/right.gemm" >"$scratch/wrong.gemm"
	! cmp -s "$scratch/right.gemm" "$scratch/wrong.gemm" || fail "nothing was edited"
	! "$dslc" -fsyntax-only "$scratch/wrong.gemm" 2>"$scratch/err" || fail "it compiles"
	grep -F "help: " "$scratch/err" | head -n 1 | grep -qF "$help" || fail "not the help: $help"
	sed "$mend" "$scratch/wrong.gemm" >"$scratch/mended.gemm"
	"$dslc" -fsyntax-only "$scratch/mended.gemm" 2>"$scratch/err" || fail "the remedy does not compile"
	[ ! -s "$scratch/err" ] || fail "the remedy has messages"
done <<'END'
s/for k in gA.m./for (k = 0; k < K; k++)/@for k in gA[m] and for k in 0 .. n@s/for (k .*)/for k in gA[m]/
s/for k in gA.m./for (int k = 0; k < K; k++)/@for k in gA[m] and for k in 0 .. n@s/for (int .*)/for k in 0 .. K \/ 64/
s/for k in gA.m./for k = 0, K/@for k in gA[m] and for k in 0 .. n@s/for k = .*K/for k in gA[m]/
s/^kernel/def/@a kernel is kernel f(A : bf16@s/^def/kernel/
s/^kernel/__global__ void/@a kernel is kernel f(A : bf16@s/^__global__ void/kernel/
1s/^/import triton;/@leave it out@s/^import triton;//
s/acc += .*/& __syncthreads();/@leave it out: barriers are derived@s/__syncthreads();//
s/A : f16 (M,K):(K,1)/f16 A[M][K]/@first, then type, shape and strides: A : f16 (M,K):(K,1)@s/f16 A.M..K./A : f16 (M,K):(K,1)/
s/A : f16 (M,K):(K,1)/A : f16[M,K]/@first, then type, shape and strides: A : f16 (M,K):(K,1)@s/f16.M,K./f16 (M,K):(K,1)/
s/A : f16 (M,K):(K,1)/A : f16 */@first, then type, shape and strides: A : f16 (M,K):(K,1)@s/f16 [*]/f16 (M,K):(K,1)/
s/smem sA :/smem f16 sA/;s/sA f16/sA/@the name comes first@s/f16 sA/sA : f16/
s/K % 64 == 0/K = 128/@where K == 128@s/K = 128/K == 128/
s/stages 4/num_stages 4/@write stages 4@s/num_stages 4/stages 4/
s/stages 4/stages = 4/@a clause is a word and its values: stages 4;@s/stages = 4/stages 4/
s/stages 4/num_warps 8/@leave it out: warps follow from the mma@s/num_warps 8;//
s/stages 4/num_ctas 2/@write cluster (2,1)@s/num_ctas 2/cluster (2,1)/
s/roles cooperative/warp_specialize/@write roles cooperative@s/warp_specialize/roles cooperative/
s/persistent on/persistent true/@write on in a schedule@s/true/on/
s/persistent on/persistent False/@write off in a schedule@s/False/off/
s/persistent on/maxnreg 232/@write roles cooperative { producer 1 warp regs 40; consumer 2 warpgroups regs 232; }@s/roles coop.*/roles cooperative { producer 1 warp regs 40; consumer 2 warpgroups regs 232; } }/
END
[ $n = 20 ] || fail "$n lines"
