/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* problem.h - one kernel with sizes and random data, on a device and by the reference
 * interpreter. */
#ifndef DSL_CHECK_PROBLEM_H
#define DSL_CHECK_PROBLEM_H

#include "ir/ir.h"
#include "runtime/dsl.h"

typedef struct {
	const char *name;
	int64_t value;
} SizeArg;
typedef VEC(SizeArg) SizeArgs; /* of one launch */
typedef struct {
	const char *name;
	double value;
} ScalarArg;

/* What is to be run. */
typedef struct {
	const char *kernel; /* NULL: the only one of the file */
	SizeArgs sizes;     /* of all problems: of one name the last holds */
	VEC(ScalarArg) scalars;
	uint64_t seed;
	int64_t tiles; /* that are compared; -1: all, 0: as many as the reference computes soon */
	int64_t sms;   /* that a persistent kernel may fill; 0: all */
	bool check_indices;
	bool any_stage; /* no reference is asked for, which needs the tile stage */
} ProblemSpec;

enum { GUARD = 65536 }; /* bytes before and after each tensor that nothing may write */

/* Integers from -4 to 4 make most sums exact, so that these must agree in every bit. */
typedef enum { DATA_INTEGERS, DATA_NORMAL } DataKind;

typedef struct {
	const char *name;
	Elem elem;
	bool is_out, is_scalar;
	bool is_kept; /* what an output holds is read, or results are joined to it */
	double scalar;
	bool given; /* by --arg */
	double given_value;
	int64_t count; /* elements from the first to the last, 0 when an extent is 0 */
	size_t bytes;
	bool by_index;  /* outputs: indices or ends of groups say which rows are written */
	bool dense;     /* every offset is an element, and all are written */
	void *host;     /* inputs: what the kernel reads; outputs: what it wrote */
	void *start;    /* outputs that results are joined to: what was there before; else NULL */
	void *ref;      /* outputs: by the reference interpreter */
	bool *wrote;    /* outputs: which elements it stored */
	void *lo, *hi;  /* outputs: the least and the most that is right */
	dsl_addr alloc; /* on the device: GUARD bytes, the data, at least GUARD bytes */
} Tensor;

typedef struct {
	Ctx *ctx;        /* of the kernel below, apart from the compilation's */
	const Kernel *k; /* at the tile stage */
	InterpSym syms[32];
	int nsyms;
	Tensor t[32];
	int nt;
	int64_t grid;      /* output tiles */
	int64_t tile_macs; /* multiply-adds of one */
	bool joins;        /* elements of an output come from several tiles */
	bool check_indices;
	uint8_t *chosen; /* per tile: check it; NULL: all */
	int64_t nchosen;
	int64_t ended; /* tiles that the reference interpreter began, of `awaited` */
	int64_t awaited;
	void (*watch)(void *user, int64_t done, int64_t all); /* at each of them, or NULL */
	void *watcher;
	int sms; /* that a persistent kernel may fill; 0: all */
	dsl_device *dev;
	dsl_pool *pool; /* for copies of tensors that TMA cannot take */
	dsl_status (*bind)(void *user, dsl_arg *args, int n); /* before a launch, or NULL */
	void *binder;
} Problem;

/* Sizes, scalars and room for data. False with *why for what the user left out or misspelt. */
bool problem_open(Problem *p, const char *ir, const ProblemSpec *spec, const char **why);
void problem_close(Problem *p);       /* closes the device too */
void problem_free_device(Problem *p); /* its memory only */
void problem_fill(Problem *p, DataKind kind, uint64_t seed);
void problem_choose(Problem *p, const ProblemSpec *spec);
bool problem_reference(Problem *p, const char **why);

/* problem_indices.c: of a tensor of indices, the rows that there are; once: each is named once */
typedef struct {
	int64_t extent;
	bool once, checked; /* checked: -1 alone says that there is no row */
} Indices;
bool indices_write(const Problem *p, const Val *arg); /* rows of it */
bool indices_any(const Problem *p);                   /* whether the kernel takes any */
bool indices_find(const Problem *p, const Val *arg, Indices *of);
void indices_fill(const Indices *of, const Tensor *t, void *data, bool all, uint64_t seed);
/* problem_numbers.c: of a tensor of numbers, the largest that makes a difference */
typedef struct {
	int64_t most;
	bool used, checked;
} DrawnNumbers;
bool numbers_find(const Problem *p, const Val *arg, DrawnNumbers *of);
void numbers_fill(const DrawnNumbers *of, const Tensor *t, bool all, uint64_t seed);
/* problem_groups.c: where groups of rows end */
enum { GROUP_NAMES = 3 };               /* of a grid over groups, in front of those of columns */
const Op *groups_grid(const Kernel *k); /* NULL: it has none */
/* What is known of the length of a group, which a loop begins with. */
IxFact groups_length(const Problem *p, const Op *loop);
/* Tiles along the rows of all groups, at most; false: they cannot be counted. */
bool groups_heights(const Problem *p, const Op *grid, int64_t *heights);
bool groups_end_by(const Problem *p, const Val *arg);
void groups_fill(const Problem *p, const Tensor *t, bool all, uint64_t seed);
uint64_t problem_mix(uint64_t z); /* a hash */

/* Copies in with all guards and outputs poisoned, launches, waits, copies out. */
dsl_status problem_launch(Problem *p, dsl_module *mod);
/* Whether all that lies around the tensors is untouched. */
dsl_status problem_guards(Problem *p, char *wrong, size_t n);
int problem_args(const Problem *p, dsl_arg *args);   /* at most 64 */
int64_t problem_eval(const Problem *p, const Ix *x); /* coordinates count as 0 */

/* compare.c: the first thing that is wrong with an output, as a sentence; "" when all is right. */
typedef struct {
	int64_t checked; /* elements */
	bool open;       /* of an element several results are right */
	double ulps;     /* largest error, in units in the last place of the output's type */
	double allowed;  /* the largest error that is right for that element */
	double lo, hi;   /* what is right for the element looked at last */
	char wrong[256];
} Verdict;
/* Whether element i still is what outputs are filled with before a launch. */
bool is_poison(const void *data, size_t size, int64_t i);
Verdict compare(const Problem *p, const Tensor *t);
/* Whether the reference allows these elements of it, or their neighbours. */
Verdict compare_expected(const Problem *p, const Tensor *t, const void *expected);
/* What lies outside the output, read back from the device, is as it was before. */
bool guards_intact(const char *name, const uint8_t *before, const uint8_t *behind, char *wrong,
		   size_t n);

size_t elem_bytes(Elem e);

#endif
