#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Chained products with overlap and without it: the same outputs in every bit. `overlap on` is an error where nothing overlaps.
#   overlap.sh DSLC ROOT
set -eu
dslc=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# FILE SIZES OUTPUT SCHEDULE
same()
{
	for overlap in on off; do
		"$dslc" run -q "$root/$1" --size "$2" --device sim --numbers normal --tiles 1 --out "$3=$work/$overlap.npy" \
			"-Dschedule={ $4 overlap $overlap; }" >"$work/log" 2>&1 || {
			echo "$1 at $2 with $4 overlap $overlap;"
			cat "$work/log"
			exit 1
		}
	done
	cmp "$work/on.npy" "$work/off.npy" || {
		echo "$1 at $2 with $4: other bits with overlap"
		exit 1
	}
}

gallery=examples/gallery
same $gallery/attention.gemm B=1,H=2,M=130,E=64,L=200,qb=16640,qh=8320,qm=64,kb=25600,kh=12800,kl=64,vb=25600,vh=12800,vl=64 O \
	'roles cooperative;'
same $gallery/attention.gemm B=1,H=1,M=70,E=128,L=1,qb=8960,qh=8960,qm=128,kb=128,kh=128,kl=128,vb=128,vh=128,vl=128 O \
	'roles cooperative; persistent dynamic;'
same $gallery/attention_causal.gemm \
	B=1,G=1,R=2,M=200,E=64,F=64,L=150,qb=25600,qg=25600,qr=12800,qm=64,kb=9600,kg=9600,kl=64,vb=9600,vg=9600,vl=64 O \
	'roles cooperative;'
same $gallery/attention_causal.gemm \
	B=1,G=1,R=3,M=300,E=64,F=64,L=350,qb=57600,qg=57600,qr=19200,qm=64,kb=22400,kg=22400,kl=64,vb=22400,vg=22400,vl=64 O \
	'roles cooperative; persistent dynamic;'
same $gallery/attention_scores.gemm \
	B=1,G=1,R=2,M=130,E=64,F=64,L=190,qb=16640,qg=16640,qr=8320,qm=64,kb=12160,kg=12160,kl=64,vb=12160,vg=12160,vl=64,bb=0,bg=0,br=0,bm=192 O \
	'roles cooperative;'
# keys in parts, of which some have none; pages that memory names, also some that are none
same $gallery/attention_decode.gemm S=3,B=2,G=1,R=4,E=64,L=330,kb=21120,kg=21120,kl=64,vb=21120,vg=21120,vl=64 P 'roles cooperative;'
same $gallery/attention_decode.gemm S=2,B=1,G=2,R=4,E=128,L=200,kb=51200,kg=25600,kl=128,vb=51200,vg=25600,vl=128 P \
	'roles cooperative { producer 1 warp regs 24; consumer 1 warpgroup regs 232; } ctas 2;'
same $gallery/attention_pages.gemm S=2,B=3,G=1,R=5,E=64,N=5,L=64,T=6,kn=4096,kg=4096,kl=64,vn=4096,vg=4096,vl=64 P 'roles cooperative;'
same $gallery/attention_pages.gemm S=1,B=2,G=2,R=70,E=128,N=5,L=64,T=4,kn=16384,kg=8192,kl=128,vn=16384,vg=8192,vl=128 P 'roles none;'
# more iterations for later tiles, or none: such a loop of a persistent kernel is proved without overlap
"$dslc" check -q "$root/$gallery/attention_grouped.gemm" '-Dschedule={ roles cooperative; persistent; }'
same tests/e2e/registers/attention.gemm M=136,L=256,E=56 O 'roles none;'
# which values threads compute while which product runs
cat >"$work/want" <<'EOF'
//:   overlap   tensor cores | s of j | acc of j - 1 | s of j + 1 | acc of j        |
//:             threads      |        | values of j  |            | values of j + 1 |
EOF
"$dslc" explain "$root/$gallery/attention_packed.gemm" | grep -A 1 '^//:   overlap ' | diff "$work/want" -
