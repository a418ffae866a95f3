#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# No unfinished business in the tree: a mark that says "later" is a thing that is not there.
#   words.sh ROOT
set -eu
cd "$1"
find base layout ir frontend passes verify codegen runtime sim check driver python examples tests -path tests/lint -prune -o -type f \
	-print 2>/dev/null | sort | xargs grep -nwE 'TODO|FIXME|XXX|HACK' /dev/null && exit 1
exit 0
