/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* plain_make.c - writes a random kernel without an mma: tensors of one to three modes, row- or
 * column-major, with what is known of their strides or not; tiles of powers of two; expressions of
 * tiles, vectors and scalars, with sums and maxima of rows, of one warp or several; one or two
 * outputs, and values that are joined; rows of several tiles, which a loop reduces and another
 * writes, or which are parts of the mode, (M,(128,T)), with values of their own. An output may
 * have the type and the layout of an input, and may be read in place.
 *     seed 3  ->  kernel random(X : bf16 (M,N):(ld,1), .. ) .. gD[m,n] <- f32(gX[m,n]) * gv[n]; */
#include "chance.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 3 };

typedef struct {
	uint64_t state, seed;
	Made *m;
	Buf args, lets, body;
	int rank; /* 1: (N); 2: (M,N); 3: (L,M,N) */
	int bm, bn;
	bool known;  /* the extents are multiples of 16 */
	bool rows;   /* a tile holds whole rows, and joins them */
	bool across; /* rows of several warps */
	bool longer; /* rows of several tiles, that loops go through */
	bool parts;  /* each tile is a part of the mode, and its rows are these */
	bool pads;   /* a leading dimension ld */
	int inputs;
	bool vector_m, vector_n, scalar;
	bool twin;  /* D has the type and the layout of X, and may have its address */
	bool inout; /* D is read in place */
	const char *elem, *layout; /* of X */
} Make;

static bool chance(Make *k, int percent)
{
	return chance_of(&k->state, percent);
}

static const char *one_of(Make *k, const char *const *words, int n)
{
	return words[chance_within(&k->state, 0, n - 1)];
}
#define ONE_OF(k, ...)                                \
	one_of(k, (const char *const[]){__VA_ARGS__}, \
	       (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* ------------------------------------------------------------------ tensors */
static const char *index_of(const Make *k)
{
	return k->rank == 1 ? "n" : k->rank == 2 ? "m,n" : "l,m,n";
}

/* f32(gX[l,m,n]), at times by another index of the batch, the same each time */
static void read_input(Make *k, int number)
{
	char batch[24];
	uint64_t own = k->seed ^ UINT64_C(0x9fb21c651e98df25) * (uint64_t)(number + 1);
	chance_batch(&own, "l", batch, sizeof batch);
	buf_printf(&k->body, "f32(g%c[", 'X' + number);
	if (k->rank == 3)
		buf_printf(&k->body, "%s,m,n])", batch);
	else
		buf_printf(&k->body, "%s])", index_of(k));
}

static void tile_extents(const Make *k, Buf *b)
{
	if (k->rank == 1)
		buf_printf(b, "%d", k->bn);
	else
		buf_printf(b, "(%s%d,%d)", k->rank == 3 ? "1," : "", k->bm, k->bn);
}

/* # stands for the columns of a tile. */
static void put_columns(const Make *k, Buf *b, const char *form)
{
	for (const char *s = form; *s; s++)
		if (*s == '#')
			buf_printf(b, "%d", k->bn);
		else
			buf_printf(b, "%c", *s);
}

static const char *parts_of(Make *k, bool input)
{
	return input ? ONE_OF(k, "(M,(#,T)):(# * T,(1,#))", "(M,(#,T)):(1,(M,# * M))",
			      "(M,(#,T)):(ld,(1,#))", "(M,(#,T)):(0,(1,#))")
		     : ONE_OF(k, "(M,(#,T)):(# * T,(1,#))", "(M,(#,T)):(1,(M,# * M))");
}

static const char *layout_of(Make *k, bool input)
{
	if (k->rank == 1)
		return "(N)";
	k->pads |= input;
	if (k->parts)
		return parts_of(k, input);
	if (k->rank == 3)
		return input ? ONE_OF(k, "(L,M,N):(M * N,N,1)", "(L,M,N):(M * ld,ld,1)",
				      "(L,M,N):(0,N,1)")
			     : ONE_OF(k, "(L,M,N):(M * N,N,1)", "(L,M,N):(M * N,1,M)");
	return input ? ONE_OF(k, "(M,N):(N,1)", "(M,N):(1,M)", "(M,N):(ld,1)", "(M,N):(0,1)")
		     : ONE_OF(k, "(M,N):(N,1)", "(M,N):(1,M)");
}

/* The layout of X is an output's: no row is at the place of another. */
static bool is_twin(const Make *k, const char *name)
{
	return k->twin && *name == 'D' && !strstr(k->layout, "ld") && !strstr(k->layout, ":(0");
}

static void tensor(Make *k, const char *name, const char *elem, bool input)
{
	const char *layout = layout_of(k, input);
	if (*name == 'X') {
		k->elem = elem;
		k->layout = layout;
	}
	buf_printf(&k->args, "%s%s : %s%s ", k->args.n ? ", " : "", name,
		   input                      ? ""
		   : *name == 'D' && k->inout ? "inout "
					      : "out ",
		   elem);
	put_columns(k, &k->args, is_twin(k, name) ? k->layout : layout);
	buf_printf(&k->lets, "    let g%s = %s / ", name, name);
	tile_extents(k, &k->lets);
	buf_printf(&k->lets, ";\n");
}

static void vector(Make *k, char name, char mode, int extent, const char *word)
{
	buf_printf(&k->args, ", %c : %s ", name, word);
	put_columns(k, &k->args, mode == 'M' ? "(M)" : k->parts ? "((#,T)):((1,#))" : "(N)");
	buf_printf(&k->lets, "    let g%c = %c / %d;\n", name, name, extent);
}

/* ------------------------------------------------------------------ expressions */
static void expression(Make *k, int depth);

static void leaf(Make *k)
{
	int pick = chance_within(&k->state, 0, 9);
	if (pick == 0)
		buf_printf(&k->body, "%d", chance_within(&k->state, 1, 3));
	else if (pick == 1 && k->scalar)
		buf_printf(&k->body, "a");
	else if (pick == 2 && k->vector_n)
		buf_printf(&k->body, "gv[n]");
	else if (pick == 3 && k->vector_m)
		buf_printf(&k->body, "gw[m]");
	else if (pick == 4 && k->rows)
		buf_printf(&k->body, "r");
	else
		read_input(k, chance_within(&k->state, 0, k->inputs - 1));
}

static void call(Make *k, const char *form, int depth)
{
	for (const char *s = form; *s; s++) {
		if (*s == '#')
			expression(k, depth - 1);
		else
			buf_printf(&k->body, "%c", *s);
	}
}

static void expression(Make *k, int depth)
{
	if (!depth || chance(k, 20)) {
		leaf(k);
		return;
	}
	call(k,
	     ONE_OF(k, "(# + #)", "(# - #)", "-#", "abs(#)", "min(#, #)", "max(#, #)", "relu(#)",
		    "select(# > #, #, #)", "(# * 0.5)"),
	     depth);
}

/* ------------------------------------------------------------------ statements */
static const char *other_elem(Make *k)
{
	return ONE_OF(k, "f32", "bf16", "f16", "e4m3", "s8");
}

static void output(Make *k, char name)
{
	const char *elem = other_elem(k), text[] = {name, 0};
	elem = is_twin(k, text) ? k->elem : elem;
	tensor(k, text, elem, false);
	buf_printf(&k->body, "        g%c[%s] <- %s(", name, index_of(k), elem);
	read_input(k, 0);
	if (name == 'D' && k->inout)
		buf_printf(&k->body, " + f32(gD[%s])", index_of(k));
	buf_printf(&k->body, " + ");
	expression(k, DEPTH);
	buf_printf(&k->body, ");\n");
}

static void joined(Make *k)
{
	if (k->rank != 2 || k->longer || !chance(k, 40))
		return;
	bool rows = chance(k, 50);
	vector(k, 'S', rows ? 'M' : 'N', rows ? k->bm : k->bn, "out f32");
	buf_printf(&k->body, rows ? "        gS[m] <- max(gS[m], rowmax(f32(gX[m,n])));\n"
				  : "        gS[n] <- min(gS[n], colmin(f32(gX[m,n])));\n");
}

/* A value for each row of each part. */
static void each_part(Make *k)
{
	buf_printf(&k->args, ", P : out f32 (M,T):(T,1)");
	buf_printf(&k->lets, "    let gP = P / (%d,1);\n", k->bm);
	buf_printf(&k->body, "        gP[m,n] <- r + rowmax(f32(gX[m,n]));\n");
}

/* What a loop leaves of each row, in one or two reductions a trip. */
static void reduced(Make *k)
{
	const char *word = ONE_OF(k, "max", "min");
	buf_printf(&k->body, "        r : f32 rows(gX) = 0;\n        for n in g%s[m] {\n",
		   ONE_OF(k, "X", "D"));
	buf_printf(&k->body, "            r <- %s(r, row%s(f32(gX[m,n])));\n", word, word);
	if (chance(k, 50))
		buf_printf(&k->body, "            r <- r + rowsum(f32(gX[m,n]) * 0.25);\n");
	buf_printf(&k->body, "        }\n");
	if (chance(k, 50)) {
		buf_printf(&k->args, ", Q : out f32 (M)");
		buf_printf(&k->lets, "    let gQ = Q / %d;\n", k->bm);
		buf_printf(&k->body, "        gQ[m] <- r;\n");
	}
}

static void statements(Make *k)
{
	if (k->longer) {
		reduced(k);
		buf_printf(&k->body, "        for n in gD[m] {\n");
		output(k, 'D');
		if (chance(k, 30))
			output(k, 'E');
		buf_printf(&k->body, "        }\n");
		return;
	}
	if (k->rows) {
		buf_printf(&k->body, "        let r = %s(",
			   ONE_OF(k, "rowmax", "rowmin", "rowsum"));
		read_input(k, 0);
		buf_printf(&k->body, ");\n");
	}
	output(k, 'D');
	if (chance(k, 30))
		output(k, 'E');
	if (k->parts)
		each_part(k);
	joined(k);
}

static void write_schedule(Make *k, Buf *b)
{
	bool persistent = chance(k, 40);
	int most = k->rows ? k->bm : 8;
	buf_printf(b, "    schedule { %s%s", persistent ? "persistent; " : "",
		   chance(k, 20) ? "pdl off; " : "");
	if (k->rank > 1 && chance(k, 20))
		buf_printf(b, "group(%d)%s; ", chance_within(&k->state, 1, 3),
			   chance(k, 50) ? " along n" : "");
	if (k->rank > 1 && !k->longer && chance(k, 15))
		buf_printf(b, "cluster (%s); ", chance(k, 50) ? "2,1" : "1,2");
	if (k->across)
		buf_printf(b, "threads %d; ", 32 << chance_within(&k->state, 0, 3));
	else if (chance(k, 40) && k->bm * k->bn >= 32 * 16)
		buf_printf(b, "threads %d; ", most >= 4 && k->bm * k->bn >= 2048 ? 128 : 32);
	buf_printf(b, "}\n}\n");
	k->m->sms = persistent ? chance_within(&k->state, 1, 3) : 0;
}

static int64_t add_size(Make *k, const char *name, int64_t v)
{
	snprintf(k->m->sizes[k->m->nsizes].name, sizeof k->m->sizes->name, "%s", name);
	return k->m->sizes[k->m->nsizes++].value = v;
}

static void choose_sizes(Make *k)
{
	int unit = k->known ? 16 : 1, rows = k->rank > 1 ? 3 * k->bm : 1;
	int64_t m = unit * chance_within(&k->state, 1, (rows + unit - 1) / unit);
	int64_t n = unit *
		    chance_within(&k->state, 1, (k->rows && !k->longer ? k->bn : 3 * k->bn) / unit);
	if (k->parts)
		n = k->bn * add_size(k, "T", 1 + n % 3);
	else
		add_size(k, "N", n);
	if (k->rank > 1)
		add_size(k, "M", m);
	if (k->rank == 3)
		add_size(k, "L", chance_within(&k->state, 1, 2));
	if (strstr(k->args.s, "ld"))
		add_size(k, "ld", n + unit * chance_within(&k->state, 0, 3));
}

static void choose(Make *k, bool parts)
{
	k->rank = chance_within(&k->state, 0, 5) ? chance_within(&k->state, 2, 3) : 1;
	k->bm = k->rank == 1 ? 1 : 1 << chance_within(&k->state, 2, 6);
	k->bn = k->rank == 1 ? 1 << chance_within(&k->state, 6, 10)
			     : 1 << chance_within(&k->state, 4, 7);
	k->known = chance(k, 60);
	k->rows = k->rank > 1 && chance(k, 40);
	k->across = k->rows && chance(k, 50);
	if (k->across) {
		k->bm = 1 << chance_within(&k->state, 0, 3);
		k->bn = 1 << chance_within(&k->state, 8, 10);
	}
	k->longer = k->rows && k->rank == 2 && chance(k, 70);
	k->parts = k->rows && k->rank == 2 && parts;
	k->longer &= !k->parts;
	k->inputs = chance_within(&k->state, 1, 3);
	k->vector_n = chance(k, 40);
	k->vector_m = k->rank > 1 && chance(k, 40);
	k->scalar = chance(k, 30);
	uint64_t own = k->seed ^ UINT64_C(0x2545f4914f6cdd1d); /* the rest of a seed is as it was */
	k->twin = chance_of(&own, 30);
	k->inout = chance_of(&own, 20);
}

static void write_inputs(Make *k)
{
	for (int i = 0; i < k->inputs; i++) {
		const char name[] = {(char)('X' + i), 0};
		tensor(k, name, other_elem(k), true);
	}
	if (k->vector_n)
		vector(k, 'v', 'N', k->bn, ONE_OF(k, "f32", "bf16"));
	if (k->vector_m)
		vector(k, 'w', 'M', k->bm, ONE_OF(k, "f32", "f16"));
	if (k->scalar)
		buf_printf(&k->args, ", a : f32");
}

static void write_facts(const Make *k, Buf *b)
{
	const char *before = " where ";
	if (k->known) {
		buf_printf(b, "%s%s %% 16 == 0%s%s", before, k->parts ? "M" : "N",
			   k->rank > 1 && !k->parts ? ", M % 16 == 0" : "",
			   strstr(k->args.s, "ld") ? ", ld % 16 == 0" : "");
		before = ", ";
	}
	if (k->rows && !k->longer && !k->parts)
		buf_printf(b, "%sN <= %d", before, k->bn);
}

void kernel_make(uint64_t seed, Made *m)
{
	Make k = {.state = seed, .seed = seed, .m = m};
	*m = (Made){.linear = true};
	choose(&k, seed % 3 == 0);
	write_inputs(&k);
	statements(&k);
	Buf *b = &m->text;
	buf_printf(b, "kernel random(%s)", k.args.s);
	write_facts(&k, b);
	buf_printf(b, "\n{\n%s    for %s%s%s in gD {\n%s    }\n", k.lets.s, k.rank > 1 ? "(" : "",
		   k.longer ? "m,_" : index_of(&k), k.rank > 1 ? ")" : "", k.body.s);
	write_schedule(&k, b);
	choose_sizes(&k);
	buf_free(&k.args);
	buf_free(&k.lets);
	buf_free(&k.body);
}

void kernel_made_free(Made *m)
{
	buf_free(&m->text);
	*m = (Made){0};
}
