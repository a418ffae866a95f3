#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The patterns' program finds each way in which something else is said than what must be, names the pattern, goes on to the next,
# and says how to run that one alone.
#   patterns_rejects.sh PATTERNS KERNELS       of KERNELS it takes one that is proved, one that is refuted and one that is neither
set -eu
patterns=$1 kernels=$2
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# like KERNEL SED: that kernel with other expectations
like() { sed "$2" "$kernels/$1.ir" >"$1.ir"; }

# rejected KERNEL SED TEXT: with these it fails, and says so
rejected()
{
	like "$1" "$2"
	"$patterns" "$1.ir" "$kernels/right.ir" >out && { echo "accepted: $*"; exit 1; }
	grep -qF -- "$1.ir: $3" out && grep -q "^alone: .* $1.ir\$" out && grep -qx 'right' out || { echo "not said: $3"; cat out; exit 1; }
}

rejected arrive_skipped '/^# error/d' 'the file expects nothing'
rejected arrive_skipped 's/no role/a role/' 'a message is missing'
rejected arrive_skipped 's/E0411/E0412/' 'a message is missing'
rejected arrive_skipped '1i # error E0412: besides' 'there are more or fewer messages'
rejected arrive_skipped 's/^# error .*/# verified/' 'it is not verified'
rejected arrive_skipped 's/^# error E0411/# warning W0411/' 'the message is missing'
rejected right 's/^# verified/# error E0411: no role can go on/' 'it must not be verified'
rejected right 's/^# verified/# warning W0411: right/' 'it must not be verified'
rejected barriers_many 's/W0412/W0411/' 'the message is missing'
rejected barriers_many '2s/limit/limits/' 'the message is missing'
rejected barriers_many 's/^# warning W0412/# error E0416/' 'it is not exit code 1'
