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

# row CODE SAYS FILE OPTIONS..: the exit code, and a text of out or err
row()
{
	code=$1 says=$2 ptx=$kernels/$3.ptx
	shift 3
	expect "$code" sim "$ptx" --schedules 3 "$@"
	cat out err >all
	has all "$says"
}

# The barrier of a grid: its address comes in two halves, and all CTAs are there at one time.
row 0 "gs: 3 schedules, no fault" gridsync --grid 40 --block 32 --arg inout:z.npy:
