/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* types_table.c - what the tables say of each combination of types, homes and orders in memory: as
 * docs/types.md, or as one line each, of all or of enough that each pair of properties is in one.
 *     types_table page     the page
 *     types_table pairs    wgmma e4m3 e5m2 f32 bf16 k k shared rows 32 works
 *     types_table all      wgmma e4m3 e5m2 f32 bf16 mn k shared rows 32 E0404
 * Columns: instruction, A, B, accumulator, output, orders of A and of B, home of A, order of the
 * output, K of an instruction (0: there is none), and what the compiler answers. */
#include "ir/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINARY = 4, KINDS = 2 + BINARY }; /* atom, output; then A mn, B mn, A registers, columns */

typedef struct {
	int of[KINDS]; /* row of atoms.def, Elem, four times 0 or 1 */
} Case;

static const AtomRow *row_of(const Case *c)
{
	return &atom_rows[c->of[0]];
}

/* ------------------------------------------------------------------ what is legal */
typedef struct {
	const char *code, *reason;
	bool (*breaks)(const Case *c);
} Rule;

static bool in_registers(const Case *c)
{
	return c->of[4];
}

/* Both operands are copied into registers, element by element where nothing faster does it. */
static bool through_registers(const Case *c)
{
	return *row_of(c)->tv_b;
}

static bool a_turned(const Case *c)
{
	return c->of[2] && !in_registers(c) && !through_registers(c) &&
	       elem_rows[row_of(c)->a].bits != 16;
}

static bool b_turned(const Case *c)
{
	return c->of[3] && !through_registers(c) && elem_rows[row_of(c)->b].bits != 16;
}

static bool no_registers(const Case *c)
{
	return in_registers(c) && !*row_of(c)->tv_a;
}

/* Two neighbours along k a lane, as an accumulator has them, or by fours in place of these. */
static bool other_registers(const Case *c)
{
	int bits = elem_rows[row_of(c)->a].bits;
	bool pairs = bits == 64 && row_of(c)->k == 8;
	return in_registers(c) && *row_of(c)->tv_a && bits > 16 && !pairs;
}

static bool no_output(const Case *c)
{
	return elem_rows[c->of[1]].bits > 32 && !elem_is_float((Elem)c->of[1]);
}

/* In the order in which the compiler finds them. */
static const Rule rules[] = {
	{"E0203", "this instruction reads A from shared memory", no_registers},
	{"E0301", "an output has no integers of more than 32 bits", no_output},
	{"E0404", "`wgmma` reads A of 8 or 32 bits along K only", a_turned},
	{"E0404", "`wgmma` reads B of 8 or 32 bits along K only", b_turned},
	{"E0405", "A of 32 or 64 bits lies in another order", other_registers},
};
enum { RULES = sizeof rules / sizeof *rules };

static int broken(const Case *c, int *first)
{
	int n = 0;
	for (int i = RULES; i-- > 0;)
		if (rules[i].breaks(c)) {
			*first = i;
			n++;
		}
	return n;
}

/* ------------------------------------------------------------------ lines */
static void say(const Case *c)
{
	const AtomRow *r = row_of(c);
	int rule;
	printf("%s %s %s %s %s %s %s %s %s %d %s\n", r->name, elem_rows[r->a].name,
	       elem_rows[r->b].name, elem_rows[r->c].name, elem_rows[c->of[1]].name,
	       c->of[2] ? "mn" : "k", c->of[3] ? "mn" : "k", c->of[4] ? "registers" : "shared",
	       c->of[5] ? "columns" : "rows", r->k, broken(c, &rule) ? rules[rule].code : "works");
}

static Case *cases;
static int ncases;

/* Elements that share a byte are of buffers alone. */
static bool is_output(int e)
{
	return elem_rows[e].spoken && elem_rows[e].bits >= 8;
}

static void add_cases(void)
{
	cases = calloc((size_t)ATOM_COUNT * EL_COUNT << BINARY, sizeof *cases);
	for (int atom = 0; cases && atom < ATOM_COUNT; atom++)
		for (int d = 0; d < EL_COUNT; d++)
			for (int bits = 0; bits < 1 << BINARY && is_output(d); bits++) {
				Case *c = &cases[ncases++];
				c->of[0] = atom;
				c->of[1] = d;
				for (int i = 0; i < BINARY; i++)
					c->of[2 + i] = bits >> i & 1;
				if (in_registers(c) && c->of[2])
					ncases--; /* it has no order in memory */
			}
}

/* Of two properties, whether some case has had these values of them. */
enum { VALUES = (int)ATOM_COUNT + (int)EL_COUNT };
static bool seen[KINDS][KINDS][VALUES][VALUES];

static int news(const Case *c, bool take)
{
	int n = 0;
	for (int i = 0; i < KINDS; i++)
		for (int j = 0; j < i; j++) {
			bool *s = &seen[i][j][c->of[i]][c->of[j]];
			n += !*s;
			*s |= take;
		}
	return n;
}

/* Those that work, until each pair that some of them has is in one that is taken. */
static void say_pairs(void)
{
	int rule, most = 1;
	while (most) {
		const Case *best = NULL;
		most = 0;
		for (int i = 0; i < ncases; i++) {
			int n = broken(&cases[i], &rule) ? 0 : news(&cases[i], false);
			if (n > most) {
				most = n;
				best = &cases[i];
			}
		}
		if (!best)
			break;
		news(best, true);
		say(best);
	}
}

/* Of each instruction, each rule that it can break, alone. */
static void say_illegal(void)
{
	bool said[ATOM_COUNT][RULES] = {{false}};
	for (int i = 0; i < ncases; i++) {
		int rule = 0;
		if (broken(&cases[i], &rule) != 1 || said[cases[i].of[0]][rule])
			continue;
		said[cases[i].of[0]][rule] = true;
		say(&cases[i]);
	}
}

static const AtomRow *find_atom(Elem a, Elem b, Elem c)
{
	for (int i = 0; i < ATOM_COUNT; i++)
		if (atom_rows[i].a == a && atom_rows[i].b == b && atom_rows[i].c == c)
			return &atom_rows[i];
	return NULL;
}

/* Types that no instruction takes: as operands alone. */
static void say_none(void)
{
	for (int a = 0; a < EL_COUNT; a++)
		for (int b = 0; b < EL_COUNT; b++)
			for (int c = 0; c < EL_COUNT; c++)
				if (elem_rows[a].spoken && elem_rows[b].spoken &&
				    elem_rows[c].spoken && !find_atom((Elem)a, (Elem)b, (Elem)c))
					printf("- %s %s %s - - - - - 0 E0302\n", elem_rows[a].name,
					       elem_rows[b].name, elem_rows[c].name);
}

/* ------------------------------------------------------------------ the page */
static const char *columns_of(const AtomRow *r)
{
	return !r->has_n(16) ? "8" : r->has_n(40) ? "8, 16, ... 256" : "8, 16, 24, 32, 48, ... 256";
}

static void say_products(void)
{
	printf("| instruction | A | B | accumulator | M | K | N | bits kept of a sum | A in "
	       "registers | "
	       "A and B in memory |\n|---|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < ATOM_COUNT; i++) {
		const AtomRow *r = &atom_rows[i];
		Case c = {.of = {i, r->c, 0, 0, 1, 0}};
		int rule;
		printf("| `%s` | `%s` | `%s` | `%s` | %d | %d | %s | ", r->name,
		       elem_rows[r->a].name, elem_rows[r->b].name, elem_rows[r->c].name, r->m, r->k,
		       columns_of(r));
		if (r->fraction)
			printf("%d%s | ", r->fraction,
			       r->fraction < elem_rows[r->c].mantissa ? ": promoted, or `fast`"
								      : "");
		else
			printf("all | ");
		printf("%s | ", broken(&c, &rule) ? rules[rule].code : "works");
		printf("%s |\n",
		       elem_rows[r->a].bits == 16 || *r->tv_b ? "along K, M or N" : "along K");
	}
}

static void say_outputs(void)
{
	printf("| accumulator |");
	for (int d = 0; d < EL_COUNT; d++)
		if (is_output(d))
			printf(" `%s` |", elem_rows[d].name);
	printf("\n|---|");
	for (int d = 0; d < EL_COUNT; d++)
		printf("%s", is_output(d) ? "---|" : "");
	for (int c = 0; c < EL_COUNT; c++) {
		bool is = false;
		for (int i = 0; i < ATOM_COUNT; i++)
			is |= atom_rows[i].c == (Elem)c;
		if (is)
			printf("\n| `%s` |", elem_rows[c].name);
		for (int d = 0; d < EL_COUNT && is; d++)
			if (is_output(d))
				printf(" %s |", c == d                             ? "unchanged"
						: no_output(&(Case){.of = {0, d}}) ? "E0301"
						: elem_converts((Elem)c, (Elem)d)
							? "one rounding"
							: "through `f32`");
	}
	printf("\n");
}

static void say_elements(void)
{
	static const double asked[] = {1e30, -1e30, 0x1p-30, 1.0 / 3};
	printf("| type | bits | 1e30 becomes | -1e30 | 2^-30 | 1/3 | NaN "
	       "|\n|---|---|---|---|---|---|---|\n");
	for (int e = 0; e < EL_COUNT; e++) {
		if (!elem_rows[e].spoken || (elem_rows[e].bits > 32 && !elem_is_float((Elem)e)))
			continue;
		printf("| `%s` | %d |", elem_rows[e].name, elem_rows[e].bits);
		for (int i = 0; i < 4; i++)
			printf(" %.9g |", elem_round((Elem)e, asked[i]));
		double nan = elem_round((Elem)e, strtod("nan", NULL));
		printf(nan == nan ? " %.9g |\n" : " NaN |\n", nan);
	}
}

static const char head[] =
	"# Tables of types\n\n"
	"<!-- Written by tests/e2e/types_table.c from ir/atoms.def and runtime/elems.def; "
	"e2e.types.page compares. -->\n\n"
	"[Types](book/types.md) explains these tables. A combination of types, places and memory "
	"orders works if each table allows its part.\nOther combinations are refused with the "
	"error that the table shows. Tests compile these combinations and run them.\n\n"
	"## Products\n\n"
	"Any other combination of types of A, B and the accumulator is E0302.\n\n";

static const char small[] =
	" are stored two in a byte, the first in the low half. An expression converts\n"
	"them from a buffer: `bf16(f32(sQ))`. No instruction multiplies them, and no output has "
	"these types (E0301).\n\n"
	"The errors, and their reasons:\n\n"
	"| error | reason |\n|---|---|\n";

static const char sums[] =
	"\nError bounds, with the bits of the table:\n\n"
	"- A sum of K products is within `(K / 8 * 2^-bits) * sum |a b|` of the exact sum.\n"
	"- For a promoted sum, K is the number of elements that the tensor core adds. Each "
	"promotion adds 2^-23.\n"
	"- A sum that the accumulator can hold exactly is exact: integers up to 2^24 in `f32`, up "
	"to 2048 in `f16`.\n"
	"- Sums in `f64` are rounded after each product.\n\n"
	"## Outputs\n\n"
	"Outputs of every type may be contiguous along rows or columns. *Through `f32`* means "
	"`bf16(f32(acc))`, which rounds twice.\n\n";

static const char conversions[] =
	"\n## Conversions\n\n"
	"Conversions round to nearest, ties to even. Widening to `f32` is exact, except for `s32` "
	"and `f64`, which are rounded.\n\n";

static void say_page(void)
{
	fputs(head, stdout);
	say_products();
	printf("\nA in registers is a value that is computed from an accumulator or a buffer.\n"
	       "Elements of");
	for (int e = 0, n = 0; e < EL_COUNT; e++)
		if (elem_rows[e].bits < 8)
			printf("%s `%s`", n++ ? "," : "", elem_rows[e].name);
	fputs(small, stdout);
	for (int i = 0; i < RULES; i++)
		printf("| %s | %s |\n", rules[i].code, rules[i].reason);
	fputs(sums, stdout);
	say_outputs();
	fputs(conversions, stdout);
	say_elements();
}

int main(int argc, char **argv)
{
	add_cases();
	if (argc != 2 || !ncases)
		return 2;
	if (!strcmp(argv[1], "page"))
		say_page();
	for (int i = 0; i < ncases && !strcmp(argv[1], "all"); i++)
		say(&cases[i]);
	if (!strcmp(argv[1], "pairs")) {
		say_pairs();
		say_illegal();
	}
	if (!strcmp(argv[1], "all") || !strcmp(argv[1], "pairs"))
		say_none();
	free(cases);
	return 0;
}
