#!/bin/sh
# What explain writes is the same program: compiled again it gives the same machine code and, but
# for source path, hash and lines, the same manifest; and explained again, but for reasons, itself.
#   explain.sh DSLC SCRATCH FILE [-D...]
set -eu
dslc=$1 scratch=$2 file=$3
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

# code CUBIN: the bytes of every section of machine code, and what its launch takes
code()
{
	readelf -SW "$1" 2>/dev/null | sed -n 's/^ *\[ *[0-9]*\] //p' |
		awk '$1 ~ /^\.(text|nv\.info|nv\.shared)\./ { print $1, $2, $4, $5 }' >sections
	grep -q '^\.text\.' sections || { echo "$1 has no machine code" >&2; exit 1; }
	while read -r name type offset size; do
		echo "$name $size"
		[ "$type" = NOBITS ] || tail -c +$((0x$offset + 1)) "$1" | head -c $((0x$size)) | cksum
	done <sections
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
"$dslc" "$file" "$@" --emit=cubin,manifest -o a.x
"$dslc" full.gemm --emit=cubin,manifest -o b.x
code a.cubin >a.code
code b.cubin >b.code
cmp a.code b.code || { diff a.code b.code; exit 1; }
manifest a.json >a.manifest
manifest b.json >b.manifest
diff a.manifest b.manifest
echo "$(wc -l <a.code) lines of code sections"
