#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every source names its licence in its first lines; what cannot carry a line, or shows its line numbers
# in tests, is named in REUSE.toml.
#   spdx.sh ROOT [--fix]        --fix writes the line where it is missing
set -eu
root=$1 fix=${2:-}
cd "$root"
line='SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'
status=0

# put FILE AFTER TEXT: the text becomes line AFTER + 1
put()
{
	sed -i "$2a\\
$3" "$1"
}

insert()
{
	case $1 in
	*.[chly] | *.def | *.cu) sed -i "1i /* $line */" "$1" ;;
	*.gemm) sed -i "1i // $line" "$1" ;;
	*) if head -n 1 "$1" | grep -q '^#!'; then put "$1" 1 "# $line"; else sed -i "1i # $line" "$1"; fi ;;
	esac
}

files()
{
	find .ci cmake codegen driver examples frontend ir packaging passes python runtime tests tools \
		CMakeLists.txt .github -path tests/lint/bad -prune -o -type f \( -name '*.[chly]' -o -name '*.def' \
		-o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name 'CMakeLists.txt' -o -name '*.yml' \
		-o -name run -o -name Makefile \) -print 2>/dev/null | sort
}

# Those whose first three lines do not hold it; an empty one has none.
lacking()
{
	files | xargs awk -v line="$line" '
	FNR == 1 { has[FILENAME] = 0 }
	index($0, line) { has[FILENAME] = 1 }
	FNR == 3 { nextfile }
	END { for (i = 1; i < ARGC; i++) if (!has[ARGV[i]]) print ARGV[i] }'
}

for file in $(lacking); do
	if [ -n "$fix" ]; then
		insert "$file"
	else
		echo "$file: no $line"
		status=1
	fi
done
exit $status
