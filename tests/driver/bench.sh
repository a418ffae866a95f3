#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc bench, up to where a GPU is needed and, on a stand-in for one, to the end. What its numbers mean
# is tested in numbers.c, what it asks of cuBLASLt in blas.c.
. "$(dirname "$0")/lib.sh"
[ -n "${FAKE_LIBCUDA:-}" ] && [ -n "${FAKE_LIBRARIES:-}" ] || fail "no stand-ins"
export DSL_LIBCUDA FAKE_GPU FAKE_LT DSLC_CUBLASLT DSLC_NVML
FAKE_GPU=right FAKE_LT='' DSLC_CUBLASLT=$FAKE_LIBRARIES DSLC_NVML=$FAKE_LIBRARIES
size=M=100,N=72,K=40

# bench ARGS...: the exit code first
bench()
{
	code=$1
	shift
	expect "$code" bench small.gemm "$@"
}

# ------------------------------------------------------------------ without a GPU
DSL_LIBCUDA=/nowhere/libcuda.so.1
expect 2 bench
has err "no input file"
expect 2 bench small.gemm small.gemm --size $size
has err "dslc bench takes one file, not 2"
bench 2 --size M=64,N=64
has err "--size does not give K; kernel small takes"
bench 2
has err "--size does not give"
bench 2 --size $size,L=3
has err "kernel small has no size L; it takes"
bench 2 --size M=0,N=8,K=8
has err "output D has no elements: there is nothing to time"
expect 1 bench "$root/examples/pick/pick.gemm" --size M=64
has err "error[E0612]"
bench 1 --size $size --kernel big
has err "error[E0313]: there is no kernel big in this file"
for device in sim sim:seed=2; do
	bench 2 --size $size --device $device
	has err "dslc bench needs a GPU: the simulator says what a kernel does, not how long it takes" \
		"dslc run --device sim"
done
for rounds in 0 4 1001 x; do
	bench 2 --size $size --rounds $rounds
	has err "--rounds is a number from 5 to 1000, not '$rounds'"
done
bench 2 --size $size --against cublas
has err "--against does not accept 'cublas'; did you mean 'cublaslt'?"
bench 2 --size $size --csv x --json x
has err "--csv and --json name one file"
bench 2 --size $size --trace x
has err "--trace is not an option of dslc bench"
expect 2 small.gemm --rounds 7
has err "--rounds is not an option of dslc; dslc bench takes it"
expect 2 run small.gemm --size $size --schedules tries.txt
has err "--schedules is a number from 1"

bench 1 --size M=100,N=71,K=40
has err "error[E0606]" "kernel small needs N % 8 == 0, but N = 71"
lacks err E0608
bench 1 --size $size
has err "error[E0608]: cannot open device cuda:0" "1 of 1 candidates compiled; none was timed" "help:"
empty out
bench 1 --size $size --diagnostics=json
has err '"code":"E0608"'
expect 1 bench nothere.gemm --size $size
has err "error[E0601]"
sed 's/bf16(acc)/bf16(akk)/' small.gemm >bad.gemm
expect 1 bench bad.gemm --size $size
has err "bad.gemm:17:"
lacks err E0608
bench 3 --size $size --ptxas-path=/nowhere/ptxas
lacks err E0608

# ------------------------------------------------------------------ the schedules file
bench 1 --size $size --schedules nothere.txt
has err "error[E0601]" "nothere.txt"
printf '# nothing\n\n' >tries.txt
bench 1 --size $size --schedules tries.txt
has err "error[E0630]: tries.txt has no candidate" "help:"
cat >tries.txt <<EOF2
as-is:
four: schedule { roles none; stages 4; }
-O3
typo: -DbQ=3
many: schedule { roles none; stages 40; }
auto: schedule { auto; }
large: -DbM=64 -DbK=7
wide: -DbN=128 schedule { roles cooperative; }
open: -Dschedule="roles none;
EOF2
bench 1 --size $size --schedules tries.txt
has err "tries.txt:3:1: error[E0630]: neither -DNAME=VALUE nor a schedule block" \
	"error[W0201]: -DbQ=3: no const of this name" \
	"tries.txt:4:1: error[E0631]: candidate 'typo' is not timed: it does not compile" \
	"<-Dschedule>:1:22: error[E0211]: 'stages' is 40; it must be in 2..16" \
	"tries.txt:5:1: error[E0631]: candidate 'many' is not timed: it does not compile" \
	"error[E0308]: auto leaves a schedule open, which -D closes" \
	"tries.txt:7:1: error[E0631]: candidate 'large' is not timed" \
	"tries.txt:9:9: error[E0630]: -D takes NAME=VALUE" \
	"3 of 7 candidates compiled; none was timed"
expect 0 --emit=ir:frontend small.gemm -o small.ir
expect 1 bench small.ir --size $size --schedules tries.txt
has err "error[W0601]: 'small.ir' is textual IR: -Dschedule={ roles none; stages 4; } changes nothing"

# A block of several lines makes way; one that is not there is added.
cat small.gemm small.gemm | sed '0,/kernel small/s//kernel first/' >two.gemm
sed -i 's/^    schedule { roles none; }$/    schedule {\n        roles none;\n    } let q = bN + ;/' two.gemm
echo 'four: schedule { stages 4; }' >one.txt
expect 1 bench two.gemm --size $size --schedules one.txt
has err "two.gemm:21:"
sed -i 's/ let q = bN + ;//' two.gemm
expect 2 bench two.gemm --size $size --schedules one.txt
has err "the file has 2 kernels: say which with --kernel"
grep -v schedule small.gemm >plain.gemm
for file in two.gemm plain.gemm; do
	name=small
	echo 'bad: schedule { stages 40; }' >one.txt
	expect 1 bench $file --kernel $name --size $size --schedules one.txt
	has err "'stages' is 40" "candidate 'bad' is not timed"
done
cat small.gemm >other.gemm
sed -i 's/const bM = 64,/const bM = 64, ldd = 0,/' other.gemm

# candidates that do not take the same arguments
sed 's/D : out bf16 (M,N):(N,1)/D : out bf16 (M,N):(P,1)/; s/kernel small/const P = 0;\nkernel small/' small.gemm >fixed.gemm
printf 'a: -DP=80\nb: -DP=96\n' >one.txt
expect 1 bench fixed.gemm --size $size --schedules one.txt
has err "candidate 'b' is not timed: its arguments are not those of the first candidate" \
	"1 of 2 candidates compiled"

# ------------------------------------------------------------------ on a stand-in for a GPU
DSL_LIBCUDA=$FAKE_LIBCUDA
cat >tries.txt <<EOF2
as-is:
five: schedule { roles none; stages 5; }
coop: schedule { roles cooperative; stages 3; }
EOF2
# Between two bursts dslc rests for 0.2 s; these parts rest at the same time.
table()
{
	bench 0 --size $size --rounds 5
	has out "small of small.gemm, M=100 " "Fake GPU, 132 SMs" "sets of buffers take turns" \
		"each result is right in 4 of 4 tiles, on normal random numbers" "   1  as it is "
	lacks out "over this"
	lacks out "not known"
	empty err
}

against_cublaslt()
{
	bench 0 --size $size --rounds 5 --schedules tries.txt --against cublaslt --csv o.csv --json o.json
	has out "cublaslt: version 130101, its heuristics' first: algorithm 60," "time of cublaslt over this" \
		"   3  five " "   4  cublaslt " "steady: fastest as-is, coop: no difference above the noise of" \
		"cublaslt a second time differs from itself by"
	empty err
	[ "$(wc -l <o.csv)" = 11 ] || fail "o.csv has $(wc -l <o.csv) lines"
	has o.csv ",five,schedule { roles none; stages 5; },steady,5,3,"
	has o.json '"schema":"dslc-bench/1"' '"line":3'
}

no_libraries()
{
	DSLC_CUBLASLT=/nowhere/libcublasLt.so DSLC_NVML=/nowhere/libnvidia-ml.so
	bench 1 --size $size --rounds 5 --against cublaslt --csv -
	has err "error[E0632]: cuBLASLt is not timed: libcublasLt.so.13 and .12 cannot be loaded"
	has out "small,M=100 " ",as it is,,steady,5,1,"
	lacks out "TFLOP/s" # the CSV is in the place of the table
	bench 0 --size $size --rounds 5
	has out "clock and power are not known: libnvidia-ml.so.1 cannot be loaded"
}

# What is wrong is not timed; what becomes wrong loses its times.
wrong()
{
	FAKE_GPU=wrong
	bench 1 --size $size --schedules tries.txt
	has err "error[E0607]: coop, normal inputs, seed 1: D[99, 71] is" \
		"tries.txt:2:1: error[E0631]: candidate 'five' is not timed: its result is wrong"
	empty out
	FAKE_GPU=picky
	bench 1 --size $size --rounds 5 --schedules tries.txt
	has err "candidate 'five' is not timed: its result is wrong"
	has out "  as-is " "  coop "
	lacks out "  five "
}

tired()
{
	FAKE_GPU=tired
	bench 1 --size $size --rounds 5
	has err "the times of candidate 'as it is' count for nothing"
	empty out
	bench 1 --size $size --rounds 5 --against cublaslt
	has err "the times of candidate 'as it is' count for nothing"
	has out "   1  cublaslt "
	lacks out "as it is"
}

refused()
{
	FAKE_GPU=refused
	bench 1 --size $size --schedules tries.txt
	has err "error[E0606]" "candidate 'coop' is not timed: it could not be run"
	FAKE_GPU=lost
	bench 1 --size $size --schedules tries.txt
	has err "error[E0606]" "candidate 'as-is' is not timed"
	empty out
}

wrong_cublaslt()
{
	FAKE_LT=wrong
	bench 1 --size $size --rounds 5 --against cublaslt
	has err "error[E0607]: cublaslt, normal inputs" "error[E0632]"
	has out "   1  as it is "
	FAKE_LT=
	bench 1 --size $size --rounds 5 --csv /nowhere/o.csv
	has err "error[E0603]"
}

parts=""
for part in table against_cublaslt no_libraries wrong tired refused wrong_cublaslt; do
	mkdir $part
	cp small.gemm tries.txt $part
	(cd $part && $part) &
	parts="$parts $!"
done
for part in $parts; do
	wait $part || said=1
done
[ -z "${said:-}" ]
