/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* files.c - inputs and outputs of the tool. An output appears under its name only when it is whole:
 *     gemm.cubin.4711.tmp  --rename-->  gemm.cubin */
#include "driver/files.h"
#include "driver/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ names */
const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *with_ending(Arena *a, const char *path, const char *ending)
{
	const char *base = base_name(path), *dot = strrchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - path) : strlen(path);
	return arena_printf(a, "%.*s%s", (int)stem, path, ending);
}

bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;
	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* ------------------------------------------------------------------ reading */
/* 0, or errno; EFBIG where it is larger than a source may be. */
static int read_all(int fd, Buf *out)
{
	char block[65536];
	for (;;) {
		ssize_t n = read(fd, block, sizeof block);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return 0;
		buf_add(out, block, (size_t)n);
		if (out->n > SOURCE_MAX)
			return EFBIG;
	}
}

/* The file descriptor of the first place that has the file; *found is where. */
static int open_somewhere(Ctx *c, const char *path, const char *const *folders, int n,
			  const char **found)
{
	*found = path;
	if (strcmp(path, "-") == 0)
		return dup(STDIN_FILENO);
	int fd = open(path, O_RDONLY | O_CLOEXEC), why = errno;
	for (int i = 0; i < n && fd < 0 && why == ENOENT && path[0] != '/'; i++) {
		const char *there = arena_printf(ctx_arena(c), "%s/%s", folders[i], path);
		fd = open(there, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			*found = there;
	}
	if (fd < 0)
		errno = why;
	return fd;
}

bool file_read(Ctx *c, const char *path, const char *const *folders, int nfolders, Buf *out,
	       const char **found)
{
	int fd = open_somewhere(c, path, folders, nfolders, found);
	int why = fd < 0 ? errno : read_all(fd, out);
	if (fd >= 0)
		close(fd);
	if (why == EFBIG)
		diag(c, NOLOC, D_E0602, "'%s' is larger than %d MiB", path, SOURCE_MAX >> 20);
	else if (why)
		diag(c, NOLOC, D_E0601, "cannot read '%s': %s", path, strerror(why));
	buf_add(out, "", 0);
	return !why;
}

/* ------------------------------------------------------------------ writing */
static int write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	while (size) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_in_place(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int why = fd < 0 ? errno : write_all(fd, data, size);
	if (fd >= 0 && close(fd) != 0 && !why)
		why = errno;
	return why;
}

/* What is replaced keeps its permissions. */
static int take_mode(int fd, const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && fchmod(fd, st.st_mode & 07777) != 0 ? errno : 0;
}

static int write_renamed(const char *path, const char *temporary, const void *data, size_t size)
{
	LitterHold h = litter_hold(crash_litter());
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
	if (fd >= 0)
		litter_add(crash_litter(), temporary);
	litter_go_on(crash_litter(), &h);
	if (fd < 0)
		return why;
	why = write_all(fd, data, size);
	if (!why)
		why = take_mode(fd, path);
	if (close(fd) != 0 && !why)
		why = errno;
	if (!why && rename(temporary, path) != 0)
		why = errno;
	if (why)
		unlink(temporary);
	litter_drop(crash_litter(), temporary);
	return why;
}

/* Where the bytes go in the end: through symbolic links, so that these stay. */
static const char *resolve(Ctx *c, const char *path)
{
	char target[4096];
	for (int i = 0; i < 8; i++) {
		ssize_t n = readlink(path, target, sizeof target - 1);
		if (n <= 0)
			break;
		target[n] = 0;
		path = target[0] == '/'
			       ? ctx_str(c, target)
			       : ctx_strf(c, "%.*s%s", (int)(base_name(path) - path), path, target);
	}
	return path;
}

bool file_write(Ctx *c, const char *path, const void *data, size_t size)
{
	struct stat st;
	int why;
	const char *to = resolve(c, path);
	if (strcmp(path, "-") == 0)
		why = write_all(STDOUT_FILENO, data, size);
	else if (stat(to, &st) == 0 && S_ISDIR(st.st_mode))
		why = EISDIR;
	else if (stat(to, &st) == 0 && !S_ISREG(st.st_mode))
		why = write_in_place(to, data, size);
	else
		why = write_renamed(to, ctx_strf(c, "%s.%ld.tmp", to, (long)getpid()), data, size);
	if (why)
		diag(c, NOLOC, D_E0603, "cannot write '%s': %s", path, strerror(why));
	return !why;
}
