#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Random schedules and epilogues for tests/gpu/soak.cu, which runs them at real sizes:
#   soak_cases.sh DSLC ROOT OUT [KERNELS [SEED]]
#     OUT/soak.txt   NAME EPILOGUE OUTPUT MAJORS BM BN, a line each; EPILOGUE is a row of soak.cu's table, MAJORS
#                    the modes along which A, B and D are contiguous, as kkn or mkm; BM and BN the tile
#     OUT/NAME.cubin
# What a schedule cannot have (registers, shared memory) is drawn again; the number drawn is printed.
set -eu
dslc=$1 root=$2 out=$3 kernels=${4:-200} seed=${5:-1}
mkdir -p "$out"
: >"$out/soak.txt"

# Draws: NAME EPILOGUE OUTPUT MAJORS WORDS(with _ for spaces) -D...
draw()
{
	awk -v n=$((kernels * 3)) -v seed="$seed" '
	function pick(list,  a, k) { k = split(list, a, " "); return a[int(rand() * k) + 1] }
	BEGIN {
		srand(seed)
		for (i = 0; i < n; i++) {
			role = pick("none cooperative cooperative pingpong pingpong pingpong")
			persistent = role == "pingpong" ? "on" : pick("on on off")
			w = role == "pingpong" ? pick("1 2 2") : pick("1 2 2 3")
			bn = pick("32 64 96 128 128 160 192 224 256")
			bk = pick("32 64 64 64 128")
			stages = pick("2 3 4 5 6 7")
			inflight = pick("0 1 1 2")
			cluster = pick("1,1 1,1 1,1 2,1 1,2 2,2 4,1")
			split(cluster, c, ",")
			words = pick("_ _ _ _ staging_2; staging_3; staging_4; subtile_16; subtile_32; staging_0;")
			epilogue = pick("acc c c blend relu cmax twice bias vectors place two gate joins joins parts parts lines lines")
			to = pick("bf16 bf16 bf16 f32 f16 s8 e4m3")
			if (epilogue == "lines" && (to == "s8" || to == "e4m3"))
				to = "bf16" # its scale would be another in each tile
			majors = pick("kk kk kk mk kn mn") pick("n n m")
			printf "s%d %s %s %s %s %d %d -DW=%d -DbN=%d -DbK=%d -DS=%d -DR=%s -DP=%s -DG=%d -DI=%d -DCM=%d -DCN=%d -DX=%s\n", i,
				epilogue, to, majors, words, 64 * w, bn, w, bn, bk, stages, role, persistent, int(rand() * 12) + 1,
				inflight < stages ? inflight : 1, c[1], c[2], pick("auto auto slice leader off")
		}
	}'
}

positive='select(acc > 0, 1, 0)'
source_of()
{
	args='' tiles='' where='' scalars='' how=out more='' buffers='' slots='' up='' product='' text=acc
	case $1 in c | blend | relu | cmax | twice | two)
		args=', C : bf16 (M,N):(N,1)' tiles=', gC = C / (bM,bN)' where=', N % 8 == 0' ;;
	esac
	case $1 in
	c) text='acc + gC[m,n]' ;;
	blend) text='alpha * acc + beta * gC[m,n]' scalars=', alpha : f32, beta : f32' ;;
	relu) text='max(acc + gC[m,n], 0)' ;;
	cmax) text='max(acc, gC[m,n])' ;;
	bias) text='acc + bias[n]' args=', bias : bf16 (N)' ;;
	vectors) text='scale[m] * acc + bias[n]' args=', bias : bf16 (N), scale : bf16 (M)' ;;
	twice) text='(acc + gC[m,n]) * 2 - gC[m,n]' ;;
	place) text='acc + gD[m,n]' how=inout ;;
	two)
		text='acc + gC[m,n]' args="$args, E : out f16 (M,N):(1,lde)" tiles="$tiles, gE = E / (bM,bN)"
		where="$where, lde % 8 == 0" more=' gE[m,n] <- f16(acc - gC[m,n]);'
		;;
	gate)
		text='max(acc, 0) * up' args=', U : bf16 (N,K):(K,1)' tiles=', gU = U / (bN,bK)'
		buffers=', sU : bf16 (bN,bK)' up=' up : f32 mm.C(bM,bN) = 0;'
		slots=', sU' product=' sU <- gU[n,k]; up += mm(sA, sU);'
		;;
	joins)
		args=', rows : out f32 (M), cols : out f32 (N), top : out f32 (1)'
		more=" rows[m] += rowsum($positive); cols[n] += colsum($positive); top[0] <- max(top[0], tilemax(abs(acc)));"
		;;
	parts)
		args=', rows : out f32 (M,T):(1,M), cols : out f32 (H,N):(N,1)'
		tiles=', gR = rows / (bM,1), gS = cols / (1,bN)'
		where=", T == (N + $6 - 1) \\/ $6, H == (M + $5 - 1) \\/ $5"
		more=" gR[m,n] <- rowsum($positive); gS[m,n] <- colsum($positive);"
		;;
	lines) text='acc - colmax(acc) + rowmax(acc)' ;;
	esac
	cast=$2 a='(K,1)' b='(K,1)' d='(N,1)'
	[ "$2" != f32 ] || cast=
	case $3 in m??) a='(1,lda)' where="$where, lda % 8 == 0" ;; esac
	case $3 in ?n?) b='(1,ldb)' where="$where, ldb % 8 == 0" ;; esac
	case $3 in ??m) d='(1,ldd)' where="$where, ldd % 8 == 0" ;; esac
	sed -e "s/@EPILOGUE@/$text/" -e "s/@ARGS@/$args/" -e "s|@TILES@|$tiles|" -e "s/@WHERE@/$where/" \
		-e "s/@SCALARS@/$scalars/" -e "s/@OUT@/$how $2/" -e "s/@CAST@/$cast/" -e "s/@BUFFERS@/$buffers/" \
		-e "s/@SLOTS@/$slots/" -e "s/@UP@/$up/" -e "s/@PRODUCT@/$product/" -e "s|@MORE@|$more|" -e "s/@D@/$d/" \
		-e "s/@WORDS@/$(echo "$4" | tr _ ' ')/" -e "s/@A@/$a/" -e "s/@B@/$b/" "$root/tests/gpu/soak.gemm.in"
}

made=0 drawn=0
draw >"$out/draws"
while [ $made -lt "$kernels" ] && read -r name epilogue to majors words bm bn defines; do
	drawn=$((drawn + 1))
	source_of "$epilogue" "$to" "$majors" "$words" "$bm" "$bn" >"$out/$name.gemm"
	# shellcheck disable=SC2086
	if "$dslc" -q -Wno-N0401 "$out/$name.gemm" $defines -o "$out/$name.cubin" 2>"$out/log"; then
		echo "$name $epilogue $to $majors $bm $bn" >>"$out/soak.txt"
		made=$((made + 1))
	elif ! grep -q 'error\[E0[345]' "$out/log"; then
		cat "$out/log"
		exit 1
	fi
	rm -f "$out/$name.gemm"
done <"$out/draws"
rm -f "$out/draws" "$out/log"
echo "$made kernels of $drawn drawn in $out"
[ $made = "$kernels" ]
