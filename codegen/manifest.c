/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* manifest.c - writes the kernel description as JSON, which runtime/manifest.c reads back.
 * Needs a description that keeps the limits of runtime/kdesc.h; anything else panics.
 *   {.kind = KP_SYM, .index = 0}, syms {"M"}  ->  {"kind":"sym","sym":"M"} */
#include "codegen/artifact.h"
#include "codegen/json.h"

static const char *const dir_names[] = {"in", "out", "inout"};
static const char *const param_names[] = {"tmap", "ptr",  "sym",        "scalar",
					  "made", "work", "semaphores", "epoch"};

static void put_text(json_object *o, const char *key, const char *s)
{
	if (!s)
		panic("kernel description: %s is not set", key);
	json_put_text(o, key, s);
}

static json_object *put_array(json_object *o, const char *key, int n, int max)
{
	if (n < 0 || n > max)
		panic("kernel description: %d %s, the limit is %d", n, key, max);
	return json_put_array(o, key);
}

static void put_texts(json_object *o, const char *key, const char *const *s, int n, int max)
{
	json_object *a = put_array(o, key, n, max);
	for (int i = 0; i < n; i++) {
		if (!s[i])
			panic("kernel description: %s %d is not set", key, i);
		json_add_text(a, s[i]);
	}
}

static void put_ints(json_object *o, const char *key, const int *v, int n)
{
	json_object *a = put_array(o, key, n, KD_MAX_RANK);
	for (int i = 0; i < n; i++)
		json_add_int(a, v[i]);
}

static const char *arg_name(const KDesc *k, int i)
{
	if (i < 0 || i >= k->nargs)
		panic("kernel %s: argument %d of %d", k->name, i, k->nargs);
	return k->args[i].name;
}

static const char *sym_name(const KDesc *k, int i)
{
	if (i < 0 || i >= k->nsyms)
		panic("kernel %s: symbol %d of %d", k->name, i, k->nsyms);
	return k->syms[i];
}

static void write_arg(json_object *o, const KArg *a)
{
	put_text(o, "name", a->name);
	put_text(o, "kind", a->kind == KA_TENSOR ? "tensor" : "scalar");
	put_text(o, "elem", elem_rows[a->elem].name);
	if (a->kind != KA_TENSOR)
		return;
	put_text(o, "dir", dir_names[a->dir]);
	put_texts(o, "shape", a->shape, a->rank, KD_MAX_RANK);
	put_texts(o, "stride", a->stride, a->rank, KD_MAX_RANK);
	json_put_int(o, "align", a->align);
	if (a->constant)
		json_put_bool(o, "constant", a->constant);
	if (a->dir == KD_IN)
		json_put_bool(o, "in_place", a->in_place);
}

static void write_fact(json_object *o, const KFact *f)
{
	put_text(o, "cond", f->cond);
	put_text(o, "text", f->text);
	put_text(o, "field", f->field);
	put_text(o, "rule", f->rule);
}

static void write_param(json_object *o, const KDesc *k, const KParam *p)
{
	put_text(o, "kind", param_names[p->kind]);
	switch (p->kind) {
	case KP_TMAP:
	case KP_MADE:
		if (p->index < 0 || p->index >= k->nmaps)
			panic("kernel %s: map %d of %d", k->name, p->index, k->nmaps);
		json_put_int(o, "map", p->index);
		break;
	case KP_SYM:
		put_text(o, "sym", sym_name(k, p->index));
		break;
	case KP_WORK:
		if (p->index < 0 || p->index >= k->nworks)
			panic("kernel %s: workspace %d of %d", k->name, p->index, k->nworks);
		json_put_int(o, "work", p->index);
		break;
	case KP_SEMAPHORES:
	case KP_EPOCH:
		break;
	case KP_PTR:
	case KP_SCALAR:
		put_text(o, "arg", arg_name(k, p->index));
		break;
	}
}

static void write_map(json_object *o, const KDesc *k, const KMap *m)
{
	put_text(o, "arg", arg_name(k, m->arg));
	put_text(o, "elem", elem_rows[m->elem].name);
	put_texts(o, "dims", m->dims, m->rank, KD_MAX_RANK);
	put_texts(o, "strides", m->strides, m->rank - 1, KD_MAX_RANK - 1);
	put_ints(o, "box", m->box, m->rank);
	json_put_int(o, "swizzle", m->swizzle);
	json_put_bool(o, "store", m->store);
	json_put_bool(o, "optional", m->optional);
	if (m->copy)
		json_put_bool(o, "copy", m->copy);
}

static void write_smem(json_object *o, const KSmem *s)
{
	put_text(o, "name", s->name);
	json_put_int(o, "offset", s->offset);
	json_put_int(o, "bytes", s->bytes);
	json_put_int(o, "slots", s->slots);
}

static void write_consts(json_object *o, const KDesc *k)
{
	EACH_OF(const KConst, c, k->consts, k->nconsts)
		if (c->word)
			put_text(o, c->name, c->word);
		else
			json_put_int(o, c->name, c->value);
}

static void write_cost(json_object *o, const KCost *c)
{
	put_text(o, "family", c->family);
#define COST_INT(part, field, ...) json_put_int(o, #field, c->part.field);
#define COST_SIZE(field)           put_text(o, #field, c->field);
#include "runtime/variants.def"
}

static void write_interface(json_object *o, const KDesc *k)
{
	json_object *args = put_array(o, "args", k->nargs, KD_MAX_ARGS);
	for (int i = 0; i < k->nargs; i++)
		write_arg(json_add_object(args), &k->args[i]);
	put_texts(o, "syms", k->syms, k->nsyms, KD_MAX_SYMS);
	json_object *facts = put_array(o, "facts", k->nfacts, KD_MAX_FACTS);
	for (int i = 0; i < k->nfacts; i++)
		write_fact(json_add_object(facts), &k->facts[i]);
	json_object *params = put_array(o, "params", k->nparams, KD_MAX_PARAMS);
	for (int i = 0; i < k->nparams; i++)
		write_param(json_add_object(params), k, &k->params[i]);
	json_object *maps = put_array(o, "maps", k->nmaps, KD_MAX_MAPS);
	for (int i = 0; i < k->nmaps; i++)
		write_map(json_add_object(maps), k, &k->maps[i]);
}

static void write_kernel(json_object *o, const KDesc *k)
{
	put_text(o, "name", k->name);
	put_text(o, "symbol", k->symbol);
	write_interface(o, k);
	put_texts(o, "grid", k->grid, 3, 3);
	put_ints(o, "cluster", k->cluster, 3);
	if (k->nworks)
		put_texts(o, "workspace", k->works, k->nworks, KD_MAX_WORKS);
	if (k->together)
		json_put_bool(o, "together", k->together);
	if (k->tickets)
		json_put_bool(o, "tickets", k->tickets);
	json_put_int(o, "block", k->block);
	json_put_int(o, "smem", k->smem);
	json_put_int(o, "ctas", k->ctas);
	json_put_int(o, "regs", k->regs);
	json_put_int(o, "entry_regs", k->entry_regs);
	json_put_bool(o, "pdl", k->pdl);
	json_object *smem = put_array(o, "smem_map", k->nsmem, KD_MAX_SMEM);
	for (int i = 0; i < k->nsmem; i++)
		write_smem(json_add_object(smem), &k->smem_map[i]);
	put_text(o, "schedule", k->schedule);
	write_consts(json_put_object(o, "consts"), k);
	if (k->cost.family)
		write_cost(json_put_object(o, "cost"), &k->cost);
}

void manifest_write(const KModuleDesc *m, Buf *json)
{
	json_object *o = json_new();
	json_put_int(o, "abi", m->abi);
	put_text(o, "tool", m->tool);
	put_text(o, "llvm", m->llvm);
	put_text(o, "ptxas", m->ptxas);
	put_text(o, "source", m->source);
	put_text(o, "source_hash", m->source_hash);
	put_text(o, "checksum", KD_SUM_NONE);
	put_text(o, "target", m->target);
	json_put_int(o, "min_driver", m->min_driver);
	json_object *kernels = put_array(o, "kernels", m->nkernels, KD_MAX_KERNELS);
	for (int i = 0; i < m->nkernels; i++)
		write_kernel(json_add_object(kernels), &m->kernels[i]);
	json_end(o, json);
}
