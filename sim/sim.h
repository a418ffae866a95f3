/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sim.h - the simulator of one Hopper GPU: loads PTX text and runs kernels of it on the host. What
 * runtime/device.c of the folder builds the device "sim" from, and what tests call directly. Every
 * call may be made from one thread at a time per memory.
 *   sim_load(ptx, n, memory, &mod, &why);  sim_run(memory, &launch, &options, &result); */
#ifndef DSL_SIM_SIM_H
#define DSL_SIM_SIM_H

#include "sim/base.h"
#include "sim/watch.h"

struct Memory;
struct SimModule;

/* What is looked for while a kernel runs. Bounds and alignment always are. */
enum {
#define CHECK(id, bit, word, help) CHECK_##id = 1u << bit,
#include "sim/checks.def"
	CHECK_ALL = 0xffff /* that a kernel should pass; the others ask for more */
};

typedef enum {
#define KIND(id, check, word) SIM_##id,
#include "sim/kinds.def"
	SIM_KINDS
} SimKind;

typedef struct {
	u64 seed;        /* of the order of warps and of when asynchronous work completes */
	u64 starts;      /* of the order in which clusters start; 0: by index */
	u32 checks;      /* CHECK_* */
	u32 resident;    /* CTAs that run at a time, where they wait for each other or draw from one
			      counter; 0: 1024, 16 */
	u32 threads;     /* host threads; 0: as many as there are processors, at most 16 */
	u64 max_steps;   /* instructions of warps a cluster may run; 0: no limit */
	u32 max_reports; /* stop after this many different errors; 0: 16 */
	const char *trace; /* file for a Chrome trace of the first cluster, or NULL */
	u32 sms;           /* what %nsmid says */
	SimWatch *watch;   /* after each cluster, or NULL */
	void *watcher;
} SimOptions;

/* A piece of shared memory with a name, for reports: from a manifest. */
typedef struct {
	const char *name;
	u32 offset, bytes, slots; /* offset from the start of dynamic shared memory */
} SimArea;

/* Bytes of global memory. */
typedef struct {
	u64 from, bytes;
} SimRange;

typedef struct {
	const struct SimModule *module;
	const char *kernel;
	u32 grid[3], block[3], cluster[3];
	u32 dynamic_bytes;  /* of shared memory */
	const void *params; /* in the kernel's layout */
	size_t param_bytes;
	u32 entry_regs; /* registers a thread starts with; 0: what ptxas would give it */
	const SimArea *areas;
	u32 nareas;
	bool dependent;            /* it may start before the kernel ahead of it has ended */
	const SimRange *constants; /* which that kernel does not write, nor one still running */
	u32 nconstants;
	const SimRange *works; /* through which CTAs of the grid tell each other what they hold */
	u32 nworks;
} SimLaunch;

typedef struct {
	SimKind kind;
	int ptx_line;
	const char *file; /* of the source, or NULL; the module's */
	int source_line;
	u32 cta[3], warp;
	s32 lane; /* -1: the whole warp */
	char *text;
	u32 count; /* times it was seen at this line */
	bool note; /* of portability: no error */
} SimReport;

/* Errors end a run after max_reports different ones or SIM_TIMES in all; numbers are what they are
 * either way. Of notes as many are kept. */
enum { SIM_TIMES = 10000 };
typedef struct {
	SimReport *reports;
	u32 n, cap;
	u32 errors;    /* of those that are no notes */
	u64 times;     /* that one was seen */
	u64 steps;     /* instructions of warps */
	u64 clusters;  /* that were run */
	bool no_trace; /* the file of options cannot be written */
} SimResult;

/* memory.c. The device's memory; addresses are the simulator's own, 256-byte aligned. */
struct Memory *sim_memory_new(void);
void sim_memory_free(struct Memory *m);
u64 sim_alloc(struct Memory *m, u64 bytes); /* 0: no memory. Filled with 0xcd. */
bool sim_release(struct Memory *m, u64 addr);
void *sim_host(struct Memory *m, u64 addr, u64 bytes); /* NULL: not inside one allocation */

/* module.c. On failure NULL, and why (size bytes) has "line 12: ..." */
struct SimModule *sim_load(struct Memory *m, const char *ptx, size_t size, char *why, size_t room);
void sim_unload(struct SimModule *mod);
const char *sim_kernel_name(const struct SimModule *mod, u32 i); /* NULL: no more */
bool sim_kernel_find(const struct SimModule *mod, const char *name);
/* The first instruction of a kernel that is not simulated, as written, with what of it is not and
 * its line; NULL: none. Such a kernel can be launched; a thread that gets there reports it. */
const char *sim_kernel_lacks(const struct SimModule *mod, const char *kernel, const char **what,
			     int *line);
/* Where a global or constant variable is; false: there is none. */
bool sim_global(const struct SimModule *mod, const char *name, u64 *addr, u64 *size);
/* Parameters of a kernel: how many, and where number i is in the buffer. */
u32 sim_param_count(const struct SimModule *mod, const char *kernel);
void sim_param(const struct SimModule *mod, const char *kernel, u32 i, u32 *offset, u32 *size);
/* What the kernel itself says: .reqntid or .maxntid, .reqnctapercluster; zeros where it is silent.
 */
void sim_kernel_bounds(const struct SimModule *mod, const char *kernel, u32 block[3],
		       u32 cluster[3]);

/* run.c. False: it could not be started, and why says so. Reports are in result; its owner frees
 * them with sim_result_free. */
bool sim_run(struct Memory *m, const SimLaunch *l, const SimOptions *o, SimResult *result,
	     char *why, size_t room);
void sim_result_free(SimResult *r);
u32 reports_most(const SimOptions *o); /* different errors that end a run */
const char *sim_kind_word(SimKind k);
/* "races,uninit", "all", "none", "all,-races": false at an unknown word. */
bool sim_checks_parse(const char *text, u32 *checks);

/* tma_map.c. A tensor map in this device's own format. NULL, or what is wrong with it. */
typedef enum {
	SIM_U8,
	SIM_U16,
	SIM_U32,
	SIM_S32,
	SIM_U64,
	SIM_S64,
	SIM_F16,
	SIM_F32,
	SIM_F64,
	SIM_BF16,
	SIM_TF32
} SimElem;
typedef struct {
	u64 base;
	u32 rank;
	SimElem elem;
	u64 dims[5];    /* elements, fastest first */
	u64 strides[4]; /* bytes, of dimensions 1.. */
	u32 box[5], steps[5];
	u32 swizzle; /* bytes: 0, 32, 64, 128 */
	bool nan_fill;
} SimMap;
const char *sim_map_encode(const SimMap *m, void *bytes128);

#endif
