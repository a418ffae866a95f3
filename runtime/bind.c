/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bind.c - the caller's arguments, found by name and checked by type, into the numbers of a launch.
 * An argument that stands at its place in the manifest is found with one comparison.
 *   {dsl_arg_ptr("A", a), dsl_arg_int("M", 512)}  ->  value[0] = a, env[0] = 512 */
#include "runtime/rt.h"

#include <string.h>

/* Slots: the kernel's args, then its syms. */
static const char *slot_name(const KDesc *k, int slot)
{
	return slot < k->nargs ? k->args[slot].name : k->syms[slot - k->nargs];
}

static int slot_find(const KDesc *k, const char *name, size_t hint)
{
	int n = k->nargs + k->nsyms;
	if (hint < (size_t)n && strcmp(slot_name(k, (int)hint), name) == 0)
		return (int)hint;
	for (int i = 0; i < n; i++)
		if (strcmp(slot_name(k, i), name) == 0)
			return i;
	return -1;
}

static dsl_status name_fail(const Why *w, const KDesc *k, const char *name)
{
	Line l = {.n = 0};
	int n = k->nargs + k->nsyms;
	for (int i = 0; i < n; i++)
		line_add(&l, "%s%s", i ? ", " : "", slot_name(k, i));
	return why_fail(w, DSL_ERR_ARG_NAME, "kernel %s has no argument %.60s; it takes %s",
			k->name, name, n ? l.at : "none");
}

static const char *kind_text(dsl_kind kind)
{
	switch (kind) {
	case DSL_PTR:
		return "an address (dsl_arg_ptr)";
	case DSL_INT:
		return "an integer (dsl_arg_int)";
	case DSL_FLOAT:
		return "a float (dsl_arg_float)";
	case DSL_PACKED:
		return "what dsl_pack made";
	}
	return "a kind that dsl.h does not have";
}

static dsl_status kind_fail(const Why *w, const KDesc *k, int slot, dsl_kind wants, dsl_kind got)
{
	Line l = {.n = 0};
	if (slot >= k->nargs)
		line_add(&l, "size");
	else
		line_add(&l, "%s %s", elem_rows[k->args[slot].elem].name,
			 k->args[slot].kind == KA_TENSOR ? "tensor" : "scalar");
	return why_fail(w, DSL_ERR_ARG_TYPE, "%s of kernel %s is a %s and takes %s; got %s",
			slot_name(k, slot), k->name, l.at, kind_text(wants), kind_text(got));
}

dsl_status packed_check(const Why *w, const Launch *l)
{
	const KDesc *k = l->plan->k;
	for (int i = 0; i < k->nargs; i++)
		if (l->packed[i] && pack_map(k, i) < 0)
			return kind_fail(w, k, i, DSL_PTR, DSL_PACKED);
	return DSL_OK;
}

static dsl_status slot_set(const Why *w, Launch *l, int slot, const dsl_arg *arg)
{
	const KDesc *k = l->plan->k;
	const KArg *a = slot < k->nargs ? &k->args[slot] : NULL;
	bool real = a && a->kind == KA_SCALAR && elem_is_float(a->elem);
	dsl_kind wants = a && a->kind == KA_TENSOR ? DSL_PTR : real ? DSL_FLOAT : DSL_INT;
	bool packed = wants == DSL_PTR && arg->kind == DSL_PACKED;
	if (arg->kind != wants && !packed)
		return kind_fail(w, k, slot, wants, arg->kind);
	if (packed)
		l->packed[slot] = true;
	if (!a)
		l->env[slot - k->nargs] = arg->v.i;
	else if (wants == DSL_PTR)
		l->value[slot] = arg->v.ptr;
	else if (real)
		l->value[slot] = elem_rows[a->elem].pack(arg->v.f);
	else if (!elem_int_bits(a->elem, arg->v.i, &l->value[slot]))
		return why_fail(w, DSL_ERR_ARG_VALUE, "%s of kernel %s is %lld, which no %s holds",
				a->name, k->name, (long long)arg->v.i, elem_rows[a->elem].name);
	return DSL_OK;
}

static dsl_status missing_fail(const Why *w, const KDesc *k, uint64_t seen)
{
	Line l = {.n = 0};
	for (int i = 0; i < k->nargs + k->nsyms; i++)
		if (!(seen >> i & 1))
			line_add(&l, "%s%s", l.n ? ", " : "", slot_name(k, i));
	return why_fail(w, DSL_ERR_ARG_MISSING, "kernel %s was not given %s", k->name, l.at);
}

dsl_status launch_bind_some(const Why *w, Launch *l, const dsl_arg *args, size_t n, uint64_t *seen)
{
	const KDesc *k = l->plan->k;
	*seen = 0;
	for (size_t i = 0; i < n; i++) {
		if (!args[i].name)
			return why_fail(w, DSL_ERR_INVALID, "argument %zu of kernel %s has no name",
					i, k->name);
		int slot = slot_find(k, args[i].name, i);
		if (slot < 0)
			return name_fail(w, k, args[i].name);
		if (*seen >> slot & 1)
			return why_fail(w, DSL_ERR_ARG_TWICE, "kernel %s was given %s twice",
					k->name, args[i].name);
		*seen |= UINT64_C(1) << slot;
		dsl_status st = slot_set(w, l, slot, &args[i]);
		if (st)
			return st;
	}
	return DSL_OK;
}

dsl_status launch_bind(const Why *w, Launch *l, const dsl_arg *args, size_t n)
{
	const KDesc *k = l->plan->k;
	int slots = k->nargs + k->nsyms;
	uint64_t seen, all = slots < 64 ? (UINT64_C(1) << slots) - 1 : UINT64_MAX;
	dsl_status st = launch_bind_some(w, l, args, n, &seen);
	return st ? st : seen == all ? DSL_OK : missing_fail(w, k, seen);
}
