# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bad.awk -v out=DIR bad.rows: writes DIR/NAME.gemm for each row; the head of bad.rows says what a row is.
function finish(   i)
{
	for (i = 1; name && i <= n; i++)
		print line[i] >(out "/" name ".gemm")
	close(out "/" name ".gemm")
	name = ""
}
# The line that has a text, which must be one.
function place(text,   i, found)
{
	for (i = 1; i <= n; i++)
		if (index(line[i], text))
			found = found ? -1 : i
	if (!found || found < 0) {
		print name ": not in one line: " text >"/dev/stderr"
		exit 1
	}
	return found
}
function change(old, new,   i, at)
{
	i = place(old)
	at = index(line[i], old)
	line[i] = substr(line[i], 1, at - 1) new substr(line[i], at + length(old))
}
# "A => B": sets left and right
function halves(text,   at)
{
	at = index(text, " => ")
	left = substr(text, 1, at - 1)
	right = substr(text, at + 4)
}
/^#/ || /^$/ { next }
/^program / { finish(); program = $2; lines[program] = 0; reading = 1; next }
/^end$/ { reading = 0; next }
reading { text[program, ++lines[program]] = $0; next }
/^\t! (error|warning)/ { line[++n] = "// " substr($0, 4); next }
/^\t! / { halves(substr($0, 4)); line[place(left)] = line[place(left)] " // " right; next }
/^\t/ {
	count = split(substr($0, 2), part, / [|] /)
	for (k = 1; k <= count; k++) {
		halves(part[k])
		change(left, right)
	}
	next
}
{
	finish()
	name = $1
	sub(/:$/, "", $2)
	n = lines[$2]
	for (k = 1; k <= n; k++)
		line[k] = text[$2, k]
}
END { finish() }
