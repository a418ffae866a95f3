/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* litter.c - what must not stay behind when a signal ends the process: temporary files, their
 * folder, the program that reads them. */
#include "codegen/spawn.h"

#include <sys/wait.h>
#include <unistd.h>

LitterHold litter_hold(const Litter *l)
{
	LitterHold h;
	sigset_t all;
	sigfillset(&all);
	sigemptyset(&h.before);
	if (l)
		pthread_sigmask(SIG_BLOCK, &all, &h.before);
	return h;
}

void litter_go_on(const Litter *l, const LitterHold *h)
{
	if (l)
		pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

void litter_add(Litter *l, const char *path)
{
	for (int i = 0; l && i < LITTER_PATHS; i++)
		if (!l->path[i]) {
			l->path[i] = path;
			return;
		}
}

void litter_drop(Litter *l, const char *path)
{
	for (int i = 0; l && i < LITTER_PATHS; i++)
		if (l->path[i] == path)
			l->path[i] = NULL;
}

/* Calls only what a handler may call. */
void litter_clear(const Litter *l)
{
	pid_t group = (pid_t)l->group;
	if (group > 0) {
		kill(-group, SIGKILL);
		waitpid(group, NULL, 0);
	}
	for (int i = 0; i < LITTER_PATHS; i++)
		if (l->path[i] && unlink(l->path[i]) != 0)
			rmdir(l->path[i]);
}
