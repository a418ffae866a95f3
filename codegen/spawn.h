/* spawn.h - private to codegen: runs a program without a shell and reads what it says. */
#ifndef DSL_CODEGEN_SPAWN_H
#define DSL_CODEGEN_SPAWN_H

#include "ir/base.h"

typedef enum { SPAWN_DONE, SPAWN_FAILED, SPAWN_TIMEOUT } SpawnEnd;
typedef struct {
	SpawnEnd end;
	int status; /* DONE: exit status, 128 + signal; FAILED: errno */
} Spawn;

/* Both output streams are appended to `said`; standard input is empty. At the time limit the
 * program is killed. argv ends with NULL; argv[0] is a path, not searched for. */
Spawn spawn_run(const char *const *argv, int timeout_s, Buf *said);

#endif
