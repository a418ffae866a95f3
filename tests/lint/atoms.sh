#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# passes/ and verify/ name no instruction where a column of a table would do: no operation of a row of
# ir/atoms.def or ir/completes.def, and no way of completion; they take no mma for the only one, and no
# 64 or 128 for granted. verify/ names no operation whose row in ir/ops.def has RELEASE or ACQUIRE.
# Tables (.def), comments and strings may.
#   atoms.sh ROOT
set -eu
cd "$1"
# LOAD, PREFETCH and STORE are of tiles whose way is still open (passes/atoms/copies.def).
names=$(sed -nE 's/^(MMA|COPY)\([^,]*, *([A-Z0-9_]+), *([A-Z0-9_]+),.*/\2 \3/p
	s/^DONE\(([A-Z0-9_]+), *[A-Z]+, *([A-Z0-9_]+), *([A-Z0-9_]+), *([A-Z0-9_]+), *([A-Z0-9_]+), *([A-Z0-9_]+)\).*/\2 \3 \4 \5 \6/p' \
	ir/atoms.def ir/completes.def | tr ' ' '\n' | sort -u | grep -vxE 'LOAD|PREFETCH|STORE|NOTHING' | tr '\n' ' ')
effects=$(sed -nE 's/^OP\(([A-Z_]+),.*[| ](RELEASE|ACQUIRE)\(.*/\1/p' ir/ops.def | tr '\n' ' ')
find passes verify -name '*.[ch]' 2>/dev/null | sort | xargs awk -v names="$names" -v effects="$effects" '
BEGIN {
	n = split(names, name, " ")
	for (i = 1; i <= n; i++)
		bad["OP_" name[i]] = 1
	n = split(effects, name, " ")
	for (i = 1; i <= n; i++)
		judged["OP_" name[i]] = 1
	bad["RANK_MAX"] = bad["128"] = 1
}

# code(line): without strings and comments
function code(line,   out, at)
{
	gsub(/\\./, "", line)
	gsub(/"[^"]*"/, "", line)
	out = ""
	while (line != "") {
		if (within) {
			at = index(line, "*/")
			if (!at)
				return out
			line = substr(line, at + 2)
			within = 0
		} else {
			at = index(line, "/*")
			if (!at)
				return out line
			out = out substr(line, 1, at - 1) " "
			line = substr(line, at + 2)
			within = 1
		}
	}
	return out
}

function seen(what)
{
	print FILENAME ":" FNR ": " what
	complaints++
}

FNR == 1 {
	within = 0
}

{
	text = code($0)
	if (text ~ /kernel_find\([^,]*, OP_MMA/ || (text ~ /kernel_mma\([^,]*, NULL\)/ && text !~ /for \(/))
		seen("the first mma")
	n = split(text, word, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (word[i] in bad || word[i] ~ /^FX_DONE_/ || (word[i] == "64" && FILENAME ~ /^passes/) ||
		    (word[i] in judged && FILENAME ~ /^verify/))
			seen(word[i])
}

END {
	exit complaints > 0
}'
