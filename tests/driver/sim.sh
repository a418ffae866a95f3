#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc sim: arrays in and out, tensor maps, traces; and each form that is wrong in some way.
. "$(dirname "$0")/lib.sh"
ptx=$root/tests/sim/ptx

# npy TYPE ORDER SHAPE: the header of a .npy file; od's bytes of the elements follow it.
npy()
{
	printf '\223NUMPY\001\000\166\000%-117s\n' \
		"{'descr': '$1', 'fortran_order': $2, 'shape': ($3), }"
}
# 1440 floats of 1.0: 20 rows of 72
floats()
{
	i=0
	while [ $i -lt 1440 ]; do
		printf '\000\000\200\077'
		i=$((i + 1))
	done
}
{ npy '<f4' False '20, 72' && floats; } >x.npy
values()
{
	od -A n -v -t "$2" -j 128 "$1" | tr -s ' ' '\n' | sed '/^$/d' | sort | uniq -c | sed 's/^ *//'
}

# A tensor map in, one out: every element is written, and is 3.
tensor="$ptx/tensor.ptx --grid 3,3 --block 64 --buffer in:x.npy --buffer out:f32:1440:y.npy"
maps="--arg tma:f32:0:72x20:32x8 --arg tma:f32:1:72x20:32x8"
# shellcheck disable=SC2086
{
	expect 0 sim $tensor $maps --arg f32:3 --schedules 3 --seed 5
	has out "tensor_scale: 3 schedules, no fault"
	empty err
	[ "$(values y.npy f4)" = "1440 3" ] || fail "y.npy is not 1440 times 3"
	# Swizzled both ways, it is the same: the kernel writes where it read.
	expect 0 sim $tensor --arg tma:f32:0:72x20:32x8:128 --arg tma:f32:1:72x20:32x8:128 --arg f32:2
	[ "$(values y.npy f4)" = "1440 2" ] || fail "y.npy is not 1440 times 2"
	expect 0 sim $tensor --arg tma:f32:0:72x10:32x8 --arg tma:f32:1:72x20:32x8 --arg f32:2
	[ "$(values y.npy f4)" = "720 0
720 2" ] || fail "what is outside the map is not filled with 0"
	expect 1 sim $tensor --arg tma:f32:0:72x40:32x8 --arg tma:f32:1:72x20:32x8 --arg f32:3
	has err "out of bounds: PTX line 60" "byte 5760 of an allocation of 5760 bytes" "seed 0"
	# Every second row of the array: 10 rows, 576 bytes apart.
	expect 0 sim $tensor --arg tma:f32:0:72x20:32x8 --arg tma:f32:1:72x10:32x8:0:576 --arg f32:2
	[ "$(values y.npy f4)" = "720 -4.3160208e+08
720 2" ] || fail "strides are not those of the map"
	expect 1 sim $tensor --arg tma:f32:0:72x20:32x8 --arg tma:f32:1:72x20:32x8:0:576 --arg f32:2
	has err "out of bounds"
	form="tma:ELEM:BUFFER:DIMxDIM:BOXxBOX[:SWIZZLE[:STRIDE]] is the form, after the arrays"
	for map in f32 f32:0 f32:0:72x20 f32:2:72x20:32x8 f32:-1:72x20:32x8 f32:z:72x20:32x8 f32::72x20:32x8 \
		f32:0:72x20:32 f32:0:72xx:32x8 f32:0:72x20:32x8:xx f32:0:72x20:32x8:129 f32:0:72x20:32x8:0:288x288 \
		f32:0:72x20:32x8:0: f32:0:72x20:32x8:0:4,4 f32:0:2x2x2x2x2x2:1; do
		expect 1 sim $tensor --arg tma:$map
		has err "--arg tma:$map: $form"
	done
	expect 1 sim $ptx/tensor.ptx --grid 1 --block 64 --arg tma:f32:0:72x20:32x8
	has err "$form"
	expect 1 sim $tensor --arg tma:f32:0:72x20:32x8:48
	has err "the swizzle must be 0, 32, 64 or 128 bytes"
	expect 1 sim $tensor --arg tma:f32:0:72x20:64x8:128
	has err "the inner box dimension must not exceed the swizzle span"
	expect 1 sim $tensor --arg tma:f33:0:72x20:32x8
	has err "no tensor has elements of type f33"
	expect 1 sim $tensor --arg tma:f32:0:70x20:32x8
	has err "each stride must be a multiple of 16 bytes"
	expect 1 sim $tensor --arg tma:f32:0:72x20:512x8
	has err "each dimension of the box must be 1 to 256"
	expect 1 sim $tensor --arg f32:3
	has err "tensor_scale takes 260 bytes of parameters, 4 were given"
	expect 1 sim $tensor --buffer u32:4
	has err "--buffer takes in:, out: or inout:"
}

# inout, and out that is printed: 3 blocks of 1024 ints, each plus 1
{ npy '<i4' False '3072,' && head -c 12288 /dev/zero; } >z.npy
expect 0 sim "$ptx/bulk.ptx" --grid 3 --block 128 --arg inout:z.npy:w.npy
[ "$(values w.npy d4)" = "3072 1" ] || fail "w.npy is not 3072 times 1"
[ "$(values z.npy d4)" = "3072 0" ] || fail "the input was written to"
head -c 128 z.npy >head1
head -c 128 w.npy >head2
cmp -s head1 head2 || fail "the shape was not kept"
expect 0 sim "$ptx/bulk.ptx" --grid 3 --block 128 --arg inout:z.npy
has out "i32[3072]: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 ..."

# A cluster kernel, and its trace: a row a warp of each CTA
cluster="$ptx/cluster.ptx --block 64 --arg in:z.npy --arg out:i32:2"
# shellcheck disable=SC2086
{
	expect 0 sim $cluster --grid 8 --trace t.json
	has out "i32[2]: 0 0"
	[ "$(grep -c '"ph":"X","name":"warp"' t.json)" = 8 ] || fail "the trace has not 4 CTAs of 2 warps"
	[ "$(head -c 1 t.json)" = "{" ] && [ "$(tail -c 3 t.json | tr -d '\n')" = "]}" ] ||
		fail "the trace is no JSON object"
	expect 1 sim $cluster --grid 8 --trace /nowhere/t.json
	has err "/nowhere/t.json cannot be written"
	expect 1 sim $cluster --grid 3
	has err "grid component 0 is 3, which is not a multiple of the cluster's 4"
	expect 1 sim $cluster --grid 8 --cluster 2
	has err "the kernel was compiled for clusters of 4 x 1 x 1"
	expect 1 sim $cluster --grid 8 --block 2000
	has err "a block of 2000 x 1 x 1 threads"
	expect 1 sim $cluster --grid 8 --smem 300000
	has err "300000 of dynamic shared memory"
	expect 1 sim $cluster --grid 8 --checks what
	has err "checks=what"
}
expect 0 sim "$ptx/tensor.ptx" --grid 3,3 --block 64 --buffer in:x.npy --buffer out:f32:1440 \
	--arg tma:f32:0:72x20:32x8 --arg tma:f32:1:72x20:32x8 --arg f32:3 --trace t.json
grep -q '"name":"TMA load","cat":"copy"' t.json || fail "the trace has no copies"
grep -q '"name":"bar","cat":"wait"' t.json || fail "the trace has no waits"

# Numbers
for good in u8:255 i8:-128 s16:-32768 u16:65535 u32:0x10 i64:-1 u64:18446744073709551615 f32:1e3 f64:-0.5; do
	expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 16,16 --arg $good
	has err "sgemm takes 28 bytes of parameters"
done
for bad in u8:256 u8:-1 i8:128 i8:-129 s16:40000 u32:4294967296 u32:abc u32: i32:2147483648 i64:9223372036854775808 \
	i64:-9223372036854775809 u64:18446744073709551616 \
	f32:x f32: bf16:1 e4m3:1; do
	expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 16,16 --arg $bad
	has err "--arg $bad: the value is not a number of that type"
done
for bad in u32 foo:4 :4; do
	expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 16,16 --arg $bad
	has err "--arg $bad: TYPE:VALUE, in:, out:, inout: or tma: is needed"
done
for bad in out:f32 out:f99:4 out:f32:x out:f32:4x; do
	expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 16,16 --arg $bad
	has err "--arg $bad: out:TYPE:COUNT[:FILE] is the form"
done

# Files that are no arrays
bad_npy()
{
	expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 16,16 --arg in:bad.npy
	has err "$1"
}
rm -f bad.npy
bad_npy "bad.npy: No such file or directory"
head -c 1000 x.npy >bad.npy
bad_npy "bad.npy is cut short"
npy '<f4' True '20, 72' >bad.npy
bad_npy "only arrays in C order are read"
npy '>f4' False '20, 72' >bad.npy
bad_npy "elements of type >f4 are not known"
echo hello >bad.npy
bad_npy "bad.npy is not a .npy file"
expect 1 sim "$ptx/bulk.ptx" --grid 3 --block 128 --arg inout:z.npy:/nowhere/w.npy
has err "/nowhere/w.npy"

# The command line itself
expect 2 sim "$ptx/sgemm.ptx" --grid 0 --block 16
has err "--grid takes X[,Y[,Z]], each 1 or more, not '0'"
expect 2 sim "$ptx/sgemm.ptx" --block 16
has err "needs --grid and --block"
expect 2 sim --grid 1 --block 1
has err "no input file"
expect 2 sim a b
has err "takes one file, not 2"
for dims in 1,2,3,4 1,,2 1, -1 1x2 4294967296; do
	expect 2 sim a --grid 1 --block $dims
	has err "--block takes X[,Y[,Z]], each 1 or more, not '$dims'"
done
# shellcheck disable=SC2046
expect 2 sim a --grid 1 --block 1 $(printf -- "--arg u32:%d " $(seq 65))
has err "takes 64 of --arg and --buffer, not 65"
expect 2 sim a --gird 1
has err "did you mean '--grid'?"
expect 2 sim a --size 1
has err "--size is not an option of dslc sim"
expect 2 sim "$ptx/sgemm.ptx" --grid 1 --block 1 --seed -1
has err "--seed is a number from 0 to"
expect 2 sim "$ptx/sgemm.ptx" --grid 1 --block 1 --schedules 0
has err "--schedules is a number from 1 to"
expect 1 sim "$ptx/sgemm.ptx" --grid 1 --block 1 --kernel x
has err "the module has no entry x"
cat "$ptx/sgemm.ptx" >two.ptx
sed -n '/^.visible .entry/,$p' "$ptx/bulk.ptx" >>two.ptx
expect 1 sim two.ptx --grid 1 --block 1
has err "say which kernel with --kernel"
expect 1 sim nothere.ptx --grid 1 --block 1
has err "nothere.ptx: No such file or directory"
printf '.version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{\nfrob.u32 1;\nret;\n}\n' >new.ptx
expect 1 sim new.ptx --grid 1 --block 1
has err "not simulated: PTX line 6, CTA 0,0,0 warp 0 lane 0: frob.u32: unknown instruction"
expect 0 sim --help
has out "tma:ELEM:BUFFER"

# Levels: two warps store the same value or not. A note leaves the launch as it is; an error
# fails it, and what was written comes out in either case.
for value in 0 %r1; do
	cat >level.ptx <<EOF
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {
.shared .align 4 .b8 word[4];
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mov.u32 %r2, $value;
st.shared.u32 [word], %r2; mov.u32 %r3, 7; st.global.u32 [%rd1], %r3; ret; }
EOF
	level="level.ptx --grid 1 --block 64 --arg out:i32:1:level.npy"
	rm -f level.npy
	# shellcheck disable=SC2086
	if [ "$value" = 0 ]; then
		expect 0 sim $level --schedules 3
		has err "notes of portability" "race of equal values: PTX line 8"
		[ "$(grep -c "notes of" err)" = 1 ] || fail "the notes are said more than once"
		expect 0 sim $level --checks all,-races
		empty err
		expect 1 sim $level --checks all,portability
		has err "race of equal values: PTX line 8"
	else
		expect 1 sim $level
		has err "race: PTX line 8"
	fi
	[ "$(values level.npy d4)" = "1 7" ] || fail "the result is lost"
done

# Files without an end, and devices without room.
expect 1 sim /dev/zero --grid 1 --block 32
has err "/dev/zero: more than 256 MiB"
# shellcheck disable=SC2086
{
	expect 1 sim $tensor $maps --arg f32:3 --trace /dev/full
	has err "/dev/full cannot be written: No space left on device"
	expect 1 sim ${tensor%y.npy}/dev/full $maps --arg f32:3
	has err "/dev/full: No space left on device"
}
