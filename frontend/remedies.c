/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* remedies.c - what to write instead of what other languages have: by the name that nothing binds,
 * by the kind of a value that no tile can be computed with, by the operator that tiles lack, and by
 * the function whose arguments do not count up. */
#include "frontend/sema.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* As other languages call them. */
static const struct {
	const char *name, *ours;
} elsewhere[] = {
	{"float", "f32"},        {"float32", "f32"},   {"fp32", "f32"},
	{"single", "f32"},       {"bfloat16", "bf16"}, {"half", "f16"},
	{"float16", "f16"},      {"fp16", "f16"},      {"int", "s32"},
	{"int32", "s32"},        {"int8", "s8"},       {"uint8", "u8"},
	{"long", "s64"},         {"int64", "s64"},     {"float8_e4m3fn", "e4m3"},
	{"float8_e5m2", "e5m2"}, {"fp8e4m3", "e4m3"},  {"fp8e5m2", "e5m2"},
	{"float8_e4m3", "e4m3"}, {"fp8_e4m3", "e4m3"}, {"fp8_e5m2", "e5m2"},
};

static const char *elem_elsewhere(const char *name)
{
	for (size_t i = 0; i < COUNTOF(elsewhere); i++)
		if (!strcmp(elsewhere[i].name, name))
			return elsewhere[i].ours;
	return NULL;
}

static const struct {
	const char *name, *help;
} habits[] = {
#define HABIT(name, help) {name, help},
#include "frontend/habits.def"
};

const char *habit_of(const char *name)
{
	for (size_t i = 0; i < COUNTOF(habits); i++)
		if (!strcasecmp(habits[i].name, name))
			return habits[i].help;
	return NULL;
}

DiagMsg *help_habit(Sema *s, const char *name, DiagMsg *m)
{
	const char *ours = elem_elsewhere(name);
	if (ours) {
		diag_remedy(s->ctx, m, "write %s", ours);
		return diag_fix(s->ctx, m, m->loc, "%s", ours);
	}
	const char *help = habit_of(name);
	return help ? diag_remedy(s->ctx, m, "%s", help) : NULL;
}

/* ------------------------------------------------------------------ kinds of values */
/* The innermost name here that counts tiles of so many elements; NULL: none. */
static const Symbol *counts_tiles_of(Sema *s, const Ix *extent)
{
	for (int i = s->symbols.n; i-- > 0;) {
		const Value *v = &s->symbols.at[i].value;
		if (v->kind == V_INT && v->coord && v->coord->extent == extent)
			return &s->symbols.at[i];
	}
	return NULL;
}

/* By the names here that count its tiles; along a mode of which none does, by `open`, by a letter
 * that is no name here, or by 0. */
static const char *indexed(Sema *s, const Tiling *t, const char *all, const char *open)
{
	static const char *const letters[] = {"", "n", "mn", "lmn", "hlmn", "ghlmn"};
	for (int i = 0; i < t->rank; i++) {
		const Symbol *sym = name_that_counts(s, t, i);
		const char *letter = ctx_strf(s->ctx, "%c", letters[t->rank][i]);
		bool taken = scope_find(s, ctx_str(s->ctx, letter));
		const char *name = sym ? sym->name : open ? open : taken ? "0" : letter;
		all = ctx_strf(s->ctx, "%s%s%s", all, i ? "," : "[", name);
	}
	return ctx_strf(s->ctx, "%s]", all);
}

const char *tile_example(Sema *s, const Tiling *t)
{
	const char *all = ctx_strf(s->ctx, "g%s", t->tensor->name);
	for (int i = 0; i < s->symbols.n; i++)
		if (s->symbols.at[i].value.kind == V_TILES && s->symbols.at[i].value.tiling == t)
			all = s->symbols.at[i].name;
	return indexed(s, t, all, NULL);
}

const char *element_example(Sema *s, const Tensor *t)
{
	Tiling each = {.tensor = (Tensor *)(uintptr_t)t, .rank = layout_rank(t->layout)};
	for (int i = 0; i < each.rank; i++)
		each.extent[i] = 1;
	return indexed(s, &each, t->name, s->bounded ? ix_spelled(s, s->bounded->name) : NULL);
}

/* What the tensor is divided into, where names here count all of its tiles; NULL: nothing. */
static const Tiling *tiles_of(Sema *s, const Tensor *t)
{
	for (int i = s->symbols.n; i-- > 0;) {
		const Value *v = &s->symbols.at[i].value;
		int counted = 0;
		if (v->kind != V_TILES || v->tiling->tensor != t)
			continue;
		while (counted < v->tiling->rank && name_that_counts(s, v->tiling, counted))
			counted++;
		if (counted == v->tiling->rank)
			return v->tiling;
	}
	return NULL;
}

/* How it would be divided for the names here: "128,64"; NULL: none counts tiles along a mode, which
 * is the first that to->rank leaves out. */
static const char *divided(Sema *s, Tiling *to)
{
	const char *all = "";
	for (to->rank = 0; to->rank < layout_rank(to->tensor->layout); to->rank++) {
		const Symbol *sym = counts_tiles_of(s, tensor_extent(s, to->tensor, to->rank));
		if (!sym)
			return NULL;
		to->extent[to->rank] = sym->value.coord->tile;
		all = ctx_strf(s->ctx, "%s%s%" PRId64, all, to->rank ? "," : "",
			       sym->value.coord->tile);
	}
	return all;
}

static const char *help_vector(Sema *s, const Tensor *t)
{
	const Ix *extent = tensor_extent(s, t, 0);
	const char *name = grid_name_of(s, extent);
	if (ix_is(extent, 1))
		return ctx_strf(s->ctx, "write %s[0]", t->name);
	return name ? ctx_strf(s->ctx, "write %s[%s]", t->name, name)
		    : ctx_strf(s->ctx, "write %s[n], with a name of the grid", t->name);
}

const char *help_tensor(Sema *s, const Tensor *t)
{
	Tiling own = {.tensor = (Tensor *)(uintptr_t)t};
	const Tiling *tiles = tiles_of(s, t);
	const char *extents = tiles ? NULL : divided(s, &own);
	if (layout_rank(t->layout) == 1)
		return help_vector(s, t);
	if (tiles)
		return ctx_strf(s->ctx, "name a tile of it: %s", tile_example(s, tiles));
	if (extents)
		return ctx_strf(s->ctx, "divide it, let g%s = %s / (%s), and name a tile: %s",
				t->name, t->name, extents, tile_example(s, &own));
	for (int i = s->symbols.n; i-- > 0 && t->is_out;)
		if (s->symbols.at[i].value.kind == V_TILES &&
		    s->symbols.at[i].value.tiling->tensor == t)
			return ctx_strf(s->ctx, "name a tile of it: %s",
					tile_example(s, s->symbols.at[i].value.tiling));
	return ctx_strf(s->ctx,
			"read a tensor whose tiles the names here count; none counts those "
			"along %s",
			ix_text(s->ctx, tensor_extent(s, t, own.rank)));
}

const char *help_value(Sema *s, const Value *v)
{
	if (v->kind == V_TENSOR)
		return help_tensor(s, v->tensor);
	if (v->kind == V_TILES)
		return ctx_strf(s->ctx, "name a tile of it: %s", tile_example(s, v->tiling));
	return value_rows[v->kind].help;
}

/* ------------------------------------------------------------------ operators, arguments */
const char *help_operator(Sema *s, Operator op, const Value *a, const Value *b)
{
	const Value *v = is_elementwise(a) ? b : a;
	return v && !is_elementwise(v) ? help_value(s, v) : operator_rows[op].help;
}

/* How functions of so many operands are called; of those that people take for others, what they
 * mean. */
static const struct {
	const char *name;
	int given;
	const char *help;
} calls[] = {
	{"max", 1, "the largest of each row is rowmax(x)"},
	{"min", 1, "the least of each row is rowmin(x)"},
	{"max", 3, "write max(max(x, y), z)"},
	{"min", 3, "write min(min(x, y), z)"},
	{"clamp", 2, "write clamp(x, lo, hi), or min(x, hi)"},
	{"select", 2, "write select(c, x, y): x where c is not 0, else y"},
	{"leaky_relu", 1, "write leaky_relu(x, 0.01)"},
};

const char *help_call(Sema *s, const char *name, int given, int takes)
{
	static const char *const forms[] = {"()", "(x)", "(x, y)", "(x, y, z)"};
	for (size_t i = 0; i < COUNTOF(calls); i++)
		if (calls[i].given == given && !strcmp(calls[i].name, name))
			return calls[i].help;
	return takes < (int)COUNTOF(forms) ? ctx_strf(s->ctx, "write %s%s", name, forms[takes])
					   : "";
}
