#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The table of docs/programs.md: what the verifier says of each program under each schedule.
#   programs.sh DSLC FILE...
set -eu
dslc=$1
shift
echo "| program | none | cooperative | pingpong | persistent | cluster (2,1) |"
echo "|---|---|---|---|---|---|"
for file; do
	row="| \`$(basename "$file" .gemm)\`: $(sed -n '1s/^\/\/ *//p' "$file")"
	for flags in "-DR=none" "-DR=cooperative" "-DR=pingpong -DP=on" "-DR=cooperative -DP=on" "-DR=cooperative -DCM=2"; do
		said=$("$dslc" -v "$file" $flags -S -o /dev/null 2>&1) || true
		case $said in
		*": verified for "*) cell=proved ;;
		*"error[E0415]"* | *"error[E0416]"*) cell="right, not decided" ;;
		*"error[E041"*) cell=refuted ;;
		*) cell="refused: $(echo "$said" | sed -n 's/.*error\[\(E[0-9]*\)\].*/\1/p' | head -n 1)" ;;
		esac
		row="$row | $cell"
	done
	echo "$row |"
done
