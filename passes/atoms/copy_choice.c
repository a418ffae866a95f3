/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_choice.c - walks the rows of copies.def.
 *     copy shared -> shared   ->   no row begins and ends so: "no atom of sm_90a copies .."
 *     copy global -> shared   ->   TMA_LOAD, where its box fits; else the reason of each row */
#include "passes/atoms/copy_choice.h"

#include <string.h>

static const Space home_spaces[HOME_COUNT] = {
#define HOME(id, space, words) [HOME_##id] = SP_##space,
#include "passes/atoms/copies.def"
};

static Fit fits_always(Copying *c, Refusal *why)
{
	(void)c, (void)why;
	return FIT_YES;
}

/* Indices name the tile's rows, or its columns. */
static Fit fits_named(Copying *c, Refusal *why)
{
	(void)why;
	return tile_indices(IN(c->op, FROM).val) ? FIT_YES : FIT_NO;
}

/* It shares all but its last step with the way that the launch may refuse. */
static Fit fits_beside(Copying *c, Refusal *why)
{
	(void)why;
	return c->asked ? FIT_YES : FIT_NO;
}

const WayRow way_rows[WAY_COUNT] = {
#define WAY(id, of, from, to, first, last, condition, words)              \
	[WAY_##id] = {OP_##of,   HOME_##from,      HOME_##to, OP_##first, \
		      OP_##last, fits_##condition, words},
#include "passes/atoms/copies.def"
};

/* Of a tensor only tiles are copied. */
static bool is_home(Home home, const Val *v)
{
	return home_spaces[home] == v->type->space &&
	       (v->type->space != SP_GLOBAL || (v->def && v->def->kind == OP_TILE));
}

static bool leads(const WayRow *row, const Op *op)
{
	return row->of == op->kind && is_home(row->from, IN(op, FROM).val) &&
	       is_home(row->to, IN(op, TO).val);
}

static bool is_named(const WayRow *row, const Op *op)
{
	const char *via = attrs_str(&op->attrs, A_VIA, NULL);
	return !via || !strcmp(via, row->words);
}

Fit way_refuse(const Copying *c, Refusal *why, DiagId id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = ctx_vstrf(c->k->ctx, fmt, ap), *end = text + strcspn(text, "\n");
	va_end(ap);
	*why = (Refusal){id, ctx_strn(c->k->ctx, text, (size_t)(end - text)), *end ? end + 1 : ""};
	return FIT_NO;
}

static Fit fit(const WayRow *row, Copying *c, Refusal *why)
{
	const OpKind ops[] = {row->first, row->last};
	for (int i = 0; i < 2 && !why->text; i++)
		why->text = target_lacks(c->k->ctx, c->k->target, feature_of_op(ops[i]));
	return why->text ? FIT_NO : row->fits(c, why);
}

WayChoice way_choose(Copying *c)
{
	WayChoice w = {.way = WAY_COUNT, .other = WAY_COUNT};
	for (int id = 0; id < WAY_COUNT; id++) {
		Refusal why = {.id = D_E0405};
		if (!leads(&way_rows[id], c->op) || !is_named(&way_rows[id], c->op))
			continue;
		Fit fits = fit(&way_rows[id], c, &why);
		if (fits == FIT_NO && !why.text && !c->e)
			continue;
		if (fits == FIT_NO) {
			w.tried[w.refused] = (WayId)id;
			w.why[w.refused++] = why;
			continue;
		}
		*(c->asked ? &w.other : &w.way) = (WayId)id;
		if (fits == FIT_YES)
			break;
		c->asked = true;
	}
	return w;
}

bool way_has_map(WayId way)
{
	return way_rows[way].from == HOME_MAP || way_rows[way].to == HOME_MAP;
}

/* The reason, where there is but one; else all of them. */
void way_none(const Copying *c, const WayChoice *w)
{
	Ctx *ctx = c->k->ctx;
	if (w->refused == 1) {
		const Refusal *why = &w->why[0];
		diag(ctx, c->op->loc, why->id, "%s\n%s", why->text, why->remedy ? why->remedy : "");
		return;
	}
	Buf b = {0};
	for (int i = 0; i < w->refused; i++)
		buf_printf(&b, "%s %s: %s", i ? ";" : ":", way_rows[w->tried[i]].words,
			   w->why[i].text);
	diag(ctx, c->op->loc, D_E0405, "no atom of %s copies %s to %s%s", c->k->target,
	     space_names[IN(c->op, FROM).val->type->space],
	     space_names[IN(c->op, TO).val->type->space], b.s ? b.s : "");
	buf_free(&b);
}
