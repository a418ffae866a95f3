/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c - --time-report and --report=resources. */
#include "driver/tool.h"
#include "runtime/desc.h"

#include <string.h>

#include <sys/resource.h>

static void line(Buf *out, const char *what, const char *name, double seconds, double total)
{
	buf_printf(out, "  %-5s %-12s %9.3f ms %5.1f %%\n", what, name, seconds * 1e3,
		   total > 0 ? 100 * seconds / total : 0);
}

void time_report(const CompileTimes *t, Buf *out)
{
	struct rusage own;
	double rest = t->total - t->frontend - t->check - t->llvm - t->ptxas;
	buf_printf(out, "time:\n");
	line(out, "", "frontend", t->frontend, t->total);
	for (int i = 0; i < pass_count; i++) {
		line(out, "pass", pass_rows[i].name, t->passes[i], t->total);
		rest -= t->passes[i];
	}
	line(out, "", "check", t->check, t->total);
	line(out, "", "LLVM", t->llvm, t->total);
	line(out, "", "ptxas", t->ptxas, t->total);
	line(out, "", "rest", rest, t->total);
	line(out, "", "total", t->total, t->total);
	getrusage(RUSAGE_SELF, &own);
	buf_printf(out, "check: %d states\n", t->states);
	buf_printf(out, "memory: %.1f MiB at the peak, ptxas not counted\n",
		   (double)own.ru_maxrss / 1024);
}

/* ------------------------------------------------------------------ resources */
enum { CTA_SMEM = 232448, SM_REGS = 65536 };

static void kernel_resources(const KDesc *k, Buf *out)
{
	buf_printf(out, "%s: %s, %d threads, cluster %d x %d x %d%s\n", k->name, k->schedule,
		   k->block, k->cluster[0], k->cluster[1], k->cluster[2],
		   k->pdl ? ", programmatic dependent launch" : "");
	buf_printf(out, "  registers      %d a thread at entry, %d of %d of an SM\n", k->entry_regs,
		   k->entry_regs * k->block, SM_REGS);
	buf_printf(out, "  shared memory  %d of %d bytes of a CTA\n", k->smem, CTA_SMEM);
	EACH_OF(const KSmem, m, k->smem_map, k->nsmem)
		buf_printf(out, "    %-12s at %7lld  %6lld bytes x %d\n", m->name,
			   (long long)m->offset, (long long)m->bytes, m->slots);
	char grid[512];
	dsl_desc_infix(k->grid[0], grid, sizeof grid);
	buf_printf(out, "  CTAs           %s\n", grid);
}

void resource_report(const char *manifest, Buf *out)
{
	KModuleDesc *d;
	if (dsl_desc_parse(manifest, strlen(manifest), &d) != DSL_OK)
		panic("our own manifest: %s", dsl_detail());
	for (int i = 0; i < d->nkernels; i++)
		kernel_resources(&d->kernels[i], out);
	dsl_desc_free(d);
}
