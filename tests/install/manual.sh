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

# zsh: the arrays that are handed to _describe, for word $2 of a line
cat >"$scratch/zsh" <<'END'
_describe() { print -rl -- $whole $open; }
_files() { :; }
words=(${=1}) CURRENT=$2
source $3
END
zsh_has()
{
	zsh -f "$scratch/zsh" "$1" "$2" "$prefix/share/zsh/site-functions/_dslc" >"$scratch/log" || fail "zsh: '$1'"
	grep -q "^$3" "$scratch/log" || fail "zsh offers no '$3' after '$1'"
	! grep -q "^$4" "$scratch/log" || fail "zsh offers '$4' after '$1'"
}
zsh_has "dslc x" 2 "explain:print the program" "--grid"
zsh_has "dslc x --verify" 3 "--verify=full:" "explain"
zsh_has "dslc sim x" 4 "--grid=:CTAs" "--size="
zsh_has "dslc bench x" 4 "--device=:" "--device=sim"
fish_is()
{
	fish --no-config -c "source '$prefix/share/fish/vendor_completions.d/dslc.fish'; complete -C '$1'" >"$scratch/log"
	[ "$(cut -f 1 "$scratch/log" | tr '\n' ' ')" = "$2" ] || fail "fish completes '$1' otherwise"
}
fish_is "dslc expl" "explain "
fish_is "dslc --verify=f" "--verify=fast --verify=full "
fish_is "dslc run --sche" "--schedules "
fish_is "dslc layout --sche" ""
fish_is "dslc sim --bl" "--block "

python3 -m zipfile -e "$prefix/share/dslc/editors/dslc.vsix" "$scratch/vsix"
for file in package.json language-configuration.json extension.js; do
	cmp -s "$source/editors/vscode/$file" "$scratch/vsix/extension/$file" || fail "dslc.vsix has no $file"
done
cmp -s "$source/editors/gemm.tmLanguage.json" "$scratch/vsix/extension/gemm.tmLanguage.json" || fail "dslc.vsix has no grammar"
python3 - "$scratch/vsix" <<'END' || fail "dslc.vsix is not what an editor takes"
import json, pathlib, sys, xml.etree.ElementTree as tree
root = pathlib.Path(sys.argv[1])
types = {x.get("Extension") for x in tree.parse(root / "[Content_Types].xml").getroot()}
assert {p.suffix for p in root.rglob("*") if p.is_file() and p.suffix != ".xml"} == types
own = json.load(open(root / "extension/package.json"))
said = next(x for x in tree.parse(root / "extension.vsixmanifest").iter() if x.tag.endswith("Identity"))
assert [said.get(x) for x in ("Id", "Version", "Publisher")] == [own["name"], own["version"], own["publisher"]]
END

editors=$prefix/share/dslc/editors
for file in gemm.tmLanguage.json vim/syntax/gemm.vim vim/ftdetect/gemm.vim vim/ftplugin/gemm.vim \
	vscode/package.json vscode/language-configuration.json vscode/extension.js; do
	cmp -s "$source/editors/$file" "$editors/$file" || fail "editors/$file is not installed"
done
cmp -s "$editors/gemm.tmLanguage.json" "$editors/vscode/gemm.tmLanguage.json" || fail "the extension has no grammar"
