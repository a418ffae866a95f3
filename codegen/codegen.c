/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* codegen.c - all of code generation in order: LLVM IR, PTX, ptxas, manifest, cubin. */
#include "codegen/artifact.h"
#include "codegen/cg.h"
#include "codegen/kdesc.h"
#include "codegen/ptxas.h"

#include <ctype.h>

void cg_out_free(CgOut *o)
{
	buf_free(&o->llvm);
	buf_free(&o->ptx);
	buf_free(&o->cubin);
	buf_free(&o->manifest);
	buf_free(&o->header);
	buf_free(&o->c);
}

const char *codegen_llvm_version(Ctx *c)
{
	unsigned major, minor, patch;
	LLVMGetVersion(&major, &minor, &patch);
	return ctx_strf(c, "%u.%u.%u", major, minor, patch);
}

/* False: IR that nobody can make code of; messages say so. */
static bool write_ptx(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out)
{
	CgMod mod;
	double start = now_seconds();
	int errors = diag_errors(m->ctx);
	cg_module_open(&mod, m->ctx, opt, m->kernels.at[0]->target);
	for (int i = 0; i < m->kernels.n; i++)
		cg_kernel(&mod, m->kernels.at[i]);
	LLVMDIBuilderFinalize(mod.di);
	bool ok = diag_errors(m->ctx) == errors;
	if (ok)
		cg_optimise(&mod);
	if (ok && parts & CG_LLVM)
		cg_llvm_text(&mod, &out->llvm);
	if (ok && parts & (CG_PTX | CG_CUBIN))
		cg_ptx(&mod, &out->ptx);
	cg_module_close(&mod);
	out->llvm_s = now_seconds() - start;
	return ok;
}

enum { LONG_PTX = 20000 };

/* ptxas compiles one to ten thousand lines in a second, fewer the more there are. */
static void warn_of_length(const Module *m, const Buf *ptx)
{
	int lines = 0;
	for (size_t i = 0; i < ptx->n; i++)
		lines += ptx->s[i] == '\n';
	if (lines < LONG_PTX * m->kernels.n)
		return;
	diag(m->ctx, NOLOC, D_W0505,
	     "the PTX has %d lines: ptxas takes long, ten seconds or a minute\n"
	     "use a smaller tile: each function is written out for each element that a thread "
	     "computes at a time; or compute a part of the functions in another kernel",
	     lines);
}

static bool assemble(const Module *m, const CgOpt *opt, CgOut *out, Assembled *as)
{
	double start = now_seconds();
	if (opt->unassembled) {
		cubin_empty(&as->elf);
		return true;
	}
	warn_of_length(m, &out->ptx);
	bool ok = ptxas_run(m, opt, &out->ptx, as);
	out->ptxas_s = now_seconds() - start;
	out->ptxas_failed = as->failed;
	out->spilled = as->spilled;
	out->timed_out = as->timed_out;
	out->regs = ok && as->regs[0] ? as->regs[0] : -1;
	return ok;
}

static const char *guard_of(Ctx *c, const char *name)
{
	char *guard = arena_printf(ctx_arena(c), "%s_H", name);
	for (char *s = guard; *s; s++)
		*s = (char)toupper((unsigned char)*s);
	return guard;
}

/* What follows from the description, with or without a cubin. */
static bool describe(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out,
		     const Assembled *as)
{
	KModuleDesc desc;
	const char *name = opt->c_name ? opt->c_name : m->kernels.at[0]->name;
	double start = now_seconds();
	bool ok = kdesc_fill(m, opt, as->regs, &desc);
	out->ptxas_s +=
		now_seconds() - start; /* nearly all of it is asking ptxas for its version */
	if (!ok)
		return false;
	manifest_write(&desc, &out->manifest);
	if (parts & CG_HEADER)
		header_write(&desc, name, guard_of(m->ctx, name), &out->header);
	return true;
}

/* False: what ptxas left is no cubin, which is no fault of ours. */
static bool join_cubin(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out,
		       const Assembled *as)
{
	const char *name = opt->c_name ? opt->c_name : m->kernels.at[0]->name;
	const char *why =
		cubin_append(as->elf.s, as->elf.n, out->manifest.s, out->ptx.s, &out->cubin);
	out->ptxas_failed = why;
	if (why) {
		diag(m->ctx, NOLOC, D_E0510, "%s %s\nis it NVIDIA's ptxas? %s --version says",
		     as->ptxas, why, as->ptxas);
		return false;
	}
	if (parts & CG_C)
		c_write(out->cubin.s, out->cubin.n, name, &out->c);
	return true;
}

static void expect_frozen(const Module *m)
{
	for (int i = 0; i < m->kernels.n; i++)
		if (!m->kernels.at[i]->frozen || m->kernels.at[i]->stage != ST_PTX)
			panic("%s is not ready for code generation", m->kernels.at[i]->name);
}

bool codegen_module(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out)
{
	Assembled as = {.regs = NULL};
	bool ok = true;
	*out = (CgOut){.regs = -1, .spilled = -1};
	expect_frozen(m);
	if (m->kernels.n == 0)
		return true;
	if (parts & CG_C)
		parts |= CG_CUBIN;
	if (parts & (CG_LLVM | CG_PTX | CG_CUBIN))
		ok = write_ptx(m, parts, opt, out);
	if (ok && parts & CG_CUBIN)
		ok = assemble(m, opt, out, &as);
	if (ok && parts & (CG_CUBIN | CG_MANIFEST | CG_HEADER))
		ok = describe(m, parts, opt, out, &as);
	if (ok && as.elf.n)
		ok = join_cubin(m, parts, opt, out, &as);
	buf_free(&as.elf);
	return ok;
}
