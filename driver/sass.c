/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sass.c - --emit=sass: what the machine will run, as nvdisasm prints it. The disassembler reads a
 * file, so the cubin stands in a temporary one while it runs. */
#include "driver/tool.h"
#include "driver/files.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SASS_SECONDS = 600 };

static const char *program_in(Ctx *c, const char *folder, size_t n)
{
	const char *path = n ? ctx_strf(c, "%.*s/nvdisasm", (int)n, folder) : "./nvdisasm";
	return access(path, X_OK) == 0 ? path : NULL;
}

static const char *find_in_path(Ctx *c)
{
	const char *s = getenv("PATH");
	while (s && *s) {
		size_t n = strcspn(s, ":");
		const char *found = n ? program_in(c, s, n) : NULL;
		if (found)
			return found;
		s += n + (s[n] == ':');
	}
	return NULL;
}

static const char *find_installed(Ctx *c)
{
	glob_t g;
	const char *found = NULL;
	if (glob("/usr/local/cuda*/bin", 0, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && !found; i++)
			found = program_in(c, g.gl_pathv[i], strlen(g.gl_pathv[i]));
	globfree(&g);
	return found;
}

static size_t folder_length(const char *path)
{
	const char *base = base_name(path);
	return base == path ? 0 : (size_t)(base - path) - 1;
}

static const char *find_nvdisasm(Ctx *c, const char *ptxas_path)
{
	const char *home = getenv("CUDA_HOME"), *found = NULL;
	const char *ptxas = ptxas_find(c, ptxas_path);
	if (ptxas)
		found = program_in(c, ptxas, folder_length(ptxas));
	if (!found && home)
		found = program_in(c, ctx_strf(c, "%s/bin", home), strlen(home) + 4);
	if (!found)
		found = find_in_path(c);
	return found ? found : find_installed(c);
}

/* A new file, open for writing, or -1. */
static int scratch_file(Ctx *c, const char **path)
{
	const char *tmp = getenv("TMPDIR");
	char *name = arena_printf(ctx_arena(c), "%s/dslc-sass-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(name);
	*path = name;
	return fd;
}

static bool disassemble(Ctx *c, const char *program, const Buf *cubin, Buf *out)
{
	const char *path;
	LitterHold h = litter_hold(crash_litter());
	int fd = scratch_file(c, &path);
	if (fd >= 0)
		litter_add(crash_litter(), path);
	litter_go_on(crash_litter(), &h);
	if (fd < 0)
		return false;
	const char *const argv[] = {program, "-c", path, NULL};
	bool ok = write(fd, cubin->s, cubin->n) == (ssize_t)cubin->n;
	close(fd);
	if (ok) {
		Spawn r = spawn_run(argv, SASS_SECONDS, out, crash_litter());
		ok = r.end == SPAWN_DONE && r.status == 0;
	}
	unlink(path);
	litter_drop(crash_litter(), path);
	return ok;
}

bool sass_write(Ctx *c, const char *ptxas_path, const Buf *cubin, Buf *out)
{
	const char *program = find_nvdisasm(c, ptxas_path);
	if (!program) {
		DiagMsg *m =
			diag(c, NOLOC, D_E0605, "--emit=sass needs nvdisasm, and there is none");
		diag_remedy(c, m, "install the CUDA toolkit, or put nvdisasm next to ptxas");
		return false;
	}
	if (!disassemble(c, program, cubin, out)) {
		diag(c, NOLOC, D_E0605, "%s could not disassemble the cubin", program);
		return false;
	}
	return true;
}
