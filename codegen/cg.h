/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cg.h - private to codegen: the state of one kernel's translation to LLVM IR, and what its files
 * offer each other. An op of the ptx stage has one emitter, emit_OP, in emit*.c. */
#ifndef DSL_CODEGEN_CG_H
#define DSL_CODEGEN_CG_H

#include "codegen/codegen.h"

#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

/* A parameter of the kernel, in order; what codegen and the manifest must agree on. */
typedef struct {
	KParamKind kind;
	const Op *map;   /* KP_TMAP: the tmap op */
	const Val *arg;  /* KP_PTR, KP_SCALAR, KP_WORK */
	const char *sym; /* KP_SYM; KP_SEMAPHORES, KP_EPOCH: a name that no program has */
} Param;
typedef VEC(Param) Params;
#define PARAM_SEMAPHORES "semaphores$"
#define PARAM_EPOCH      "epoch$"

/* params.c */
void params_collect(const Kernel *k, Params *out);
bool kernel_binds(const Kernel *k, const char *name); /* by an op: a loop variable, a let */
bool name_is_hardware(const char *name);

/* What a value of the IR is in LLVM: one LLVM value a register; for mutable storage its address. */
typedef struct {
	const Val *val;
	LLVMValueRef *reg;
	LLVMValueRef *pair; /* registers 2i and 2i + 1 as one vector, where made so; or NULL */
	LLVMValueRef
		*bits; /* all of them as words of 32 bits, which a fence has ordered; or NULL */
	int n;
	bool mutable;
	int packed;       /* elements of a word that reg holds, as an mma has them or as they were
			     loaded; 0: one each */
	LLVMTypeRef type; /* of one element */
} Bound;

/* What a name stands for, and an index expression that was computed. */
typedef struct {
	const char *name;
	LLVMValueRef value;
} Name;
typedef struct {
	const Ix *ix;
	LLVMValueRef value; /* NULL: folded away, lo == hi */
	int64_t lo, hi;
	int bits; /* 32 or 64 */
} Term;

typedef struct {
	int nnames, nfacts, nvals, nterms;
} Mark;

/* One LLVM module: what all kernels of a compilation share. */
typedef struct {
	Held held;
	Ctx *ctx;
	Arena *arena;
	const CgOpt *opt;
	LLVMContextRef lc;
	LLVMModuleRef mod;
	LLVMTargetMachineRef tm;
	LLVMDIBuilderRef di;
	LLVMBuilderRef b;      /* of the kernel that is on its way */
	const char *complaint; /* LLVM's first error; in the ctx's arena */
	LLVMMetadataRef file;
	LLVMValueRef smem; /* dynamic shared memory, [0 x i8] */
	LLVMTypeRef tvoid, i1, i8, i16, i32, i64, f32, p0, p1, p3, p7;
} CgMod;

/* Accesses by indices, one after the other in a block: how many bytes coordinates are apart, and
 * how many there are, both computed there. */
typedef struct {
	LLVMBasicBlockRef block;
	const Val *tensor;
	int mode;
	LLVMValueRef step, extent;
} Stepping;

enum { MOST_TICKETS = 2 };

typedef struct {
	CgMod *m;
	const Kernel *k;
	Arena *arena;
	LLVMBuilderRef b;
	LLVMValueRef fn;
	LLVMBasicBlockRef entry; /* names of the hardware and storage; its branch is made last */
	LLVMMetadataRef sub;     /* scope of debug locations */
	LLVMValueRef smem16;     /* shared memory's address / 16, as descriptors want it */
	VEC(Name) names;
	VEC(IxFact) facts;
	VEC(Bound) vals;
	VEC(Term) terms;
	int *term_at; /* by Ix id: place in terms + 1 */
	uint32_t nterm_at;
	const char *turns;     /* of `tickets`; NULL: there are none */
	LLVMValueRef turns_at; /* storage: as far as is known */
	LLVMValueRef
		ticket_at[MOST_TICKETS]; /* storage: the tile that is next, and those after it */
	int tickets;
	LLVMValueRef ticket_first, ticket_step; /* the CTA's first tile, how many CTAs there are */
	LLVMValueRef ticket_own; /* storage: the tile that was last drawn of its list; 0: none */
	const Op *op;            /* being emitted, for panics */
	Stepping stepping;       /* of the last access by an index */
} Cg;

/* module.c */
void cg_module_open(CgMod *m, Ctx *c, const CgOpt *opt, const char *target);
void cg_module_close(CgMod *m);
void cg_kernel(CgMod *m, const Kernel *k);
LLVMTypeRef cg_elem(const CgMod *m, Elem e);

/* ptx.c */
void cg_optimise(CgMod *m);
void cg_llvm_text(CgMod *m, Buf *out);
void cg_ptx(CgMod *m, Buf *out);

/* scope.c: names, values and computed terms are known until the mark is released */
Mark cg_mark(const Cg *g);
void cg_release(Cg *g, Mark m);
void cg_bind_name(Cg *g, const char *name, IxFact fact, LLVMValueRef v);
LLVMValueRef cg_name(const Cg *g, const char *name);
LLVMValueRef cg_find_name(const Cg *g, const char *name); /* NULL: not bound */
Bound *cg_bind(Cg *g, const Val *v, int n, LLVMTypeRef type);
Bound *cg_val(Cg *g, const Val *v);
LLVMValueRef cg_reg(Cg *g, const Bound *v, int i);             /* reads; a scalar at any i */
void cg_set_reg(Cg *g, const Bound *v, int i, LLVMValueRef x); /* of mutable storage */
/* An accumulator's registers as the hardware has them, of 32 bits; pairs as loaded */
int cg_words(const Bound *v);
LLVMTypeRef cg_word_type(const Cg *g, const Bound *v);
LLVMValueRef cg_word(Cg *g, const Bound *v, int i);
void cg_set_word(Cg *g, const Bound *v, int i, LLVMValueRef x);

/* emit_join.c: `by` as an atomic operation on what `to` points at */
void cg_join(Cg *g, const Op *op, LLVMValueRef to);

/* index.c: index expressions. A value is 32 bits wide where its range allows it. */
LLVMValueRef cg_i32(Cg *g, const Ix *x);
LLVMValueRef cg_i64(Cg *g, const Ix *x);
LLVMValueRef cg_cond(Cg *g, const Ix *x);                  /* x != 0, an i1 */
void cg_bind_term(Cg *g, const Ix *x, LLVMValueRef value); /* in 32 bits, in this scope */
bool cg_varies(const Cg *g, const Ix *x);                  /* it is another number later on */
bool cg_fits32(const Cg *g, const Ix *x);
void cg_range(const Cg *g, const Ix *x, int64_t *lo, int64_t *hi);
/* x is the sum of at[0 .. n) and of `constant`, which takes in whatever is constant here. */
enum { SUM_MAX = 32 };
typedef struct {
	const Ix *at[SUM_MAX];
	int n;
	int64_t constant;
} Sum;
Sum cg_split(const Cg *g, const Ix *x);
LLVMValueRef cg_sum(Cg *g, const Sum *s, int bits); /* without the constant; NULL when n is 0 */

/* smem.c: addresses in shared memory; `byte` may be NULL */
LLVMValueRef cg_smem_ptr(Cg *g, Operand buffer, const Ix *byte);
/* The same, the slot's address first, which reads that differ in the byte then share */
LLVMValueRef cg_smem_ptr_in(Cg *g, Operand buffer, const Ix *byte);
/* of another CTA */
LLVMValueRef cg_smem_ptr_of(Cg *g, Operand buffer, const Ix *rank, const Ix *byte);
/* (address & 0x3ffff) / 16 + plus */
LLVMValueRef cg_smem16(Cg *g, Operand buffer, const Ix *byte, int64_t plus);

/* emit.c */
void cg_block(Cg *g, const Block *b);
/* Inline PTX. What acts stays where it is, however often, though nothing uses what it gives. */
typedef enum { ASM_COMPUTES, ASM_ACTS } AsmEffect;
LLVMValueRef cg_asm(Cg *g, AsmEffect effect, LLVMTypeRef result, const char *text, const char *ties,
		    LLVMValueRef *args, int n);
LLVMTypeRef cg_types(Cg *g, LLVMValueRef *of, int n); /* a struct of theirs, for several results */
/* emit_semaphore.c: a semaphore of the launch, by its number */
LLVMValueRef cg_semaphore(Cg *g, LLVMValueRef number);
/* The tile that is drawn, none of those before `first`; `tiles` or more: there is none left. */
LLVMValueRef cg_storage(Cg *g);                 /* of an i32 */
LLVMValueRef cg_stored(Cg *g, LLVMValueRef at); /* what it holds */
LLVMValueRef cg_ticket(Cg *g, const Ix *first, const Ix *tiles, const Ix *listed); /* emit_draw.c */
LLVMBasicBlockRef cg_new_block(Cg *g, const char *name);
void cg_goto(Cg *g, LLVMBasicBlockRef to); /* ends the block; goes on in `to` */
/* Code goes on in `here`, which other code may come to. */
void cg_branch(Cg *g, LLVMValueRef cond, LLVMBasicBlockRef yes, LLVMBasicBlockRef no,
	       LLVMBasicBlockRef here);
void cg_leave(Cg *g, LLVMBasicBlockRef to, LLVMBasicBlockRef here);
LLVMValueRef cg_thread(Cg *g);                                     /* of the CTA */
LLVMValueRef cg_lane(Cg *g);                                       /* of the thread in its warp */
LLVMValueRef cg_of_lane(Cg *g, LLVMValueRef x, LLVMValueRef lane); /* that lane's x, of 32 bits */
LLVMValueRef cg_call(Cg *g, const char *intrinsic, LLVMTypeRef overload, LLVMValueRef *args, int n);
LLVMValueRef cg_pinned(Cg *g, LLVMValueRef x); /* of 32 bits: computed where it stands */
LLVMValueRef cg_int32(const Cg *g, int64_t v);
LLVMValueRef cg_global_ptr(Cg *g, const Val *tensor, const Ix *offset); /* in elements */
int cg_first_register(Cg *g, const Operand *regs);                      /* %tile[constant] */

/* emit_elt.c: registers first .. first + n as one value to store; pairs of 16 bits as i32 */
LLVMValueRef cg_vector(Cg *g, const Bound *v, int first, int n);
void cg_set_bits(Cg *g, const Bound *v, int first, LLVMValueRef bits);       /* of one word */
void cg_set_vector(Cg *g, const Bound *v, int first, int n, LLVMValueRef x); /* the reverse */
LLVMTypeRef cg_vector_type(const Cg *g, const Bound *v, int n);
LLVMValueRef cg_packed(Cg *g, const Bound *v, int word);     /* so many registers as an i32 */
LLVMValueRef cg_pack(Cg *g, const Bound *v, const int *reg); /* these */

const char *cg_unpack(Elem e); /* what makes a pair of e, 16 bits, one of f16 */

bool cg_by_pairs(const Bound *v); /* loaded so: two elements of 4 or 8 bits in a word */

/* widen.c: types that become f32 by pairs; all pairs of `from` */
bool cg_widens(Elem e);
Bound cg_widened(Cg *g, const Bound *from, Elem e);
/* (x & mask) ^ flip as one instruction */
LLVMValueRef cg_masked(Cg *g, LLVMValueRef x, uint32_t mask, uint32_t flip);

/* halve.c: the conversion is a row PLUS of halves.def; a loaded pair of `from` as a pair of `to` */
bool cg_halves(const Op *cvt);
LLVMValueRef cg_halved(Cg *g, LLVMValueRef word, Elem from, Elem to);

/* emit_order.c: the instruction with the registers that it orders; false: there are none */
bool cg_order_before(Cg *g, const Op *fence, const char *text); /* what the group will use */
bool cg_order_behind(Cg *g, const Op *wait, const char *text);  /* what the group has written */

/* emit_index.c: notes the indices that the load brought and its other tensor has not. */
void cg_check_indices(Cg *g, const Op *op);
void cg_check_number(Cg *g, const Op *op, LLVMValueRef number); /* the same of one */
/* What is said of a group, where the kernel checks; before: the largest end so far, NULL: it is a
 * count. */
void cg_check_group(Cg *g, const Op *op, LLVMValueRef group, LLVMValueRef said,
		    LLVMValueRef before);
LLVMValueRef cg_index_ptr(Cg *g, const Op *op, LLVMValueRef base, LLVMValueRef *some);

#define OP(id, ...) void emit_##id(Cg *g, const Op *op);
#include "ir/ops.def"

/* One function of scalars for each row of elementwise.def: of floats in emit_math.c, of integers in
 * emit_int.c. */
typedef LLVMValueRef (*Value)(Cg *g, LLVMValueRef *x);
#define VALUE_OF_FLOATS(id) LLVMValueRef value_##id(Cg *g, LLVMValueRef *x);
#define VALUE_OF_INTS(id)
#define VALUE_OF_F32(id)                                    VALUE_OF_FLOATS(id)
#define VALUE_OF_WIDE(id)                                   VALUE_OF_FLOATS(id)
#define VALUE_OF_WIDE_INTS(id)                              VALUE_OF_FLOATS(id)
#define VALUE_OF_FLOATS_INTS(id)                            VALUE_OF_FLOATS(id)
#define ELT(id, name, n, error, shape, small, types, value) VALUE_OF_##types(id)
#include "ir/elementwise.def"
Value cg_value(OpKind op, Elem e);              /* of such elements */
Value cg_int_value(OpKind op, bool sign);       /* emit_int.c; NULL: they have none */
LLVMValueRef cg_chosen(Cg *g, LLVMValueRef *x); /* x[0] not 0: x[1], else x[2]; of any types */

#endif
