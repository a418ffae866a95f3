#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Vim itself colours a file as its groups say.   vim.sh VIM ROOT SCRATCH
set -eu
vim=$1 root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cp "$root/examples/gemm/gemm.gemm" "$scratch/a.gemm"
cat >"$scratch/groups.vim" <<'END'
function! Group(word)
	call cursor(1, 1)
	call search('\V' . a:word, 'cW')
	return synIDattr(synID(line('.'), col('.'), 1), 'name')
endfunction
call writefile([&filetype] + map(['sum over', 'kernel gemm', 'bf16 (M', '128,', 'const', 'wgmma', 'out',
	\ '<- gA', 'for k', 'schedule', 'roles', 'cooperative'], 'Group(v:val)') + [&commentstring], 'groups')
qa!
END
cat >"$scratch/want" <<'END'
gemm
gemmComment
gemmDeclaration
gemmType
gemmNumber
gemmDeclaration
gemmTemplate
gemmControl
gemmOperator
gemmControl
gemmSchedule
gemmClause
gemmWord
// %s
END
cd "$scratch"
"$vim" -u NONE -N -es --cmd "set runtimepath^=$root/editors/vim" -c 'filetype plugin on' -c 'syntax on' \
	-c 'edit a.gemm' -c 'source groups.vim' </dev/null || { echo "vim failed"; exit 1; }
diff want groups
