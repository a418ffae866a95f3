/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptxas for tests that compile thousands of kernels, some of them again and again: what it made of
 * a PTX text, and what it says of its version, is kept in $DSLC_PTXAS_KEPT, which every configuring
 * of the build empties, and given again where the text, the options and the ptxas
 * ($DSLC_PTXAS_REAL) are the same. Only successes are kept. dslc calls it in two ways:
 *     ptxas --version        ptxas OPTIONS... IN -o OUT
 * A folder there, named by a hash of what was asked, has that as `asked`, and `out`, `err` and
 * `made`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
	char *at;
	size_t n;
} Bytes;

static void add(Bytes *b, const void *at, size_t n)
{
	b->at = realloc(b->at, b->n + n + 1);
	if (!b->at)
		exit(255);
	memcpy(b->at + b->n, at, n);
	b->n += n;
	b->at[b->n] = 0;
}

static bool add_file(Bytes *b, const char *path)
{
	char part[1 << 16];
	ssize_t n = -1;
	int f = open(path, O_RDONLY);
	while (f >= 0 && (n = read(f, part, sizeof part)) > 0)
		add(b, part, (size_t)n);
	if (f >= 0)
		close(f);
	return n == 0;
}

static bool write_all(int f, const Bytes *b)
{
	size_t done = 0;
	for (ssize_t n; done < b->n && (n = write(f, b->at + done, b->n - done)) > 0;)
		done += (size_t)n;
	return done == b->n;
}

static bool write_file(const char *path, const Bytes *b)
{
	int f = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool ok = f >= 0 && write_all(f, b);
	return f >= 0 && !close(f) && ok;
}

static char *in(const char *folder, const char *name)
{
	char *path = NULL;
	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static uint64_t hash_of(const Bytes *b)
{
	uint64_t h = UINT64_C(14695981039346656037);
	for (size_t i = 0; i < b->n; i++)
		h = (h ^ (unsigned char)b->at[i]) * UINT64_C(1099511628211);
	return h;
}

/* What is kept in the folder goes where ptxas would have put it; false: another was asked. */
static bool give(const char *folder, const Bytes *asked, const char *made)
{
	Bytes was = {0}, out = {0}, err = {0}, cubin = {0};
	bool same = add_file(&was, in(folder, "asked")) && was.n == asked->n &&
		    !memcmp(was.at, asked->at, was.n) && add_file(&out, in(folder, "out")) &&
		    add_file(&err, in(folder, "err")) &&
		    (!made || add_file(&cubin, in(folder, "made")));
	return same && (!made || write_file(made, &cubin)) && write_all(1, &out) &&
	       write_all(2, &err);
}

static int run(char **argv, const char *out, const char *err)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		dup2(open(out, O_WRONLY | O_CREAT, 0666), 1);
		dup2(open(err, O_WRONLY | O_CREAT, 0666), 2);
		execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 255;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* Runs ptxas, passes on what it says, and keeps that and what it made. */
static int make(char **argv, const char *folder, const Bytes *asked, const char *made)
{
	char *new = in(getenv("DSLC_PTXAS_KEPT"), "new.XXXXXX");
	Bytes out = {0}, err = {0}, cubin = {0};
	if (!new || !mkdtemp(new))
		return execv(argv[0], argv), 127;
	char *paths[] = {in(new, "asked"), in(new, "out"), in(new, "err"), in(new, "made")};
	int code = run(argv, paths[1], paths[2]);
	bool kept = add_file(&out, paths[1]) && add_file(&err, paths[2]) && !code &&
		    (!made || (add_file(&cubin, made) && write_file(paths[3], &cubin))) &&
		    write_file(paths[0], asked) && !rename(new, folder);
	for (int i = 0; i < 4 && !kept; i++)
		unlink(paths[i]);
	if (!kept) /* another was first, or ptxas failed */
		rmdir(new);
	write_all(1, &out);
	write_all(2, &err);
	return code;
}

int main(int argc, char **argv)
{
	const char *source = NULL, *made = NULL, *kept = getenv("DSLC_PTXAS_KEPT");
	char *folder = NULL;
	Bytes asked = {0};
	argv[0] = getenv("DSLC_PTXAS_REAL");
	if (!argv[0] || !kept)
		return fprintf(stderr, "ptxas_once: DSLC_PTXAS_REAL and DSLC_PTXAS_KEPT?\n"), 255;
	for (int i = 0; i < argc; i++) {
		bool last = i == argc - 1, output = i > 0 && !strcmp(argv[i - 1], "-o");
		if (output && last)
			made = argv[i];
		else if (i == argc - 3 && !strcmp(argv[i + 1], "-o"))
			source = argv[i];
		else
			add(&asked, argv[i], strlen(argv[i]) + 1);
	}
	bool version = argc == 2 && !strcmp(argv[1], "--version");
	if (!version && (!made || !source || !add_file(&asked, source)))
		return execv(argv[0], argv), 127;
	if (asprintf(&folder, "%s/%016llx", kept, (unsigned long long)hash_of(&asked)) < 0)
		return 255;
	return give(folder, &asked, made) ? 0 : make(argv, folder, &asked, made);
}
