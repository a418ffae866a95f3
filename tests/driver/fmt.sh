#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dslc fmt: in place or not at all; --check; stdin; what does not parse is left alone.
. "$(dirname "$0")/lib.sh"

# formatted already: the same bytes, not even written
touch -d '2001-01-01' small.gemm
cp -p small.gemm was.gemm
expect 0 fmt small.gemm
empty out
empty err
same small.gemm was.gemm
[ ! small.gemm -nt was.gemm ] || fail "what is formatted was written again"
expect 0 fmt --check small.gemm
empty out

# not formatted: named and left by --check, rewritten without it; permissions and links stay
sed 's/ = /=/; s/^ *//' small.gemm >ugly.gemm
cp ugly.gemm was.gemm
chmod 640 ugly.gemm
ln -s ugly.gemm link.gemm
expect 1 fmt --check small.gemm ugly.gemm
[ "$(cat out)" = ugly.gemm ] || fail "--check names the wrong files"
empty err
same ugly.gemm was.gemm
expect 0 fmt link.gemm
same ugly.gemm small.gemm
[ -L link.gemm ] || fail "the link was replaced"
[ "$(stat -c %a ugly.gemm)" = 640 ] || fail "the permissions changed"
expect 0 fmt --check ugly.gemm

# stdin to stdout
expect 0 fmt - <was.gemm
same out small.gemm
expect 1 fmt --check - <was.gemm
[ "$(cat out)" = "<stdin>" ] || fail "--check - does not say <stdin>"
expect 0 fmt --check - <small.gemm
empty out
: >nothing.gemm
expect 0 fmt nothing.gemm
[ ! -s nothing.gemm ] || fail "nothing became something"

# what does not parse stays, with its error; the other files are formatted
printf 'let a = ;\n' >bad.gemm
cp bad.gemm bad.was
cp was.gemm good.gemm
expect 1 fmt bad.gemm good.gemm
has err "bad.gemm:1:9: error[E0105]: unexpected ';'"
empty out
same bad.gemm bad.was
same good.gemm small.gemm
expect 1 fmt --check bad.gemm
has err "E0105"
expect 1 fmt - <bad.gemm
empty out
expect 1 fmt --diagnostics=json bad.gemm
has err '"code":"E0105"'
printf 'let a = 1;\0' >nul.gemm
expect 1 fmt nul.gemm
has err "E0101"

# unknown names are no matter: a file need only parse
printf 'let a=b+c ;\n' >names.gemm
expect 0 fmt names.gemm
[ "$(cat names.gemm)" = "let a = b + c;" ] || fail "names.gemm is not formatted"

# what cannot be read, written or formatted
expect 1 fmt absent.gemm
has err "E0601"
printf 'kernel k tile sm_90a {\n}\n' >k.ir
expect 1 fmt k.ir
has err "E0620" "'k.ir' is textual IR"
if [ "$(id -u)" != 0 ]; then
	mkdir closed
	cp was.gemm closed/a.gemm
	chmod 555 closed
	expect 1 fmt closed/a.gemm
	has err "E0603"
	same closed/a.gemm was.gemm
	chmod 755 closed
fi
expect 2 fmt
has err "no input file"
expect 2 fmt -o x small.gemm
has err "-o is not an option of dslc fmt"
expect 2 --check small.gemm
has err "--check is not an option of dslc; dslc fmt takes it"
expect 0 fmt --help
has out "dslc fmt FILE..." "--check"
lacks out "--emit"
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary file stayed"
