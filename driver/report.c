/* report.c - --time-report. */
#include "driver/tool.h"

#include <sys/resource.h>

static void line(Buf *out, const char *what, const char *name, double seconds, double total)
{
	buf_printf(out, "  %-5s %-12s %9.3f ms %5.1f %%\n", what, name, seconds * 1e3,
		   total > 0 ? 100 * seconds / total : 0);
}

void time_report(const CompileTimes *t, Buf *out)
{
	struct rusage own;
	double rest = t->total - t->frontend - t->llvm - t->ptxas;
	buf_printf(out, "time:\n");
	line(out, "", "frontend", t->frontend, t->total);
	for (int i = 0; i < PASS_COUNT; i++) {
		line(out, "pass", pass_rows[i].name, t->passes[i], t->total);
		rest -= t->passes[i];
	}
	line(out, "", "LLVM", t->llvm, t->total);
	line(out, "", "ptxas", t->ptxas, t->total);
	line(out, "", "rest", rest, t->total);
	line(out, "", "total", t->total, t->total);
	getrusage(RUSAGE_SELF, &own);
	buf_printf(out, "memory: %.1f MiB at the peak, ptxas not counted\n",
		   (double)own.ru_maxrss / 1024);
}
