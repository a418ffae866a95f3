/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx.c - the module as LLVM IR text and as PTX. Optimisation is a short list of passes: storage
 * becomes registers, and what is computed twice is shared; ptxas does the rest.
 * Source files get a time and a size of 1 in the text, since ptxas else asks the file system and
 * writes both into the cubin:
 *     .file 1 "gemm.gemm"   ->   .file 1 "gemm.gemm", 1, 1 */
#include "codegen/cg.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

static const char *kept(const CgMod *m, char *why)
{
	const char *s = ctx_str(m->ctx, why ? why : "");
	LLVMDisposeMessage(why);
	return s;
}

static void verify(const CgMod *m)
{
	char *why = NULL;
	if (LLVMVerifyModule(m->mod, LLVMReturnStatusAction, &why))
		panic("LLVM's verifier: %s", kept(m, why));
	LLVMDisposeMessage(why);
}

void cg_optimise(CgMod *m)
{
	static const char passes[] = "function(mem2reg,early-cse)";
	LLVMPassBuilderOptionsRef opt = LLVMCreatePassBuilderOptions();
	verify(m);
	LLVMErrorRef e = LLVMRunPasses(m->mod, passes, m->tm, opt);
	LLVMDisposePassBuilderOptions(opt);
	if (e)
		panic("LLVM's passes: %s", kept(m, LLVMGetErrorMessage(e)));
}

void cg_llvm_text(CgMod *m, Buf *out)
{
	char *text = LLVMPrintModuleToString(m->mod);
	buf_add(out, text, strlen(text));
	LLVMDisposeMessage(text);
}

/* Adds each line of the text, a .file line with its time and size. */
static void copy_lines(const char *s, size_t n, Buf *out)
{
	for (const char *end = s + n; s < end;) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((nl ? nl : end) - s);
		buf_add(out, s, len);
		if (len > 6 && memcmp(s, "\t.file\t", 7) == 0)
			buf_add(out, ", 1, 1", 6);
		buf_add(out, "\n", 1);
		s += len + 1;
	}
}

void cg_ptx(CgMod *m, Buf *out)
{
	LLVMMemoryBufferRef text;
	char *why = NULL;
	if (LLVMTargetMachineEmitToMemoryBuffer(m->tm, m->mod, LLVMAssemblyFile, &why, &text))
		panic("LLVM's PTX: %s", kept(m, why));
	copy_lines(LLVMGetBufferStart(text), LLVMGetBufferSize(text), out);
	LLVMDisposeMemoryBuffer(text);
	if (m->complaint)
		panic("LLVM: %s", m->complaint);
}
