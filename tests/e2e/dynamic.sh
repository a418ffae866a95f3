#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# persistent dynamic: each kernel is proved (else it is an error), and right on the simulator with 1, 2, 3 and 132 CTAs at a
# time, that start and run in several orders; and what leaves out a step of the tickets is refuted.
#   dynamic.sh DSLC DIR SCRATCH
set -eu
dslc=$1 dir=$2 scratch=$3
. "${0%/*}/turns.sh"
rm -rf "$scratch"
mkdir -p "$scratch"
# DEVICE FILE SIZES [-D..]: two of three, or all with EVERY=1
tries=0
try()
{
	device=$1 file=$2 sizes=$3
	shift 3
	tries=$((tries + 1))
	[ "${EVERY:-0}" = 1 ] || [ $((tries % 3)) != 0 ] || return 0
	simulate "$dir/$file.gemm" -q -Wno-N0401 -DP=dynamic "$@" --size "$sizes" --device "$device" >"$scratch/out" 2>&1 &&
		grep -q ': right' "$scratch/out" || { echo "$file $* $sizes on $device:"; cat "$scratch/out"; exit 1; }
	! grep -qE '(warning|error)\[' "$scratch/out" || { echo "$file $*: another message"; cat "$scratch/out"; exit 1; }
}
small="-DW=1 -DbM=64 -DbN=64"
try sim:sms=5,resident=1 schedules M=200,N=392,K=136 $small
try sim:sms=5,resident=2,seed=3 schedules M=200,N=392,K=136 $small
try sim:resident=132,seed=4 schedules M=900,N=840,K=8 $small
try sim:sms=4,resident=3,seed=5 schedules M=300,N=392,K=0 -DR=none
try sim:sms=4,resident=3,seed=6 schedules M=300,N=392,K=72 -DI=0 -DbN=96 -DG=3
try sim:sms=3,resident=3,seed=7 loops/triangular M=328,N=136,K=328
try sim:sms=3,resident=3,seed=8 loops/triangular M=328,N=136,K=328 -DR=none
try sim:sms=4,resident=3,seed=9 grouped/gemm M=300,N=136,K=200,G=5
try sim:sms=90,resident=9,seed=9 grouped/masked C=200,N=136,K=72,G=7 -DR=none
try sim:sms=5,resident=1 schedules M=300,N=392,K=136 -DR=pingpong -DbN=64
try sim:resident=132,seed=4 schedules M=900,N=840,K=8 $small -DR=pingpong
try sim:sms=2,resident=2,seed=5 schedules M=128,N=192,K=0 -DR=pingpong -DbN=64
try sim:sms=3,resident=3,seed=7 loops/triangular M=328,N=136,K=328 -DR=pingpong
try sim:sms=9,resident=2,seed=9 grouped/masked C=200,N=136,K=72,G=7 -DR=pingpong
try sim:sms=6,resident=2 schedules M=300,N=392,K=136 -DCM=2 -DbN=64
try sim:sms=8,seed=3 schedules M=300,N=392,K=136 -DCM=2 -DCN=2 -DR=pingpong -DbN=64
try sim:sms=6,resident=4,seed=5 schedules M=300,N=392,K=0 -DCM=2 -DR=none -DX=off
try sim:sms=6,resident=6,seed=7 loops/triangular M=328,N=136,K=328 -DCN=2 -DR=pingpong
try sim:sms=8,resident=4,seed=9 grouped/gemm M=300,N=136,K=200,G=5 -DCM=2

# The longest first: the last row of tiles has the most trips; where all have as many, or later ones fewer, in order.
order()
{
	"$dslc" --stop-after=tiles "$1" -DP=dynamic -o "$scratch/order.ir"
	grep -q "let tile (max(.* \* -1" "$scratch/order.ir" && echo back || echo on
}
sed 's/0 \.\. m + 1/m .. (K + 63) \/ 64/' "$dir/loops/triangular.gemm" >"$scratch/upper.gemm"
[ "$(order "$dir/loops/triangular.gemm") $(order "$scratch/upper.gemm") $(order "$dir/schedules.gemm")" = "back on on" ] ||
	{ echo "the order is another"; exit 1; }

# What follows is of the kernel under these roles.
of()
{
	roles=$1
	"$dslc" --stop-after=lower --verify=off "$dir/loops/triangular.gemm" -DP=dynamic "-DR=$roles" "-DCM=${2:-1}" -o "$scratch/k.ir"
}
# TEXT PATTERN: without the lines of the last of these in the kernel, or the text in place of it
refuted()
{
	awk -v pattern="$2" -v text="${3:-}" '{ line[NR] = $0; if (index($0, pattern)) last = NR }
		END { for (i = 1; i <= NR; i++) if (i != last) print line[i]; else if (text) print text }' "$scratch/k.ir" >"$scratch/bad.ir"
	if "$dslc" check "$scratch/bad.ir" >"$scratch/out" 2>&1 || ! grep -qF "$1" "$scratch/out"; then
		echo "without $2, under $roles, it does not say \"$1\":"
		cat "$scratch/out"
		exit 1
	fi
}
of cooperative
refuted 'wrote is not known to have arrived' 'mbar.wait %tickets.full'
refuted 'it never ends: in none of its turns it looks' 'ticket.get'
refuted 'waits at %tickets.empty[0]' 'mbar.arrive %tickets.empty'
refuted 'waits at %tickets.full[0]' 'mbar.arrive %tickets.full'
refuted 'nothing keeps %tickets.full[0] from being a phase ahead' 'mbar.wait %tickets.empty'
refuted 'no ticket is drawn' 'ticket.draw'
refuted 'does not follow a tile that is not the turn' 'ticket.at' "$(grep 'ticket.at' "$scratch/k.ir" | tail -1 | sed 's/(t\(.[0-9]*\),/(t\1 + 1,/')"
of pingpong
refuted 'wrote is not known to have arrived' 'mbar.wait %tickets.full'
refuted 'waits at %tickets.empty[0]' 'mbar.arrive %tickets.empty'
refuted 'does not follow a tile that is not the turn' 'ticket.get'
refuted 'does not follow tickets of other tiles' 'ticket.draw' "$(sed -n '/ticket.draw/s/ \* 2,/,/p' "$scratch/k.ir")"
first() { sed "0,/(1 <= t/s/(1 <= t[.0-9]*)/($1)/" "$scratch/k.ir" >"$scratch/j.ir" && mv "$scratch/j.ir" "$scratch/k.ir"; }
first 'warp <= 3'
refuted 'a phase ahead' 'nothing is left out'
of pingpong
first '4 <= warp'
refuted 'waits at %tickets.empty[0]' 'nothing is left out'
of cooperative 2
refuted 'announced minus delivered: 4 bytes' 'ticket.deal' "$(sed -n '/ticket.deal/s/, 3) shared/, 1) shared/p' "$scratch/k.ir")"
refuted 'which has 4 of 16 arrivals' 'mbar.expect %tickets.full'
refuted 'waits at %tickets.empty[0]' 'mbar.arrive %tickets.empty'
refuted 'was loaded already and not read since' 'mbar.wait %tickets.empty'
refuted 'no role of rank 0 waits for that' 'bar.cluster'
# Who looks for the group of a tile goes on from the one before: no list of tiles is taken from.
for file in grouped/gemm grouped/masked loops/triangular schedules; do
	"$dslc" -q --emit=ir "$dir/$file.gemm" -DP=dynamic -o "$scratch/k.ir"
	case $file in schedules) lists=1 ;; *) lists=0 ;; esac
	[ "$(grep -c 'ticket.draw.*, max(' "$scratch/k.ir")" = $lists ] || { echo "$file: lists of tiles"; grep 'ticket.draw' "$scratch/k.ir"; exit 1; }
done
"$dslc" explain "$dir/schedules.gemm" -DP=dynamic >"$scratch/out"
grep -q 'persistent dynamic;' "$scratch/out" && grep -q 'each computes a tile, then those that it draws' "$scratch/out"
