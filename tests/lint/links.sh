#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Each relative link of a page leads to a file that is there, and to a heading that it has; each source
# file that a page names is there, and FILE:NAME is defined in it; mkdocs.yml lists each page of docs/
# and no others.
#   links.sh ROOT
set -eu
cd "$1"
pages=$(find . -maxdepth 1 -name '*.md' | sed 's,^\./,,'
	find docs examples -name '*.md' 2>/dev/null || true)
status=0

# all LINKS: on a line each, FILE:LINE TARGET of each link; without LINKS, FILE#ANCHOR of each heading.
# The anchor is GitHub's and MkDocs': words in lower case, joined by "-".
all()
{
	# shellcheck disable=SC2086
	awk -v links="${1:-}" '
	FNR == 1 { fence = 0 }
	/^ *```/ { fence = !fence; next }
	fence { next }
	!links && /^#+ / {
		text = tolower($0)
		sub(/^#+ /, "", text)
		gsub(/[^a-z0-9_ -]/, "", text)
		gsub(/ /, "-", text)
		print FILENAME "#" text
	}
	links {
		line = $0
		gsub(/`[^`]*`/, "", line)
		while (match(line, /\]\([^)]*\)/)) {
			print FILENAME ":" FNR, substr(line, RSTART + 2, RLENGTH - 3)
			line = substr(line, RSTART + RLENGTH)
		}
	}' $pages
}

# resolve FOLDER TARGET: its path from here
resolve()
{
	echo "$1/$2" | awk -F / '{
		n = 0
		for (i = 1; i <= NF; i++)
			if ($i == "..")
				n--
			else if ($i != "." && $i != "")
				part[++n] = $i
		for (i = 1; i <= n; i++)
			printf "%s%s", part[i], i < n ? "/" : "\n"
	}'
}

complain()
{
	echo "$*"
	status=1
}

anchors=$(all)
all links >"${TMPDIR:-/tmp}/links.$$"
while read -r where target; do
	case $target in
	http://* | https://* | mailto:*) continue ;;
	esac
	page=${where%:*}
	file=$page
	[ "${target%%#*}" = "" ] || file=$(resolve "$(dirname "$page")" "${target%%#*}")
	if [ ! -e "$file" ]; then
		complain "$where: no file $file"
	elif [ "${target#*#}" != "$target" ] && ! echo "$anchors" | grep -qxF "$file#${target#*#}"; then
		complain "$where: no heading #${target#*#} in $file"
	fi
done <"${TMPDIR:-/tmp}/links.$$"
rm -f "${TMPDIR:-/tmp}/links.$$"

# `FILE.c`, `FOLDER/FILE.c` or `FOLDER/FILE.c:NAME` in a page that is no history, nor about a reader's own files.
# NAME is in a line that begins a definition: of a function, by a macro, or of a table's row.
named()
{
	# shellcheck disable=SC2046
	awk '
	FNR == 1 { fence = 0 }
	/^ *```/ { fence = !fence; next }
	!fence {
		line = $0
		while (match(line, /`([a-z0-9_.-]*\/[a-z0-9_.\/-]*\.(y|sh|py|cmake|ptx)|[a-z0-9_.\/-]+\.(c|h|def|l)(:[A-Za-z0-9_]+[()a-z]*)?)`/)) {
			print FILENAME ":" FNR, substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
		}
	}' $(echo "$pages" | grep -vxE 'CHANGELOG.md|docs/tutorial.*|examples/.*')
}

files=$(find . -name build -prune -o -name .git -prune -o -type f -print | sed 's,^\.,,')
named | sort -u >"${TMPDIR:-/tmp}/links.$$"
while read -r where target; do
	file=${target%%:*} name=${target#*:}
	if ! echo "$files" | grep -q "/$file\$"; then
		complain "$where: no file $file"
	elif [ "$target" != "$file" ] && ! grep -v '^[/ 	*#].*\|;$' "$file" | grep -qwF "$name"; then
		complain "$where: $file defines no $name"
	fi
done <"${TMPDIR:-/tmp}/links.$$"
rm -f "${TMPDIR:-/tmp}/links.$$"

listed=$(sed -n 's/^ *- \(.*: \)\{0,1\}\([^ ]*\.md\)$/\2/p' mkdocs.yml)
for page in $pages; do
	echo "$listed" | grep -qxF "$page" || complain "mkdocs.yml does not list $page"
done
for page in $listed; do
	[ -f "$page" ] || complain "mkdocs.yml: no file $page"
done
exit $status
