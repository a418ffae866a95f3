#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tests/gpu/records/take.py: a run of the record, taken again, changes nothing; taken as a run of another day, it is in the page.
#   take.sh ROOT SCRATCH PYTHON
set -eu
root=$1 scratch=$2 python=$3
rm -rf "$scratch"
mkdir -p "$scratch/tests/gpu" "$scratch/tests/docs"
cp -r "$root/tests/gpu/records" "$scratch/tests/gpu"
cp "$root/tests/docs/figures.py" "$scratch/tests/docs"
mkdir "$scratch/docs"
cp "$root"/docs/performance*.md "$scratch/docs"
cp "$root/README.md" "$scratch"
cd "$scratch"
record=$(sed -n 's/^summary: \(.*\) mm$/\1/p' tests/gpu/records/tables.txt)
awk -F '\t' '$1 == "mm" { sub(/^torch\.mm$/, "torch", $3); sub(/^pick/, "", $3); print $2, $3, $5 }' "tests/gpu/records/$record.tsv" >picks
awk -F '\t' '$1 == "bmm" && $3 == "torch.bmm" && $4 == "us" {
	gsub(" ", "x", $2)
	print $1, $2, $3, $5, "us 1.0 TF/s  bmm / this 1.000"
}' "tests/gpu/records/$record.tsv" >other.log
"$python" tests/gpu/records/take.py "$record" mm=picks
sort "$root/tests/gpu/records/$record.tsv" >before
sort "tests/gpu/records/$record.tsv" | cmp before -
cmp docs/performance.md "$root/docs/performance.md"
cmp README.md "$root/README.md"
"$python" tests/gpu/records/take.py h200-2030-01-02 mm=picks works=other.log
grep -q '^summary: h200-2030-01-02 mm$' tests/gpu/records/tables.txt
[ "$(grep -c ': h200-2030-01-02 ' tests/gpu/records/tables.txt)" -eq "$(cat README.md docs/performance.md | grep -c 2030-01-02)" ]
