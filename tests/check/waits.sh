#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Two products that overlap: S of this iteration and P V of the one before are in flight together. Each wait that leaves one group more
# in flight, each release that comes before its wait, and groups that become one are refused.
#   waits.sh DSLC ROOT SCRATCH
set -eu
dslc=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
. "${0%/*}/changes.sh"
kernel_of "$root/tests/e2e/registers/attention.gemm" "-Dschedule={ roles cooperative; overlap on; }"
flight='uses an accumulator that a wgmma in flight still writes: a wgmma.wait is missing'
loop='/for.ring j.4/,/^    }/'
says 1 "$flight" "$loop s/wgmma.wait n=1/wgmma.wait n=2/"
says 1 "$flight" "$loop s/wgmma.wait n=0/wgmma.wait n=1/"
says 1 "$flight" "$loop { /wgmma.wait n=1/d }"
says 1 "$flight" "$loop { /wgmma.wait n=0/d }"
# a release one too early
says 1 "overwrites %sK[1] when its read by consumer warp 0 is not known to be over" "$loop { /wgmma.wait n=1/d; /arrive %keys.empty/ { n; s/\$/\n      wgmma.wait n=1/ } }"
says 1 "overwrites %sV[0] when its read by consumer warp 0 is not known to be over" "$loop { /wgmma.wait n=0/d; /arrive %vals.empty/ { n; s/\$/\n      wgmma.wait n=0/ } }"
# both products in one group: the wait for the first lets both run on
says 1 "$flight" "$loop { /wgmma.commit/ { N; /vals.full/s/^ *wgmma.commit\n// } }"
# P V before S: the wait for the older group is that for P V
says 1 "$flight" "$loop { /mbar.wait %keys.full/,/wgmma.commit/ { H; d }; /wgmma.wait n=1/ { x; G } }"
[ $changes = 8 ]
