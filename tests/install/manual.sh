#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The manual page has every option and command and no mistake that roff sees; completion gives the words
# of the tables; the folders for editors are whole.
. "$(dirname "$0")/lib.sh"
page=$prefix/share/man/man1/dslc.1
[ -s "$page" ] || fail "no manual page"
sed 's/\\-/-/g; s/\\&//g' "$page" >"$scratch/page"
sed -n 's/^OPT([A-Z_]*, *"\([^"]*\)".*/\1/p' "$source/driver/options/options.def" >"$scratch/spellings"
[ "$(wc -l <"$scratch/spellings")" -ge 35 ] || fail "the option table was not read"
while read -r spelling; do
	grep -qF -- ".B $spelling" "$scratch/page" || fail "the manual page lacks $spelling"
done <"$scratch/spellings"
if command -v groff >/dev/null; then
	groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null | tee "$scratch/log"
	[ ! -s "$scratch/log" ] || fail "roff complains"
fi

. "$prefix/share/bash-completion/completions/dslc"
compopt() { :; }

# complete LINE WORDS: what is offered at the end of the line
complete_is()
{
	COMP_LINE=$1 COMP_POINT=${#1}
	read -ra COMP_WORDS <<<"$1"
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_dslc || true
	[ "${COMPREPLY[*]}" = "$2" ] || fail "'$1' is completed to '${COMPREPLY[*]}', not '$2'"
}
cd "$source/examples/gemm"
complete_is "dslc ex" "explain"
complete_is "dslc --verify=f" "fast full"
complete_is "dslc --emit=h" "header"
complete_is "dslc run --sche" "--schedules="
complete_is "dslc layout --sche" ""
complete_is "dslc run gem" "gemm.gemm"

editors=$prefix/share/dslc/editors
for file in gemm.tmLanguage.json vim/syntax/gemm.vim vim/ftdetect/gemm.vim vim/ftplugin/gemm.vim \
	vscode/package.json vscode/language-configuration.json vscode/extension.js; do
	cmp -s "$source/editors/$file" "$editors/$file" || fail "editors/$file is not installed"
done
cmp -s "$editors/gemm.tmLanguage.json" "$editors/vscode/gemm.tmLanguage.json" || fail "the extension has no grammar"
