#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kernels over which the simulator once stumbled (found/NAME.ptx), and twins that must be refused:
# each is run under three seeds and says what its row says.
#   found.sh DSLC ROOT SCRATCH
. "$(dirname "$0")/../driver/lib.sh"
kernels=$root/tests/sim/found

# zeros BYTES COUNT TYPE: a .npy file of zeros
zeros()
{
	printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$3', 'fortran_order': False, 'shape': ($2,), }"
	head -c "$1" /dev/zero
}
zeros 16384 4096 '<i4' >z.npy
{ zeros 0 256 '<f4' && seq 256 | tr -d '\n' | head -c 512 && tail -c 512 "$root/LICENSE"; } >a.npy

# row CODE SAYS FILE OPTIONS..: the exit code, and a text of out or err; a FILE of the scratch folder
# hides the one of found
row()
{
	code=$1 says=$2 ptx=$3.ptx
	[ -e "$ptx" ] || ptx=$kernels/$ptx
	shift 3
	expect "$code" sim "$ptx" --schedules 3 "$@"
	cat out err >all
	has all "$says"
}

# The barrier of a grid: its address comes in two halves, and all CTAs are there at one time.
row 0 "gs: 3 schedules, no fault" gridsync --grid 40 --block 32 --arg inout:z.npy:
# stmatrix as st.shared: two warps store equal values to one place, and different ones.
row 0 "race of equal values: PTX line 38" stmatrix --grid 1 --block 64 --arg out:f32:64:
row 1 "race of equal values: PTX line 38" stmatrix --grid 1 --block 64 --arg out:f32:64: --checks all,portability
sed 's/mad.lo.s32 	%r2, %r5, 3, 1/mad.lo.s32 	%r2, %r4, 3, 1/' "$kernels/stmatrix.ptx" >differs.ptx
row 1 "race: PTX line 38" differs --grid 1 --block 64 --arg out:f32:64:
# setmaxnreg as Triton's warp_specialize has it; bad twin: two numbers for one warpgroup.
row 0 "setmaxnreg without a barrier: PTX line 22" setmaxnreg --grid 1 --block 256
row 1 "setmaxnreg without a barrier: PTX line 22" setmaxnreg --grid 1 --block 256 --checks all,portability
sed '34s/40/48/' "$kernels/setmaxnreg.ptx" >two_numbers.ptx
row 1 "setmaxnreg misuse: PTX line" two_numbers --grid 1 --block 256
# A tensor map built from zeros: the tile is copied. Bad twin: its rank is never set.
map="--grid 1 --block 32 --smem 20000 --arg in:a.npy --arg out:f32:256:c.npy --arg i32:16 --arg i32:16 --arg inout:z.npy: --arg u64:0"
# shellcheck disable=SC2086
{
	row 0 "desc: 3 schedules, no fault" tensormap $map
	same a.npy c.npy
	sed '/tensormap.replace.tile.rank/d' "$kernels/tensormap.ptx" >no_rank.ptx
	row 1 "the rank must be 1 to 5" no_rank $map
}
# Registers that nothing wrote: said where they reach memory. What compilers leave undefined is no fault, its twins are.
says="uninitialised read: PTX line 6, CTA 0,0,0 warp 0 lane 0: st.global.f32 of kernel k reads %f2, computed from %f1, which"
row 1 "$says nothing has written" uninit_reg --grid 1 --block 32 --arg out:f32:32:
row 0 "k: 3 schedules, no fault" uninit_reg --grid 1 --block 32 --arg out:f32:32: --checks all,-uninit
row 0 "undefined: 3 schedules, no fault" undefined --grid 1 --block 32 --arg inout:z.npy: --arg u32:8
# twin REGISTER EDIT: what names the register then
twin()
{
	sed "$2" "$kernels/undefined.ptx" >twin.ptx
	row 1 "reads $1" twin --grid 1 --block 32 --arg inout:z.npy: --arg u32:8
}
twin "%r3, which nothing has written" 's/@%p1 st.global.u32 \[%d3\], %r3/st.global.u32 [%d3], %r3/'
twin "%r5, computed from %r3" 's/selp.b32 %r5, %r4, 7, %p1/mov.u32 %r5, %r4/'
twin "%r8, computed from %h2" 's/0x5410/0x3232/'
twin "%r9, computed from %r10" 's/%r10, 0, 32/%r10, 0, 0/'
twin "%r10, which nothing has written" 's/st.shared.u32 \[stage\]/st.global.u32 [%d3]/'
twin "%p3, computed from %p2" 's/and.pred %p3/or.pred %p3/'
twin "%f2, which nothing has written" 's/@!%p3 st.global.f32/st.global.f32/'
twin "%r14, which nothing has written" 's/^\tmov.u32 %r14, 1;//'
twin "%r15, computed from %r3" 's/%r3, 4, 31/%r3, 8, 31/'
twin "%d3, computed from %d2" '/mul.wide/d'
# --checks global: each kernel of global.ptx is right; without its marked line it has a race, which no other check finds.
awk '/^\/\/! /{regs = regs substr($0, 5) "\n"; next} /^\tREGISTERS/{printf "%s", regs; next} {print}' \
	"$kernels/global.ptx" >global.ptx
race()
{
	kernel=$1 mark=$2 ends=$3 fault=$4
	shape="--kernel $kernel --grid 4 --block 64 --arg inout:z.npy:"
	# shellcheck disable=SC2086
	{
		row 0 "$kernel: 3 schedules, no fault" global $shape --checks all,global
		lacks all "race"
		sed "/\/\/ $mark\$/d" global.ptx >marked.ptx
		row 0 "$kernel: 3 schedules, no fault" marked $shape
		lacks all "race"
		row "$ends" "$fault" marked $shape --checks global
	}
}
race flag release 1 "read of global memory 0x"
race flag acquire 1 "is not ordered after the write of warp 0 of CTA 0,0,0 at line"
race count fence 1 "is not ordered after the write of warp"
race same one 1 "write of global memory 0x"
race neighbour meet 1 "is not ordered after the read of lane"
race arrivals both 1 "read of s+0x7c is not ordered after the write of warp 0 of CTA rank 0"
race lockstep sync 0 "race of volatile accesses: PTX line"
race bulk read 1 "bulk copy write of s is not ordered after the read of lane 16 of this warp"
race stores apart 1 "bulk store write of global memory 0x"
row 0 "race of a read and an atomic operation: PTX line" global --kernel guess --grid 4 --block 64 --arg inout:z.npy: --checks global
