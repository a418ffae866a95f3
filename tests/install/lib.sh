# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the scripts of this folder share: each is run as  NAME.sh SOURCE BUILD SCRATCH CC [FLAGS]  and
# installs the build into SCRATCH/prefix, from where everything is taken. FLAGS are those of a build with
# sanitizers, which what is linked with it needs too.
set -eu
source=$1 build=$2 scratch=$3 cc=$4 flags=${5:-}
prefix=$scratch/prefix
rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
lib=$(dirname "$(find "$prefix" -name 'libdslc.so')")
unset CFLAGS LDFLAGS LD_LIBRARY_PATH DESTDIR || true
export PKG_CONFIG_PATH="$lib/pkgconfig" PATH="$prefix/bin:$PATH"

fail()
{
	echo "$(basename "$0"): $*" >&2
	[ -f "$scratch/log" ] && tail -n 30 "$scratch/log" >&2
	exit 1
}

# try COMMAND...: its output is in $scratch/log
try()
{
	"$@" >"$scratch/log" 2>&1 || fail "$* exits with $?"
}

said()
{
	grep -q "$1" "$scratch/log" || fail "nobody said: $1"
}
