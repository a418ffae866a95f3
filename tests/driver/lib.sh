# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the scripts of this folder share: each is run as  NAME.sh DSLC ROOT SCRATCH  and works in an
# empty SCRATCH. A failed expectation says which and ends the script with 1.
set -eu
dslc=$1 root=$2 scratch=$3
here=$root/tests/driver
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
unset NO_COLOR CUDA_HOME DSL_LIBCUDA || true
LC_ALL=C
export LC_ALL
cp "$here/small.gemm" .
trap 'code=$?; [ $code = 0 ] || [ -n "${said:-}" ] || echo "$0: a command failed with $code"' EXIT

fail()
{
	said=1
	echo "$(basename "$0"): $*"
	for f in out err; do
		[ -s "$f" ] && sed "s/^/  $f: /" "$f" | head -n 20
	done
	exit 1
}

# expect CODE ARGS...: dslc exits with CODE; its output is in ./out and ./err.
expect()
{
	want=$1
	shift
	code=0
	"$dslc" "$@" >out 2>err || code=$?
	[ "$code" = "$want" ] || fail "dslc $* exits with $code, not $want"
}

# said FILE TEXT...: each text stands in the file, as it is.
has()
{
	file=$1
	shift
	for text in "$@"; do
		grep -qF -e "$text" "$file" || fail "$file lacks: $text"
	done
}

# ends TEXT: so begins the last line of ./out.
ends()
{
	case $(tail -n 1 out) in "$1"*) ;; *) fail "the last line of out does not begin with: $1" ;; esac
}

# lacks FILE TEXT...: none of them does.
lacks()
{
	file=$1
	shift
	for text in "$@"; do
		! grep -qF -e "$text" "$file" || fail "$file has: $text"
	done
}

empty()
{
	[ ! -s "$1" ] || fail "$1 is not empty"
}

exists()
{
	for f in "$@"; do
		[ -s "$f" ] || fail "$f was not written"
	done
}

absent()
{
	for f in "$@"; do
		[ ! -e "$f" ] || fail "$f exists"
	done
}

same()
{
	cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

differ()
{
	! cmp -s "$1" "$2" || fail "$1 and $2 are equal"
}
