/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tool.h - private to driver/: the parts of the dslc program. Each gives an exit code. */
#ifndef DSL_DRIVER_TOOL_H
#define DSL_DRIVER_TOOL_H

#include "driver/options/options.h"

int tool_run(const Options *o);
int tool_bench(const Options *o);   /* times on a GPU */
int tool_tune(const Options *o);    /* which of its choices are fastest there */
int tool_explain(const Options *o); /* what was derived, and why */
int tool_fmt(const Options *o);     /* sources in the one style */
int tool_lsp(const Options *o);     /* a language server */
int tool_new(const Options *o);     /* a first kernel and a program */
int tool_layout(const Options *o);  /* expressions of the layout algebra */
int tool_sim(const Options *o);     /* PTX of any compiler, on the simulator */

typedef VEC(SizeArgs) SizeArgsVec;

/* tool.c: shared by the commands */
CompileOpt tool_compile_opt(Ctx *c, const Options *o, Buf *log);
Ctx *tool_ctx(const Options *o); /* with the levels that -W, -Werror and -Wno- set */
/* With FILE.tune, but for dslc fmt. */
bool tool_read(Ctx *c, const Options *o, const char *input, Buf *text, Source *source);
SizeArgsVec tool_sizes(Ctx *c, const Options *o); /* --for, --for-many or --size */
/* --card, or the name of the GPU that --device means; NULL: none that can be opened */
const char *tool_card(Arena *a, const Options *o);
void tool_messages(const Ctx *c, const Options *o); /* to stderr, as text or JSON */
void tool_usage(const char *fmt, ...) PRINTF(1, 2); /* "dslc: ..." to stderr */

/* for_many.c: adds the lines of a file; false after a message. */
bool sizes_read(Ctx *c, const char *path, SizeArgsVec *out);

/* depend.c: "out: in" for make and ninja, names escaped */
void depend_write(Buf *out, const char *const *targets, int ntargets, const char *const *inputs,
		  int ninputs, bool phony);

/* report.c: where the time went, and the peak of memory */
void time_report(const CompileTimes *t, Buf *out);
void resource_report(const char *manifest, Buf *out); /* a manifest of ours, as text */

/* sass.c: nvdisasm of a cubin; a diagnostic where there is none */
bool sass_write(Ctx *c, const char *ptxas_path, const Buf *cubin, Buf *out);

#endif
