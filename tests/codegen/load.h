/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* load.h - for the tests of codegen: textual IR as a frozen module. */
#ifndef TESTS_CODEGEN_LOAD_H
#define TESTS_CODEGEN_LOAD_H

#include "codegen/codegen.h"

/* NULL, with the reason on stderr, when the text is no IR. */
Module *load_text(Ctx *c, const char *name, const char *text);
Module *load_file(Ctx *c, const char *path);

/* The .text of the first kernel of a cubin: 16 bytes an instruction. Returns how many; 0 if
 * none. */
size_t cubin_code(const void *cubin, size_t size, const unsigned char **code);

#endif
