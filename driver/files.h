/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* files.h - private to driver/: reading inputs, writing outputs whole or not at all. */
#ifndef DSL_DRIVER_FILES_H
#define DSL_DRIVER_FILES_H

#include "codegen/spawn.h"
#include "base/base.h"

/* Reads all of `path` ("-": stdin); a diagnostic in c where it cannot. A name that is not found is
 * looked for in the folders too. *found is the name it was read under, in c's arena. */
bool file_read(Ctx *c, const char *path, const char *const *folders, int nfolders, Buf *out,
	       const char **found);

/* Writes under a temporary name in the same folder, then renames ("-": stdout; what is no regular
 * file, such as /dev/null, is written in place). A diagnostic in c where it cannot; then the file
 * that was there before is unchanged and the temporary one is gone. */
bool file_write(Ctx *c, const char *path, const void *data, size_t size);

bool same_file(const char *a, const char *b); /* both exist and are one */
/* "dir/a.gemm", ".ptx" -> "dir/a.ptx" */
const char *with_ending(Arena *a, const char *path, const char *ending);
const char *base_name(const char *path);

/* crash.c: an internal error or a signal ends the tool with code 70 (or by the signal, if a person
 * sent it), and what is litter then goes with it. For the tool only. */
void crash_install(void);
Litter *crash_litter(void);

#endif
