/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* manifest.c - the manifest's JSON back into the kernel description that it was written from. Every
 * value is checked for type, range and reference, because the file may come from anywhere.
 * Strings of the description point into the JSON tree, which is kept with it. */
#include "runtime/rt.h"
#include "runtime/swizzle.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	KModuleDesc desc; /* first: dsl_desc_free gets its address */
	json_object *root;
} Parsed;

typedef struct {
	const Why *why;
	dsl_status st; /* of the first failure */
	char place[160];
} Reader;

static bool fail(Reader *r, const char *fmt, ...) PRINTF(2, 3);
static bool fail(Reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->st = why_fail(r->why, DSL_ERR_MANIFEST, "manifest, %s: %s", r->place, text);
	return false;
}

static void at_place(Reader *r, const char *fmt, ...) PRINTF(2, 3);
static void at_place(Reader *r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(r->place, sizeof r->place, fmt, ap);
	va_end(ap);
}

static bool text_of(Reader *r, json_object *v, const char *key, const char **out)
{
	if (!json_object_is_type(v, json_type_string))
		return fail(r, "%s is missing or not a text", key);
	*out = json_object_get_string(v);
	if (strlen(*out) != (size_t)json_object_get_string_len(v))
		return fail(r, "%s has a NUL inside", key);
	return true;
}

static bool get_text(Reader *r, json_object *o, const char *key, const char **out)
{
	return text_of(r, json_object_object_get(o, key), key, out);
}

static bool get_name(Reader *r, json_object *o, const char *key, const char **out)
{
	if (!get_text(r, o, key, out))
		return false;
	return text_is_name(*out) || fail(r, "%s \"%.40s\" is not a name", key, *out);
}

static bool int_of(Reader *r, json_object *v, const char *key, int64_t min, int64_t max,
		   int64_t *out)
{
	if (!json_object_is_type(v, json_type_int))
		return fail(r, "%s is missing or not an integer", key);
	*out = json_object_get_int64(v);
	if (*out < min || *out > max)
		return fail(r, "%s is %lld, outside %lld .. %lld", key, (long long)*out,
			    (long long)min, (long long)max);
	return true;
}

static bool get_int(Reader *r, json_object *o, const char *key, int min, int max, int *out)
{
	int64_t v = 0;
	bool ok = int_of(r, json_object_object_get(o, key), key, min, max, &v);
	*out = (int)v;
	return ok;
}

static bool get_bool(Reader *r, json_object *o, const char *key, int *out)
{
	json_object *v = json_object_object_get(o, key);
	if (!json_object_is_type(v, json_type_boolean))
		return fail(r, "%s is missing or not true or false", key);
	*out = json_object_get_boolean(v);
	return true;
}

/* As it was where the manifest is older than the key. */
static bool get_new_bool(Reader *r, json_object *o, const char *key, int *out)
{
	return !json_object_object_get(o, key) || get_bool(r, o, key, out);
}

static bool get_array(Reader *r, json_object *o, const char *key, int min, int max,
		      json_object **out, int *n)
{
	*out = json_object_object_get(o, key);
	if (!json_object_is_type(*out, json_type_array))
		return fail(r, "%s is missing or not a list", key);
	size_t count = json_object_array_length(*out);
	if (count < (size_t)min || count > (size_t)max)
		return fail(r, "%s has %zu entries, outside %d .. %d", key, count, min, max);
	*n = (int)count;
	return true;
}

static bool get_texts(Reader *r, json_object *o, const char *key, int min, int max,
		      const char **out, int *n)
{
	json_object *a;
	if (!get_array(r, o, key, min, max, &a, n))
		return false;
	for (int i = 0; i < *n; i++)
		if (!text_of(r, json_object_array_get_idx(a, (size_t)i), key, &out[i]))
			return false;
	return true;
}

static bool get_ints(Reader *r, json_object *o, const char *key, int n, int max, int *out)
{
	json_object *a;
	if (!get_array(r, o, key, n, n, &a, &n))
		return false;
	for (int i = 0; i < n; i++) {
		int64_t v;
		if (!int_of(r, json_object_array_get_idx(a, (size_t)i), key, 1, max, &v))
			return false;
		out[i] = (int)v;
	}
	return true;
}

static bool get_word(Reader *r, json_object *o, const char *key, const char *const *words, int n,
		     int *out)
{
	const char *s;
	if (!get_text(r, o, key, &s))
		return false;
	for (*out = 0; *out < n; ++*out)
		if (strcmp(s, words[*out]) == 0)
			return true;
	return fail(r, "%s \"%.40s\" is not known", key, s);
}

static bool get_elem(Reader *r, json_object *o, Elem *out)
{
	const char *s;
	if (!get_text(r, o, "elem", &s))
		return false;
	return elem_find(s, out) || fail(r, "element type \"%.40s\" is not known", s);
}

static int arg_find(const KDesc *k, const char *name)
{
	for (int i = 0; i < k->nargs; i++)
		if (strcmp(k->args[i].name, name) == 0)
			return i;
	return -1;
}

static int sym_find(const KDesc *k, const char *name)
{
	for (int i = 0; i < k->nsyms; i++)
		if (strcmp(k->syms[i], name) == 0)
			return i;
	return -1;
}

static bool get_arg(Reader *r, json_object *o, const KDesc *k, KArgKind kind, int *out)
{
	const char *name;
	if (!get_text(r, o, "arg", &name))
		return false;
	*out = arg_find(k, name);
	if (*out < 0)
		return fail(r, "there is no argument \"%.40s\"", name);
	return k->args[*out].kind == kind || fail(r, "argument %s is of the wrong kind", name);
}

/* Calls read for each entry of the list at key. */
#define FOR_ENTRIES(r, o, key, max, count, read)                                           \
	do {                                                                               \
		json_object *list_;                                                        \
		if (!get_array(r, o, key, 0, max, &list_, &(count)))                       \
			return false;                                                      \
		for (int i_ = 0; i_ < (count); i_++) {                                     \
			at_place(r, "kernel %s, " key " %d", k->name, i_);                 \
			if (!read(r, json_object_array_get_idx(list_, (size_t)i_), k, i_)) \
				return false;                                              \
		}                                                                          \
	} while (0)

/* Older manifests do not have it. */
static bool get_constant(Reader *r, json_object *o, KArg *a)
{
	if (!get_new_bool(r, o, "constant", &a->constant))
		return false;
	return !a->constant || a->dir == KD_IN ||
	       fail(r, "constant is true of tensor %s, which is no input", a->name);
}

/* Of older manifests, which do not have it, every input with the type, shape and strides of an
 * output may have its address. */
static bool get_in_place(Reader *r, json_object *o, KArg *a)
{
	a->in_place = a->dir == KD_IN;
	return get_new_bool(r, o, "in_place", &a->in_place);
}

static bool read_tensor(Reader *r, json_object *o, KArg *a)
{
	static const char *const dirs[] = {"in", "out", "inout"};
	int dir, n;
	if (!get_word(r, o, "dir", dirs, 3, &dir) ||
	    !get_texts(r, o, "shape", 1, KD_MAX_RANK, a->shape, &a->rank))
		return false;
	a->dir = (KDir)dir;
	return get_texts(r, o, "stride", a->rank, a->rank, a->stride, &n) &&
	       get_int(r, o, "align", 0, 16, &a->align) && get_constant(r, o, a) &&
	       get_in_place(r, o, a);
}

static bool read_arg(Reader *r, json_object *o, KDesc *k, int i)
{
	static const char *const kinds[] = {"tensor", "scalar"};
	KArg *a = &k->args[i];
	int kind;
	if (!get_name(r, o, "name", &a->name) || !get_word(r, o, "kind", kinds, 2, &kind) ||
	    !get_elem(r, o, &a->elem))
		return false;
	for (int j = 0; j < i; j++)
		if (strcmp(k->args[j].name, a->name) == 0)
			return fail(r, "there are two arguments %s", a->name);
	a->kind = (KArgKind)kind;
	return a->kind == KA_SCALAR || read_tensor(r, o, a);
}

static bool read_syms(Reader *r, json_object *o, KDesc *k)
{
	at_place(r, "kernel %s", k->name);
	int n;
	if (!get_texts(r, o, "syms", 0, KD_MAX_SYMS, k->syms, &n))
		return false;
	for (; k->nsyms < n; k->nsyms++) {
		const char *s = k->syms[k->nsyms];
		if (!text_is_name(s) || sym_find(k, s) >= 0 || arg_find(k, s) >= 0)
			return fail(r, "symbol \"%.40s\" is not a name or there twice", s);
	}
	return true;
}

static bool read_fact(Reader *r, json_object *o, KDesc *k, int i)
{
	KFact *f = &k->facts[i];
	return get_text(r, o, "cond", &f->cond) && get_text(r, o, "text", &f->text) &&
	       get_text(r, o, "field", &f->field) && get_text(r, o, "rule", &f->rule);
}

static bool map_box_ok(Reader *r, const KMap *m)
{
	int bytes = m->box[0] * elem_rows[m->elem].bits / 8;
	if (bytes % 16)
		return fail(r, "box row of %d bytes is not a multiple of 16", bytes);
	return !m->swizzle || bytes <= m->swizzle ||
	       fail(r, "box row of %d bytes is wider than swizzle %d", bytes, m->swizzle);
}

/* Manifests of 0.2.0 do not have it. What a kernel writes is not read from a copy. */
static bool get_copy(Reader *r, json_object *o, const KDesc *k, KMap *m)
{
	if (!get_new_bool(r, o, "copy", &m->copy))
		return false;
	bool input = !m->store && !m->optional && k->args[m->arg].dir == KD_IN;
	return !m->copy || input || fail(r, "copy is true of what is no input");
}

static bool read_map(Reader *r, json_object *o, KDesc *k, int i)
{
	KMap *m = &k->maps[i];
	int n;
	if (!get_arg(r, o, k, KA_TENSOR, &m->arg) || !get_elem(r, o, &m->elem) ||
	    !get_texts(r, o, "dims", 1, KD_MAX_RANK, m->dims, &m->rank) ||
	    !get_texts(r, o, "strides", m->rank - 1, m->rank - 1, m->strides, &n) ||
	    !get_ints(r, o, "box", m->rank, 256, m->box) ||
	    !get_int(r, o, "swizzle", 0, SWIZZLE_WIDEST, &m->swizzle) ||
	    !get_bool(r, o, "store", &m->store) || !get_bool(r, o, "optional", &m->optional) ||
	    !get_copy(r, o, k, m))
		return false;
	if (!swizzle_row(m->swizzle))
		return fail(r, "swizzle is %d, not 0, 32, 64 or 128", m->swizzle);
	return map_box_ok(r, m);
}

static bool read_param(Reader *r, json_object *o, KDesc *k, int i)
{
	static const char *const kinds[] = {"tmap", "ptr",  "sym",        "scalar",
					    "made", "work", "semaphores", "epoch"};
	KParam *p = &k->params[i];
	int kind;
	if (!get_word(r, o, "kind", kinds, 8, &kind))
		return false;
	p->kind = (KParamKind)kind;
	if (p->kind == KP_TMAP || p->kind == KP_MADE)
		return get_int(r, o, "map", 0, k->nmaps - 1, &p->index);
	if (p->kind == KP_WORK)
		return get_int(r, o, "work", 0, k->nworks - 1, &p->index);
	if (p->kind == KP_SEMAPHORES || p->kind == KP_EPOCH)
		return k->together || k->tickets ||
		       fail(r, "semaphores of CTAs that neither wait for each other nor draw "
			       "tickets");
	if (p->kind != KP_SYM)
		return get_arg(r, o, k, p->kind == KP_PTR ? KA_TENSOR : KA_SCALAR, &p->index);
	const char *sym;
	if (!get_text(r, o, "sym", &sym))
		return false;
	p->index = sym_find(k, sym);
	return p->index >= 0 || fail(r, "there is no symbol \"%.40s\"", sym);
}

static bool read_smem(Reader *r, json_object *o, KDesc *k, int i)
{
	KSmem *s = &k->smem_map[i];
	return get_text(r, o, "name", &s->name) &&
	       int_of(r, json_object_object_get(o, "offset"), "offset", 0, INT32_MAX, &s->offset) &&
	       int_of(r, json_object_object_get(o, "bytes"), "bytes", 0, INT32_MAX, &s->bytes) &&
	       get_int(r, o, "slots", 1, INT32_MAX, &s->slots);
}

static bool read_consts(Reader *r, json_object *o, KDesc *k)
{
	at_place(r, "kernel %s, consts", k->name);
	json_object *consts = json_object_object_get(o, "consts");
	if (!json_object_is_type(consts, json_type_object))
		return fail(r, "the table is missing");
	json_object_object_foreach(consts, key, v)
	{
		if (k->nconsts == KD_MAX_CONSTS)
			return fail(r, "more than %d entries", KD_MAX_CONSTS);
		KConst *c = &k->consts[k->nconsts++];
		c->name = key;
		if (json_object_is_type(v, json_type_string)
			    ? !text_of(r, v, key, &c->word)
			    : !int_of(r, v, key, INT64_MIN, INT64_MAX, &c->value))
			return false;
	}
	return true;
}

/* Manifests before 0.3 do not say it: one. */
static bool get_ctas(Reader *r, json_object *o, KDesc *k)
{
	k->ctas = 1;
	return !json_object_object_get(o, "ctas") || get_int(r, o, "ctas", 1, 32, &k->ctas);
}

/* Manifests before 0.3 do not have it. */
static bool get_works(Reader *r, json_object *o, KDesc *k)
{
	if (json_object_object_get(o, "workspace") &&
	    !get_texts(r, o, "workspace", 1, KD_MAX_WORKS, k->works, &k->nworks))
		return false;
	return get_new_bool(r, o, "tickets", &k->tickets) &&
	       get_new_bool(r, o, "together", &k->together);
}

static bool read_launch(Reader *r, json_object *o, KDesc *k)
{
	at_place(r, "kernel %s", k->name);
	int n;
	if (!get_texts(r, o, "grid", 3, 3, k->grid, &n) ||
	    !get_ints(r, o, "cluster", 3, 16, k->cluster) ||
	    !get_int(r, o, "block", 1, 1024, &k->block) ||
	    !get_int(r, o, "smem", 0, 1 << 20, &k->smem) || !get_ctas(r, o, k) ||
	    !get_int(r, o, "regs", 0, 1024, &k->regs) ||
	    !get_int(r, o, "entry_regs", 0, 1024, &k->entry_regs) ||
	    !get_bool(r, o, "pdl", &k->pdl) || !get_text(r, o, "schedule", &k->schedule))
		return false;
	return k->cluster[0] * k->cluster[1] * k->cluster[2] <= 16 ||
	       fail(r, "cluster %d x %d x %d is over 16 CTAs", k->cluster[0], k->cluster[1],
		    k->cluster[2]);
}

/* Older manifests do not have it, and neither have kernels that are alone. */
static bool read_cost(Reader *r, json_object *o, KDesc *k)
{
	KCost *c = &k->cost;
	json_object *cost = json_object_object_get(o, "cost");
	at_place(r, "kernel %s, cost", k->name);
	if (!cost)
		return true;
	if (!json_object_is_type(cost, json_type_object))
		return fail(r, "the table is missing");
#define COST_INT(part, field, least, most)                              \
	if (!get_int(r, cost, #field, (least), (most), &c->part.field)) \
		return false;
#define COST_SIZE(field)                           \
	if (!get_text(r, cost, #field, &c->field)) \
		return false;
#include "runtime/variants.def"
	return get_name(r, cost, "family", &c->family);
}

static bool read_kernel(Reader *r, json_object *o, KDesc *k, int i)
{
	at_place(r, "kernel %d", i);
	if (!get_name(r, o, "name", &k->name) || !get_name(r, o, "symbol", &k->symbol))
		return false;
	FOR_ENTRIES(r, o, "args", KD_MAX_ARGS, k->nargs, read_arg);
	if (!read_syms(r, o, k))
		return false;
	FOR_ENTRIES(r, o, "facts", KD_MAX_FACTS, k->nfacts, read_fact);
	FOR_ENTRIES(r, o, "maps", KD_MAX_MAPS, k->nmaps, read_map);
	if (!read_launch(r, o, k) || !get_works(r, o, k))
		return false;
	FOR_ENTRIES(r, o, "params", KD_MAX_PARAMS, k->nparams, read_param);
	at_place(r, "kernel %s", k->name);
	FOR_ENTRIES(r, o, "smem_map", KD_MAX_SMEM, k->nsmem, read_smem);
	return read_consts(r, o, k) && read_cost(r, o, k);
}

static bool read_abi(Reader *r, json_object *o, int *abi)
{
	if (!get_int(r, o, "abi", 0, INT32_MAX, abi))
		return false;
	if (*abi != KDESC_ABI)
		r->st = why_fail(r->why, DSL_ERR_ABI, "the cubin has ABI %d, this runtime ABI %d",
				 *abi, KDESC_ABI);
	return *abi == KDESC_ABI;
}

static bool kernel_twice(const KModuleDesc *m, int i)
{
	for (int j = 0; j < i; j++)
		if (strcmp(m->kernels[j].name, m->kernels[i].name) == 0)
			return true;
	return false;
}

/* A module that was built for `cp_async` of an earlier schedule has a second kernel, which copied
 * without TMA and was launched where there was no workspace. No launch takes it any more. */
static bool is_fallback(json_object *kernel)
{
	return json_object_object_get(kernel, "stands_in");
}

static bool is_of(const KDesc *kernels, int i, const char *family)
{
	return i >= 0 && kernels[i].cost.family && strcmp(kernels[i].cost.family, family) == 0;
}

/* A variant follows the others of its family, the first of which has its name. */
static bool family_check(Reader *r, const KDesc *kernels, int i)
{
	const KDesc *k = &kernels[i];
	const char *family = k->cost.family;
	at_place(r, "kernel %s", k->name);
	if (!family || strcmp(family, k->name) == 0)
		return true;
	if (!is_of(kernels, i - 1, family))
		return fail(r, "it does not follow the variants of %s", family);
	if (is_of(kernels, i - KD_MAX_VARIANTS, family))
		return fail(r, "%s has more than %d variants", family, KD_MAX_VARIANTS);
	const char *differs = variant_differs(k - 1, k);
	return !differs || fail(r, "its %s are not those of %s", differs, k[-1].name);
}

static bool read_kernels(Reader *r, json_object *o, KModuleDesc *m)
{
	json_object *list;
	int n;
	if (!get_array(r, o, "kernels", 1, KD_MAX_KERNELS, &list, &n))
		return false;
	m->kernels = calloc((size_t)n, sizeof *m->kernels);
	if (!m->kernels) {
		r->st = why_fail(r->why, DSL_ERR_MEMORY, "no memory for %d kernels", n);
		return false;
	}
	for (int i = 0; i < n; i++) {
		json_object *entry = json_object_array_get_idx(list, (size_t)i);
		KDesc *k = &m->kernels[m->nkernels];
		if (is_fallback(entry))
			continue;
		if (!read_kernel(r, entry, k, i))
			return false;
		if (kernel_twice(m, m->nkernels++))
			return fail(r, "there are two kernels %s", k->name);
		if (!family_check(r, m->kernels, m->nkernels - 1))
			return false;
	}
	return m->nkernels || fail(r, "there is no kernel to launch");
}

static bool read_module(Reader *r, json_object *o, KModuleDesc *m)
{
	at_place(r, "module");
	return read_abi(r, o, &m->abi) && get_text(r, o, "tool", &m->tool) &&
	       get_text(r, o, "llvm", &m->llvm) && get_text(r, o, "ptxas", &m->ptxas) &&
	       get_text(r, o, "source", &m->source) &&
	       get_text(r, o, "source_hash", &m->source_hash) &&
	       get_text(r, o, "target", &m->target) &&
	       get_int(r, o, "min_driver", 0, INT32_MAX, &m->min_driver) && read_kernels(r, o, m);
}

/* NULL, with a sentence, for anything that is not one JSON object and nothing else. */
static json_object *json_read(const Why *w, const char *text, size_t size)
{
	while (size && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
		size--;
	json_tokener *tok = size < INT32_MAX ? json_tokener_new_ex(16) : NULL;
	if (!tok) {
		why_fail(w, DSL_ERR_MANIFEST, "manifest: %zu bytes are too many", size);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	json_object *root = json_tokener_parse_ex(tok, text, (int)size);
	enum json_tokener_error e = json_tokener_get_error(tok);
	if (!json_object_is_type(root, json_type_object) ||
	    json_tokener_get_parse_end(tok) != size) {
		why_fail(w, DSL_ERR_MANIFEST, "manifest: not a JSON object: %s at byte %zu",
			 e == json_tokener_success ? "something else" : json_tokener_error_desc(e),
			 json_tokener_get_parse_end(tok));
		json_object_put(root);
		root = NULL;
	}
	json_tokener_free(tok);
	return root;
}

dsl_status manifest_parse(const Why *w, const char *text, size_t size, KModuleDesc **out)
{
	Parsed *p = calloc(1, sizeof *p);
	if (!p)
		return why_fail(w, DSL_ERR_MEMORY, "no memory for a manifest");
	p->root = json_read(w, text, size);
	Reader r = {.why = w, .st = DSL_ERR_MANIFEST};
	if (!p->root || !read_module(&r, p->root, &p->desc)) {
		dsl_desc_free(&p->desc);
		return r.st;
	}
	*out = &p->desc;
	return DSL_OK;
}

dsl_status manifest_none(const Why *w, KModuleDesc **out)
{
	Parsed *p = calloc(1, sizeof *p);
	if (!p)
		return why_fail(w, DSL_ERR_MEMORY, "no memory for a module");
	p->desc = (KModuleDesc){.abi = KDESC_ABI,
				.tool = "",
				.llvm = "",
				.ptxas = "",
				.source = "PTX text",
				.source_hash = "",
				.target = "sm_90a"};
	*out = &p->desc;
	return DSL_OK;
}

dsl_status dsl_desc_parse(const char *manifest, size_t size, KModuleDesc **out)
{
	if (!manifest || !out)
		return detail_null("dsl_desc_parse", "manifest or out");
	Why w = why_thread();
	return manifest_parse(&w, manifest, size, out);
}

void dsl_desc_free(KModuleDesc *desc)
{
	if (!desc)
		return;
	Parsed *p = (Parsed *)(void *)desc;
	free(p->desc.kernels);
	json_object_put(p->root);
	free(p);
}
