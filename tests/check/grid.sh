#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# CTAs of the grid that wait for each other (sums workspace): the kernel is proved as it is, and refused with each change of
# its IR that could hang or race. The simulator refutes the same deletions in PTX (sim.mutate.workspace).
#   grid.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
. "${0%/*}/changes.sh"
kernel_of "$root/tests/e2e/split/plain.gemm" -DX=workspace -DSK=4 -DbM=64 -DbN=64 -DW=1
before=$(($(grep -n 'sem.arrive' "$scratch/k.ir" | cut -d: -f1) - 2))
after=$((before + 5))
sed -n "${before}p;${after}p" "$scratch/k.ir" | grep -c 'bar.sync (8) threads=128' | grep -q 2
says 1 'E0412]: the other CTAs are told of %parts before all threads that write it have met' "${before}d"
says 1 'E0412]: %parts is read, and nothing orders that after what the other CTAs write' "${after}d"
says 1 'E0412]: the other CTAs are told of %parts before all threads that write it have met' "${before}s/128/96/"
says 1 'E0411]: it waits for ever: no CTA arrives at the semaphore' /sem.arrive/d
says 1 'E0412]: no CTA waits for what others write to %parts' /sem.wait/d
says 1 'E0411]: it waits for ever: each CTA arrives after its wait' '/sem.arrive/{h;d};/sem.wait/G'
says 1 'E0411]: the arrival and the wait are of other counts' '/sem.arrive/s/count=4/count=3/'
says 1 'E0412]: %parts is written when the other CTAs were told already' "/if (cta % 4 != 0) {/,/^    }/{H;d};${after}G"
says 4 'whose CTAs are not known to be whole groups' '/sem\./s/count=4/count=3/'
says 4 'whose CTAs are not known to be whole groups' '/fact .*CTAs/d'
says 4 'a semaphore of which other CTAs are not known' '/sem\./s/count=4/count=2/'
says 4 'a semaphore of which other CTAs are not known' '/sem\./s,2047) / 4,2047),'
says 4 'a semaphore of which other CTAs are not known' '/sem.arrive/s,(min,(1 + min,'
says 4 'a wait that may have no first, or several' '/sem.wait/s/cta % 4) count/0) count/'
says 4 'an arrival and a wait that are not one thread' 's/if (tid == 0) {/if (tid < 32) {/'
says 4 "a write of %parts that may be another CTA's part" '/st.global %parts/s/cta % 4 \*/(cta + 1) % 4 */'
says 4 'a read of %parts that may be of a CTA with another semaphore' '/ld.global .*%parts/s,2047) / 4 \*,2047) / 8 *,'
says 4 'several meetings of a tile' '/sem.arrive/p'
says 1 "'%D' is no workspace: it has no semaphores" '/sem.arrive/s/%parts/%D/'
says 1 "'count' is 1 to 65535 CTAs" '/sem.wait/s/count=4/count=65536/'
says 1 "sem.wait needs the attribute 'count'" '/sem.wait/s/ count=4//'
echo "$changes changes"
