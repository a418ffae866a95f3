/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sass.c - --emit=sass: what the machine will run, as nvdisasm prints it. The disassembler reads a
 * file, so the cubin stands in a temporary one while it runs. */
#include "driver/tool.h"
#include "driver/files.h"

#include <stdlib.h>
#include <unistd.h>

enum { SASS_SECONDS = 600 };

static const char *find_nvdisasm(Ctx *c, const char *ptxas_path)
{
	const char *ptxas = ptxas_find(c, ptxas_path), *beside = NULL;
	if (ptxas)
		beside = ctx_strf(c, "%.*snvdisasm", (int)(base_name(ptxas) - ptxas), ptxas);
	return beside && access(beside, X_OK) == 0 ? beside : toolkit_find(c, "nvdisasm");
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
