" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
" Comments, indentation of docs/fmt.md, and gq by dslc fmt where it is installed.
if exists("b:did_ftplugin")
	finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=://:,s1:/*,mb:*,ex:*/ expandtab shiftwidth=4 softtabstop=4
if executable("dslc")
	setlocal formatprg=dslc\ fmt\ -
endif
let b:undo_ftplugin = "setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< formatprg<"
