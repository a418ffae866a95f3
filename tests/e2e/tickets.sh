#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# persistent dynamic: what leaves out a step of the tickets is refuted.
#   tickets.sh DSLC DIR SCRATCH
set -eu
dslc=$1 dir=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
# The kernel under these roles.
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
