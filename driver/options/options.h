/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options.h - private to driver/: the command line, driven by options.def. */
#ifndef DSL_DRIVER_OPTIONS_H
#define DSL_DRIVER_OPTIONS_H

#include "check/problem.h"
#include "driver/compile.h"

typedef enum {
	CMD_COMPILE = 1,
	CMD_RUN = 2,
	CMD_LAYOUT = 4,
	CMD_EXPLAIN = 8,
	CMD_CHECK = 16,
	CMD_SIM = 32,
	CMD_FMT = 64,
	CMD_BENCH = 128,
	CMD_LSP = 256,
	CMD_TUNE = 512,
	CMD_NEW = 1024,
	CMD_ALL = CMD_COMPILE | CMD_RUN | CMD_BENCH | CMD_EXPLAIN | CMD_TUNE,
	CMD_CHECK_ALL = CMD_ALL | CMD_CHECK,
	CMD_JUDGES = CMD_CHECK_ALL | CMD_LSP,
	CMD_ANY = CMD_CHECK_ALL | CMD_LAYOUT | CMD_FMT | CMD_LSP | CMD_NEW,
	CMD_WRITES = CMD_COMPILE | CMD_EXPLAIN | CMD_TUNE,
	CMD_DRAWS = CMD_LAYOUT | CMD_EXPLAIN,
	CMD_CHOOSES = CMD_WRITES | CMD_CHECK,
	CMD_TIMES = CMD_BENCH | CMD_TUNE,
	CMD_RUNS = CMD_RUN | CMD_TIMES,
	CMD_SIZED = CMD_RUNS | CMD_EXPLAIN,
	CMD_SIMULATES = CMD_RUN | CMD_SIM,
	CMD_NAMES = CMD_CHECK_ALL | CMD_SIM,
	CMD_EVERY = CMD_ANY | CMD_SIM
} Command;

typedef struct {
	Command id;
	const char *word, *form, *help;
} CommandRow;
enum {
	COMMAND_COUNT = 0
#define COMMAND(...) +1
#include "driver/options/commands.def"
};
extern const CommandRow command_rows[COMMAND_COUNT];

typedef enum {
#define OPT(id, ...) OPT_##id,
#include "driver/options/options.def"
	OPT_COUNT
} OptId;
typedef enum { HOW_FLAG, HOW_JOINED, HOW_EQUAL, HOW_MAYBE, HOW_PREFIX } OptHow;
typedef enum {
#define CATEGORY(id, ...) CAT_##id,
#include "driver/options/options.def"
	CAT_COUNT
} OptCategory;
typedef struct {
	const char *spelling;
	OptHow how;
	const char *arg; /* "" for a flag */
	Command who;
	OptCategory category;
	const char *help;
} OptRow;
extern const OptRow opt_rows[OPT_COUNT];
typedef struct {
	const char *name, *title;
} CategoryRow;
extern const CategoryRow category_rows[CAT_COUNT];

typedef VEC(const char *) StrVec;

/* -Wno-W0201, -Werror: in order, for diag_level. id < 0: every warning. */
typedef struct {
	int id;
	DiagLevel level;
} LevelSet;

typedef struct {
	const char *name, *file;
} FileArg;
typedef VEC(FileArg) FileArgs;

enum { SIM_MOST_ARGS = 64 };

/* dslc sim --arg, --buffer */
typedef struct {
	const char *text;
	bool hidden; /* --buffer: memory, no parameter */
} RawArg;

typedef enum { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } When;
typedef enum { NUMBERS_BOTH, NUMBERS_INTEGERS, NUMBERS_NORMAL } Numbers;
typedef enum { X_BY_ENDING, X_GEMM, X_IR } SourceLang;

typedef struct {
	Arena *arena;
	Command command;
	StrVec inputs, defines, includes, ptxas_args, targets;
	VEC(LevelSet) levels;
	/* output */
	const char *out, *depfile, *keep_dir;
	unsigned emit; /* 0: nothing was asked for */
	bool depend, depend_phony, keep, syntax_only;
	/* language and code generation */
	SourceLang lang;
	const char *target, *map_old, *map_new, *ptxas_path;
	int opt_level, ptxas_timeout_s;
	bool lineinfo, verbose, dry_run;
	/* messages */
	bool json, quiet, unproved;
	CheckLevel verify;
	When color;
	/* inside */
	int ir_after, stop_after, only; /* as in CompileOpt */
	uint64_t print_after;           /* bit per pass; bit pass_count: the frontend */
	bool time_report;
	bool report_resources;
	/* run */
	VEC(SizeArgs) wanted; /* --for */
	const char *many, *card;
	ProblemSpec problem;
	VEC(int) then; /* how many sizes the problems have that others follow */
	FileArgs arrays_in, arrays_out, arrays_expected;
	const char *device; /* NULL: not said */
	Numbers numbers;
	int schedules; /* 0: not said */
	const char *checks, *trace;
	/* sim */
	uint32_t grid[3], block[3], cluster[3], smem; /* 0: not said */
	int64_t first_seed;
	VEC(RawArg) raw;
	/* bench */
	const char *candidates, *csv; /* files; NULL: not said */
	bool against_cublaslt;
	int rounds; /* 0: not said */
	/* tune */
	int top, seconds;
	/* layout */
	bool table, tv, banks;
	Elem elem;
	const char *svg;
	/* explain, bench; explain: svg too */
	const char *json_out;
	/* new */
	bool host_c;
	/* fmt */
	bool only_look; /* --check */
	/* what ends the tool at once */
	bool help, version;
	const char *help_category; /* NULL: all */
	const char *explain;
} Options;

/* argv[0] is not read. False for a usage error; then `why` (in the arena) says what and what would
 * be right. */
bool options_parse(Options *o, Arena *a, int argc, char *const *argv, const char **why);
void option_spell(const OptRow *row, Buf *out); /* "--keep[=DIR]" */
void option_text(OptId id, Buf *out);           /* its help */
/* Of one category (false: there is none such), of one command, or NULL and COMPILE: all. */
bool options_help(Buf *out, Command command, const char *category);
bool explain_code(Buf *out, const char *code); /* "all": each; false: no such code */
/* "--spli" -> "--split", or NULL when nothing is near. */
const char *nearest(const char *word, const char *const *words, int n);

#endif
