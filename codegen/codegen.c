/* codegen.c - all of code generation in order: LLVM IR, PTX, ptxas, manifest, cubin. */
#include "codegen/artifact.h"
#include "codegen/cg.h"
#include "codegen/kdesc.h"
#include "codegen/ptxas.h"

#include <time.h>

void cg_out_free(CgOut *o)
{
	buf_free(&o->llvm);
	buf_free(&o->ptx);
	buf_free(&o->cubin);
	buf_free(&o->manifest);
}

const char *codegen_llvm_version(Ctx *c)
{
	unsigned major, minor, patch;
	LLVMGetVersion(&major, &minor, &patch);
	return ctx_strf(c, "%u.%u.%u", major, minor, patch);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_ptx(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out)
{
	CgMod mod;
	double start = now();
	cg_module_open(&mod, m->ctx, opt, m->kernels.at[0]->target);
	for (int i = 0; i < m->kernels.n; i++)
		cg_kernel(&mod, m->kernels.at[i]);
	LLVMDIBuilderFinalize(mod.di);
	cg_optimise(&mod);
	if (parts & CG_LLVM)
		cg_llvm_text(&mod, &out->llvm);
	if (parts & (CG_PTX | CG_CUBIN))
		cg_ptx(&mod, &out->ptx);
	cg_module_close(&mod);
	out->llvm_s = now() - start;
}

static bool write_cubin(const Module *m, const CgOpt *opt, CgOut *out, Assembled *as)
{
	double start = now();
	bool ok = ptxas_run(m, opt, &out->ptx, as);
	out->ptxas_s = now() - start;
	out->ptxas_failed = !ok;
	out->regs = ok && as->regs[0] ? as->regs[0] : -1;
	return ok;
}

static bool write_manifest(const Module *m, const CgOpt *opt, CgOut *out, const Assembled *as)
{
	KModuleDesc desc;
	if (!kdesc_fill(m, opt, as->regs, &desc))
		return false;
	manifest_write(&desc, &out->manifest);
	return true;
}

static void join_cubin(CgOut *out, const Assembled *as)
{
	const char *why =
		cubin_append(as->elf.s, as->elf.n, out->manifest.s, out->ptx.s, &out->cubin);
	if (why)
		panic("%s", why);
}

bool codegen_module(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out)
{
	Assembled as = {.regs = NULL};
	bool ok = true;
	*out = (CgOut){.regs = -1};
	for (int i = 0; i < m->kernels.n; i++)
		if (!m->kernels.at[i]->frozen || m->kernels.at[i]->stage != ST_PTX)
			panic("%s is not ready for code generation", m->kernels.at[i]->name);
	if (m->kernels.n == 0)
		return true;
	if (parts & (CG_LLVM | CG_PTX | CG_CUBIN))
		write_ptx(m, parts, opt, out);
	if (parts & CG_CUBIN)
		ok = write_cubin(m, opt, out, &as);
	if (ok && parts & (CG_CUBIN | CG_MANIFEST))
		ok = write_manifest(m, opt, out, &as);
	if (ok && as.elf.n)
		join_cubin(out, &as);
	buf_free(&as.elf);
	return ok;
}
