/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* artifact.h - what a compile leaves behind besides PTX: the manifest, the cubin that carries it,
 * the typed C launcher and the cubin as C source. Needs only the kernel description
 * (runtime/kdesc.h).
 *     KModuleDesc + ptxas's ELF + PTX  ->  gemm.cubin, gemm.h, gemm.c
 * Output is a pure function of the input: no time, no path but the one in the description. A
 * description that breaks its own rules is our bug and panics. Outputs are appended to a Buf, which
 * the caller frees (buf_free). */
#ifndef DSL_CODEGEN_ARTIFACT_H
#define DSL_CODEGEN_ARTIFACT_H

#include "base/base.h"
#include "runtime/kdesc.h"

/* manifest.c: the description as JSON text. */
void manifest_write(const KModuleDesc *m, Buf *json);

/* cubin.c: ptxas's ELF with .dslc.manifest and .dslc.ptx (NUL-terminated each) after it; every
 * offset of the ELF stays. The manifest gets the checksum of the file, in both places. Returns
 * NULL, or a sentence that says what is wrong with the ELF (then out is as it was). */
const char *cubin_append(const void *elf, size_t size, char *manifest, const char *ptx, Buf *out);

/* An ELF without code, in place of ptxas's, for a device that runs the PTX. */
void cubin_empty(Buf *out);

/* header.c: for each kernel or family struct NAME_args, NAME_can_run and NAME_launch (static
 * inline, C99 and C++11, includes <dsl.h>), and what c_write defines. name and guard are C
 * identifiers, e.g. "gemm" and "GEMM_H". */
void header_write(const KModuleDesc *m, const char *name, const char *guard, Buf *out);

/* header.c: the cubin as `const unsigned char NAME_cubin[]` and `const size_t NAME_cubin_size`. */
void c_write(const void *cubin, size_t size, const char *name, Buf *out);

#endif
