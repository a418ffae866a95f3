/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rt.h - what the files of the runtime say to each other; never included from outside.
 *   manifest text -> KModuleDesc (manifest.c) -> Plan per kernel (plan.c), once at load
 *   Plan + arguments -> Launch (bind.c, check.c), on the stack, at each launch
 *   Launch -> the device's own launch (DevOps) */
#ifndef DSL_RUNTIME_RT_H
#define DSL_RUNTIME_RT_H

#include "runtime/desc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

#define COUNTOF(a)        (sizeof(a) / sizeof(*(a)))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* status.c: where the sentence of a failure goes; at may be NULL. Gives st back. */
typedef struct {
	char *at;
	size_t size;
} Why;
dsl_status why_fail(const Why *w, dsl_status st, const char *fmt, ...) PRINTF(3, 4);
Why why_thread(void); /* the buffer of dsl_detail */
dsl_status detail_fail(dsl_status st, const char *fmt, ...) PRINTF(2, 3);
dsl_status detail_null(const char *call, const char *parameter);
/* The size that a caller gave its struct is at least that of the first version: known is it. */
dsl_status size_check(const char *name, size_t given, size_t known);

/* text.c: a bounded line of text that is cut, never overrun */
typedef struct {
	char at[512];
	size_t n;
} Line;
void line_add(Line *l, const char *fmt, ...) PRINTF(2, 3);
bool text_is_name(const char *s); /* a C identifier */

/* elem.c */
bool elem_find(const char *name, Elem *out);
/* v as the bits of a scalar of type e; false when an integer does not fit. */
bool elem_int_bits(Elem e, int64_t v, uint64_t *bits);

/* expr.c: postfix expressions, compiled to a pool once and evaluated at each launch */
typedef struct {
	int32_t op;  /* an ExprOp */
	int32_t sym; /* EX_SYM: index into the environment */
	int64_t imm; /* EX_INT */
} ExprIns;
typedef struct {
	const ExprIns *ins;
	int n;
} Expr;
typedef enum { EXPR_OK, EXPR_OVERFLOW, EXPR_ZERO } ExprResult; /* ZERO: a divisor below 1 */
enum { EXPR_SMS = KD_MAX_SYMS, EXPR_ENV };                     /* slots of the environment */
/* Compiles text over syms into ins (room for KD_MAX_EXPR). The count, or -1 and a reason. */
int expr_compile(const char *text, const char *const *syms, int nsyms, ExprIns *ins,
		 const char **reason);
ExprResult expr_eval(Expr e, const int64_t env[EXPR_ENV], int64_t *out);
bool expr_is_sym(Expr e);                 /* nothing but a symbol, ins->sym */
int expr_unknown(Expr e, uint64_t known); /* a symbol whose bit is not set, or -1 */
/* As a person writes it: "M 127 + 128 /" is "(M + 127) / 128". */
void expr_infix(const char *text, Line *out);

/* elf.c */
dsl_status elf_section(const Why *w, const void *bytes, size_t size, const char *name,
		       const char **data, size_t *data_size);

/* manifest.c */
dsl_status manifest_parse(const Why *w, const char *text, size_t size, KModuleDesc **out);
/* That of a bare PTX text: no kernels that can be launched by their arguments. */
dsl_status manifest_none(const Why *w, KModuleDesc **out);

/* family.c: what a family's variants must have in common and these do not, "arguments", or NULL */
const char *variant_differs(const KDesc *a, const KDesc *b);
enum { COST_SIZES = 6 };
void cost_texts(const KCost *c, const char *out[COST_SIZES]); /* in the order of CostSizes */

/* plan.c: a kernel ready to be launched; its expressions compiled, its fixed parts checked */
typedef struct {
	uint64_t id; /* of the process; none is given twice */
	int n;
	CostDevice device;
	CostReady ready[KD_MAX_VARIANTS];
} Family;
typedef struct Plan Plan;
struct Plan {
	const KDesc *k;
	Expr shape[KD_MAX_ARGS][KD_MAX_RANK];
	Expr stride[KD_MAX_ARGS][KD_MAX_RANK];
	Expr facts[KD_MAX_FACTS];
	Expr dims[KD_MAX_MAPS][KD_MAX_RANK];
	Expr strides[KD_MAX_MAPS][KD_MAX_RANK - 1];
	Expr grid[3];
	Expr works[KD_MAX_WORKS];
	Expr cost[COST_SIZES];
	Family *family; /* of the first variant: what its name stands for; else NULL */
	ExprIns *pool;
	void *function; /* the device's own handle */
	int sms;        /* that its CTAs can fill at one time: a multiple of the cluster */
	int held;       /* CTAs that run at one time; 0: not known */
	bool too_large; /* a variant of which the device holds no CTA or cluster; others remain */
};
/* What a name stands for: n plans that follow each other; n > 1: a family, that of the first. */
typedef struct {
	const Plan *first;
	int n;
} Variants;
int kernel_cluster(const KDesc *k); /* CTAs */
dsl_status plan_init(const Why *w, Plan *p, const KDesc *k);
void plan_free(Plan *p);

/* One launch, all numbers known. */
typedef struct {
	uint64_t base;
	uint64_t dims[KD_MAX_RANK];        /* elements, at least 1 */
	uint64_t strides[KD_MAX_RANK - 1]; /* bytes, of dims 1 .. */
} MapGeom;
/* A tensor that TMA cannot take, and where in the workspace its copy lies, which it can. */
typedef struct {
	MapGeom from, to; /* to.base counts from the beginning of the workspace */
	int arg, rank, bits;
} Copy;
typedef struct {
	const Plan *plan;
	int64_t env[EXPR_ENV];       /* syms, then $sms */
	uint64_t value[KD_MAX_ARGS]; /* addresses, and scalars in their low bytes */
	bool empty[KD_MAX_ARGS];     /* tensors without elements */
	uint64_t bytes[KD_MAX_ARGS]; /* from a tensor's first byte to its last; 0: none */
	int64_t extent[KD_MAX_ARGS][KD_MAX_RANK], stride[KD_MAX_ARGS][KD_MAX_RANK];
	uint32_t grid[3];
	bool nothing; /* a grid component is 0 */
	MapGeom maps[KD_MAX_MAPS];
	int64_t made[KD_MAX_MAPS]; /* 0: an optional map that TMA's rules forbid */
	bool packed[KD_MAX_ARGS];  /* tensors whose address is that of a copy */
	bool copying; /* tensors that TMA cannot take are copied; else they are refused */
	int ncopies, copied[KD_MAX_MAPS]; /* the copy that a map is of, or -1 */
	Copy copies[KD_MAX_MAPS];
	uint64_t workspace;           /* bytes of all copies, then of what CTAs tell each other */
	uint64_t works[KD_MAX_WORKS]; /* where in the workspace; then addresses */
	uint64_t semaphores, epoch;
	dsl_stream stream;
	bool pdl;
} Launch;

/* bind.c: arguments by name into values and env; all of them, or some, whose slots get a bit (those
 * of the args, then of the syms). */
dsl_status launch_bind(const Why *w, Launch *l, const dsl_arg *args, size_t n);
dsl_status launch_bind_some(const Why *w, Launch *l, const dsl_arg *args, size_t n, uint64_t *seen);
/* What dsl_pack made takes the place of tensors that the plan reads through TMA only. */
dsl_status packed_check(const Why *w, const Launch *l);
/* check.c: extents, facts, grid, addresses and map geometry, in this order; the last two only when
 * something is launched. */
dsl_status launch_check(const Why *w, Launch *l);
/* overlap.c: what is written shares no byte with another argument. */
dsl_status overlap_check(const Why *w, const Launch *l);
/* The same of other memory that the launch writes: what names it, "the workspace". */
dsl_status overlap_check_memory(const Why *w, const Launch *l, const char *what, dsl_addr at,
				uint64_t bytes);
/* Of the tensor after map i alone: its geometry, whatever TMA says of it. pack_map gave i. */
dsl_status map_measure(const Why *w, Launch *l, int i);

/* together.c: CTAs that wait for each other. Whether all run at one time; what they tell each other
 * has its place after the copies. */
dsl_status together_check(const Why *w, Launch *l);
/* Addresses of the caller's, and the number of the launch. */
dsl_status together_bind(const Why *w, Launch *l, const dsl_launch_opts *opts);

/* family.c: which variant a launch takes. */
dsl_status families_init(const Why *w, dsl_module *m);
/* The numbers of the variants, that of least cost at the sizes of env first. They are valid until
 * this thread asks again. */
const uint8_t *family_order(const Plan *first, const int64_t env[EXPR_ENV]);
/* A sentence: the tile and schedule of variant p, its estimate, and the next variant. */
void family_explain(const Variants *v, const Plan *p, const int64_t env[EXPR_ENV], Line *out);

/* repack.c: copies of tensors whose rows, matrices or address are no multiples of 16 bytes. */
/* The copy after map i, whose geometry is that of the tensor, at offset 0, and its bytes. */
dsl_status copy_of(const Why *w, const Launch *l, int i, Copy *out, uint64_t *bytes);
/* Adds it to the launch, unless there is one of that tensor. */
dsl_status copy_add(const Why *w, Launch *l, int i);
/* The map of a tensor that a copy can stand for: it is read, and only through maps; else -1. */
int pack_map(const KDesc *k, int arg);
/* Loads what copies need, where it is not loaded. */
dsl_status repack_load(dsl_device *dev);
/* Enqueues the copies and points the maps at them. */
dsl_status repack_launch(dsl_device *dev, Launch *l, dsl_addr workspace, bool pdl);
/* The same for those who read the copies as constant: no launch after it begins before they are
 * complete. */
dsl_status pack_launch(dsl_device *dev, Launch *l, dsl_addr memory);
extern const char repack_ptx[]; /* repack.ptx */

/* launch.c */
enum { WORKSPACE_ALIGN = 128 };
/* What the caller's struct says, with the defaults of what it does not have. */
dsl_status launch_opts_read(const dsl_launch_opts *given, dsl_launch_opts *out);
/* What devices ask of a launch: a raw launch of its shape, without a grid and parameters; a tensor
 * map; the 64 bits of a parameter that is no map. */
dsl_raw kernel_shape(const KDesc *k);
dsl_map launch_map(const Launch *l, int i);
const void *launch_param(const Launch *l, const KParam *p);
/* From the first byte of a map's tensor to its last. */
uint64_t map_span(Elem e, const dsl_map *m);
/* Of a handle that a caller gave: the module is loaded and has the kernel, by name or symbol. */
dsl_status variants_of(const dsl_module *mod, const char *name, Variants *out);

/* A device. ops is what differs between devices; the rest is kept by device.c and module.c. */
typedef struct DevOps DevOps;
struct dsl_device {
	const DevOps *ops;
	char name[256], arch[16];
	bool any_target; /* it interprets the PTX of all */
	int cc_major, cc_minor, sms, driver;
	CostDevice cost;      /* by which variants are chosen; no name: that of an H200 */
	pthread_mutex_t lock; /* of modules and their use counts */
	dsl_module *modules;
	dsl_module *_Atomic repack; /* one of modules; NULL: not loaded yet */
};
struct dsl_module {
	dsl_device *dev;
	dsl_module *next, *next_live; /* of the device; of the process */
	int uses;
	unsigned char *bytes;
	size_t size;
	const char *manifest, *ptx; /* in bytes */
	size_t ptx_size;
	bool from_ptx; /* the code is of an older GPU, and the driver compiles its PTX */
	KModuleDesc *desc;
	Plan *plans;  /* one per kernel */
	void *handle; /* the device's own */
};
struct dsl_event {
	dsl_device *dev;
	void *handle;
};
/* Each reports through dsl_detail. module_load sets mod->handle, the plans' functions and sms, and
 * leaves nothing behind on failure; close frees the device itself, all modules being gone. */
struct DevOps {
#define DEV_OP(type, name, params) type(*name) params;
#include "runtime/device_ops.def"
};

/* module.c: unloads whatever is still loaded. */
void modules_free(dsl_device *dev);
/* Whether it is loaded, of any handle: what it points to is not read. */
dsl_status module_check(const dsl_module *mod);
/* What a manifest says, without a device, for questions alone. */
dsl_status module_dry(const Why *w, const char *manifest, size_t size, dsl_module **out);
void module_free(dsl_module *m);

/* cuda_device.c: number is N of "cuda:N". */
dsl_status cuda_open(int number, dsl_device **out);

/* sim/device.c: options are what stands after "sim:". */
dsl_status sim_open(const char *options, dsl_device **out);

#endif
