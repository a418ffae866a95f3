/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kdesc.h - the kernel description, ABI 2: all that a host must know to launch a compiled kernel.
 * Plain data, no behaviour. codegen fills a KModuleDesc and writes it as the manifest (JSON); the
 * runtime parses the manifest into the same structs; a generated launcher holds that text.
 *
 * Expressions are postfix text, tokens apart by one space: integers, symbol names, "$sms" (number
 * of SMs the launch may fill), and + - * / % min max < <= == != and or. Signed 64-bit, overflow is
 * an error, / and % floor and need a positive divisor, a condition is 0 or 1:
 *     "M 127 + 128 /"   is   ceil(M / 128)
 * Every string is NUL-terminated and owned by whoever filled the struct. */
#ifndef DSL_RUNTIME_KDESC_H
#define DSL_RUNTIME_KDESC_H

#include "runtime/cost.h"
#include "runtime/elem.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	KDESC_ABI = 2,
	KD_MAX_KERNELS = 1024,
	KD_MAX_ARGS = 32,
	KD_MAX_RANK = 5, /* of tensors and of maps: PTX ISA, tensor-map rank */
	KD_MAX_SYMS = 32,
	KD_MAX_FACTS = 64,
	KD_MAX_MAPS = 16,
	KD_MAX_PARAMS = 64,
	KD_MAX_WORKS = 8,
	KD_MAX_SMEM = 64,
	KD_MAX_CONSTS = 64,
	KD_MAX_VARIANTS = 32, /* of a family */
	KD_MAP_BYTES = 128,   /* a tensor map as a kernel parameter, by value */
	KD_MAP_ALIGN = 64,
	KD_MAX_EXPR = 64 /* tokens of one expression */
};

typedef enum { KA_TENSOR, KA_SCALAR } KArgKind;
typedef enum { KD_IN, KD_OUT, KD_INOUT } KDir;

/* An argument as the user declared it. Shape and stride are expressions in elements. */
typedef struct {
	const char *name;
	KArgKind kind;
	Elem elem;
	KDir dir; /* tensors */
	int rank; /* tensors; 0 for a scalar */
	const char *shape[KD_MAX_RANK];
	const char *stride[KD_MAX_RANK];
	int constant; /* tensors, 1: its last write was complete before the launch ahead began, and
			 loads of it do not wait for that launch */
	int align; /* tensors: bytes of the widest direct access, which divide the address; 0: none
		      is wider than an element */
	int in_place; /* inputs, 1: each tile is read where a tile of an output of this type, shape
			 and stride is written, before it is: the two may have one address */
} KArg;

/* A condition that must hold before the launch; the three texts make the sentence when it does
 * not. */
typedef struct {
	const char *cond;  /* expression, "M 2147483648 <" */
	const char *text;  /* as a person writes it, "M < 2147483648" */
	const char *field; /* the symbol or tensor to name, "M" */
	const char *rule;  /* who asks for it, "TMA coordinates are 32-bit" or "where clause" */
} KFact;

/* A tensor map over one tensor argument, dimensions fastest first (PTX ISA, tensor maps).
 * Elements out of range read as zero and are not written. */
typedef struct {
	int arg; /* index into args, a tensor */
	Elem elem;
	int rank;
	const char *dims[KD_MAX_RANK]; /* elements */
	const char
		*strides[KD_MAX_RANK - 1]; /* bytes, of dims 1 .. rank - 1; dim 0 is contiguous */
	int box[KD_MAX_RANK];              /* elements, 1..256 */
	int swizzle;                       /* 0, 32, 64 or 128 bytes */
	int store;                         /* 1: the kernel writes through it */
	int optional; /* 1: a tensor that TMA cannot take gets no map, and the kernel is told by a
			 parameter of kind MADE */
	int copy; /* 1: of a tensor that TMA cannot take the launcher makes a copy that it can, in
			 workspace */
} KMap;

/* Kernel parameters in order. index is into maps (TMAP; MADE: s64, 1 where the map was made), args
 * (PTR: a tensor's u64 address, SCALAR: a scalar of its own size), syms (SYM: s64) or works (WORK:
 * u64 address). SEMAPHORES is the address of the caller's, EPOCH the number of the launch, above
 * that of each launch before it, times KD_EPOCH. */
typedef enum {
	KP_TMAP,
	KP_PTR,
	KP_SYM,
	KP_SCALAR,
	KP_MADE,
	KP_WORK,
	KP_SEMAPHORES,
	KP_EPOCH
} KParamKind;

/* A semaphore is 64 bits: the launch that counts in the upper ones, arrivals below. When all have
 * come, they are taken back. Those from KD_LISTS on count the tiles that were drawn of each list,
 * in their lower 32 bits, KD_POOL of what is in none, KD_DEALT of all, and KD_ENDED the draws that
 * found none. */
enum {
	KD_EPOCH = 1 << 16,
	KD_EPOCH_BITS = 16,
	KD_TICKET_BITS = 32,
	KD_LISTS = 1024,
	KD_LISTS_MOST = 1016,
	KD_POOL = 2045,
	KD_DEALT,
	KD_ENDED
};

typedef struct {
	KParamKind kind;
	int index;
} KParam;

/* What a kernel that checks indices leaves in a variable of its module, KERNEL$indices: count is
 * added to, and who found the first index that is neither -1 nor a coordinate writes the rest. */
#define KD_INDICES "$indices"
typedef enum {
	KI_INDEX,    /* no coordinate of the tensor */
	KI_SHRINKS,  /* the end of a group, before that of one before it */
	KI_BEYOND,   /* the end of a group, after all rows */
	KI_NEGATIVE, /* less than no rows of a group */
	KI_CAPACITY  /* more rows of a group than it holds */
} KIndexKind;
typedef struct {
	uint32_t count;        /* threads that found one: of those that hold it each does */
	uint32_t list, tensor; /* indices into args: where it stands, whose it is to be */
	uint32_t mode;         /* of the tensor */
	int32_t index;
	uint32_t kind;  /* KIndexKind */
	int64_t at;     /* its element of the list, from its address on */
	int64_t extent; /* of the tensor's mode; or what the element should not pass */
} KIndexNote;

/* For people and tools: where a buffer lies in dynamic shared memory. Bytes of one slot. */
typedef struct {
	const char *name;
	int64_t offset, bytes;
	int slots;
} KSmem;

/* A const of the source after -D: a number, or a schedule word (then value is 0). */
typedef struct {
	const char *name;
	const char *word; /* NULL for a number */
	int64_t value;
} KConst;

/* Kernels that compute the same by different schedules are a family: they follow each other in the
 * module and take the same arguments and sizes. The name of the first is the family's: a launch by
 * this name takes the variant that costs least at its sizes. A symbol names one variant. */
typedef struct {
	const char *family; /* NULL: nothing was chosen, and nothing else is set */
	CostProduct product;
	CostVariant variant;
	const char *m, *n, *k, *batch, *pitch_a, *pitch_b; /* expressions: CostSizes */
} KCost;

typedef struct KDesc {
	const char *name;   /* in the source; of the second variant of a family on, the symbol */
	const char *symbol; /* in the cubin */
	int nargs, nsyms, nfacts, nparams, nmaps, nsmem, nconsts;
	KArg args[KD_MAX_ARGS];
	const char *syms[KD_MAX_SYMS]; /* 64-bit integers bound by the caller, by name */
	KFact facts[KD_MAX_FACTS];
	KParam params[KD_MAX_PARAMS];
	KMap maps[KD_MAX_MAPS];
	int nworks;
	const char
		*works[KD_MAX_WORKS]; /* bytes of the launch's workspace that nobody else may use */
	int together; /* 1: CTAs wait for each other, so all of a grid must fit on the device */
	int tickets;  /* 1: CTAs draw their tiles: semaphores, too, but none waits for another */
	const char *grid[3]; /* CTAs; a zero component launches nothing */
	int cluster[3];      /* CTAs */
	int block;           /* threads */
	int smem;            /* dynamic shared memory, bytes */
	int ctas;            /* that an SM is to hold at a time */
	int regs;            /* per thread, as ptxas reports; 0 where unknown */
	int pdl;        /* 1: may start while the launch before it ends; it waits for that itself */
	int entry_regs; /* per thread when the kernel starts, before setmaxnreg; 0 where unknown */
	const char *schedule; /* for people: "none", "cooperative", ... */
	KSmem smem_map[KD_MAX_SMEM];
	KConst consts[KD_MAX_CONSTS];
	KCost cost;
} KDesc;

typedef struct KModuleDesc {
	int abi;                 /* KDESC_ABI */
	const char *tool;        /* "dslc 0.2.0" */
	const char *llvm;        /* "22.1.8" */
	const char *ptxas;       /* "13.0.88" */
	const char *source;      /* name as the user gave it */
	const char *source_hash; /* hex */
	const char *target;      /* "sm_90a" */
	int min_driver;          /* as cuDriverGetVersion counts: 13000 is 13.0 */
	int nkernels;
	KDesc *kernels;
} KModuleDesc;

/* Whether it is one of several: a kernel that was chosen alone is called as its family. */
static inline int kdesc_is_variant(const KDesc *k)
{
	return k->cost.family && strcmp(k->cost.family, k->symbol) != 0;
}

/* How many kernels from number i on the name of that kernel stands for: a family, or it alone. */
static inline int kdesc_variants(const KModuleDesc *m, int i)
{
	const char *family = m->kernels[i].cost.family;
	int n = 1;
	if (!family || strcmp(family, m->kernels[i].name) != 0)
		return 1;
	while (i + n < m->nkernels && m->kernels[i + n].cost.family &&
	       strcmp(m->kernels[i + n].cost.family, family) == 0)
		n++;
	return n;
}

/* FNV-1a, of bytes that follow those of sum, KD_SUM at first. The manifest in a cubin has that of
 * all bytes of the file but its own digits; one that is in no cubin has KD_SUM_NONE. */
#define KD_SUM      UINT64_C(0xcbf29ce484222325)
#define KD_SUM_KEY  "\"checksum\":\""
#define KD_SUM_NONE "................"
static inline uint64_t kdesc_sum(uint64_t sum, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#endif
