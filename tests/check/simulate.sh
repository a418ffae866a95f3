#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Mutants that the verifier proves run on the simulator: those that mutate.sh left in MUTANTS/harmless, and what is proved of
# random mutants with two changes each, of its kernels for SECONDS and of small kernels by hand for as long.
#   simulate.sh MUTATE SIMULATE MUTANTS SECONDS SEED
set -eu
mutate=$1 simulate=$2 mutants=$3 seconds=$4 seed=$5
bases=$(cd "$(dirname "$0")/patterns/bases" && pwd)
rm -rf "$mutants/pairs" "$mutants/small"
mkdir "$mutants/pairs" "$mutants/small"
"$mutate" -w "$mutants/pairs" 1 -p "$seed" "$seconds" "$mutants"/*.ir
"$mutate" -w "$mutants/small" 1 -p "$seed" "$seconds" "$bases"/told.ir "$bases"/relay.ir "$bases"/tokens.ir \
	"$bases"/handed.ir "$bases"/signal.ir "$bases"/budget.ir
"$simulate" "$mutants"/*/*.ir
