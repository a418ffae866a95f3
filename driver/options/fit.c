/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fit.c - which options and files go together.
 *     -o a b.gemm c.gemm  ->  "-o names one output, but there are 2 inputs"
 */
#include "driver/files.h"
#include "driver/options/parse.h"

#include <ctype.h>
#include <string.h>

static int bits(unsigned x)
{
	int n = 0;
	for (; x; x &= x - 1)
		n++;
	return n;
}

static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot && dot != base ? dot : "";
}

static const char *stem_of(const Parse *p, const char *path)
{
	return arena_strndup(p->o->arena, path, strlen(path) - strlen(ending_of(path)));
}

/* What several outputs can be named after: it has no ending, or that of one of them. */
static bool is_stem(const Options *o)
{
	const char *ending = ending_of(o->out);
	bool fits = !*ending;
	for (int i = 0; i < EMIT_COUNT; i++)
		fits |= o->emit & EMIT_BIT(i) && !strcmp(ending, emit_rows[i].ending);
	return fits;
}

static void check_compile(Parse *p)
{
	Options *o = p->o;
	unsigned ir = EMIT_BIT(EMIT_IR) | EMIT_BIT(EMIT_AST);
	bool partial = o->only >= 0 || o->stop_after != AFTER_LAST;
	if (o->out && o->inputs.n > 1)
		refuse(p, "-o names one output, but there are %d inputs", o->inputs.n);
	else if (o->depfile && o->inputs.n > 1)
		refuse(p, "-MF names one file, but there are %d inputs", o->inputs.n);
	else if (o->out && strcmp(o->out, "-") == 0 && bits(o->emit) > 1)
		refuse(p, "-o - takes one kind of output, but --emit asks for %d", bits(o->emit));
	else if (o->out && bits(o->emit) > 1 && !is_stem(o))
		refuse(p,
		       "--emit asks for %d kinds of output, each with its ending: -o names them "
		       "without one, as %s",
		       bits(o->emit), stem_of(p, o->out));
	else if (partial && o->emit & ~ir)
		refuse(p, "--stop-after and --only end in IR: nothing else can be written");
	else if (o->only >= 0 && o->stop_after != AFTER_LAST)
		refuse(p, "--only and --stop-after exclude each other");
	else if (o->syntax_only && (o->out || (o->emit & ~EMIT_BIT(EMIT_AST))))
		refuse(p, "-fsyntax-only writes nothing: leave out -o, -S, -c and --emit");
}

static void check_run(Parse *p)
{
	if (p->o->inputs.n > 1)
		refuse(p, "dslc run takes one file, not %d", p->o->inputs.n);
	else if (p->o->arrays_in.n && p->o->numbers != NUMBERS_BOTH)
		refuse(p, "--in says what it runs on: leave out --numbers");
}

static bool is_simulator(const char *device)
{
	return device && strncmp(device, "sim", 3) == 0 && (!device[3] || device[3] == ':');
}

static bool same_name(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static void check_explain(Parse *p)
{
	Options *o = p->o;
	int stdouts = (o->out && !strcmp(o->out, "-")) + (o->svg && !strcmp(o->svg, "-")) +
		      (o->json_out && !strcmp(o->json_out, "-"));
	if (o->inputs.n > 1)
		refuse(p, "dslc explain takes one file, not %d", o->inputs.n);
	else if (stdouts > 1)
		refuse(p, "only one of -o, --json and --svg can be -");
	else if (same_name(o->out, o->svg) || same_name(o->out, o->json_out) ||
		 same_name(o->svg, o->json_out))
		refuse(p, "-o, --json and --svg name one file twice");
}

static void check_bench(Parse *p)
{
	Options *o = p->o;
	const char *word = o->command == CMD_TUNE ? "tune" : "bench";
	if (o->inputs.n > 1)
		refuse(p, "dslc %s takes one file, not %d", word, o->inputs.n);
	else if (is_simulator(o->device))
		refuse(p,
		       "dslc %s needs a GPU: the simulator says what a kernel does, not how "
		       "long it takes; dslc run --device sim checks the result",
		       word);
	else if (o->command == CMD_TUNE && o->card)
		refuse(p, "dslc tune measures on the GPU that it finds: leave out --card");
	else if (same_name(o->csv, o->json_out))
		refuse(p, "--csv and --json name one file");
}

static void check_layout(Parse *p)
{
	if (p->o->svg && p->o->inputs.n > 1)
		refuse(p, "--svg names one picture, but there are %d expressions", p->o->inputs.n);
	else if (p->o->svg && p->o->inputs.n == 0)
		refuse(p, "--svg needs the expression on the command line");
}

static void check_sim(Parse *p)
{
	const Options *o = p->o;
	if (o->inputs.n > 1)
		refuse(p, "dslc sim takes one file, not %d", o->inputs.n);
	else if (!o->grid[0] || !o->block[0])
		refuse(p, "dslc sim needs --grid and --block; see dslc sim --help");
	else if (o->raw.n > SIM_MOST_ARGS)
		refuse(p, "dslc sim takes %d of --arg and --buffer, not %d", SIM_MOST_ARGS,
		       o->raw.n);
}

/* The name of the files is part of names in the program. */
static void check_new(Parse *p)
{
	const char *name = p->o->inputs.n == 1 ? base_name(p->o->inputs.at[0]) : "";
	bool right = isalpha((unsigned char)*name) || *name == '_';
	for (const char *s = name; *s; s++)
		right &= isalnum((unsigned char)*s) || *s == '_';
	if (!right)
		refuse(p,
		       "dslc new takes one name of letters, digits and '_', as in dslc new gemm");
}

void options_fit(Parse *p)
{
	Options *o = p->o;
	if (o->help || o->version || o->explain)
		return;
	if (o->command == CMD_LAYOUT)
		check_layout(p);
	else if (o->command == CMD_LSP && o->inputs.n)
		refuse(p, "dslc lsp takes no files: an editor opens them");
	else if (o->command == CMD_LSP)
		return;
	else if (o->command == CMD_NEW)
		check_new(p);
	else if (o->inputs.n == 0)
		refuse(p, "no input file; see dslc --help");
	else if (o->command == CMD_RUN)
		check_run(p);
	else if (o->command == CMD_SIM)
		check_sim(p);
	else if (o->command & CMD_TIMES)
		check_bench(p);
	else if (o->command == CMD_EXPLAIN)
		check_explain(p);
	else if (o->command != CMD_FMT)
		check_compile(p);
}
