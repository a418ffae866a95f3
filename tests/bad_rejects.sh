#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bad.sh accepts what a file expects, and nothing else.
#   bad_rejects.sh BAD.SH
set -eu
bad=$1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat >dslc <<'DSLC'
#!/bin/sh
for arg; do
	[ "$arg" != -DbN=8 ] || [ -e "$0.defined" ] || : >"$0.defined"
done
[ ! -e "$0.writes" ] || : >"${0%/*}/written"
while [ "$1" != -o ]; do shift; done
[ ! -e "$0.writes" ] || : >"$2"
cat "$0.says" >&2
exit "$(cat "$0.code")"
DSLC
chmod +x dslc

# says CODE LINE...: what the compiler answers with
says()
{
	echo "$1" >dslc.code
	shift
	printf '%s\n' "$@" >dslc.says
}

# accepts yes|no LINE...: the file of these lines
accepts()
{
	want=$1
	shift
	printf '%s\n' "$@" >a.gemm
	if "$bad" "$scratch/dslc" "$scratch/a.gemm" >out 2>&1; then have=yes; else have=no; fi
	[ $have = "$want" ] && return
	echo "accepted: $have, must be $want: $*"
	cat out
	exit 1
}

place=$scratch/a.gemm
says 1 "$place:2:5: error[E0201]: unknown name 'x'" '    2 | x // error E0202: other | help: none' \
	"  help: did you mean 'y'?" "$place:3:1: warning[W0203]: slow" "error[E0105]: no end" '  help: end it'
accepts yes '' "x // error E0201: unknown name 'x' | help: did you mean 'y'? // error@0 E0105: no end" \
	'z // warning W0203: slow'
accepts yes '' "x // error E0201: unknown .. // error@0 E0105: .. end" 'z // warning W0203: .. lo ..'
accepts yes '// warning@3 W0203: slow' "x // error E0201: .. name 'x' // error@0 E0105: no end | help: end .."
rest="x // error E0201: unknown name 'x' // error@0 E0105: no end"
accepts no '' "$rest" 'z'                                        # a message more than expected
accepts no '// error E0301: text' "$rest" 'z // warning W0203: slow' # one less
accepts no 'y // warning W0203: slow' "$rest"                    # at another line
accepts yes '// warning W0203: slow' "$rest"                     # at any
accepts no '' "$rest" 'z // warning W0204: slow'                 # another code
accepts no '' "$rest" 'z // error W0203: slow'                   # an error
accepts no '' "$rest" 'z // warning W0203: slo'                  # the beginning alone
accepts no '' "$rest" 'z // warning W0203: slow | help: sleep'   # with a help
accepts no '' "x // error E0201: unknown name 'x' | help: none // error@0 E0105: no end" 'z // warning W0203: slow'
says 0 ''
accepts no 'nothing is expected'
says 1 "$place:1:1: error[E0301]: not built yet: x"
accepts no 'x // error E0301: not built yet: x'                  # says not what is
says 1 "$place:1:1: error[E0301]: not built yet: x; y is"
accepts yes 'x // error E0301: not built yet: x; y is'
says 0 "$place:1:1: error[E0201]: x"
accepts no 'x // error E0201: x'                                 # exit code
says 1 "$place:1:1: error[E0201]: x"
: >dslc.writes
accepts no 'x // error E0201: x'                                 # something is written
rm dslc.writes
[ ! -e dslc.defined ]
accepts yes 'x // error E0201: x' '// define bN=8'
[ -e dslc.defined ] || { echo "// define is not passed on"; exit 1; }
