#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A lint that cannot fail is none: run over the bad tree of its own it must fail, and must say
# exactly what is expected there.
#   rejects.sh LINT BADTREE
set -eu
got=$("$1" "$2" 2>&1) && { echo "$1 accepted $2"; exit 1; }
echo "$got" | diff - "$2/expected"
