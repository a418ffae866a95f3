#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc tune, on a stand-in for a GPU where a kernel is the slower the more shared memory it has; and
# what is made of FILE.tune.
. "$(dirname "$0")/lib.sh"
[ -n "${FAKE_LIBCUDA:-}" ] && [ -n "${FAKE_LIBRARIES:-}" ] || fail "no stand-ins"
export DSL_LIBCUDA FAKE_GPU DSLC_CUBLASLT DSLC_NVML
FAKE_GPU=right DSLC_CUBLASLT=$FAKE_LIBRARIES DSLC_NVML=$FAKE_LIBRARIES
size=M=100,N=72,K=40
key='Fake GPU; small; K=40,M=100,N=72; '

# six.gemm leaves tiles open, four of them small; all.gemm the schedule too; two.gemm has two kernels.
sed 's/bM = 64, bN = 64,/bM = pick(64, 128), bN = pick(32, 64, 128),/
	s/mma .*;/mma mm = wgmma(bf16, bf16, f32);/; s/roles none;/roles cooperative;/' small.gemm >six.gemm
grep -v schedule six.gemm >all.gemm
cat six.gemm all.gemm | sed '0,/kernel small/s//kernel first/' >two.gemm

# tune FILE CODE ARGS...
tune()
{
	file=$1 code=$2
	shift 2
	expect "$code" tune $file.gemm "$@"
}

# chosen FILE ARGS...: what a compilation says first of its choice, in ./err
chosen()
{
	file=$1
	shift
	expect 0 $file.gemm -S -v -o o.ptx "$@"
}

# ------------------------------------------------------------------ what candidates are
# The model counts the stages that kernels then have, which are the slots of sA.
expect 0 "$root/tests/gpu/picks.gemm" --for M=48,N=4096,K=2048 --for M=3264,N=8192,K=8752 --emit=manifest -o o.json
awk -F: '/"name":"sA"/ { a = 1 } a && /"slots"/ { slots = $2 + 0; a = 0 } /"stages"/ { n++; wrong += $2 + 0 != slots }
	END { exit !(n > 1 && !wrong) }' o.json || fail "other stages than were counted"

# ------------------------------------------------------------------ without a GPU
DSL_LIBCUDA=/nowhere/libcuda.so.1
expect 2 tune
has err "no input file"
expect 2 tune six.gemm six.gemm --size $size
has err "dslc tune takes one file, not 2"
tune six 2 --size $size --device sim
has err "dslc tune needs a GPU: the simulator says"
tune six 2 --size $size --card H200
has err "dslc tune measures on the GPU that it finds: leave out --card"
tune six 2
has err "dslc tune measures at given sizes: --size M=16,N=4096,K=4096"
for top in 1 33 x; do
	tune six 2 --size $size --top $top
	has err "--top is a number from 2 to 32, not '$top'"
done
tune six 2 --size $size --seconds 0
has err "--seconds is a number from 1"
expect 2 six.gemm --top 3
has err "--top is not an option of dslc; dslc tune takes it"
tune six 1 --size M=100,N=72
has err "error[E0612]: the sizes to choose for say nothing of K"
tune small 1 --size $size
has err "error[E0616]: small.gemm leaves nothing open that can be chosen" "help:"
tune nothere 1 --size $size
has err "error[E0601]"
tune six 1 --size $size -o six.gemm
has err "error[E0604]: the output 'six.gemm' is the input"
expect 0 --emit=ir:frontend small.gemm -o small.ir
expect 1 tune small.ir --size $size
has err "error[E0616]: there is no FILE.tune for 'small.ir'"
printf 'M=100, N=x\n' >wrong.txt
tune six 1 --for-many wrong.txt
has err "error[E0615]: wrong.txt, line 1: 'N=x' is no size"
expect 1 tune - --size $size -o x.tune <six.gemm
has err "error[E0616]: there is no FILE.tune for '<stdin>'"
tune two 2 --size $size
has err "several kernels have choices: say which with --kernel"
tune six 1 --size $size
has err "error[E0608]: cannot open device cuda:0" "5 of 5 candidates compiled; none was timed"
absent six.tune small.tune two.tune

# ------------------------------------------------------------------ FILE.tune is read
chosen all --for $size --card "Fake GPU"
lacks err measured
echo "$key"'-DbM=128 -DbN=64 -Dschedule="roles cooperative; cluster (1,2);"; 9.31 us' >all.tune
cp all.tune one.tune
chosen all --for $size --card "Fake GPU"
has err "on Fake GPU, measured: -DbM=128 -DbN=64 -Dschedule=\"roles cooperative; cluster (1,2);\"" \
	"9.31 us when dslc tune measured it" "  estimate "
lacks err warning
expect 0 explain all.gemm --size $size --card "Fake GPU"
has out "on Fake GPU, measured: -DbM=128"
expect 0 all.gemm -MD -c --for $size --card "Fake GPU" -o o.cubin
has o.d "all.tune"
# another GPU, other sizes, another kernel
for other in "--for $size" "--for M=101,N=72,K=40 --card Fake"; do
	chosen all $other
	lacks err measured W0602
done
sed 's/small/large/' one.tune >all.tune
chosen all --for $size --card "Fake GPU"
lacks err measured
# a short name of --card
sed 's/Fake GPU/NVIDIA H200/' one.tune >all.tune
for card in "--card H200" ""; do
	chosen all --for $size $card
	has err "on NVIDIA H200, measured: "
done
chosen all --for $size --card H100
has err "on NVIDIA H100 80GB HBM3: "
# What -D closes, no line closes.
for define in bM=64 small.bM=64 small.schedule="roles cooperative;"; do
	chosen all --for $size "-D$define"
	lacks err measured warning
done
chosen all --for $size -DbK=64
has err measured
# A family is for its sizes too, if it has all of them.
chosen all
has err "for 197 sizes"
chosen all --card H100
has err "for 196 sizes"
sed 's/,N=72//' one.tune >all.tune
chosen all --card "Fake GPU"
has err "for 196 sizes"
# two kernels: a line names one
sed 's/^/-DbK=64 /; s/^.*-DbM/-DbM/; s/^/'"$key"'/' one.tune >two.tune
expect 0 two.gemm -S -v -o o.ptx --for $size --card "Fake GPU"
has err "first for 100 x 72 x 40 on NVIDIA H200: " \
	"measured: -Dsmall.bM=128 -Dsmall.bN=64 -Dsmall.schedule=\"roles cooperative; cluster (1,2);\""

# ------------------------------------------------------------------ stale lines
# stale SED: the line, so changed, is no candidate
stale()
{
	sed "$1" one.tune >all.tune
	expect 0 all.gemm -S -v --for $size --card "Fake GPU" -o o.ptx
	has err "all.tune:1:1: warning[W0602]: all.gemm does not take this any more" "run dslc tune again" \
		"on NVIDIA H200: "
}
stale 's/bN=64/bN=96/'
stale 's/bN=64/bQ=64/'
stale 's/-DbM=128 //'
stale 's/-DbM=128/-DbM=128 -DbK=64/'
stale 's/cooperative;/lazy;/'
stale 's/ -Dschedule=".*"//'
expect 1 all.gemm -S --for $size --card "Fake GPU" -Werror=W0602 -o none.ptx
has err "error[W0602]"
absent none.ptx
# what the source offers, but the compiler refuses: 8 stages of these tiles do not fit
sed 's/ab(3)/ab(8)/' all.gemm >deep.gemm
sed 's/bN=64/bN=128/; s/cluster (1,2);/persistent;/; s/; persistent/; persistent/' one.tune >deep.tune
expect 0 deep.gemm -S -v --for $size --card "Fake GPU" -o o.ptx
has err "deep.tune:1:1: warning[W0602]"

# ------------------------------------------------------------------ wrong lines
# wrong LINE
wrong()
{
	{ cat one.tune; printf '\n%s\n' "$1"; } >all.tune
	expect 1 ${2:-} all.gemm --for $size
	has err "all.tune:3:1: error[E0617]: this is no line of dslc tune" "help: delete it and run dslc tune again"
}
wrong '<<<<<<< HEAD'
wrong '<<<<<<< HEAD' tune
wrong '<<<<<<< HEAD' check
cp all.tune small.tune
expect 0 small.gemm -S -o o.ptx # leaves nothing open
wrong "$key"'-DbM=64'
wrong "$key"'-DbM=64; 3 ms'
wrong "$key"'-DbM=64; 0 us'
wrong "$key"'; 3 us'
wrong "$key"'bM=64; 3 us'
wrong "$key"'-DbM=; 3 us'
wrong "$key"'-Dschedule="roles; 3 us'
wrong 'Fake GPU; small; K=x; -DbM=64; 3 us'
wrong 'Fake GPU; small; -DbM=64; 3 us'
rm all.tune small.tune
mkdir all.tune
expect 1 all.gemm -S -o o.ptx --for $size
has err "error[E0601]: cannot read 'all.tune'"
rmdir all.tune

# ------------------------------------------------------------------ on a stand-in for a GPU
DSL_LIBCUDA=$FAKE_LIBCUDA
# Between two bursts dslc rests for 0.2 s; these parts rest at the same time.
best()
{
	printf '%s\n' 'Another GPU; small; K=1,M=1,N=1; -DbM=1; 1.00 us' "$key"'-DbM=128 -DbN=128; 1.00 us' >six.tune
	tune six 0 --size $size --rounds 5 --top 3 --against cublaslt
	has out "small of six.gemm, M=100 " "Fake GPU, 132 SMs" "candidate 1: -DbM=128 -DbN=128" \
		"candidate 2: -DbM=64 -DbN=32" "estimate        us" "   1  2  " "   3  1  " "time of cublaslt over this"
	empty err
	has six.tune 'Another GPU; small; K=1,M=1,N=1; -DbM=1; 1.00 us' "$key"'-DbM=64 -DbN=32; 29.'
	[ "$(wc -l <six.tune)" = 2 ] || fail "six.tune has $(wc -l <six.tune) lines"
	expect 0 run six.gemm --size $size
	has out "small for 100 x 72 x 40 on Fake GPU, measured: -DbM=64 -DbN=32"
	echo 'x: -DbK=64' >tries.txt
	expect 1 bench six.gemm --size M=100,N=71,K=40 --schedules tries.txt
	has err "error[E0619]: small cannot be launched at the sizes to choose for: where N % 8 == 0"
}

# Several sizes; where none is faster above the noise, the model's first stays.
several()
{
	printf 'M=64, N=64, K=64\n' >sizes
	tune all 0 --for $size --for-many sizes --rounds 5 --top 2 -o here.tune
	absent all.tune
	has here.tune "${key}-DbM=" 'Fake GPU; small; K=64,M=64,N=64; -DbM='
	[ "$(head -n 1 here.tune)" != "${key#Fake}" ] && sort -c here.tune || fail "here.tune is not sorted"
	tune two 0 --kernel small --size $size --rounds 5 --top 2
	has out "candidate 1: -DbM="
	has two.tune "${key}-DbM="
}

# A candidate that takes its process or the GPU with it is left out.
dying()
{
	for how in dies lost_large; do
		FAKE_GPU=$how
		rm -f six.tune
		tune six 1 --size $size --rounds 5
		has out "candidate 1: -DbM=64 -DbN=32"
		lacks out "candidate 3: "
		has six.tune "$key-DbM=64 -DbN=32; 29."
		has err "candidate 3 is not timed: " "candidate 5 is not timed: " \
			"the others are measured again"
	done
	has err "3 is not timed: it lost the GPU" "candidates:3:1: error[E0631]"
	FAKE_GPU=lost
	rm six.tune
	tune six 1 --size $size --top 2
	absent six.tune
	empty out
}

hanging()
{
	FAKE_GPU=hangs
	tune six 1 --size $size --rounds 1000 --seconds 1 --top 3
	has err "candidate 3 is not timed: it does not end; the others"
	has out "   1  1  "
	lacks out "steady: 1000"
	has six.tune "$key-DbM=64 -DbN=32; 29."
}

nothing()
{
	FAKE_GPU=wrong
	tune six 1 --size $size --top 2
	has err "error[E0607]: 1, normal inputs" "candidates:1:1: error[E0631]: candidate '1' is not timed: its result is wrong"
	absent six.tune
	FAKE_GPU=right
	tune six 1 --size $size --top 2 --rounds 5 -o /nowhere/six.tune
	has err "error[E0603]: cannot write '/nowhere/six.tune'"
}

parts=""
for part in best several dying hanging nothing; do
	mkdir $part
	cp ./*.gemm $part
	(cd $part && $part) &
	parts="$parts $!"
done
for part in $parts; do
	wait $part || said=1
done
[ -z "${said:-}" ]
