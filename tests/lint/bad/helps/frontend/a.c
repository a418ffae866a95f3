#define MACRO "untried, by a macro"
static const struct {
	const char *name, *help;
} table[] = {
	{"tried", "write bf16(x)"},
	{"untried", "write f16(x)"},
};
static const struct {
	const char *other;
} rows[] = {
#define ROW(name, other) {other},
#include "frontend/a.def"
};
static const char help_long[] = "untried, in two; "
				"strings";

static const char *returned(Ctx *c, int n)
{
	if (n)
		return ctx_strf(c, "%s, with %s", n > 1 ? "tried" : "untried, returned", "x");
	return "untried, returned";
}

static void report(Ctx *c, const char *what, const char *remedy)
{
	diag_remedy(c, m, "%s", remedy);
}

void refuse(Ctx *c, DiagMsg *m, int n)
{
	Buf b = {0};
	const char *last = "0";
	buf_printf(&b, "untried in a buffer, %d", n);
	diag_remedy(c, m, "tried in %d tiles of %" PRId64, n, n);
	diag_remedy(c, m, n ? "tried in 2 tiles of 3" : "untried, of %%%s", "x");
	diag_remedy(c, m, "tried in %s tiles of %s", n ? "2" : "5", last);
	diag_remedy(c, m, "%s", table[n].help); /* "no help" */
	diag_remedy(c, m, "%s", rows[n].other);
	diag_remedy(c, m, "%s", help_long);
	diag_remedy(c, m, "%s", MACRO);
	diag_remedy(c, m, "%s", returned(c, n));
	diag_remedy(c, m, "%s", b.s);
	diag_remedy(c, m, "%s", unknown);
	report(c, "no help", ctx_strf(c, "untried via %s", "x"));
	diag_remedy(c, m, "-Wno-W0203 silences it");
	diag_remedy(c, m, "untried; -Wno-W0203 silences it");
}

void causes(Ctx *c, Loc loc)
{
	diag(c, loc, D_E0102, "a cause of %d\n" "tried in %d tiles of %s", 1, 2, "3");
	reject(s, loc, D_E0102, "a cause of %s\n" "untried after a cause", "no help");
	diag(c, loc, D_E0102, "a cause of %s alone", "no help");
}
