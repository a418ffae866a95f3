#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The installed libraries show exactly the functions that the installed headers declare, say their
# version in their soname, and need glibc alone.
. "$(dirname "$0")/lib.sh"

# declared HEADER: names of the functions that are only declared, not defined
declared()
{
	echo "#include <$1>" | "$cc" -E -P "-I$prefix/include/dslc" -x c - | tr -d '\n' |
		sed 's/{[^{}]*}/{}/g; s/{[^{}]*}/{}/g; s/;/;\n/g; s/{}/{}\n/g' |
		sed -n 's/.*[ *]\(dslc\{0,1\}_[a-z0-9_]*\)([^()]*);$/\1/p' | sort -u
}

shown()
{
	nm "$@" --defined-only "$library" | awk '$2 != "a" && NF == 3 { print $3 }' |
		grep -v '^_\{2,3\}\(asan\|odr_asan\)' | sort -u
}

# library HEADER NM_FLAGS: the same names
same()
{
	declared "$1" >"$scratch/declared"
	[ "$(wc -l <"$scratch/declared")" -ge 7 ] || fail "$1: no declarations were read"
	shown $2 >"$scratch/shown"
	diff "$scratch/declared" "$scratch/shown" >"$scratch/log" ||
		fail "$library and $1 differ (<: declared, >: shown)"
}

for row in libdsl_runtime:dsl.h libdslc:dslc.h; do
	library=$lib/${row%:*}.so
	same "${row#*:}" -D
	readelf -d "$library" >"$scratch/log"
	said "SONAME.*${row%:*}.so.1]"
	[ -n "$flags" ] || ! readelf -d "$library" | grep NEEDED |
		grep -vE '\[(libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2|libLLVM[^]]*)\]' ||
		fail "$library needs the libraries above"
done
library=$lib/libdsl_runtime.a
same dsl.h -g

# A name more or a name less is seen.
echo 'dsl_other' >>"$scratch/shown"
diff "$scratch/declared" "$scratch/shown" >/dev/null && fail "the comparison sees no difference"
exit 0
