/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operands.c - operands as written become slots of the width that the instruction's row asks for.
 *   row "D d d" of type s32, "%r1, %r2, 4"  ->  slot of %r1, slot of %r2, slot of a constant 4 */
#include "sim/decode.h"
#include "sim/number.h"

#include <stdlib.h>

static u32 class_width(const Ins *in, char c)
{
	switch (c | 0x20) { /* of either case */
	case 'd':
	case 'x':
	case 'v':
		return type_width(in->type[0]);
	case 'e':
	case 'y':
		return type_width(in->type[1]);
	case 'f':
		return type_width(in->type[2]);
	case 'w':
		return type_bytes[in->type[0]] * 2u;
	case 'u':
		return 4;
	case 'q':
		return 8;
	case 'h':
		return 2;
	case 'p':
		return 1;
	case 'r':
		return in->type[0] == T_F64 ? 8 : 4;
	default:
		return 0;
	}
}

static bool relaxed(char c)
{
	return strchr("XxYyVv", c) != NULL;
}

/* A register wide enough for the class. */
static bool reg_fits(const Def *r, u32 width, char c)
{
	if (strchr("Rr", c))
		return r->width == 4 || r->width == 8 || r->width == 2;
	if (r->width == 1 || width == 1)
		return r->width == width;
	return relaxed(c) ? r->width >= width : r->width == width;
}

static bool float_bits(const PtxOperand *o, u32 width, u64 *bits)
{
	*bits = (u64)o->imm;
	if (o->kind == PO_F32 && width == 8)
		*bits = num_bits64((f64)f32_of((u32)o->imm));
	else if (o->kind == PO_F64 && width == 4)
		*bits = num_bits32((f32)num_double((u64)o->imm));
	else
		return width >= (o->kind == PO_F32 ? 4 : 8);
	return true;
}

static bool constant(Dec *d, Arg *out, u32 width, u64 bits)
{
	if (width == 1) { /* a predicate: one mask */
		out->slot = slot_const(d, 4, bits ? FULL : 0);
	} else {
		width = width < 2 ? 2 : width;
		out->slot = slot_const(d, width, bits);
	}
	out->kind = A_SLOT;
	out->width = (u8)width;
	out->isconst = true;
	return true;
}

static const char *const sreg_words[SR_COUNT] = {
#define SREG(id, word, bytes, value) [SR_##id] = word,
#include "sim/sregs.def"
};

/* %envreg1 is the high half of the address of what a grid's barrier works on, %envreg2 the low one;
 * the others are the driver's own. */
static bool environment(Dec *d, Arg *out, const char *name)
{
	char *end;
	if (strncmp(name, "%envreg", 7) != 0 || name[7] < '0' || name[7] > '9')
		return false;
	long n = strtol(name + 7, &end, 10);
	u64 at = d->m->workspace;
	return !*end && n < 32 &&
	       constant(d, out, 4,
			n == 1   ? at >> 32
			: n == 2 ? at & 0xffffffff
				 : 0);
}

static bool special(Dec *d, Arg *out, const char *name, const char **why)
{
	if (environment(d, out, name))
		return true;
	for (int s = 0; s < SR_COUNT; s++) {
		if (strcmp(name, sreg_words[s]) != 0)
			continue;
		if (s >= SR_CLOCK) {
			*out = (Arg){.kind = A_CLOCK, .width = sreg_bytes[s], .imm = s};
			return true;
		}
		if (!d->sreg_slot[s]) {
			u32 slot = slot_new(d, 8);
			POOL_PUSH(d->a, d->c->sregs, d->c->nsregs, d->c->sregs_cap,
				  (SregUse){slot, (Sreg)s});
			d->sreg_slot[s] = (s64)slot + 1;
		}
		*out = (Arg){.kind = A_SLOT, .isconst = true, .slot = (u32)d->sreg_slot[s] - 1};
		out->width = sreg_bytes[s];
		return true;
	}
	*why = "unknown special register";
	d->no_sreg = name;
	return false;
}

static bool name_arg(Dec *d, const PtxOperand *o, char c, u32 width, Arg *out, const char **why)
{
	if (o->name[0] == '%') {
		Def *reg = scope_look(d, o->name);
		if (!reg)
			return special(d, out, o->name, why);
	}
	Def *def = scope_look(d, o->name);
	s64 global;
	if (def && def->kind == D_REG) {
		if (o->imm || !reg_fits(def, width, c)) {
			*why = "a register of another width is needed";
			return false;
		}
		*out = (Arg){.kind = A_SLOT,
			     .width = def->width,
			     .slot = def->slot,
			     .negated = o->negated};
		return true;
	}
	if (def && def->kind != D_FAMILY)
		return constant(d, out, width == 4 ? 4 : 8, (u64)def->value + (u64)o->imm);
	if (map_get(&d->m->global_names, o->name, &global))
		return constant(d, out, 8, d->m->globals[global].addr + (u64)o->imm);
	if (strcmp(o->name, "WARP_SZ") == 0 && !o->imm)
		return constant(d, out, width == 8 ? 8 : 4, LANES);
	*why = "unknown name";
	return false;
}

/* A value that is read or written: register, constant, address of a variable. */
static bool value_arg(Dec *d, const Ins *in, const PtxOperand *o, char c, Arg *out,
		      const char **why)
{
	u32 width = class_width(in, c);
	bool written = c >= 'A' && c <= 'Z';
	u64 bits;
	*out = (Arg){0};
	if (o->kind == PO_SINK) {
		if (!d->sink)
			d->sink = slot_new(d, 16) + 1;
		*out = (Arg){.kind = A_SINK, .width = (u8)width, .slot = d->sink - 1};
		*why = "_ cannot be read";
		return written || strchr("Rr", c);
	}
	if (o->kind == PO_NAME) {
		if (!name_arg(d, o, c, width, out, why))
			return false;
		*why = "a register is needed here";
		return !written || (out->kind == A_SLOT && !out->isconst);
	}
	*why = "a register or a constant is needed here";
	if (written)
		return false;
	if (o->kind == PO_INT)
		return constant(d, out, width ? width : 4, (u64)o->imm);
	if (o->kind == PO_F32 || o->kind == PO_F64)
		return float_bits(o, width, &bits) && constant(d, out, width, bits);
	return false;
}

/* mov splits its type among the elements; elsewhere each has the type of the instruction. */
static char element_class(const Ins *in, char c, int n)
{
	if (!strchr("Vv", c) || strncmp(in->text, "mov", 3) != 0)
		return c;
	int each = type_bytes[in->type[0]] / n;
	const char *classes = c == 'V' ? "HUQ" : "huq";
	return classes[each == 2 ? 0 : each == 4 ? 1 : 2];
}

static bool vector_arg(Dec *d, const Ins *in, const PtxOperand *o, char c, Arg *out,
		       const char **why)
{
	bool one = o->kind != PO_VEC;
	u16 n = one ? 1 : (u16)o->n;
	if (!one && (o->n > 256 || !o->n)) {
		*why = "1 to 256 elements are needed between braces";
		return false;
	}
	*out = (Arg){.kind = A_VEC, .n = n, .list = pool_new(d->a, n * sizeof(Arg))};
	const PtxOperand *e = one ? o : o->list;
	for (int i = 0; i < n; i++, e = e->next) {
		if (!value_arg(d, in, e, one ? c : element_class(in, c, n), &out->list[i], why))
			return false;
	}
	return true;
}

static bool base_arg(Dec *d, const PtxOperand *o, Arg *out, const char **why)
{
	PtxOperand base = *o;
	*out = (Arg){.kind = A_MEM};
	Arg at = {0};
	if (o->kind == PO_INT) {
		constant(d, &at, 8, (u64)o->imm);
	} else if (o->kind == PO_NAME) {
		base.imm = 0;
		if (!name_arg(d, &base, 'r', 8, &at, why))
			return false;
		out->imm = o->imm;
	} else {
		*why = "an address is a register, a variable or a number";
		return false;
	}
	*why = "an address is a register of 32 or 64 bits";
	out->slot = at.slot;
	out->width = at.width;
	out->isconst = at.isconst;
	return at.kind == A_SLOT && (at.width == 4 || at.width == 8);
}

static bool memory_arg(Dec *d, const Ins *in, const PtxOperand *o, char c, Arg *out,
		       const char **why)
{
	*why = c == 't' ? "[map, {coordinates}] is needed here" : "[address] is needed here";
	if (o->kind != PO_MEM || o->n != (c == 't' ? 2 : 1))
		return false;
	if (!base_arg(d, o->list, out, why))
		return false;
	if (c == 'm')
		return true;
	Arg coords;
	if (!vector_arg(d, in, o->list->next, 'u', &coords, why))
		return false;
	out->list = coords.list;
	out->n = coords.n;
	return true;
}

static bool one_arg(Dec *d, const Ins *in, const PtxOperand *o, char c, Arg *out, const char **why)
{
	switch (c) {
	case 'm':
	case 't':
		return memory_arg(d, in, o, c, out, why);
	case 'V':
	case 'v':
	case 'R':
	case 'r':
		return vector_arg(d, in, o, c, out, why);
	case 'i':
		*out = (Arg){.kind = A_IMM, .imm = o->imm};
		*why = "a constant is needed here";
		return o->kind == PO_INT;
	case 'l':
		*out = (Arg){.kind = A_LABEL};
		*why = "a label is needed here";
		return o->kind == PO_NAME && !o->negated;
	default:
		return value_arg(d, in, o, c, out, why);
	}
}

/* "D|P": the second may be absent. */
static bool pair_arg(Dec *d, Ins *in, const PtxOperand *o, const char *classes, const char **why)
{
	Arg *out = &in->args[in->nargs];
	out[1] = (Arg){0};
	in->written = (u16)(in->written | 3 << in->nargs);
	in->nargs = (u8)(in->nargs + 2);
	if (o->kind != PO_PAIR)
		return one_arg(d, in, o, classes[0], &out[0], why);
	return one_arg(d, in, o->list, classes[0], &out[0], why) &&
	       one_arg(d, in, o->list->next, classes[2], &out[1], why);
}

bool operands_decode(Dec *d, Ins *in, const char *classes, const PtxOperand *list, const char **why)
{
	in->nargs = 0;
	in->written = 0;
	memset(in->args, 0, sizeof in->args);
	while (*classes) {
		bool optional = classes[0] == '?', pair = classes[1] == '|';
		classes += optional;
		bool fits = list != NULL;
		*why = "an operand is missing";
		if (fits && pair)
			fits = pair_arg(d, in, list, classes, why);
		else if (fits && classes[0] >= 'A' && classes[0] <= 'Z')
			in->written = (u16)(in->written | 1 << in->nargs);
		if (fits && !pair)
			fits = one_arg(d, in, list, classes[0], &in->args[in->nargs++], why);
		if (!fits && !optional)
			return false;
		if (!fits) {
			in->nargs = (u8)(in->nargs + !list);
			in->args[in->nargs - 1] = (Arg){0};
		} else {
			list = list->next;
		}
		classes += pair ? 3 : 1;
		classes += *classes == ' ';
	}
	*why = "there are too many operands";
	return !list;
}
