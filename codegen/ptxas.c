/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptxas.c - finds ptxas and runs it in a folder of its own, which is gone afterwards.
 *     PTX   ->   ptxas -arch=sm_90a -v -O3 kernel.ptx -o kernel.cubin   ->   ELF */
#include "codegen/ptxas.h"
#include "codegen/spawn.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ where it is */
static const char *program(Ctx *c, const char *dir, size_t n, const char *tail)
{
	struct stat st;
	const char *path = ctx_strf(c, "%.*s%s", (int)n, dir, tail);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? path : NULL;
}

static const char *in_env(Ctx *c, const char *name, const char *tail)
{
	const char *dir = getenv(name);
	return dir && *dir ? program(c, dir, strlen(dir), tail) : NULL;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

static const char *in_path(Ctx *c, const char *tail)
{
	const char *at = getenv("PATH");
	while (at && *at) {
		size_t n = strcspn(at, ":");
		const char *found = n ? program(c, at, n, tail) : NULL;
		if (found)
			return found;
		at += n + (at[n] == ':');
	}
	return NULL;
}

/* /usr/local/cuda itself sorts first. */
static const char *in_local(Ctx *c, const char *tail)
{
	glob_t g;
	const char *found = NULL;
	if (glob("/usr/local/cuda*/bin", 0, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc && !found; i++)
			found = program(c, g.gl_pathv[i], strlen(g.gl_pathv[i]), tail);
		globfree(&g);
	}
	return found;
}

static const char *from_setup(Ctx *c)
{
#ifdef DSLC_PTXAS_DIR
	return program(c, DSLC_PTXAS_DIR, strlen(DSLC_PTXAS_DIR), "/ptxas");
#else
	(void)c;
	return NULL;
#endif
}

const char *toolkit_find(Ctx *c, const char *name)
{
	const char *tail = ctx_strf(c, "/%s", name);
	const char *found = in_env(c, "CUDA_HOME", ctx_strf(c, "/bin%s", tail));
	found = found ? found : in_path(c, tail);
	return found ? found : in_local(c, tail);
}

const char *ptxas_find(Ctx *c, const char *given)
{
	if (given)
		return program(c, given, strlen(given), "");
	if (is_set("DSLC_PTXAS"))
		return in_env(c, "DSLC_PTXAS", "");
	const char *found = toolkit_find(c, "ptxas");
	return found ? found : from_setup(c);
}

bool ptxas_is_spared(Ctx *c, const char *given)
{
	const char *none = getenv("DSLC_PTXAS");
	return !given && (is_set("DSLC_PTXAS") ? !strcmp(none, "none") : !ptxas_find(c, NULL));
}

const char *ptxas_version(Ctx *c, const char *path, Litter *litter)
{
	const char *const argv[] = {path, "--version", NULL};
	Buf said = {0};
	const char *version = NULL;
	if (path && spawn_run(argv, 20, &said, litter).end == SPAWN_DONE && said.s) {
		const char *at = strstr(said.s, ", V");
		if (at)
			version = ctx_strn(c, at + 3, strspn(at + 3, "0123456789."));
	}
	buf_free(&said);
	return version;
}

static void report_missing(Ctx *c, const char *given)
{
	if (given) {
		diag(c, NOLOC, D_E0501, "%s is not a program that can be run", given);
		return;
	}
	if (is_set("DSLC_PTXAS")) {
		diag(c, NOLOC, D_E0501,
		     "DSLC_PTXAS names %s, which is not a program that can be run\n"
		     "set it to a ptxas, or unset it: then it is looked for elsewhere",
		     getenv("DSLC_PTXAS"));
		return;
	}
	diag(c, NOLOC, D_E0501,
	     "ptxas is not in $DSLC_PTXAS, $CUDA_HOME/bin, PATH or /usr/local/cuda*/bin\n"
	     "install a CUDA toolkit of version 13; or python3 -m pip install --no-deps --target "
	     "ptxas 'nvidia-cuda-nvcc==13.0.*', and set DSLC_PTXAS to ptxas/nvidia/cu13/bin/ptxas");
}

/* A toolkit need not have a ptxas, but who names one means it. */
static void warn_of_home(Ctx *c, const CgOpt *opt)
{
	if (opt->ptxas_path || is_set("DSLC_PTXAS") || !is_set("CUDA_HOME") ||
	    in_env(c, "CUDA_HOME", "/bin/ptxas"))
		return;
	diag(c, NOLOC, D_W0504, "CUDA_HOME is %s, where there is no bin/ptxas to be run",
	     getenv("CUDA_HOME"));
}

/* ------------------------------------------------------------------ running it */
typedef struct {
	const char *dir, *in, *out;
} Files;

static bool files_open(Ctx *c, const CgOpt *opt, Files *f)
{
	const char *tmp = opt->tmpdir ? opt->tmpdir : getenv("TMPDIR");
	Arena *a = ctx_arena(c);
	char *dir = arena_printf(a, "%s/dslc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	LitterHold h = litter_hold(opt->litter);
	bool ok = mkdtemp(dir);
	int why = errno;
	if (ok) {
		*f = (Files){dir, arena_printf(a, "%s/kernel.ptx", dir),
			     arena_printf(a, "%s/kernel.cubin", dir)};
		litter_add(opt->litter, f->in);
		litter_add(opt->litter, f->out);
		litter_add(opt->litter, f->dir);
	}
	litter_go_on(opt->litter, &h);
	if (!ok)
		diag(c, NOLOC, D_E0509, "no folder %s: %s", dir, strerror(why));
	return ok;
}

static void files_close(const CgOpt *opt, const Files *f)
{
	unlink(f->in);
	unlink(f->out);
	rmdir(f->dir);
	litter_drop(opt->litter, f->in);
	litter_drop(opt->litter, f->out);
	litter_drop(opt->litter, f->dir);
}

static bool file_write(Ctx *c, const char *path, const Buf *text)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(text->s, 1, text->n, f) == text->n;
	if (f && fclose(f))
		ok = false;
	if (!ok)
		diag(c, NOLOC, D_E0509, "%s cannot be written: %s", path, strerror(errno));
	return ok;
}

static bool file_read(Ctx *c, const char *ptxas, const char *path, Buf *out)
{
	char part[1 << 14];
	FILE *f = fopen(path, "rb");
	for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
		buf_add(out, part, n);
	bool ok = f && !ferror(f) && out->n > 0;
	if (f)
		fclose(f);
	if (!ok)
		diag(c, NOLOC, D_E0502, "%s reported success, but wrote no output", ptxas);
	return ok;
}

enum { ARGS_FIXED = 10 };

static const char *const *command(const Module *m, const CgOpt *opt, const char *ptxas,
				  const Files *f)
{
	Ctx *c = m->ctx;
	const char **argv = NEWN(ctx_arena(c), const char *, ARGS_FIXED + opt->nptxas_args);
	int n = 0;
	argv[n++] = ptxas;
	argv[n++] = ctx_strf(c, "-arch=%s", m->kernels.at[0]->target);
	argv[n++] = "-v";
	argv[n++] = ctx_strf(c, "-O%d", opt->opt_level);
	if (opt->lineinfo)
		argv[n++] = "-lineinfo";
	for (int i = 0; i < opt->nptxas_args; i++)
		argv[n++] = opt->ptxas_args[i];
	argv[n++] = f->in;
	argv[n++] = "-o";
	argv[n++] = f->out;
	return argv;
}

static void log_command(const CgOpt *opt, const char *const *argv)
{
	if (!opt->log || !(opt->verbose || opt->dry_run))
		return;
	for (int i = 0; argv[i]; i++)
		buf_printf(opt->log, "%s%s", i ? " " : "", argv[i]);
	buf_printf(opt->log, "\n");
}

/* True when ptxas ran and what it says is no error. */
static bool assemble(const Module *m, const CgOpt *opt, const char *const *argv, const Buf *ptx,
		     Assembled *out)
{
	Buf said = {0};
	int limit = opt->ptxas_timeout_s > 0 ? opt->ptxas_timeout_s : 120;
	Spawn r = spawn_run(argv, limit, &said, opt->litter);
	bool ok = false;
	if (opt->log && opt->verbose && said.n)
		buf_add(opt->log, said.s, said.n);
	if (r.end == SPAWN_FAILED) {
		diag(m->ctx, NOLOC, D_E0509, "%s: %s", argv[0], strerror(r.status));
	} else if (r.end == SPAWN_TIMEOUT) {
		diag(m->ctx, NOLOC, D_E0503, "%s ran for more than %d s\n--ptxas-timeout=%d",
		     argv[0], limit, 4 * limit);
		out->timed_out = true;
	} else {
		int before = diag_errors(m->ctx);
		ok = ptxas_read(m, opt, ptx, &said, out);
		if (r.status && diag_errors(m->ctx) == before)
			diag(m->ctx, NOLOC, D_E0502, "%s ended with status %d and said: %s",
			     argv[0], r.status, said.s ? said.s : "nothing");
		ok = ok && r.status == 0;
	}
	buf_free(&said);
	out->timed_out = r.end == SPAWN_TIMEOUT;
	return ok;
}

static bool run(const Module *m, const CgOpt *opt, const Buf *ptx, Assembled *out)
{
	Ctx *c = m->ctx;
	Files f;
	const char *ptxas = out->ptxas = ptxas_find(c, opt->ptxas_path);
	warn_of_home(c, opt);
	if (!ptxas) {
		report_missing(c, opt->ptxas_path);
		return false;
	}
	if (opt->dry_run) {
		f = (Files){"", "kernel.ptx", "kernel.cubin"};
		log_command(opt, command(m, opt, ptxas, &f));
		return true;
	}
	if (!files_open(c, opt, &f))
		return false;
	const char *const *argv = command(m, opt, ptxas, &f);
	log_command(opt, argv);
	bool ok = file_write(c, f.in, ptx) && assemble(m, opt, argv, ptx, out) &&
		  file_read(c, ptxas, f.out, &out->elf);
	files_close(opt, &f);
	return ok;
}

bool ptxas_run(const Module *m, const CgOpt *opt, const Buf *ptx, Assembled *out)
{
	*out = (Assembled){.regs = NEWN(ctx_arena(m->ctx), int, m->kernels.n), .spilled = -1};
	out->failed = !run(m, opt, ptx, out);
	return !out->failed;
}
