#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What goes wrong around the compiler: full disks, signals, programs that hang. Nothing half-written
# and nothing temporary stays, and nobody is left running.
#   faults.sh DSLC ROOT SCRATCH
. "$(dirname "$0")/lib.sh"
mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
nothing_left() { [ -z "$(ls -A tmp)" ] || fail "$1 leaves $(ls -A tmp)"; }

# ---- a full device, by its own reason
for words in "--help" "--version" "-S small.gemm -o -" "layout (4,8):(1,4)"; do
	code=0
	"$dslc" $words >/dev/full 2>err || code=$?
	[ "$code" = 1 ] || fail "$words on a full device exits with $code"
	has err "No space left on device"
done
"$dslc" --version >/dev/null 2>err || fail "a device that takes all"
expect 1 -S small.gemm -o /dev/full
has err "error[E0603]: cannot write '/dev/full': No space left on device"

# ---- files may grow no more: a message, no signal, no part of a file
code=0
(ulimit -f 2; exec "$dslc" -S --keep=kept small.gemm -o s.ptx) >out 2>err || code=$?
[ "$code" = 1 ] || fail "--keep on a full disk exits with $code"
has err "error[E0603]: cannot write 'kept/small." "File too large"
lacks err "internal error"
absent s.ptx
[ "$(find kept -name '*.tmp' | wc -l)" = 0 ] || fail "$(ls kept)"
for f in kept/*; do
	case $f in *.ir) tail -n 1 "$f" | grep -qx '}' || fail "$f is not whole" ;; esac
done
expect 0 -S --keep=whole small.gemm -o s.ptx
[ "$(find whole -name '*.ir' | wc -l)" -gt "$(find kept -name '*.ir' | wc -l)" ] || fail "--keep"
code=0
(ulimit -f 1; exec "$dslc" small.gemm -o s.cubin) >out 2>err || code=$?
[ "$code" != 0 ] && [ "$code" != 70 ] && [ "$code" -lt 128 ] || fail "a cubin exits with $code"
has err "error["
absent s.cubin
nothing_left "a full disk"

# ---- signals while ptxas runs: it ends with what it has started, and its files go
cat >hangs <<'END'
#!/bin/sh
[ "$1" = --version ] && exit 0
(sleep 4; echo >"$HANGS.lives") &
echo >"$HANGS.started"
wait
END
chmod +x hangs
for signal in INT TERM HUP; do
	HANGS=$PWD/$signal
	export HANGS
	# A shell lets its background children ignore INT; env does not pass that on.
	env --default-signal=INT,TERM,HUP "$dslc" --ptxas-path="$PWD/hangs" small.gemm \
		-o s.cubin >out 2>err &
	tool=$!
	for i in $(seq 100); do [ -s $signal.started ] && break; sleep 0.1; done
	[ -s $signal.started ] || fail "ptxas did not start"
	kill -"$signal" $tool
	code=0
	wait $tool || code=$?
	[ "$code" -gt 128 ] || fail "$signal ends the tool with $code"
	nothing_left "$signal"
	absent s.cubin
done

# ---- the time limit: the same
HANGS=$PWD/limit
expect 124 --ptxas-path="$PWD/hangs" --ptxas-timeout=1 small.gemm -o s.cubin
has err "error[E0503]: $PWD/hangs ran for more than 1 s"
nothing_left "the time limit"
absent s.cubin
exists limit.started
sleep 4
absent INT.lives TERM.lives HUP.lives limit.lives

# ---- one kernel's error does not make the next one's
sed 's/roles none/roles pingpong/; s/kernel small/kernel first/' small.gemm >two.gemm
sed 's/kernel small/kernel second/' small.gemm >>two.gemm
expect 1 -S two.gemm -o -
has err "E0407"
lacks err "internal error"
[ "$(grep -c 'error\[' err)" = 1 ] || fail "one error"
