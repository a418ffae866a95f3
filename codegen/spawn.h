/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spawn.h - runs a program without a shell and reads what it says; what a signal must undo. */
#ifndef DSL_CODEGEN_SPAWN_H
#define DSL_CODEGEN_SPAWN_H

#include "base/base.h"

#include <signal.h>

/* What is there for a while and must not stay: a handler of signals, which only the tool has, may
 * read it at any moment. Its owner hands it down; NULL: nobody looks. */
enum { LITTER_PATHS = 4 };
typedef struct {
	const char *volatile path[LITTER_PATHS]; /* files; a folder after what is in it */
	volatile sig_atomic_t group;             /* of the program that runs; 0: none */
} Litter;
/* Signals wait between these two, so that what was made is known when they come. */
typedef struct {
	sigset_t before;
} LitterHold;
LitterHold litter_hold(const Litter *l);
void litter_go_on(const Litter *l, const LitterHold *h);
void litter_add(Litter *l, const char *path); /* the string must stay as it is */
void litter_drop(Litter *l, const char *path);
void litter_clear(const Litter *l); /* for the handler: ends the program, removes the paths */

typedef enum { SPAWN_DONE, SPAWN_FAILED, SPAWN_TIMEOUT } SpawnEnd;
typedef struct {
	SpawnEnd end;
	int status; /* DONE: exit status, 128 + signal; FAILED: errno */
} Spawn;

/* Both output streams are appended to `said`; standard input is empty. The program has a process
 * group of its own, which is killed whole at the time limit. argv ends with NULL; argv[0] is a
 * path, not searched for. */
Spawn spawn_run(const char *const *argv, int timeout_s, Buf *said, Litter *litter);

#endif
