/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parse.h - private to driver/options*.c: a command line while it is read. */
#ifndef DSL_DRIVER_OPTIONS_PARSE_H
#define DSL_DRIVER_OPTIONS_PARSE_H

#include "driver/options/options.h"

typedef struct {
	Options *o;
	const char *why; /* set by whoever refuses */
} Parse;

#define refuse(p, ...) ((p)->why = arena_printf((p)->o->arena, __VA_ARGS__))

/* Takes the argument of an option, NULL where it has none: one a row of options.def. */
typedef void Setter(Parse *p, const char *arg);
extern Setter *const option_setters[OPT_COUNT];

/* Refuses options that contradict each other, and too few or too many files. */
void options_fit(Parse *p);

#endif
