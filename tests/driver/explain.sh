#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc explain: the program in full, the same facts as JSON and as pictures; mistakes are those of a
# compilation, and leave nothing behind. That the program is the same is tests/e2e/explain.sh.
. "$(dirname "$0")/lib.sh"
gemm=$root/examples/gemm/gemm.gemm
schedules=$root/tests/e2e/schedules.gemm

expect 0 explain "$gemm"
empty err
has out 'sA : bf16 tile_to_shape(Sw<3,3,3> o (8,64):(64,1), (bM,bK))' \
	'tma ldA = load(A, sA, multicast off);' 'pipeline ab(4) { sA via ldA, sB via ldB }' \
	'roles cooperative { producer 1 warp regs 40; consumer 2 warpgroups regs 232; }' \
	'group(16) along m;' 'persistent off;' 'inflight 1;' 'staging 4;' 'pdl on;' 'cluster (1,1);' 'multicast auto;' \
	'target sm_90a' 'over ab: its loads are complete by then' 'where D_by_tma is 1' \
	'ab.full[4]  1 arrival and 49152 bytes' 'ab.empty[4]  8 arrivals' \
	'TMA box (64,256) of bf16' '(M + 127) / 128 * ((N + 255) / 256) CTAs of 384 threads'
cp out plain
"$dslc" explain - <"$gemm" >out
same out plain

# -D: the values are in the program, and only there.
expect 0 explain "$schedules" -DR=pingpong -DP=on -DbN=bM/2 -DI=0 -o full.gemm
empty out
has full.gemm 'bN = 64' 'R = pingpong' 'roles pingpong { producer 1 warp regs 40' 'inflight 0;'
expect 0 explain full.gemm -o again.gemm
lacks again.gemm 'rejected'
has again.gemm '//: as written'
# A clause that the source does not state is not called written.
expect 0 explain "$root/examples/pick/pick.gemm" '-Dschedule=roles pingpong; persistent;' -o open.gemm
has open.gemm 'persistent on;                //: chosen, or given by -D'
lacks open.gemm 'as written'

# How many CTAs run at one time, and with sizes, in how many rounds.
expect 0 explain "$schedules" -DCM=2 -DCN=2 --size M=4096,N=4096 --json -
has out '"ctas_of_sm":1' '"ctas_at_once":120' '"units":1024' '"units_at_once":120'
expect 0 explain "$schedules" -DP=on --size M=4096,N=4096,K=8
has out '132 SMs hold 132' 'M = 4096, N = 4096, K = 8: 1024 tiles in 8 rounds of 132, 100 in the last; 96 % of what these hold'
expect 0 explain "$schedules" --size M=4096
has out 'an SM holds 1 at a time, by shared memory'
lacks out 'rounds'
expect 1 explain "$schedules" --size M=4096,X=1
has err 'error[E0612]: --size gives X, which no kernel here has'
empty out

# What was tried: swizzles, stages, registers, ways out.
expect 0 explain "$schedules" -DbK=32
has out 'sA: swizzle 128 rejected: a row of 64 bytes is not a multiple of 128' 'sA: swizzle 64: the widest'
sed 's/D : out bf16/D : out e4m3/; s/<- bf16(/<- e4m3(/' "$schedules" >bytes.gemm
expect 0 explain bytes.gemm -DbN=24
has out 'staging 0;' 'the 24 columns of an mma are not a multiple of 16 bytes' 'from registers, under a guard'
expect 0 explain "$schedules" -DbN=24
has out 'subtile 24;' 'rows of an odd number of 16 bytes'
expect 0 explain "$schedules" -DbN=256 -DbK=96 -DS=3 -DP=on
has out 'staging 0;' 'from registers: no shared memory is left besides the stages'
expect 0 explain "$schedules" -DbN=256 -DP=on
has out 'staging 2;' '//: staging 3 rejected: 49152 bytes, over the 35776 that the stages leave'
sed 's/pipeline ab(S)/pipeline ab/' "$schedules" >free.gemm
expect 0 explain free.gemm -DbN=256
has out 'pipeline ab(4)' 'ab: stages 5 rejected: 245840 bytes, over the 232448 left'
expect 0 explain free.gemm -DbM=256 -DbN=208
has out 'registers 232 rejected: 250 are needed' 'regs 240'
expect 0 explain "$schedules" -DR=none
has out 'roles none;' 'the first 3 before the loop: the stages minus the wgmma groups left in flight'

# An mma.sync has its line too, and no buffer is said to be read by what the kernel has not.
expect 0 explain "$root/tests/sim/outputs/sync_beside.gemm"
has out '2 x wgmma.m64n64k16.f32.bf16.bf16 a stage and warpgroup, by main' \
	'16 x mma_sync.m16n8k16.f32.bf16.bf16 a stage and warp, by main' 'A and B in registers' \
	'TMA writes it and the mma reads it'

# No wgmma, none in flight: without a loop that loads ahead for itself, nothing comes of the clause.
expect 0 explain "$root/tests/sim/outputs/sync.gemm" -DR=cooperative
lacks out 'inflight'
expect 0 explain "$root/tests/sim/outputs/sync.gemm"
has out 'inflight 1;' 'the stages minus the wgmma groups left in flight'

# Clusters: who loads the same, proved how, and who issues for whom; or why nobody does.
expect 0 explain "$schedules" -DCM=2 -DCN=2 --json cluster.json -o -
has out 'tma ldA = load(A, sA, multicast slice);' 'load the same: {0,2} {1,3}; exact' \
	'each CTA issues part rank / 2 of 2, 8192 bytes, to the CTAs of mask shl(5, rank % 2)' \
	'a stage of the cluster reads 2 of 4 tiles: saves 32768 of 65536 bytes' \
	'{0} to {0,1,2}, {1} to {0,1,3}'
tr -d ' \n' <cluster.json >flat
has flat '"issue":"slice"' '"load_same":[[0,2],[1,3]]' '"exact":true' '"mask":"shl(5,rank%2)"' \
	'"saved_bytes":32768' '"filled_by":[[0,1,2],[0,1,3],[0,2,3],[1,2,3]]'
expect 0 explain "$schedules" -DCM=2 -DCN=2 -DX=leader
has out 'issued where rank / 2 == 0, to the CTAs of mask shl(5, rank % 2)' 'of ranks 0, 1, ..: 24 16 16 8'
expect 0 explain "$schedules" -DCM=3 -DbN=64
has out 'multicast off: no two CTAs of a cluster load the same' 'saves 0 of 49152 bytes' \
	'sB: multicast rejected: by slices: the tile has 8 times 8 rows' 'tma ldB = load(B, sB, multicast leader);'
expect 0 explain "$schedules" -DCM=2 -DX=off
has out 'load the same: {0,1}; exact' 'multicast off: as requested: each CTA loads for itself'

# For tools, and for eyes.
expect 0 explain "$gemm" --json - --svg a.svg
empty err
has out '"schema":"dslc-explain/2"' '"decisions":' '"shared_limit":232448'
lacks out 'kernel gemm('
exists a.svg
expect 0 explain "$gemm" -o - --json a.json
same out plain
exists a.json
"$dslc" "$gemm" --emit=ir -o a.ir
expect 0 explain a.ir --svg b.svg -o notes
has notes '//: gemm: what the language cannot express'
lacks notes 'kernel gemm('

# Every schedule's picture: no text over another, none outside, no script.
pictures=0
for turn in "none 2 1" "none 8 3" "cooperative 3 0" "cooperative 8 1" "pingpong 2 1" "pingpong 8 1"; do
	set -- $turn
	[ "$1" = pingpong ] && on=on || on=off
	expect 0 explain "$schedules" -DR="$1" -DP=$on -DS="$2" -DI="$3" -DbN=64 --svg p.svg
	empty err
	lacks p.svg '<script'
	has p.svg 'framed: one period' 'shared memory' 'slot 1'
	grep -o '<text [^>]*>[^<]*' p.svg |
		sed 's/<text class="\(.\)" x="\([-0-9.]*\)" y="\([-0-9.]*\)">/\1 \2 \3 /' >texts
	[ "$(wc -l <texts)" -ge 30 ] || fail "the texts of p.svg were not read"
	awk '{
		n = length($0) - length($1 $2 $3) - 3
		w = n * ($1 == "h" ? 8.5 : $1 == "s" ? 6.1 : 6.7)
		a[NR] = $1 == "m" ? $2 - w / 2 : $1 == "r" ? $2 - w : $2
		b[NR] = a[NR] + w; y[NR] = $3; line[NR] = $0
		if (a[NR] < 0 || b[NR] > 1120) { print "outside: " $0; bad = 1 }
		for (i = 1; i < NR; i++)
			if (a[i] < b[NR] && a[NR] < b[i] && y[i] - y[NR] < 9 && y[NR] - y[i] < 9) {
				print "over each other: " line[i] " | " $0
				bad = 1
			}
	} END { exit bad }' texts || fail "texts of $turn"
	[ "$(grep -o '<g>' p.svg | wc -l)" = "$(grep -o '</g>' p.svg | wc -l)" ] || fail "groups"
	pictures=$((pictures + 1))
done
[ $pictures = 6 ] || fail "$pictures pictures"

# What a schedule can say, explain says: a new attribute of schedules has its line.
attrs=$(sed -n 's/^ATTR(\([A-Z_]*\),.*"schedule:.*/\1/p' "$root/ir/attrs.def")
[ "$(echo "$attrs" | wc -l)" -ge 11 ] || fail "attributes of schedules: $attrs"
for attr in $attrs; do
	grep -q "\<A_$attr\>" "$root/driver/explain/text.c" "$root/driver/explain/facts.c" "$root/ir/schedule.def" ||
		fail "explain does not say A_$attr"
done

# Mistakes are a compilation's, word for word, and nothing is written: of every fourth file, or each with EVERY=1.
wrong=0 number=0
mkdir rows
awk -v out=rows -f "$root/tests/e2e/bad.awk" "$root/tests/e2e/bad.rows"
for file in "$root"/tests/frontend/bad/*.gemm "$root"/tests/e2e/bad/*.gemm rows/*.gemm; do
	number=$((number + 1))
	[ "${EVERY:-0}" = 1 ] || [ $((number % 4)) = 0 ] || continue
	cp "$file" bad.gemm
	code=0
	"$dslc" bad.gemm -o x.cubin >out 2>wanted || code=$?
	[ $code = 1 ] || continue
	expect 1 explain bad.gemm -o x.gemm --json x.json --svg x.svg
	empty out
	same err wanted
	absent x.gemm x.json x.svg
	wrong=$((wrong + 1))
done
[ $wrong -ge $((number / 5)) ] || fail "only $wrong mistakes"
expect 0 explain "$gemm" -DbQ=1
has err 'warning[W0201]'
expect 1 explain "$gemm" -DbQ=1 -Werror -o x.gemm
absent x.gemm

cp "$gemm" mine.gemm
expect 1 explain mine.gemm -o mine.gemm
has err 'error[E0604]'
same mine.gemm "$gemm"
expect 1 explain "$gemm" --svg /nowhere/x.svg
has err 'error[E0603]'
expect 2 explain
expect 2 explain "$gemm" "$gemm"
has err 'dslc explain takes one file, not 2'
expect 2 explain "$gemm" --svg - --json -
has err 'only one of -o, --json and --svg can be -'
expect 2 explain small.gemm -o same --json same
has err '-o, --json and --svg name one file twice'
absent same
expect 2 "$gemm" --json x
has err '--json is not an option of dslc; dslc explain takes it'
expect 2 explain "$gemm" --seed 1
has err '--seed is not an option of dslc explain'
expect 0 --help=explain
has out '--json'

# docs/explain.md shows what the tool says, and its table has the keys of the JSON and no others.
mkdir -p page
cp "$root/docs/explain.md" page
"$root/tools/explain-page.sh" "$dslc" page
for f in explain.md explain.svg layout.svg; do
	cmp "page/$f" "$root/docs/$f" || fail "docs/$f is old: tools/explain-page.sh $dslc docs"
done
expect 0 explain "$schedules" -DbN=128 -DCM=2 --size M=64,N=64 --json keys.json
tr -d ' \n' <keys.json | grep -q '"consts":\[{"name":"W","value":"2"},{"name":"bM","value":"128"},{"name":"bN","value":"128"},{"name":"bK","value":"64"}' ||
	fail "a const is missing"
expect 0 explain "$root/tests/e2e/ranks/batch.gemm" --json more.json # which the launch checks
grep -ho '^ *"[a-z_]*":' keys.json more.json | tr -d ' ":' | sort -u >keys
sed -n '/^## JSON/,$p' "$root/docs/explain.md" | sed -n 's/^| \(`[^|]*\) | \(.*\) |$/\1 \2/p' |
	grep -o '`[a-z_]*`' | tr -d '`' | sort -u >documented
same keys documented
