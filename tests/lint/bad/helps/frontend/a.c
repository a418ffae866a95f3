static const struct {
	const char *name, *help;
} table[] = {
	{"tried", "write bf16(x)"},
	{"untried", "write f16(x)"},
};
static const char help_long[] = "untried, "
				"in two strings";
static void report(Ctx *c, const char *remedy, const char *what);

void refuse(Ctx *c, DiagMsg *m, int n)
{
	diag_remedy(c, m, "tried in %d tiles of %" PRId64, n, n);
	diag_remedy(c, m, n ? "tried in 2 tiles of 3" : "untried, of %%%s", "x");
	diag_remedy(c, m, "%s", table[n].help); /* "no help" */
	report(c, ctx_strf(c, "untried via %s", "x"), "no help");
	diag_remedy(c, m, "-Wno-W0203 silences it");
}
