#!/bin/sh
# dslc run without a GPU: what it asks for, and what it says when it cannot run.
. "$(dirname "$0")/lib.sh"

expect 2 run small.gemm --size M=64,N=64
has err "--size does not give K; kernel small takes"
expect 2 run small.gemm --size M=64,N=64,K=64,L=3
has err "kernel small has no size L; it takes"
expect 2 run small.gemm --size M=64,N=64,K=64 --kernel big
has err "the file has no kernel big"
expect 2 run small.gemm --size M=64,N=64,K=64 --arg alpha=2
has err "kernel small has no scalar argument alpha"
cat small.gemm small.gemm | sed '0,/kernel small/s//kernel first/' >two.gemm
expect 2 run two.gemm --size M=64,N=64,K=64
has err "the file has 2 kernels: say which with --kernel"
expect 1 run nothere.gemm --size M=1
has err "error[E0601]"
sed 's/bf16(acc)/bf16(akk)/' small.gemm >bad.gemm
expect 1 run bad.gemm --size M=1
has err "bad.gemm:17:"

DSL_LIBCUDA=/nowhere/libcuda.so.1
export DSL_LIBCUDA
expect 1 run small.gemm --size M=64,N=64 --size K=64
has err "error[E0608]: cannot open device cuda:0" "it was not run" "help:"
empty out
expect 1 run two.gemm --kernel first --size M=64,N=64,K=64 --device cuda:1
has err "error[E0608]: cannot open device cuda:1"
expect 1 run small.gemm --size M=64,N=64,K=64 --device gpu
has err "error[E0608]: cannot open device gpu"
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim
has err "error[E0608]: cannot open device sim"
expect 1 run --time-report --diagnostics=json small.gemm --size M=64,N=64,K=64
has err '"code":"E0608"' "ptxas"
