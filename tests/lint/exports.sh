#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The shared runtime shows dsl_* and nothing else, and needs neither CUDA nor LLVM to load.
#   exports.sh LIBRARY
set -eu
symbols=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//')
[ -n "$symbols" ] || { echo "$1 exports nothing"; exit 1; }
if echo "$symbols" | grep -v '^dsl_'; then
	echo "$1 exports the names above"
	exit 1
fi
if readelf -d "$1" | grep NEEDED | grep -iE 'cuda|llvm|stdc\+\+'; then
	echo "$1 needs the libraries above"
	exit 1
fi
