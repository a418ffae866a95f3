/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels_make.c - writes the random kernel: tiles first, then sizes, tensors with their strides
 * and facts, the epilogue, the schedule. What is written is legal; only shared memory and registers
 * may not do, of which most choices leave enough.
 *     seed 7  ->  kernel random(A : f16 (M,K):(lda,1), ...) where lda % 8 == 0, N % 2 == 0 { ... }
 *                 M = 129, N = 46, K = 72, lda = 88 */
#include "chance.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_M, MODE_N, MODE_K };
enum { MOST_BATCHES = 2, MOST_MODES = 2 + MOST_BATCHES };
enum { MOST_VECTORS = 2 };
enum { MOST_WORK = 12000000 }; /* multiply-adds */

static const char *const mode_names[] = {"M", "N", "K"};
static const char *const batch_names[] = {"L", "J"};

/* p, q : an element for each row (MODE_M) or column, of each batch or of all */
typedef struct {
	int mode;
	bool batched, tiled;
} Vector;

/* In which order a tensor has its modes: rows, columns, then batches. */
typedef struct {
	int n, at[MOST_MODES];
} Order;

typedef struct {
	uint64_t state, seed;
	Made *m;
	Buf facts;
	const char *in, *out, *roles;
	const char *weights, *scaled; /* A's type, converted by threads; NULL: A is as B */
	bool pingpong, persistent, scalars, swap;
	int w, bm, bn, bk, atom_n, stages; /* stages 0: the compiler's */
	int cluster, parts, ctas;          /* CTAs of a cluster, of a tile, of an SM */
	bool far;                          /* sums by workspace */
	int64_t size[3];                   /* M, N, K */
	int of[3];                         /* that divides them */
	char extent[3][24];                /* as they are written */
	int sources;                       /* tensors beside the accumulator: C, E */
	int batches, of_batch[MOST_BATCHES];
	Order a, b, d, source[2];
	int vectors;
	Vector vector[MOST_VECTORS];
} Make;

/* ------------------------------------------------------------------ chance */
/* lo .. hi */
static int within(Make *k, int lo, int hi)
{
	return chance_within(&k->state, lo, hi);
}

static bool chance(Make *k, int percent)
{
	return chance_of(&k->state, percent);
}

#define WORD(k, ...)                                                 \
	chance_word(&(k)->state, (const char *const[]){__VA_ARGS__}, \
		    (int)COUNTOF(((const char *const[]){__VA_ARGS__})))
#define NUMBER(k, ...)                                         \
	chance_number(&(k)->state, (const int[]){__VA_ARGS__}, \
		      (int)COUNTOF(((const int[]){__VA_ARGS__})))

/* ------------------------------------------------------------------ tiles */
static void choose_roles(Make *k)
{
	k->roles = WORD(k, "none", "cooperative", "pingpong");
	k->pingpong = !strcmp(k->roles, "pingpong");
	k->persistent = k->pingpong || chance(k, 50);
}

/* Accumulators of at most 128 registers a thread, mostly; one warpgroup of pingpong has all. */
static void choose_tile(Make *k)
{
	int registers = chance(k, 85) ? 128 : 224, repeats = NUMBER(k, 1, 1, 1, 2, 3);
	k->w = within(k, 1, 3);
	k->bm = 64 * k->w * NUMBER(k, 1, 1, 1, 2);
	int cols = at_most(registers * 128 * (k->pingpong ? 1 : k->w) / k->bm, 256);
	k->atom_n = 8 * within(k, 1, at_least(cols / 8 / repeats, 1));
	k->bn = k->atom_n * repeats;
	k->bk = NUMBER(k, 16, 32, 64, 64, 64, 128);
	int fit = 200000 / (2 * k->bk * (k->bm + k->bn));
	k->stages = chance(k, 30) ? 0 : within(k, 2, at_most(at_least(fit, 2), 8));
}

/* By chances of their own: what a seed made before weights were there, it makes still. */
static void choose_weights(Make *k, uint64_t seed)
{
	static const char *const types[] = {"s8", "u8", "e4m3", "e5m2", "s4", "u4", "e2m1"};
	static const char *const forms[] = {"f32(sA)", "0.5 * f32(sA)", "f32(sA) - 1",
					    "2 * (f32(sA) + 1)"};
	uint64_t own = seed ^ 0x5851f42d4c957f2du;
	if (!chance_of(&own, 15) || k->bk < 32)
		return;
	k->weights = types[chance_within(&own, 0, k->bk < 64 ? 3 : 6)];
	k->scaled = forms[chance_within(&own, 0, (int)COUNTOF(forms) - 1)];
}

/* The rows of the tile are the mma's N then; and small slots may be many. As above. */
static void choose_swap(Make *k, uint64_t seed)
{
	uint64_t own = seed ^ 0x2545f4914f6cdd1du;
	int bm = k->bm, fit = at_most(200000 / (2 * k->bk * (k->bm + k->bn)), 16);
	k->swap = chance_of(&own, 20) && !k->weights;
	if (k->swap)
		k->bm = k->bn, k->bn = bm;
	k->stages = fit > 8 && chance_of(&own, 10) ? chance_within(&own, 9, fit) : k->stages;
}

/* CTAs that share an SM, and those that share the k of a tile. As above. */
static void choose_ctas(Make *k, uint64_t seed)
{
	uint64_t own = seed ^ 0x9e6c63d0876a9a47u;
	k->ctas = chance_of(&own, 20) ? chance_within(&own, 2, 4) : 1;
	k->parts = chance_of(&own, 20) && !k->persistent ? chance_within(&own, 2, 4) : 1;
	k->far = chance_of(&own, 50);
}

/* One in four leaves its instruction, its stages and its schedule to the compiler. */
static bool is_open(uint64_t seed)
{
	uint64_t own = seed ^ 0xd1342543de82ef95u;
	return chance_of(&own, 25);
}

/* ------------------------------------------------------------------ sizes */
static void add_size(Make *k, const char *name, int64_t v)
{
	if (k->m->nsizes == MOST_SIZES)
		abort();
	snprintf(k->m->sizes[k->m->nsizes].name, sizeof k->m->sizes->name, "%s", name);
	k->m->sizes[k->m->nsizes++].value = v;
}

static void add_fact(Make *k, const char *name, const char *relation, int v)
{
	const char *rest = strcmp(relation, "%") ? "" : " == 0";
	buf_printf(&k->facts, "%s%s %s %d%s", k->facts.n ? ", " : "\n    where ", name, relation, v,
		   rest);
}

/* Some tiles, and a rest that is none, one, odd, or any. */
static int64_t some_of(Make *k, int tile, int tiles)
{
	int rest =
		chance(k, 40) ? within(k, 0, tile) : NUMBER(k, 0, 0, 1, 2, 3, tile / 2, tile - 1);
	int64_t v = (int64_t)tile * within(k, 0, tiles) + rest;
	return v > 0 || chance(k, 5) ? v : 1;
}

/* Sizes that are not too much work, each a multiple of what may be said of it. */
static void choose_sizes(Make *k, const int *least)
{
	int tile[3] = {k->bm, k->bn, k->bk}, tiles[3] = {3, 3, 6};
	do
		for (int i = 0; i < 3; i++) {
			int of = chance(k, 50) ? NUMBER(k, 2, 4, 8, 16, 64) : 1;
			k->of[i] = at_least(of, least[i]);
			k->size[i] = multiple(some_of(k, tile[i], tiles[i]), k->of[i]);
		}
	while (k->size[MODE_M] * k->size[MODE_N] * k->size[MODE_K] * k->of_batch[0] *
		       k->of_batch[1] >
	       MOST_WORK);
}

/* ------------------------------------------------------------------ batches */
static void choose_batches(Make *k)
{
	k->batches = chance(k, 60) ? 0 : within(k, 1, MOST_BATCHES);
	for (int i = 0; i < MOST_BATCHES; i++)
		k->of_batch[i] = i < k->batches ? within(k, 1, 3) : 1;
}

/* In front, after, between, around; an input may be one matrix for all. */
static Order some_order(Make *k, bool output)
{
	static const Order one[] = {{3, {2, 0, 1}}, {3, {0, 1, 2}}, {3, {0, 2, 1}}};
	static const Order two[] = {{4, {2, 3, 0, 1}},
				    {4, {0, 1, 2, 3}},
				    {4, {2, 0, 1, 3}},
				    {4, {3, 0, 2, 1}}};
	if (!k->batches || (!output && chance(k, 15)))
		return (Order){2, {0, 1}};
	return k->batches == 1 ? one[within(k, 0, 2)] : two[within(k, 0, 3)];
}

static void put_modes(Make *k, Order o, const char *rows, const char *cols,
		      const char *const *batch)
{
	for (int i = 0; i < o.n; i++)
		buf_printf(&k->m->text, "%s%s", i ? "," : "",
			   o.at[i] == 0   ? rows
			   : o.at[i] == 1 ? cols
					  : batch[o.at[i] - 2]);
}

/* Matrices one after the other, some elements apart; inputs perhaps all in one place. */
static void batch_strides(Make *k, char tensor, int64_t matrix, int least, bool output,
			  char (*out)[8])
{
	int64_t apart = multiple(matrix, least);
	for (int i = 0; i < k->batches; i++) {
		apart += (int64_t)least * (chance(k, 50) ? 0 : within(k, 0, 9));
		int64_t v = !output && chance(k, 20) ? 0 : apart;
		strcpy(out[i], "0");
		if (v || output || chance(k, 50)) {
			snprintf(out[i], sizeof out[i], "s%c%s", tensor, batch_names[i]);
			add_size(k, out[i], v);
		}
		apart *= k->of_batch[i];
	}
}

/* As a name, of which a divisor or a bound may be said, or as a number. */
static void declare_size(Make *k, int mode)
{
	int64_t v = k->size[mode];
	snprintf(k->extent[mode], sizeof *k->extent, "%s", mode_names[mode]);
	if (v > 0 && chance(k, 12)) {
		snprintf(k->extent[mode], sizeof *k->extent, "%lld", (long long)v);
		return;
	}
	add_size(k, mode_names[mode], v);
	if (k->of[mode] > 1 && chance(k, 80))
		add_fact(k, mode_names[mode], "%", k->of[mode]);
	if (chance(k, 10))
		add_fact(k, mode_names[mode], "<", NUMBER(k, 4096, 65536, 1000000));
}

/* ------------------------------------------------------------------ tensors */
/* How rows, or columns, lie apart: as it is written, and how far that is. */
typedef struct {
	const char *text;
	int64_t value;
} Step;

/* A stride of its own name, at least the extent and a multiple of `least`. */
static Step stride(Make *k, const char *name, int64_t extent, int least)
{
	int of = at_least(chance(k, 60) ? NUMBER(k, 2, 4, 8) : 1, least);
	Step s = {name, multiple(extent, of) + (int64_t)of * within(k, 0, 3)};
	add_size(k, name, s.value);
	if (of > 1 && chance(k, 80))
		add_fact(k, name, "%", of);
	return s;
}

static Step packed(const Make *k, int mode)
{
	return (Step){k->extent[mode], k->size[mode]};
}

/* ELEM (L,M,K):(sAL,lda,1) */
static void tensor(Make *k, char name, const char *elem, Order o, const char *const *extent,
		   const char *const *step, int64_t matrix, int least)
{
	char strides[MOST_BATCHES][8];
	const char *const to[MOST_BATCHES] = {strides[0], strides[1]};
	if (o.n > 2)
		batch_strides(k, name, matrix, least, name == 'D', strides);
	buf_printf(&k->m->text, "%c : %s%s (", name, name == 'D' ? "out " : "", elem);
	put_modes(k, o, extent[0], extent[1], batch_names);
	buf_printf(&k->m->text, "):(");
	put_modes(k, o, step[0], step[1], to);
	buf_printf(&k->m->text, ")");
}

/* A or B: rows that TMA takes, so that K, where it is their distance, is a multiple of 8. */
static void operand(Make *k, char name, int mode, Step ld)
{
	const char *extent[2] = {k->extent[mode], k->extent[MODE_K]}, *step[2] = {ld.text, "1"};
	Order *o = name == 'A' ? &k->a : &k->b;
	*o = some_order(k, false);
	tensor(k, name, name == 'A' && k->weights ? k->weights : k->in, *o, extent, step,
	       k->size[mode] * ld.value, k->weights ? 32 : 8);
	buf_printf(&k->m->text, ", ");
}

/* C, E or D, with contiguous rows or columns. */
static void result(Make *k, char name, Order o, const char *elem, bool columns, Step ld)
{
	const char *extent[2] = {k->extent[MODE_M], k->extent[MODE_N]}, *step[2];
	step[columns] = ld.text;
	step[!columns] = "1";
	tensor(k, name, elem, o, extent, step, k->size[columns ? MODE_N : MODE_M] * ld.value,
	       chance(k, 70) ? 8 : 1);
}

/* A source lies as the output does, or as it likes. */
static void source(Make *k, int number, bool columns, Step ldd)
{
	const char *elem = WORD(k, "bf16", "f16", "f32");
	bool along_m = chance(k, 20);
	Order o = k->source[number] = some_order(k, false);
	if (chance(k, 60)) {
		result(k, "CE"[number], o, chance(k, 50) ? k->out : elem, columns, ldd);
	} else {
		int along = along_m ? MODE_M : MODE_N;
		Step ld = packed(k, along);
		if (chance(k, 40))
			ld = stride(k, number ? "lde" : "ldc", k->size[along], 1);
		else if (chance(k, 25))
			ld = (Step){"0", 0};
		result(k, "CE"[number], o, elem, along_m, ld);
	}
	buf_printf(&k->m->text, ", ");
}

static void vector(Make *k, int number)
{
	Vector *v = &k->vector[number];
	*v = (Vector){.mode = chance(k, 65) ? MODE_N : MODE_M,
		      .batched = k->batches && chance(k, 30),
		      .tiled = chance(k, 25)};
	const char *n = k->extent[v->mode];
	buf_printf(&k->m->text, "%c : %s ", "pq"[number], WORD(k, "f32", "f32", "bf16", "f16"));
	if (v->batched)
		buf_printf(&k->m->text, "(L,%s):(%s,1), ", n, n);
	else
		buf_printf(&k->m->text, "(%s), ", n);
}

static void write_arguments(Make *k)
{
	bool columns = chance(k, 20), own_a = chance(k, 30), own_b = chance(k, 30);
	int along = columns ? MODE_M : MODE_N;
	choose_batches(k);
	int least = k->weights ? 32 : 8, none = k->weights ? 2 : 1; /* of A: 16 bytes; whole ones */
	choose_sizes(k, (const int[]){1, 1, own_a && own_b ? none : own_a ? 8 : least});
	for (int i = 0; i < 3; i++)
		declare_size(k, i);
	for (int i = 0; i < k->batches; i++)
		add_size(k, batch_names[i], k->of_batch[i]);
	Step ldd = chance(k, 40) ? stride(k, "ldd", k->size[along], 1) : packed(k, along);
	buf_printf(&k->m->text, "kernel random(");
	operand(k, 'A', MODE_M,
		own_a ? stride(k, "lda", k->size[MODE_K], least) : packed(k, MODE_K));
	operand(k, 'B', MODE_N, own_b ? stride(k, "ldb", k->size[MODE_K], 8) : packed(k, MODE_K));
	for (int i = 0; i < k->sources; i++)
		source(k, i, columns, ldd);
	for (int i = 0; i < k->vectors; i++)
		vector(k, i);
	k->d = some_order(k, true);
	result(k, 'D', k->d, k->out, columns, ldd);
	buf_printf(&k->m->text, "%s)%s\n{\n", k->scalars ? ", alpha : f32, beta : f32" : "",
		   k->facts.s ? k->facts.s : "");
}

/* ------------------------------------------------------------------ epilogue */
static void value(Make *k, int depth);

static Order order_of(const Make *k, char tensor)
{
	return tensor == 'A'   ? k->a
	       : tensor == 'B' ? k->b
	       : tensor == 'C' ? k->source[0]
	       : tensor == 'E' ? k->source[1]
			       : k->d;
}

/* gA[l,m,k]; an input at times by other indices of the batch, the same each time */
static void tile(Make *k, char tensor, const char *row, const char *col)
{
	char text[MOST_BATCHES][24] = {"l", "j"};
	const char *batch[] = {text[0], text[1]};
	uint64_t own = k->seed ^ UINT64_C(0x9fb21c651e98df25) * (uint64_t)tensor;
	for (int i = 0; i < MOST_BATCHES && tensor != 'D'; i++)
		chance_batch(&own, i ? "j" : "l", text[i], sizeof text[i]);
	buf_printf(&k->m->text, "g%c[", tensor);
	put_modes(k, order_of(k, tensor), row, col, batch);
	buf_printf(&k->m->text, "]");
}

/* p[n], gq[l,m] */
static void vector_read(Make *k, int number)
{
	const Vector *v = &k->vector[number];
	buf_printf(&k->m->text, "%s%c[%s%s]", v->tiled ? "g" : "", "pq"[number],
		   v->batched ? "l," : "", v->mode == MODE_M ? "m" : "n");
}

static void leaf(Make *k)
{
	int of = within(k, 0, 5);
	if (k->vectors && chance(k, 35)) {
		vector_read(k, within(k, 0, k->vectors - 1));
		return;
	}
	if (of == 0 && k->scalars)
		buf_printf(&k->m->text, "%s", WORD(k, "alpha", "beta"));
	else if (of == 1)
		buf_printf(&k->m->text, "%s", WORD(k, "2", "0.5", "3", "-1.25", "0"));
	else if (of < 5 && k->sources)
		tile(k, "CE"[within(k, 0, k->sources - 1)], "m", "n");
	else
		buf_printf(&k->m->text, "acc");
}

/* name(#, text #, ...): # is a value, @ a tile of a tensor beside the accumulator */
static void call(Make *k, const char *form, int depth)
{
	for (const char *s = form; *s; s++)
		if (*s == '@' && k->sources)
			tile(k, "CE"[within(k, 0, k->sources - 1)], "m", "n");
		else if (*s == '#' || *s == '@')
			value(k, depth - 1);
		else
			buf_add(&k->m->text, s, 1);
}

/* Nothing here is undefined or infinite for what data there is. */
static void value(Make *k, int depth)
{
	const char *linear = WORD(k, "(# + #)", "(# - #)", "-#", "abs(#)", "min(#, #)", "max(#, #)",
				  "relu(#)", "(0.5 * #)");
	const char *other =
		WORD(k, "(# * #)", "fma(#, #, #)", "(# / (abs(#) + 1))", "sqrt(abs(#) + 1)");
	bool plain = chance(k, 75);
	if (depth == 0 || chance(k, 20)) {
		leaf(k);
		return;
	}
	k->m->linear &= plain;
	call(k, plain ? linear : other, depth);
}

/* Also zeros of both signs, of which min and max take one, and tiles that are named many times. */
static void write_value(Make *k)
{
	const char *form = WORD(k, "acc", "acc", "alpha * acc", "alpha * acc + beta * #", "acc + #",
				"max(acc + #, 0)", "min(#, acc)", "min(-relu(#), relu(acc))",
				"max(relu(acc), -relu(#))", "acc + ((@ + @) - (@ - abs(@)))");
	if (!k->scalars && strstr(form, "alpha"))
		form = "acc + #";
	k->m->linear = true;
	k->m->approximate = chance(k, 15);
	if (k->m->approximate)
		buf_printf(&k->m->text, "%s(", WORD(k, "sigmoid", "exp2", "acc * sigmoid"));
	if (k->m->approximate)
		buf_printf(&k->m->text, "min(4, 0.0625 * (");
	call(k, form, 3);
	if (k->m->approximate)
		buf_printf(&k->m->text, ")))");
	k->m->linear &= !k->m->approximate;
}

/* ------------------------------------------------------------------ body */
/* gA = A / (1,128,64) */
static void tiler(Make *k, char tensor, int rows, int cols)
{
	static const char *const one[] = {"1", "1"};
	char row[16], col[16];
	snprintf(row, sizeof row, "%d", rows);
	snprintf(col, sizeof col, "%d", cols);
	buf_printf(&k->m->text, "%s g%c = %c / (", tensor == 'A' ? "    let" : ",", tensor, tensor);
	put_modes(k, order_of(k, tensor), row, col, one);
	buf_printf(&k->m->text, ")");
}

static void write_tensors(Make *k)
{
	tiler(k, 'A', k->bm, k->bk);
	tiler(k, 'B', k->bn, k->bk);
	tiler(k, 'D', k->bm, k->bn);
	for (int i = 0; i < k->sources; i++)
		tiler(k, "CE"[i], k->bm, k->bn);
	for (int i = 0; i < k->vectors; i++)
		if (k->vector[i].tiled)
			buf_printf(&k->m->text, ", g%c = %c / (%s%d,)", "pq"[i], "pq"[i],
				   k->vector[i].batched ? "1," : "",
				   k->vector[i].mode == MODE_M ? k->bm : k->bn);
	buf_printf(&k->m->text, ";\n");
}

static void write_loop(Make *k)
{
	Buf *b = &k->m->text;
	buf_printf(b, "        for k in ");
	tile(k, 'A', "m", "_");
	buf_printf(b, " {\n            sA <- ");
	tile(k, 'A', "m", "k");
	buf_printf(b, ";\n            sB <- ");
	tile(k, 'B', "n", "k");
	buf_printf(b, ";\n            acc += mm(");
	if (k->weights)
		buf_printf(b, "%s(%s)", k->in, k->scaled);
	buf_printf(b, "%s, sB);\n        }\n", k->weights ? "" : "sA");
}

static void write_body(Make *k)
{
	static const char *const batch[] = {"l", "j"};
	Buf *b = &k->m->text;
	write_tensors(k);
	if (k->m->open)
		buf_printf(b, "    mma mm = wgmma(%s, %s, f32);\n", k->in, k->in);
	else
		buf_printf(b, "    mma mm = wgmma<64,%d,16>(%s, %s, f32) * (%d,1,1);\n", k->atom_n,
			   k->in, k->in, k->w);
	buf_printf(b, "    smem sA : %s (%d,%d), sB : %s (%d,%d);\n",
		   k->weights ? k->weights : k->in, k->bm, k->bk, k->in, k->bn, k->bk);
	buf_printf(b,
		   k->stages && !k->m->open ? "    pipeline ab(%d) { sA, sB }\n"
					    : "    pipeline ab { sA, sB }\n",
		   k->stages);
	buf_printf(b, "    for (");
	put_modes(k, k->d, "m", "n", batch);
	buf_printf(b, ") in gD {\n        acc : f32 mm.C(%d,%d) = 0;\n", k->bm, k->bn);
	write_loop(k);
	buf_printf(b, "        ");
	tile(k, 'D', "m", "n");
	buf_printf(b, " <- %s(", k->out);
	write_value(k);
	buf_printf(b, ");\n    }\n");
}

/* ------------------------------------------------------------------ schedule */
static void write_order(Make *k)
{
	Buf *b = &k->m->text;
	if (k->persistent)
		buf_printf(b, "        persistent;\n");
	if (chance(k, 50))
		buf_printf(b, "        group(%d)%s;\n", within(k, 1, 6),
			   WORD(k, "", " along m", " along n"));
}

static void write_cluster(Make *k)
{
	int along[2] = {1, 1};
	k->cluster = 1;
	if (chance(k, 65))
		return;
	do {
		along[0] = NUMBER(k, 1, 2, 2, 3, 4);
		along[1] = NUMBER(k, 1, 2, 2, 3, 4);
	} while (along[0] * along[1] > 8);
	k->cluster = along[0] * along[1];
	buf_printf(&k->m->text, "        cluster (%d,%d);\n", along[0], along[1]);
	if (chance(k, 50))
		buf_printf(&k->m->text, "        multicast %s;\n",
			   WORD(k, "auto", "slice", "leader", "off"));
}

static void write_schedule(Make *k)
{
	Buf *b = &k->m->text;
	buf_printf(b, "    schedule {\n        roles %s;\n", k->roles);
	write_order(k);
	write_cluster(k);
	if (k->stages && chance(k, 50))
		buf_printf(b, "        inflight %d;\n", within(k, 0, at_most(k->stages - 1, 2)));
	if (chance(k, 30))
		buf_printf(b, "        subtile %d;\n", 8 * within(k, 1, 8));
	if (chance(k, 20))
		buf_printf(b, "        staging %d;\n", NUMBER(k, 0, 0, 1, 2, 3));
	buf_printf(b, "%s%s", chance(k, 20) ? "        pdl off;\n" : "",
		   k->swap ? "        swap;\n" : "");
	if (k->parts > 1 && (k->far || k->parts * k->cluster <= 8))
		buf_printf(b, "        split_k %d;%s\n", k->parts,
			   k->far ? " sums workspace;" : "");
	if (k->ctas > 1)
		buf_printf(b, "        ctas %d;\n", k->ctas);
	buf_printf(b, "    }\n}\n");
}

void kernel_make(uint64_t seed, Made *m)
{
	Make k = {.state = seed, .seed = seed, .m = m};
	*m = (Made){.open = is_open(seed)};
	k.in = WORD(&k, "bf16", "f16");
	k.out = WORD(&k, "bf16", "f16", "f32");
	k.sources = NUMBER(&k, 0, 0, 1, 1, 2);
	k.scalars = chance(&k, 40);
	k.vectors = NUMBER(&k, 0, 0, 1, 1, 2);
	choose_roles(&k);
	choose_tile(&k);
	choose_weights(&k, seed);
	choose_swap(&k, seed);
	choose_ctas(&k, seed);
	write_arguments(&k);
	write_body(&k);
	if (m->open)
		buf_printf(&m->text, "}\n");
	else
		write_schedule(&k);
	m->sms = k.persistent ? NUMBER(&k, 1, 2, 3, 0) : 0;
	buf_free(&k.facts);
}

void kernel_made_free(Made *m)
{
	buf_free(&m->text);
	*m = (Made){0};
}
