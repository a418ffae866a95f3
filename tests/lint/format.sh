#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every C file is as clang-format 22 with the project's .clang-format writes it; tables (.def) are
# aligned by hand.
#   format.sh ROOT
set -eu
cd "$1"
find base layout ir frontend passes verify codegen runtime sim check driver python examples tests -path tests/lint/bad -prune -o \
	-name '*.[ch]' -print 2>/dev/null | sort | xargs -r clang-format-22 --dry-run -Werror
