# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# LLVM IR without the places in the source: of what stays LLVM makes the same PTX. Names that the compiler made by counting
# are counted as they come, and what a loop is told stands beside it:
#   %t.10 = phi i32 [ 0, %then7 ]                          %t.1 = phi i32 [ 0, %then7.1 ]
#   br i1 %1, label %a, label %b, !llvm.loop !17           br i1 %1, label %a.1, label %b.1, !{!"llvm.loop.unroll.disable"}
# Each file is named twice, and its text goes to the file of that name that ends in .code:
#   awk -f code.awk a.ll a.ll b.ll b.ll
FNR == 1 && !first {
	delete text
	delete loop
	delete as
	delete made
	if (to)
		close(to)
	to = FILENAME
	sub(/\.ll$/, ".code", to)
}
FNR == 1 {
	first = !first
}
first {
	if (/^![0-9]+ = .*llvm\.loop/)
		text[$1] = substr($0, index($0, " = ") + 3)
	else if (/^![0-9]+ = distinct !\{![0-9]+, /)
		loop[$1] = $0
	next
}
/^; ModuleID = / || /^source_filename = / || /^!/ {
	next
}
{
	sub(/,? !dbg ![0-9]+/, "")
}
match($0, /!llvm\.loop ![0-9]+$/) {
	told = loop[substr($0, RSTART + 11)]
	sub(/^[^,]*, /, "", told)
	sub(/}.*/, "", told)
	$0 = substr($0, 1, RSTART - 1) (told in text ? text[told] : "!llvm.loop of " told)
}
{
	line = ""
	while (match($0, /%[A-Za-z_][A-Za-z_0-9]*(\.[0-9]+)?/)) {
		name = substr($0, RSTART, RLENGTH)
		if (!(name in as)) {
			base = name
			sub(/\..*/, "", base)
			as[name] = base "." (++made[base])
		}
		line = line substr($0, 1, RSTART - 1) as[name]
		$0 = substr($0, RSTART + RLENGTH)
	}
	print line $0 >to
}
