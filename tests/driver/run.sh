#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc run without a GPU: what it asks for, and what it says when it cannot run.
. "$(dirname "$0")/lib.sh"

expect 2 run small.gemm --size M=64,N=64
has err "--size does not give K; kernel small takes"
expect 2 run small.gemm --size M=64,N=64,K=64,L=3
has err "kernel small has no size L; it takes"
expect 1 run small.gemm --size M=64,N=64,K=64 --kernel big
has err "error[E0313]: there is no kernel big in this file"
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
expect 1 run small.gemm --size M=64,N=64 --size K=64 --device cuda:0
has err "error[E0608]: cannot open device cuda:0" "the kernel compiled and ptxas accepted it; it was not run" "help:"
empty out
expect 0 run small.gemm --size M=64,N=64 --size K=64
has out "no GPU" "on the simulator" "(all 1 of 1 tiles) equal in every bit"
ends "small: right as the source says: integers and normal numbers, 1 of 1 tiles, largest error"
empty err
for numbers in integers normal; do
	expect 0 run small.gemm --size M=64,N=64,K=64 --device sim --numbers $numbers
	[ "$(wc -l <out)" = 2 ] || fail "it ran on more than $numbers"
	has out "small: $numbers: D: 4096 elements"
	ends "small: right as the source says: $(echo $numbers | sed 's/normal/normal numbers/'), 1 of 1 tiles, largest error"
done
expect 2 run small.gemm --size M=64,N=64,K=64 --numbers odd
has err "--numbers does not accept 'odd'"
expect 2 run small.gemm --size M=64,N=64,K=64 --numbers integers --in A=a.npy
has err "--in says what it runs on: leave out --numbers"
expect 0 run small.gemm --size M=65,N=72,K=40 --device sim --schedules 3 --checks=all,-exit --trace t.json
has out "(all 4 of 4 tiles) equal in every bit"
ends "small: right as the source says: integers and normal numbers, 3 schedules, 4 of 4 tiles, largest error"
[ "$(grep -c right out)" = 1 ] || fail "more than one summary"
grep -q '"ph":"X"' t.json || fail "the trace has no spans"
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim --trace /dev/full
has err "the file cannot be read or written: small: /dev/full cannot be written: No space left on device"
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim --trace nowhere/t.json
has err "nowhere/t.json cannot be written: No such file or directory"
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim --checks=everything
has err "error[E0608]: cannot open device sim:" 'sim: "checks=everything": options are' 'checks= with all, none, races, uninit,' "help: use one that the detail names"
lacks err "ptxas accepted"
DSL_SIM=seed=x; export DSL_SIM
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim
has err 'DSL_SIM: "seed=x": options are seed='
unset DSL_SIM
expect 1 run two.gemm --kernel first --size M=64,N=64,K=64 --device cuda:1
has err "error[E0608]: cannot open device cuda:1"
expect 1 run small.gemm --size M=64,N=64,K=64 --device gpu
has err "error[E0608]: cannot open device gpu"
expect 1 run --time-report --diagnostics=json small.gemm --size M=64,N=64,K=64 --device cuda:0
has err '"code":"E0608"' "ptxas"

# Arrays: bits, or floats that are rounded, in a tensor of any strides; what was computed goes to a file.
# npy FILE CODE SHAPE <raw
npy()
{
	printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" >"$1"
	cat >>"$1"
}
# COUNT BYTES: these, each in octal, so often
repeat()
{
	n=$1
	while [ "$n" -gt 0 ]; do
		# shellcheck disable=SC2059
		printf "$2"
		n=$((n - 1))
	done
}
sed 's/B : bf16 (N,K):(K,1)/B : bf16 (N,K):(1,N)/' small.gemm >turned.gemm
repeat 64 '\000\100' | npy a.npy '<u2' '1, 64, '
repeat 1024 '\000\000\000\077' >half
repeat 1024 '\001\000\200\077' >one
cat half one | npy b.npy '<f4' '32, 64, '
expect 0 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=a.npy --in B=b.npy --out D=d.npy
has out "small: A: bits of bf16" "small: B: f32 rounded to bf16" "given: D: 32 elements"
ends "small: right as the source says: the given numbers, 1 of 1 tiles"
[ "$(od -An -v -tx2 -j128 d.npy | tr -s ' \n' '\n' | grep . | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = " 16 4280; 16 4300;" ] ||
	fail "d.npy is not 16 sums of 64 and 16 of 128"
[ "$(od -An -v -tx2 -j128 -N4 d.npy)" = " 4280 4280" ] || fail "the first rows of B are not halves"
has d.npy "'descr': '<u2'" "(1, 32,)"
# --expect: an array of the user's, which the source allows or not.
expect 0 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=a.npy --in B=b.npy --expect D=d.npy
ends "small: right as the source says and as expected: the given numbers, 1 of 1 tiles"
repeat 32 '\000\000\200\102' | npy e.npy '<f4' '1, 32, '
expect 1 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=a.npy --in B=b.npy --expect D=e.npy
has err "error[E0613]: small: D[0, 16] is expected to be 64, and the source says 128"
ends "small: NOT AS EXPECTED: D[0, 16]"
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=a.npy --expect D=e.npy
has err "--expect: B is random: give it with --in B=.."
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=a.npy --in B=b.npy --expect A=a.npy
has err "kernel small has no output A"
# A large error is shown beside its bound.
expect 0 run small.gemm --size M=64,N=64,K=512 --device sim --numbers normal
has out "within bounds: largest error 1 ulp (bound: 1)"
# Whether sums are exact is a property of their terms: integers times exp2(..) are not integers.
expect 0 run "$(dirname "$0")/../e2e/registers/attention.gemm" --size M=64,L=64,E=64 --seed 3 --numbers integers --device sim
has out "attention: integers: O: 4096 elements (all 1 of 1 tiles) within bounds"
# Of two zeros, rowmax is the positive one and rowmin the negative one, in whatever order they come.
cat >zeros.gemm <<'EOF'
kernel zeros(X : f32 (M,N):(N,1), D : out f32 (M,N):(N,1), E : out f32 (M,N):(N,1)) where N <= 64
{
	let gX = X / (4,64), gD = D / (4,64), gE = E / (4,64);
	for (m,n) in gD {
		let x = f32(gX[m,n]);
		gD[m,n] <- 1 / rowmax(x) + 0 * x;
		gE[m,n] <- 1 / rowmin(x) + 0 * x;
	}
}
EOF
printf '\000\000\000\200\000\000\000\000\000\000\000\000\000\000\000\200' | npy x.npy '<f4' '2, 2, '
expect 0 run zeros.gemm --size M=2,N=2 --in X=x.npy --out D=d.npy --out E=e.npy --device sim
has out "zeros: given: D: 4 elements (all 1 of 1 tiles) equal in every bit"
[ "$(od -An -v -tx4 -j128 d.npy)$(od -An -v -tx4 -j128 e.npy)" = " 7f800000 7f800000 7f800000 7f800000 ff800000 ff800000 ff800000 ff800000" ] ||
	fail "1 / rowmax is not inf, or 1 / rowmin not -inf"
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=b.npy
has err "b.npy has another shape than A, which is (1,64)"
repeat 64 '\000\000\000\000' | npy i.npy '<i4' '1, 64, '
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=i.npy
has err "i.npy has elements of '<i4': A takes '<u2', the bits of bf16, or floats, which are rounded"
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in D=a.npy
has err "kernel small has no input tensor D"
# A value for each row of no elements, which no tile of an mma would write: refused, and said why.
sed 's/D : out bf16/S : out f32 (M), &/; s/where /&N <= 64, /; s/gD\[m,n\] <-/S[m] <- rowmax(acc); &/' small.gemm >rows.gemm
expect 1 run rows.gemm --size M=3,N=0,K=64 --device sim
has err "kernel small needs 1 <= N, but N = 0 (an mma has no tile then, and 'S' would not be written)"
expect 0 run rows.gemm --size M=3,N=8,K=0 --then M=0,N=8,K=64 --device sim
# What an inout tensor, or one that results are joined to, holds before the launch is an input.
cat >kept.gemm <<'EOF'
kernel kept(X : f32 (M,N):(N,1), D : inout f32 (M,N):(N,1), S : out f32 (M))
{
	let gX = X / (4,64), gD = D / (4,64);
	for (m,n) in gD { S[m] += rowsum(gX[m,n]); gD[m,n] <- gD[m,n] * 2 + gX[m,n]; }
}
EOF
repeat 4 '\000\000\200\077' | npy x.npy '<f4' '2, 2, '
repeat 4 '\000\000\100\100' | npy d3.npy '<f4' '2, 2, '
repeat 2 '\000\000\000\101' | npy s8.npy '<f4' '2, '
repeat 4 '\000\000\340\100' | npy d7.npy '<f4' '2, 2, '
expect 0 run kept.gemm --size M=2,N=2 --in X=x.npy --in D=d3.npy --in S=s8.npy --expect D=d7.npy --out S=s.npy --device sim
has out "right as the source says and as expected: the given numbers"
[ "$(od -An -v -tx4 -j128 s.npy)" = " 41200000 41200000" ] || fail "s.npy is not 8 + 2 in both rows"
expect 2 run kept.gemm --size M=2,N=2 --in X=x.npy --in S=s8.npy --expect D=d7.npy --device sim
has err "--expect: D is random: give it with --in D=.."
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --out A=d.npy
has err "kernel small has no output A"
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=none.npy
has err "none.npy"
expect 2 run turned.gemm --size M=1,N=32,K=64 --device sim --in A=
has err "--in takes NAME=VALUE, not 'A='"
# Of elements that lie two in a byte, an array has one in a byte: the first 32 columns are -3, the others 2.
sed 's/A : bf16/A : s4/; s/sA : bf16/sA : s4/; s/mm(sA, sB)/mm(bf16(f32(sA)), sB)/' small.gemm >nibbles.gemm
for row in 1 2; do
	repeat 32 '\015'
	repeat 32 '\002'
done | npy q.npy '|u1' '2, 64, '
repeat 2048 '\200\077' | npy ones.npy '<u2' '32, 64, '
expect 0 run nibbles.gemm --size M=2,N=32,K=64 --device sim --in A=q.npy --in B=ones.npy --out D=d.npy
has out "small: A: bits of s4"
[ "$(od -An -v -tx2 -j128 d.npy | tr -s ' \n' '\n' | grep . | sort | uniq -c | tr -s ' ')" = " 64 c200" ] || fail "d.npy is not 64 times -32"
expect 1 run turned.gemm --size M=1,N=32,K=64 --device sim --out D=nowhere/d.npy
empty out
has err "error[E0603]: " "nowhere/d.npy"

# What is no number stays none in tf32, also where only bits that tf32 has not say so.
cat >tf32.gemm <<'EOF'
kernel round(X : f32 (M,N):(N,1), D : out f32 (M,N):(N,1))
{
    let gX = X / (16,32), gD = D / (16,32);
    for (m,n) in gD {
        gD[m,n] <- f32(tf32(gX[m,n]));
    }
}
EOF
repeat 256 '\001\000\200\177\377\377\177\177' | npy nan.npy '<f4' '16, 32, '
for target in sm_80 sm_90a; do
	expect 0 run tf32.gemm --target=$target --size M=16,N=32 --device sim --in X=nan.npy --out D=d.npy
	[ "$(od -An -v -tx4 -j128 d.npy | tr -s ' \n' '\n' | grep . | grep -c '^[7f]f[c-f]')" = 256 ] || fail "$target: not 256 NaN"
	[ "$(od -An -v -tx4 -j128 d.npy | tr -s ' \n' '\n' | grep -c '^7f800000')" = 256 ] || fail "$target: not 256 infinities"
done

# Several problems of one kernel, compiled once; the first that is wrong ends it.
printf '#!/bin/sh\ncase "$*" in *.ptx*) echo >>%s/assembled ;; esac\nexec "%s" "$@"\n' "$PWD" "$DSLC_PTXAS" >counts
chmod +x counts
expect 0 run small.gemm --size M=65,N=72,K=40 --then K=8 --then M=1,N=8 --device sim --ptxas-path="$PWD/counts"
[ "$(grep -c '^small: right' out)" = 3 ] || fail "not three summaries"
[ "$(grep '^small: M=' out | tr '\n' ' ')" = "small: M=65,K=40,N=72 small: M=65,K=8,N=72 small: M=1,K=8,N=8 " ] ||
	fail "other problems"
has out "D: 4680 elements (all 4 of 4 tiles)" "D: 8 elements (all 1 of 1 tiles)"
[ "$(wc -l <assembled)" = 1 ] || fail "not compiled once"
# The simulator needs no machine code; who asks for some needs ptxas.
(
	DSLC_PTXAS=none
	export DSLC_PTXAS
	expect 0 run small.gemm --size M=65,N=72,K=40 --device sim
	has out "no ptxas: simulated, but not assembled"
	ends "small: right as the source says: integers and normal numbers, 4 of 4 tiles, largest error"
	expect 0 run small.gemm --size M=65,N=72,K=40 --device sim --ptxas-path="$PWD/counts"
	lacks out "no ptxas"
	expect 0 run small.gemm --size M=65,N=72,K=40
	has out "no ptxas: simulated, but not assembled" "no GPU" "on the simulator"
	expect 3 run small.gemm --size M=65,N=72,K=40 --device cuda:0
	has err "error[E0501]: DSLC_PTXAS names none"
	expect 1 run small.gemm --size M=65,N=72,K=40 --device sim9
	has err 'error[E0608]: cannot open device sim9: not a device name: "sim9" is not "cuda:N" or "sim"'
	lacks err "ptxas"
	DSL_LIBCUDA=$FAKE_LIBCUDA expect 3 run small.gemm --size M=65,N=72,K=40
	has err "error[E0501]: DSLC_PTXAS names none"
	expect 3 -c small.gemm -o small.cubin
	has err "error[E0501]: DSLC_PTXAS names none"
	[ ! -e small.cubin ] || fail "a cubin without machine code"
) || exit 1
expect 2 run small.gemm --size M=64,N=72 --then K=40 --device sim
has err "--size does not give K"
expect 1 run small.gemm --size M=1,N=8,K=8 --then K=640 --then K=8 --device sim:steps=1500
ends "small: WRONG: integers: "
[ "$(grep -c '^small: [MrW]' out)" = 4 ] || fail "not one right and one wrong"

# What only the simulator sees: a CTA that runs out of its steps.
expect 1 run small.gemm --size M=64,N=64,K=64 --device sim:steps=50
has err "error[E0606]"
ends "small: WRONG: integers: "

# With a stand-in for the GPU, which computes what the kernel should or something else.
[ -n "${FAKE_LIBCUDA:-}" ] || fail "FAKE_LIBCUDA is not set"
behave()
{
	FAKE_GPU=$1 DSL_LIBCUDA=$FAKE_LIBCUDA
	export FAKE_GPU DSL_LIBCUDA
	code=$2
	shift 2
	expect "$code" run small.gemm --size "${size:-M=100,N=72,K=40}" "$@"
}
behave right 0
has out "small: integers: D: 7200 elements (all 4 of 4 tiles) equal in every bit" \
	"small: normal: D: 7200 elements (all 4 of 4 tiles) within bounds: largest error"
ends "small: right as the source says: integers and normal numbers, 4 of 4 tiles, largest error"
empty err
for size in M=1,N=8,K=8 M=64,N=64,K=64 M=65,N=128,K=200 M=0,N=8,K=8; do
	behave right 0 --seed 7
done
size=
behave right 0 --tiles 2
has out "(2 of 4 tiles)"
ends "small: right as the source says: integers and normal numbers, 2 of 4 tiles, largest error"
behave right 0 --tiles all --sms 3 --device cuda:0
behave wrong 1
has err "error[E0607]: small, integer inputs, seed 1: D[99, 71] is" \
	"error[E0607]: small, normal inputs, seed 1: D[99, 71] is"
ends "small: WRONG: integers: D[99, 71] is"
[ "$(wc -l <out)" = 1 ] || fail "a wrong result has more than its summary on stdout"
behave ulp 1
has err "small, integer inputs"
behave short 1
has err "D[99, 71] was never written"
behave short 1 --tiles 1
has err "D[99, 71] was never written"
behave before 1
has err "byte 6 before D was overwritten"
ends "small: WRONG: byte 6 before D was overwritten"
behave after 1
has err "byte 10 after D was overwritten"
behave refused 1
has err "error[E0606]"
ends "small: not checked: "
behave lost 1
has err "error[E0606]" "help:"
[ "$(grep -c "error.E0606" err)" = 1 ] || fail "the same failure twice"

# The bar: on a terminal, for work of more than two seconds, erased before the next line; a pipe has none.
on_terminal()
{
	FAKE_GPU=$1 TERM=$2 script -qec "'$dslc' run small.gemm --size M=100,N=72,K=40 2>&1 >out" /dev/null </dev/null >tty
}
erase=$(printf '\r\033[K')
on_terminal slow xterm
has tty "] " " %" "$erase"
[ -z "$(tail -c 4 tty | tr -d '\r\033[K')" ] || fail "the bar stays"
ends "small: right as the source says: "
on_terminal slow dumb
empty tty
on_terminal right xterm
empty tty
behave slow 0
empty err

size=M=100,N=72,K=41
behave right 1
has err "error[E0606]" "K % 8 == 0" "help: pass sizes that meet the condition: the kernel is right for these alone"
size=M=100000,N=8,K=1000
behave right 1
has err "out of memory"
size=M=100,N=72,K=40
behave right 1 --diagnostics=json --device cuda:3
has err '"code":"E0608"'

# What the reference interpreter refuses, here an origin beyond 64 bits.
expect 0 --emit=ir:frontend small.gemm -o far.ir
sed -i 's/tile %A (m \* 64/tile %A (m * 4611686018427387904/' far.ir
size=
FAKE_GPU=right DSL_LIBCUDA=$FAKE_LIBCUDA
expect 1 run far.ir --size M=200,N=72,K=40
has err "error[E0609]: 'm * 4611686018427387904' has no value"

# sizes whose product is more than can be counted
expect 2 run --device=sim small.gemm --size M=2147483647,N=2147483640,K=64
has err "tensor D has more elements than can be counted"
expect 2 run --device=sim small.gemm --size M=64,N=2147483640,K=2147483640
has err "tensor B has more elements than can be counted"

# sizes that no kernel has, and one that is given twice: refused before anything is compiled
expect 2 run --device=sim small.gemm --size M=2147483648,N=8,K=8
has err "--size: 'M=2147483648' is no size"
expect 2 run --device=sim small.gemm --size M=8,N=8,K=8,M=9
has err "--size: M is given twice"
expect 0 run --device=sim small.gemm --size M=8,N=8,K=8 --size M=9 --numbers integers
has out "small: integers: D: 72 elements"

# a condition of two sizes is shown with both
sed 's/where N % 8 == 0/where M == N, N % 8 == 0/' small.gemm >equal.gemm
expect 1 run --device=sim equal.gemm --size M=64,N=128,K=64
has err "error[E0606]" "needs M == N, but M = 64, N = 128"
# Fewer scales than tiles that read them; others would be zeros.
cat >scaled.gemm <<'END'
kernel scaled(X : f32 (M,N):(N,1), S : f32 (M,(128,T)):(T,(0,1)), R : out f32 (M,U):(U,1), D : out f32 (M,N):(N,1))
{
	let gX = X / (4,256), gS = S / (4,256), gR = R / (4,2), gD = D / (4,256);
	for (m,n) in gD {
		gR[m,n] <- rowmax(gX[m,n], 128);
		gD[m,n] <- gX[m,n] * gS[m,n];
	}
}
END
expect 1 run --device=sim scaled.gemm --size M=8,N=300,T=2,U=3
has err "error[E0606]" "needs N <= T * 128, but N = 300, T = 2 (mode 1 of 'S' is for all of N)"
expect 1 run --device=sim scaled.gemm --size M=8,N=300,T=3,U=2
has err "needs (N + 127) / 128 <= U, but N = 300, U = 2 (mode 1 of 'R' is for all of N)"
expect 0 run --device=sim scaled.gemm --size M=8,N=300,T=3,U=3
expect 1 run --device=sim equal.gemm --size M=60,N=60,K=64
has err "% 8 == 0, but N = 60 ("

# What is joined are integers, what it is joined to is not: sums of the two round, in an order that nobody knows.
cat >joined.gemm <<'END'
kernel k(A : s8 (M,K):(K,1), B : s8 (N,K):(K,1), cs : out f32 (N), D : out s8 (M,N):(1,M))
{
    const bM = 48, bN = 64, bK = 64;
    let gA = A / (bM,bK), gB = B / (bN,bK), gD = D / (bM,bN);
    mma mm = wgmma<64,48,32>(s8, s8, s32) * (1,1,1);
    smem sA : s8 (bM,bK), sB : s8 (bN,bK);
    pipeline ab(3) { sA, sB }
    for (m,n) in gD {
        acc : s32 mm.C(bM,bN) = 0;
        for k in gA[m] {
            sA <- gA[m,k]; sB <- gB[n,k]; 
            acc += mm(sA, sB);
        }
        gD[m,n] <- s8(f32(acc));
        cs[n] += colsum(f32(acc));
    }
    schedule { roles none; persistent; swap; subtile 128; }
}
END
expect 0 run joined.gemm --size M=53,N=64,K=32 --sms 2 --device sim
has out "normal: cs: 64 elements" "within bounds"
