/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spawn.c - a child process with a time limit (POSIX: posix_spawn, poll). */
#include "codegen/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In a group of its own, with the signals that were let through before. */
static int start_attrs(posix_spawnattr_t *attrs, const sigset_t *mask)
{
	int e = posix_spawnattr_init(attrs);
	if (e)
		return e;
	posix_spawnattr_setpgroup(attrs, 0);
	posix_spawnattr_setsigmask(attrs, mask);
	return posix_spawnattr_setflags(attrs, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
}

static int start(const char *const *argv, int out, const posix_spawnattr_t *attrs, pid_t *pid)
{
	posix_spawn_file_actions_t io;
	int e = posix_spawn_file_actions_init(&io);
	if (e)
		return e;
	e = posix_spawn_file_actions_addopen(&io, 0, "/dev/null", O_RDONLY, 0);
	e = e ? e : posix_spawn_file_actions_adddup2(&io, out, 1);
	e = e ? e : posix_spawn_file_actions_adddup2(&io, out, 2);
	e = e ? e : posix_spawn(pid, argv[0], &io, attrs, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&io);
	return e;
}

/* Until the other end closes: true; false at the time limit. */
static bool drain(int fd, int64_t until, Buf *said)
{
	char part[4096];
	for (;;) {
		int64_t left = until - now_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)(left < 1000 ? left : 1000)) <= 0)
			continue;
		ssize_t n = read(fd, part, sizeof part);
		if (n == 0 || (n < 0 && errno != EINTR))
			return true;
		if (n > 0)
			buf_add(said, part, (size_t)n);
	}
}

static int wait_for(pid_t pid)
{
	int s;
	while (waitpid(pid, &s, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
}

/* The program is known as litter before any signal comes. */
static int start_known(const char *const *argv, int out, Litter *litter, pid_t *pid)
{
	sigset_t mask;
	posix_spawnattr_t attrs;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	int e = start_attrs(&attrs, &mask);
	if (e)
		return e;
	LitterHold h = litter_hold(litter);
	e = start(argv, out, &attrs, pid);
	if (!e && litter)
		litter->group = *pid;
	litter_go_on(litter, &h);
	posix_spawnattr_destroy(&attrs);
	return e;
}

Spawn spawn_run(const char *const *argv, int timeout_s, Buf *said, Litter *litter)
{
	int fd[2];
	pid_t pid;
	if (pipe(fd))
		return (Spawn){SPAWN_FAILED, errno};
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	int e = start_known(argv, fd[1], litter, &pid);
	close(fd[1]);
	if (e) {
		close(fd[0]);
		return (Spawn){SPAWN_FAILED, e};
	}
	bool ended = drain(fd[0], now_ms() + (int64_t)timeout_s * 1000, said);
	close(fd[0]);
	if (!ended)
		kill(-pid, SIGKILL);
	int status = wait_for(pid);
	if (litter)
		litter->group = 0;
	return (Spawn){ended ? SPAWN_DONE : SPAWN_TIMEOUT, status};
}
