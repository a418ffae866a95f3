/* codegen.c - all of code generation in order: LLVM IR, PTX, ptxas, manifest, cubin. */
#include "codegen/artifact.h"
#include "codegen/cg.h"
#include "codegen/kdesc.h"
#include "codegen/ptxas.h"

#include <ctype.h>
#include <time.h>

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
	out->timed_out = as->timed_out;
	out->regs = ok && as->regs[0] ? as->regs[0] : -1;
	return ok;
}

/* "gemm" -> "GEMM_H" */
static const char *guard(Ctx *c, const char *c_name)
{
	char *s = arena_printf(ctx_arena(c), "%s_H", c_name);
	for (char *p = s; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return s;
}

static bool write_manifest(const Module *m, unsigned parts, const CgOpt *opt, CgOut *out,
			   const Assembled *as)
{
	KModuleDesc desc;
	if (!kdesc_fill(m, opt, as->regs, &desc))
		return false;
	manifest_write(&desc, &out->manifest);
	if (parts & CG_HEADER)
		header_write(&desc, guard(m->ctx, opt->c_name), &out->header);
	return true;
}

static void join_cubin(unsigned parts, const CgOpt *opt, CgOut *out, const Assembled *as)
{
	const char *why =
		cubin_append(as->elf.s, as->elf.n, out->manifest.s, out->ptx.s, &out->cubin);
	if (why)
		panic("%s", why);
	if (parts & CG_C)
		c_write(out->cubin.s, out->cubin.n, opt->c_name, &out->c);
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
	if (parts & (CG_C | CG_HEADER))
		parts |= CG_CUBIN |
			 CG_MANIFEST; /* a launcher names the registers that ptxas counted */
	if (parts & (CG_LLVM | CG_PTX | CG_CUBIN))
		write_ptx(m, parts, opt, out);
	if (parts & CG_CUBIN)
		ok = write_cubin(m, opt, out, &as);
	if (ok && parts & (CG_CUBIN | CG_MANIFEST))
		ok = write_manifest(m, parts, opt, out, &as);
	if (ok && as.elf.n)
		join_cubin(parts, opt, out, &as);
	buf_free(&as.elf);
	return ok;
}
