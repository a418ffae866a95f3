#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What explain writes is the same program: compiled again it gives the same PTX and the same manifest,
# but for source path, hash and lines; and explained again, but for reasons, itself.
#   explain.sh DSLC SCRATCH FILE [-D...]
set -eu
dslc=$1 scratch=$2 file=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

# code PTX: all but the places in the source; ptxas makes the same machine code of the same PTX
code()
{
	sed -e '/^[[:space:]]*\.loc[[:space:]]/d' -e '/^[[:space:]]*\.file[[:space:]]/d' "$1"
}

manifest()
{
	sed -e '/"source":/d' -e '/"source_hash":/d' -e 's/, line [0-9]*"/"/' "$1"
}

"$dslc" explain "$file" "$@" -o full.gemm
"$dslc" explain full.gemm -o again.gemm
"$dslc" explain again.gemm -o third.gemm
cmp again.gemm third.gemm
bare='s/[ 	]*\/\/:.*//; /^[ 	]*$/d'
sed -e "$bare" full.gemm >full.bare
sed -e "$bare" again.gemm >again.bare
cmp full.bare again.bare
"$dslc" "$file" "$@" --emit=ptx,manifest -o a
"$dslc" --verify=off full.gemm --emit=ptx,manifest -o b
code a.ptx >a.code
code b.ptx >b.code
grep -q '^\.visible \.entry ' a.code || { echo "a.ptx has no kernel"; exit 1; }
diff a.code b.code
manifest a.json >a.manifest
manifest b.json >b.manifest
diff a.manifest b.manifest
echo "$(wc -l <a.code) lines of PTX"
