#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a random generator of the tests for as long as it is given, on its preset's build.
#   tools/random.sh NAME [SECONDS] [SEED]     e.g. tools/random.sh ir 3600
#   tools/random.sh                           lists the names
# A failing seed is printed; docs/verification-inside.md says what each generator makes. "changed" makes each of its 810 changes
# once, whatever the time and the seed. RANDOM_PRESET names another preset; with RANDOM_BUILD it only builds.
set -eu
cd "$(dirname -- "$0")/.."

# NAME | PRESET | TARGETS | COMMAND, in which $seconds and $seed stand for the arguments
table='
sizes | release | random_sizes | $build/random/random_sizes $seconds $seed
kernels | dev | random_kernels | $build/random/random_kernels $seconds $seed
programs | release | random_programs | $build/random/random_programs $seconds $seed
plain | release | random_plain | $build/random/random_plain $seconds $seed
ir | dev | ir_mutants | $build/fuzz/ir_mutants -s $seconds $seed 0 $(cat $build/fuzz/ir_mutants.kernels)
ptx | dev | random_ptx | RANDOM_PTX_PTXAS=$(command -v ptxas || true) $build/random/random_ptx $seconds $seed
roles | release | check_random | end=$(($(date +%s) + seconds)); while [ "$(date +%s)" -lt "$end" ]; do echo "seed $seed"; $build/check/check_random 4000 $seed; seed=$((seed + 1)); done
judged | release | check_stepper_roles | end=$(($(date +%s) + seconds)); while [ "$(date +%s)" -lt "$end" ]; do echo "seed $seed"; $build/check/check_stepper_roles 10000 $seed; seed=$((seed + 1)); done
changed | release | dslc check_mutate | tests/check/mutate.sh build/$preset/dslc $build/check/check_mutate . build/mutated few
mutants | release | dslc check_mutate check_simulate | tests/check/mutate.sh build/$preset/dslc true . build/mutated part && tests/check/simulate.sh $build/check/check_mutate $build/check/check_simulate build/mutated $((seconds / 2)) $seed
'

row=$(echo "$table" | grep "^${1:-} | " || true)
[ $# -ge 1 ] && [ -n "$row" ] || { sed -n '2,/^set/{/SPDX/d;s/^# //p}' "$0" >&2; echo "$table" | sed -n 's/ |.*//p' >&2; exit 2; }
seconds=${2:-60} seed=${3:-$(date +%s)}
preset=${RANDOM_PRESET:-$(echo "$row" | cut -d'|' -f2 | tr -d ' ')}
build=build/$preset/tests
cmake --preset "$preset" >/dev/null
# shellcheck disable=SC2046
cmake --build --preset "$preset" --target $(echo "$row" | cut -d'|' -f3)
[ -z "${RANDOM_BUILD:-}" ] || exit 0
command=$(echo "$row" | cut -d'|' -f4-)
echo "seed $seed:$command"
eval "$command"
