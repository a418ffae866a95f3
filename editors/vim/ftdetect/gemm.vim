" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
autocmd BufRead,BufNewFile *.gemm setfiletype gemm
