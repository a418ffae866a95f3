#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Messages: text and JSON, colour, levels of warnings, codes and places.
. "$(dirname "$0")/lib.sh"

sed 's/bf16(acc)/bf16(akk)/' small.gemm >bad.gemm
expect 1 bad.gemm
has err "bad.gemm:17:" "error[E02" "akk" "^~~"
empty out
absent bad.cubin

# JSON: an object a line, on stderr; that it is JSON is checked in library.c
expect 1 --diagnostics=json bad.gemm
has err '{"severity":"error","code":"E02' '"file":"bad.gemm","line":17,"column":'
[ "$(grep -c '^{.*}$' err)" = "$(wc -l <err)" ] || fail "not an object a line"
empty out
begin=$(grep -bo akk bad.gemm | head -n 1 | cut -d: -f1)
has err "\"begin\":$begin,\"end\":$((begin + 3)),\"help\":\"did you mean 'acc'?\",\"fix\":[{\"file\":\"bad.gemm\",\"line\":17," \
	"\"begin\":$begin,\"end\":$((begin + 3)),\"text\":\"acc\"}]}"
expect 1 --diagnostics=json nothere.gemm
has err '"code":"E0601"'

cp bad.gemm "$(printf 'b\377\303\244.gemm')"
expect 1 --diagnostics=json "$(printf 'b\377\303\244.gemm')"
has err "$(printf '"file":"b\\ufffd\303\244.gemm"')"

# colour
esc=$(printf '\033')
expect 1 --color=always bad.gemm
has err "$esc["
expect 1 --color=never bad.gemm
lacks err "$esc["
expect 1 bad.gemm
lacks err "$esc["
TERM=xterm script -qec "'$dslc' bad.gemm" /dev/null </dev/null >tty || true
has tty "$esc[1;31m"
NO_COLOR=1 TERM=xterm script -qec "'$dslc' bad.gemm" /dev/null </dev/null >tty || true
lacks tty "$esc["
TERM=xterm script -qec "'$dslc' small.gemm -o -" /dev/null </dev/null >tty || true
has tty "it is not written to a terminal"

# levels
expect 0 --emit=ir:frontend small.gemm -o f.ir
expect 0 -S -DbM=64 f.ir -o x.ptx
has err "warning[W0601]: 'f.ir' is textual IR: -DbM=64 changes nothing in it"
exists x.ptx
rm x.ptx
expect 0 -q -S -DbM=64 -Wno-W0601 f.ir -o x.ptx
empty err
expect 0 -q -S -DbM=64 -Wno-0601 f.ir -o x.ptx
empty err
expect 0 -S -DbM=64 -Wno-W0601 -WW0601 f.ir -o x.ptx
has err "warning[W0601]"
rm x.ptx
expect 1 -S -DbM=64 -Werror f.ir -o x.ptx
has err "error[W0601]"
absent x.ptx
expect 1 -S -DbM=64 -Werror=W0601 f.ir -o x.ptx
expect 0 -S -DbM=64 -Werror -Wno-error=W0601 f.ir -o x.ptx
has err "warning[W0601]"
expect 0 -S -DbM=64 -Werror -Wno-error f.ir -o x.ptx

# what print() in the source says goes to stderr, never into an output
sed 's/^    const.*/&\n    print(bM);/' small.gemm >print.gemm
expect 0 -S print.gemm -o -
has err "64"
sed -n 1p out | grep -q '^//' || fail "stdout begins with something else than PTX"

# what is proved
expect 0 check small.gemm
has err "small: verified for all M, K and N: no hang, no race on slots, bytes as announced" \
	"--explain=verify"
empty out
absent small.cubin
expect 0 check -q small.gemm
empty err
expect 0 check -q --target=sm_90a small.gemm
expect 1 check --target=sm_80 small.gemm
has err "error[E0304]: sm_80 has no wgmma"
expect 0 -S --verify=off small.gemm -o x.ptx
empty err
expect 0 -S --verify=full --time-report small.gemm -o x.ptx
has err "check: " " states"
expect 0 --explain=verify
has out "No warp waits for ever" "It assumes the following" "The scheduler is fair"
empty err
rm x.ptx
expect 2 check --size M=1 small.gemm
has err "--size is not an option of dslc check"
expect 2 check --verify=fats small.gemm
has err "did you mean 'fast'?"
"$root/tests/check/pattern.sh" "$root/tests/check/patterns/right.edit" | sed 's/^ *bulk.wait n=0$//' >bad.ir
expect 1 check bad.ir
has err "error[E0412]: consumer warp 0 exits while a store still reads %sD[0]" \
	"a run that shows it, with M = " "   IR  line  consumer warp 0"
expect 1 -S bad.ir -o bad.ptx
absent bad.ptx
"$root/tests/check/pattern.sh" "$root/tests/check/patterns/maps_many.edit" >guard.ir
expect 4 check guard.ir
has err "error[E0416]: schedules is not decided within the limit: a launch may lack more than 3 tensor maps" \
	"help: --unproved compiles it all the same, with a warning"
expect 4 -S guard.ir -o guard.ptx
absent guard.ptx
expect 0 check --unproved guard.ir
has err "warning[W0412]: schedules is not decided within the limit"
expect 0 -S --unproved guard.ir -o guard.ptx
expect 1 check --unproved -Werror=W0412 guard.ir
expect 0 check -q --unproved -Wno-W0412 guard.ir
empty err
"$root/tests/check/pattern.sh" "$root/tests/check/patterns/name_twice.edit" >twice.ir
expect 4 check twice.ir
has err "error[E0415]: schedules is neither proved nor refuted: the verifier does not follow a kernel with two things"
expect 1 check --unproved -Werror=W0411 twice.ir
expect 0 check -q --unproved -Wno-W0411 twice.ir
empty err
expect 0 check -q --verify=off guard.ir
expect 1 check bad.ir guard.ir
expect 1 check guard.ir bad.ir
expect 4 check -q small.gemm guard.ir
expect 4 check -q guard.ir small.gemm
expect 4 check -q guard.ir twice.ir
expect 1 check -q small.gemm bad.ir
expect 1 check --unproved guard.ir bad.ir
expect 4 check --diagnostics=json guard.ir

# of several causes the worst: what ptxas refuses is worse than what is not proved, and no better than what is refuted
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >failing
chmod +x failing
expect 3 --ptxas-path=./failing small.gemm -c
for files in "guard.ir small.gemm" "small.gemm guard.ir" "bad.ir small.gemm" "small.gemm bad.ir"; do
	# shellcheck disable=SC2086
	expect 3 --ptxas-path=./failing -c $files
done
absent small.cubin

# and whatever is done with a kernel that is not decided: 4, and 1 for one that does not compile
many="$root/tests/e2e/blend.gemm -DR=cooperative -DP=on -DW=3 -DCM=16 -DbM=192 -DbN=64 -DS=2"
for verb in "run --size M=1,N=1,K=0 --device sim" explain check -S; do
	# shellcheck disable=SC2086
	expect 4 $verb $many
	has err "error[E0416]: blend is not decided within the limit: it has more than 128 kinds of warps"
	expect 1 $verb nothere.gemm
done
absent blend.ptx
# shellcheck disable=SC2086
expect 0 explain --unproved $many

# a line is shown around the place; a word without an end is cut; the caret stays under it
{ printf 'kernel f('; head -c 2000000 /dev/zero | tr '\0' x; echo ')'; } >long.gemm
expect 1 -S long.gemm -o -
[ "$(wc -c <err)" -lt 2000 ] || fail "$(wc -c <err) bytes of message"
has err "long.gemm:1:2000010:" "| ...xxx"
{ printf 'const '; head -c 2000000 /dev/zero | tr '\0' x; echo ' = y;'; } >long.gemm
expect 1 -S long.gemm -o -
[ "$(wc -c <err)" -lt 3000 ] || fail "$(wc -c <err) bytes of message"
{ printf 'const a = '; head -c 2000000 /dev/zero | tr '\0' y; echo ';'; } >long.gemm
expect 1 -S --diagnostics=json long.gemm -o -
has err "yyy<...>yyy"
[ "$(wc -c <err)" -lt 3000 ] || fail "$(wc -c <err) bytes of JSON"

# what a terminal would obey is spelled; other letters stay, and the caret counts columns
printf '// \033[2J \342\200\256 \303\244\nconst \303\244 = \033[31m;\n' >raw.gemm
expect 1 --color=never -S raw.gemm -o -
lacks err "$esc"
has err "<1B>[31m"
printf 'const b = "\342\200\256\302\233\377" + \303\244 + c;\n' >raw.gemm
expect 1 --color=never -S raw.gemm -o -
has err "<U+202E><U+009B><FF>"
lacks err "$(printf '\342\200\256')"
expect 1 -S --diagnostics=json raw.gemm -o -
lacks err "$(printf '\342\200\256')"

# a byte-order mark is no part of the text, in either language
{ printf '\357\273\277'; cat small.gemm; } >bom.gemm
expect 0 --emit=ptx bom.gemm -o bom.ptx
expect 0 --emit=ptx small.gemm -o plain.ptx
sed 's/bom.gemm/small.gemm/' bom.ptx | cmp -s - plain.ptx || fail "the mark changes the code"
expect 0 --emit=ir:frontend small.gemm -o plain.ir
{ printf '\357\273\277'; cat plain.ir; } >bom.ir
expect 0 -S bom.ir -o -
printf '\357\273\277const a = b;\n' >bom.gemm
expect 1 -S bom.gemm -o -
has err "bom.gemm:1:11:"
