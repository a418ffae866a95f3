#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Operands are asked for by their names in ir/operands.def, IN(op, MAP), not by numbers, op->in[2]: which number
# means what depends on the kind of operation.
#   operands.sh ROOT
set -eu
cd "$1"
found=$(grep -rnsE --include='*.[chly]' -e '->(in|ix)\[[0-9]+]' \
	base layout ir frontend passes verify codegen runtime sim check driver || true)
[ -z "$found" ] || { echo "$found"; exit 1; }
