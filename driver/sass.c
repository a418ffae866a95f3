/* sass.c - --emit=sass: what the machine will run, as nvdisasm prints it. The disassembler reads a
 * file, so the cubin stands in a temporary one while it runs. */
#include "driver/tool.h"
#include "driver/files.h"

#include <errno.h>
#include <glob.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

/* A file without a name on disk, open for reading and writing, or -1. */
static int scratch_file(Ctx *c, const char **path)
{
	const char *tmp = getenv("TMPDIR");
	char *name = arena_printf(ctx_arena(c), "%s/dslc-sass-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(name);
	*path = name;
	return fd;
}

/* True when the program ran and exited with 0; its stdout is in out. */
static bool run_captured(const char *program, const char *file, int capture, Buf *out)
{
	char *argv[] = {(char *)(uintptr_t)program, "-c", (char *)(uintptr_t)file, NULL};
	char block[65536];
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int status = -1;
	ssize_t n;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, capture, STDOUT_FILENO);
	int failed = posix_spawn(&pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (failed)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	lseek(capture, 0, SEEK_SET);
	while ((n = read(capture, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool disassemble(Ctx *c, const char *program, const Buf *cubin, Buf *out)
{
	const char *in_path, *out_path;
	int in = scratch_file(c, &in_path), capture = scratch_file(c, &out_path);
	bool ok = in >= 0 && capture >= 0 && write(in, cubin->s, cubin->n) == (ssize_t)cubin->n &&
		  run_captured(program, in_path, capture, out);
	if (in >= 0) {
		close(in);
		unlink(in_path);
	}
	if (capture >= 0) {
		close(capture);
		unlink(out_path);
	}
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
