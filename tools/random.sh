#!/bin/sh
# Runs a random generator of the tests for as long as it is given, on the build of sanitizers.
#   tools/random.sh NAME [SECONDS] [SEED]     e.g. tools/random.sh ir 3600
#   tools/random.sh                           lists the names
# A failing seed is printed; docs/verification.md says what each generator makes.
set -eu
cd "$(dirname -- "$0")/.."
build=build/dev/tests

# NAME | TARGET | COMMAND, in which $seconds and $seed stand for the arguments
table='
kernels | random_kernels | $build/random/random_kernels $seconds $seed
ir | ir_mutants | $build/fuzz/ir_mutants -s $seconds $seed 0 $(cat $build/fuzz/ir_mutants.kernels)
'

row=$(echo "$table" | grep "^${1:-} | " || true)
[ $# -ge 1 ] && [ -n "$row" ] || { sed -n '2,5s/^# //p' "$0" >&2; echo "$table" | sed -n 's/ |.*//p' >&2; exit 2; }
seconds=${2:-60} seed=${3:-$(date +%s)}
cmake --preset dev >/dev/null
cmake --build --preset dev --target "$(echo "$row" | cut -d'|' -f2 | tr -d ' ')"
command=$(echo "$row" | cut -d'|' -f3-)
echo "seed $seed:$command"
eval "$command"
