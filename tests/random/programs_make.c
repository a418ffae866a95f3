/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* programs_make.c - writes a random program of several loops: in sequence and in each other, as
 * long as sizes, the tile or an outer loop say; any number of fills, rings and accumulators;
 * buffers that are filled once; accumulators that the loop uses; products whose A is in registers.
 * All are legal.
 *     seed 7  ->  for (m,n) in gD { .. for i1 in 0 .. m + 1 { .. for i2 in 0 .. i1 + 1 { .. } } }
 */
#include "chance.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 2, MOST_STATEMENTS = 9 };
/* Up to this seed no thread copies, and batches have their names: tests name such seeds. */
enum { PLAIN_SEEDS = 2000 };

/* A buffer with its ring; those of one ring are filled together. */
typedef enum { BUF_A, BUF_B, BUF_E, BUF_F, BUF_Q, BUF_G, BUF_P, BUF_C, BUFFERS } Buffer;
static const struct {
	const char *name, *tensor, *shape, *extents;
} buffers[BUFFERS] = {
	{"sA", "A", "bM,bK", "M,K"}, {"sB", "B", "bN,bK", "N,K"}, {"sE", "E", "bM,bK", "M,L"},
	{"sF", "F", "bN,bK", "N,L"}, {"sQ", "Q", "bM,bK", "M,K"}, {"sG", "G", "bN,bK", "N,K"},
	{"sP", "P", "bL,bK", "L,K"}, {"sC", "C", "bN,bL", "N,L"},
};

typedef struct {
	uint64_t state, seed;
	Made *m;
	Buf body;
	bool used[BUFFERS], named[BUFFERS]; /* a buffer; its tensor */
	bool batch, second, rows, short_rows;
	int w, bn, bk, bl;
	int loops, statements; /* so far */
	int fills_q;
	bool has_q; /* sQ is filled here */
} Make;

typedef struct {
	int depth, name; /* of the innermost loop: iNAME */
} Place;

/* ------------------------------------------------------------------ text */
static void indent(Make *k, const Place *at)
{
	buf_printf(&k->body, "%*s", 8 + 4 * at->depth, "");
}

/* Whether threads copy into buffers; into this one */
static bool copies(const Make *k)
{
	uint64_t own = k->seed ^ 0xd6e8feb86659fd93u;
	return k->seed > PLAIN_SEEDS && chance_of(&own, 30);
}

static bool by_threads(const Make *k, Buffer b)
{
	uint64_t own = (k->seed ^ 0xd6e8feb86659fd93u) + 1 + (uint64_t)b;
	return copies(k) && chance_of(&own, 50);
}

static void fill(Make *k, const Place *at, Buffer b, const char *rows, const char *index)
{
	char batch[24] = "b";
	uint64_t own = k->seed ^ UINT64_C(0x9fb21c651e98df25) * (uint64_t)(b + 1);
	if (k->seed > PLAIN_SEEDS)
		chance_batch(&own, "b", batch, sizeof batch);
	k->used[b] = k->named[b] = true;
	k->fills_q += b == BUF_Q ? 1 + at->depth : 0;
	indent(k, at);
	buf_printf(&k->body, "%s <- g%s[%s%s%s,%s]", buffers[b].name, buffers[b].tensor,
		   k->batch ? batch : "", k->batch ? "," : "", rows, index);
	buf_printf(&k->body, by_threads(k, b) ? " via ld%s;\n" : ";\n", buffers[b].tensor);
}

static void index_in(Make *k, const Place *at, char *to, size_t n)
{
	int form = chance_within(&k->state, 0, 5);
	if (!at->depth || !form)
		snprintf(to, n, "%d", chance_within(&k->state, 0, 2));
	else if (form == 1)
		snprintf(to, n, "2 * i%d + %d", at->name, chance_within(&k->state, 0, 1));
	else
		snprintf(to, n, "i%d", at->name);
}

static const char *accumulator(Make *k)
{
	return k->second && chance_of(&k->state, 50) ? "two" : "acc";
}

/* ------------------------------------------------------------------ statements */
static void put_pair(Make *k, const Place *at, Buffer a)
{
	char index[32];
	index_in(k, at, index, sizeof index);
	bool swapped = chance_of(&k->state, 30);
	fill(k, at, swapped ? a + 1 : a, swapped ? "n" : "m", index);
	fill(k, at, swapped ? a : a + 1, swapped ? "m" : "n", index);
	indent(k, at);
	buf_printf(&k->body, "%s += mm(%s, %s);\n", accumulator(k), buffers[a].name,
		   buffers[a + 1].name);
}

static void put_kept(Make *k, const Place *at)
{
	char index[32];
	index_in(k, at, index, sizeof index);
	fill(k, at, BUF_G, "n", index);
	indent(k, at);
	buf_printf(&k->body, "%s += mm(sQ, sG);\n", accumulator(k));
}

/* s = Q P', acc += f(s) C', where f may ask for what is kept of each row, over the tiles of a
 * loop: a tile that a number names is not all of L. */
static void put_chain(Make *k, const Place *at)
{
	char index[32];
	int name = ++k->loops;
	index_in(k, at, index, sizeof index);
	fill(k, at, BUF_P, index, "0");
	indent(k, at);
	buf_printf(&k->body, "s%d : f32 ab.C(bM,bL) = 0;\n", name);
	indent(k, at);
	buf_printf(&k->body, "s%d += ab(sQ, sP);\n", name);
	if (k->rows && strchr(index, 'i')) {
		indent(k, at);
		buf_printf(&k->body, "most <- max(most, rowmax(s%d));\n", name);
	}
	fill(k, at, BUF_C, "n", index);
	indent(k, at);
	buf_printf(&k->body, "acc += mm(bf16(%s(s%d)), sC);\n",
		   chance_of(&k->state, 50) ? "relu" : "abs", name);
}

static void put_scaled(Make *k, const Place *at)
{
	indent(k, at);
	if (chance_of(&k->state, 50))
		buf_printf(&k->body, "acc <- 0.5 * acc;\n");
	else
		buf_printf(&k->body, "acc <- acc + %d;\n", chance_within(&k->state, 1, 3));
}

/* ------------------------------------------------------------------ loops */
static void put_bounds(Make *k, const Place *at)
{
	static const char *const sizes[] = {"gA[m]", "gB[n]", "gE[m]", "gF[n]"};
	static const char *const other[] = {"0 .. m + 1",
					    "0 .. n + 1",
					    "0 .. m * 2 %% 3 + 1",
					    "n .. m * 2 %% 3 + 1",
					    "m .. n + 2",
					    "0 .. (m + n) %% 3",
					    "1 .. m + 2",
					    "0 .. 2 - m",
					    "0 .. (K + 2 * bK - 1) / (2 * bK)",
					    "0 .. (M - bM * m + bM - 1) / bM"};
	static const char *const inner[] = {"0 .. i%d + 1", "0 .. i%d %% 2 + 1", "i%d .. 3",
					    "0 .. 3 - i%d", "i%d .. i%d + 2",    "i%d .. m + 2"};
	int kind = chance_within(&k->state, 0, 9), of = chance_within(&k->state, 0, 3);
	if (kind < 4 || (kind == 9 && !at->depth)) {
		if (k->batch)
			buf_printf(&k->body, "g%c[b,%c]", sizes[of][1], sizes[of][3]);
		else
			buf_printf(&k->body, "%s", sizes[of]);
		k->named[BUF_A + of] = true;
	} else if (kind < 5) {
		buf_printf(&k->body, "0 .. %d", chance_within(&k->state, 1, 4));
	} else if (kind < 8 || !at->depth) {
		buf_printf(&k->body, "%s", "");
		buf_printf(&k->body, other[chance_within(&k->state, 0, 9)], 0);
	} else {
		buf_printf(&k->body, inner[chance_within(&k->state, 0, 5)], at->name, at->name);
	}
}

static void put_block(Make *k, const Place *at, int least);

static void put_loop(Make *k, const Place *at)
{
	Place in = {at->depth + 1, ++k->loops};
	bool had = k->has_q, fills = !had && chance_of(&k->state, 25);
	indent(k, at);
	buf_printf(&k->body, "for i%d in ", in.name);
	put_bounds(k, at);
	buf_printf(&k->body, " {\n");
	if (fills) {
		char index[32];
		index_in(k, &in, index, sizeof index);
		fill(k, &in, BUF_Q, "m", index);
		k->has_q = true;
	}
	put_block(k, &in, 1);
	if (fills) {
		put_kept(k, &in);
		k->has_q = false;
	}
	indent(k, at);
	buf_printf(&k->body, "}\n");
}

static void put_statement(Make *k, const Place *at)
{
	int kind = chance_within(&k->state, 0, 99);
	k->statements++;
	if (at->depth < MOST_DEPTH && kind < (at->depth ? 20 : 65) &&
	    k->statements < MOST_STATEMENTS)
		put_loop(k, at);
	else if (kind < 75)
		put_pair(k, at, chance_of(&k->state, 60) ? BUF_A : BUF_E);
	else if (kind < 82)
		put_scaled(k, at);
	else if (k->has_q && kind < 90)
		put_chain(k, at);
	else if (k->has_q)
		put_kept(k, at);
	else
		put_pair(k, at, BUF_A);
}

static void put_block(Make *k, const Place *at, int least)
{
	int n = chance_within(&k->state, least, at->depth ? 2 : 3);
	for (int i = 0; i < n; i++)
		put_statement(k, at);
}

/* ------------------------------------------------------------------ the program */
static void put_value(Make *k)
{
	buf_printf(&k->body, "        gD[%sm,n] <- bf16(acc%s%s);\n", k->batch ? "b," : "",
		   k->second ? " + two" : "", k->rows ? " + most" : "");
}

static bool uses_name(const Make *k, char name)
{
	for (int i = 0; i < BUFFERS; i++)
		if (k->named[i] && strchr(buffers[i].extents, name))
			return true;
	return false;
}

static void write_arguments(Make *k)
{
	Buf *b = &k->m->text;
	buf_printf(b, "kernel random(");
	for (int i = 0; i < BUFFERS; i++) {
		const char *of = buffers[i].extents;
		if (!k->named[i])
			continue;
		if (k->batch)
			buf_printf(b, "%s : bf16 (J,%s):(%c*%c,%c,1), ", buffers[i].tensor, of,
				   of[0], of[2], of[2]);
		else
			buf_printf(b, "%s : bf16 (%s):(%c,1), ", buffers[i].tensor, of, of[2]);
	}
	buf_printf(b, k->batch ? "D : out bf16 (J,M,N):(M*N,N,1))" : "D : out bf16 (M,N):(N,1))");
	buf_printf(b, "\n    where M < 65536, N < 65536");
	for (const char *name = "KL"; *name; name++)
		if (uses_name(k, *name))
			buf_printf(b, copies(k) ? ", %c < 65536, %c %% 8 == 0" : ", %c < 65536",
				   *name, *name);
	buf_printf(b, "\n{\n    const bM = %d, bN = %d, bK = %d, bL = %d;\n", 64 * k->w, k->bn,
		   k->bk, k->bl);
}

/* Those of a pair have one ring, or one each. */
static void write_rings(Make *k)
{
	Buf *b = &k->m->text;
	for (int i = 0; i < BUFFERS; i += 2) {
		int stages = chance_within(&k->state, 2, 4), more = chance_within(&k->state, 2, 3);
		bool both = k->used[i] && k->used[i + 1];
		if (i == BUF_Q) {
			if (k->used[BUF_G])
				buf_printf(b, "    pipeline g(%d) { sG }\n", stages);
			if (k->fills_q > 1 || (k->fills_q && chance_of(&k->state, 30)))
				buf_printf(b, "    pipeline q(%d) { sQ }\n", more);
		} else if (both && chance_of(&k->state, 65)) {
			buf_printf(b, "    pipeline r%d(%d) { %s, %s }\n", i, stages,
				   buffers[i].name, buffers[i + 1].name);
		} else {
			for (int j = i; j < i + 2; j++)
				if (k->used[j])
					buf_printf(b, "    pipeline r%d(%d) { %s }\n", j,
						   j == i ? stages : more, buffers[j].name);
		}
	}
}

static void write_buffers(Make *k)
{
	Buf *b = &k->m->text;
	for (int i = 0; i < BUFFERS; i++)
		if (k->named[i])
			buf_printf(b, "    let g%s = %s / (%s%s);\n", buffers[i].tensor,
				   buffers[i].tensor, k->batch ? "1," : "", buffers[i].shape);
	buf_printf(b, "    let gD = D / (%sbM,bN);\n", k->batch ? "1," : "");
	buf_printf(b, "    mma mm = wgmma<64,bN,16>(bf16, bf16, f32) * (%d,1,1);\n", k->w);
	if (k->used[BUF_P])
		buf_printf(b, "    mma ab = wgmma<64,bL,16>(bf16, bf16, f32) * (%d,1,1);\n", k->w);
	for (int i = 0; i < BUFFERS; i++)
		if (k->used[i])
			buf_printf(b, "    smem %s : bf16 (%s);\n", buffers[i].name,
				   buffers[i].shape);
	for (int i = 0; i < BUFFERS; i++)
		if (k->used[i] && by_threads(k, i))
			buf_printf(b, "    copy ld%s = cp_async(%s, %s);\n", buffers[i].tensor,
				   buffers[i].tensor, buffers[i].name);
	write_rings(k);
}

static void write_schedule(Make *k)
{
	static const char *const roles[] = {"none", "cooperative", "pingpong"};
	Buf *b = &k->m->text;
	int role = chance_within(&k->state, 0, 2);
	bool persistent = role == 2 || chance_of(&k->state, 60);
	buf_printf(b, "    schedule { roles %s; persistent %s; inflight %d;", roles[role],
		   persistent ? "on" : "off", chance_within(&k->state, 0, 1));
	if (chance_of(&k->state, 30))
		buf_printf(b, " group(%d);", chance_within(&k->state, 1, 5));
	if (chance_of(&k->state, 30))
		buf_printf(b, " cluster (%s);", chance_of(&k->state, 50) ? "2,1" : "1,2");
	buf_printf(b, " }\n}\n");
	k->m->sms = persistent ? chance_within(&k->state, 1, 3) : 0;
}

static void add_size(Make *k, const char *name, int v)
{
	snprintf(k->m->sizes[k->m->nsizes].name, sizeof k->m->sizes->name, "%s", name);
	k->m->sizes[k->m->nsizes++].value = v;
}

static void choose_sizes(Make *k)
{
	int bm = 64 * k->w;
	add_size(k, "M", chance_within(&k->state, 1, 3 * bm));
	add_size(k, "N", 8 * chance_within(&k->state, 1, 3 * k->bn / 8));
	if (uses_name(k, 'K'))
		add_size(k, "K", 8 * chance_within(&k->state, 1, 4 * k->bk / 8));
	if (uses_name(k, 'L'))
		add_size(k, "L", 8 * chance_within(&k->state, 1, 3 * k->bk / 8));
	if (k->batch)
		add_size(k, "J", chance_within(&k->state, 1, 2));
}

void kernel_make(uint64_t seed, Made *m)
{
	Make k = {.state = seed, .seed = seed, .m = m};
	Place tile = {0, 0};
	*m = (Made){0};
	k.w = chance_within(&k.state, 1, 2);
	k.bn = 32 * chance_within(&k.state, 1, 2);
	k.bk = 32 * chance_within(&k.state, 1, 2);
	k.bl = 32 * chance_within(&k.state, 1, 2);
	k.batch = chance_of(&k.state, 15);
	k.second = chance_of(&k.state, 30);
	k.rows = chance_of(&k.state, 15);
	if (chance_of(&k.state, 35)) {
		fill(&k, &tile, BUF_Q, "m", "0");
		k.has_q = true;
	}
	put_block(&k, &tile, 1);
	if (k.has_q)
		put_kept(&k, &tile);
	put_pair(&k, &tile, BUF_A);
	put_value(&k);
	write_arguments(&k);
	write_buffers(&k);
	Buf *b = &m->text;
	buf_printf(b, "    for (%sm,n) in gD {\n        acc : f32 mm.C(bM,bN) = 0;\n",
		   k.batch ? "b," : "");
	if (k.second)
		buf_printf(b, "        two : f32 mm.C(bM,bN) = 0;\n");
	if (k.rows)
		buf_printf(b, "        most : f32 rows(acc) = 0;\n");
	buf_printf(b, "%s    }\n", k.body.s);
	write_schedule(&k);
	choose_sizes(&k);
	buf_free(&k.body);
}

void kernel_made_free(Made *m)
{
	buf_free(&m->text);
	*m = (Made){0};
}
