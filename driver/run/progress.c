/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* progress.c - a bar on stderr for work that takes longer than two seconds, where stderr is a
 * terminal that can erase it; a pipe or a file gets nothing.
 *     [#########                     ]  31 % */
#include "driver/run/progress.h"
#include "driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 30
static const double PATIENCE = 2, PAUSE = 0.1; /* seconds: before the first, between two */

void progress_start(Progress *p, int parts)
{
	const char *term = getenv("TERM");
	*p = (Progress){.start = now_seconds(), .parts = parts};
	p->on = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void draw(Progress *p, double share)
{
	static const char full[] = "##############################";
	int n = (int)(share * WIDTH);
	fprintf(stderr, "\r[%-*.*s] %3d %%", WIDTH, n, full, (int)(share * 100));
	fflush(stderr);
	p->shown = true;
}

void progress_at(Progress *p, int64_t done, int64_t all)
{
	double now = p->on ? now_seconds() : 0;
	if (!p->on || now - p->start < PATIENCE || now - p->drawn < PAUSE)
		return;
	p->drawn = now;
	draw(p, (p->part + (all > 0 ? (double)done / (double)all : 0)) / p->parts);
}

void progress_next(Progress *p)
{
	p->part++;
}

void progress_hide(Progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
