/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* trace.c - what each warp did when, as Chrome's trace events (also read by Perfetto): one process
 * per CTA, one thread per warp, time in instructions of the cluster. Only the first cluster.
 *   {"ph":"X","name":"wait","cat":"mbarrier","pid":0,"tid":8,"ts":120,"dur":300} */
#include "sim/machine.h"

#include <stdio.h>
#include <stdlib.h>

struct Trace {
	FILE *file;
	u64 events;
};

struct Trace *trace_open(const char *path)
{
	struct Trace *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->file = fopen(path, "w");
	if (!t->file) {
		free(t);
		return NULL;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", t->file);
	return t;
}

bool trace_close(struct Trace *t)
{
	if (!t)
		return true;
	fputs("\n]}\n", t->file);
	bool ok = !ferror(t->file);
	ok = fclose(t->file) == 0 && ok;
	free(t);
	return ok;
}

void trace_span(const Cluster *c, const Warp *w, const char *name, const char *kind, u64 from,
		u64 to)
{
	struct Trace *t = c->job->trace;
	if (!t || c->index != 0)
		return;
	fprintf(t->file,
		"%s\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%"
		"llu,\"dur\":%llu}",
		t->events++ ? "," : "", name, kind, w->cta->rank, w->id, (unsigned long long)from,
		(unsigned long long)(to > from ? to - from : 1));
}
