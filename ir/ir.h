/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.h - one IR, three stages, always text:
 *   tile  what the frontend emits: a sequential program on tiles, the schedule as attributes
 *   warp  roles, atoms chosen, rings with positions
 *   ptx   explicit barriers, phases, addresses: one op is one instruction or one short sequence
 * Control flow stays structured. Ops are rows of ops.def; everything generic (printing, parsing,
 * verifying, synchronising) asks the row. A Kernel lives in its Ctx's arena. */
#ifndef DSL_IR_H
#define DSL_IR_H

#include "layout/layout.h"
#include "runtime/elem.h"

typedef struct Type Type;
typedef struct Val Val;
typedef struct Op Op;
typedef struct Block Block;
typedef struct Kernel Kernel;
typedef struct Module Module;
typedef struct InternSet InternSet;

typedef enum {
#define SPACE(id, name) SP_##id,
#include "types.def"
	SP_COUNT
} Space;
extern const char *const space_names[SP_COUNT];

typedef enum { TY_ELEM, TY_TILE, TY_TMAP, TY_MBAR } TypeKind;

/* Interned. `f32` | `global bf16 (M,K):(K,1)` | `shared bf16 LAYOUT` | `reg f32 (128,256):(1,128)`
 * and once distributed `reg f32 (128,256):(1,128) tv LAYOUT` | `tmap` | `mbar`. A register tile's
 * layout is its shape, column-major; tv maps (thread of the role, register) to an offset of it. */
struct Type {
	TypeKind kind;
	Elem elem;
	Space space;
	const Layout *layout, *tv;
	uint32_t id;
};
const Type *type_elem(Ctx *c, Elem e);
const Type *type_tile(Ctx *c, Space s, Elem e, const Layout *l);
const Type *type_frag(Ctx *c, Elem e, const Layout *shape, const Layout *tv);
const Type *type_tmap(Ctx *c);
const Type *type_mbar(Ctx *c);
void type_print(const Type *t, Buf *out);
const Type *type_parse(Ctx *c, const char **s, const char **why);
int64_t type_slot_bytes(const Type *t); /* of a static tile: cosize in bytes */
int type_regs(const Type *t);           /* elements a thread holds of a distributed register tile */
int type_words(const Type *t);          /* the same as registers of 32 bits */
/* Whether a tile of one has elements for those of the other: its extents are the same, 1, or
 * divide the other's, where each is for as many neighbours. */
bool type_broadcasts(Ctx *c, const Type *part, const Type *whole);

enum { TV_MODES = 16 /* of threads, or of registers */ };
/* tv.c: thread-value layouts, flat and static. A part is one as type_broadcasts has it.
 * NULL: threads hold other neighbours than those that share an element of the part. */
const Layout *tv_of_part(Ctx *c, const Layout *tv, const Layout *whole, const Layout *part);
int64_t tv_leaf(const Tup *t); /* the number that a mode of one has for extent or stride */
int64_t tv_register_offset(const Layout *tv, int reg); /* of thread 0 */
int tv_register_at(const Type *t, int64_t offset);     /* the reverse; -1: none */
int tv_source(const Type *whole, int reg,
	      const Type *part); /* what the part has for that register */
/* The registers of `from` that hold, in the four lanes of a quad, the elements of that word of
 * `to`, four of 8 bits: an accumulator's pairs of columns, as A's fours. False: `to` has none. */
bool tv_quad(const Type *from, const Type *to, int word, int reg[4]);
bool tv_quads(const Type *from, const Type *to); /* each of its words */
int64_t tv_places(const Layout *tv); /* elements held, those held several times counted once */
/* Lanes or warps so far apart, 1, 2 .., that hold others of the whole and would hold the same of
 * the part; or each a half of that: the one with the higher number what lies so far after. */
typedef struct {
	int step;
	int64_t behind; /* 0: both hold all of it */
} TvExchange;
int tv_exchanges(const Type *whole, const Type *part, TvExchange *all, int most);
/* A step of a row, of those that are neighbours first: `extent` registers or threads, each `step`
 * of them after the one before. */
typedef enum { TV_REGISTERS, TV_LANES, TV_WARPS } TvRowOf;
typedef struct {
	TvRowOf of;
	int extent, step;
} TvRow;
/* The steps of each row, warps last; false: its parts overlap, or lie otherwise. */
bool tv_row(const Type *t, TvRow *all, int *n);
int tv_row_warps(const Type *t); /* that hold a row together; 0: it lies otherwise */
/* Of the part, as far as registers can be halved: lanes that would hold the same hold a half. */
const Layout *tv_shared_out(Ctx *c, const Type *whole, const Layout *part);

/* modes.c: modes of a tensor, by their numbers; of more than MODES_MOST only n is told. */
enum { MODES_MOST = 5 };
typedef struct {
	int n, at[MODES_MOST];
} ModeList;
/* Those of a tile without the ones of extent 1, as long as two are left: its matrix. */
ModeList type_modes(Ctx *c, const Type *t);
/* Those that a tensor map has, in its order; none where no stride is known to be 1. */
ModeList layout_map_modes(const Layout *l);
/* A leaf of a layout whose modes may have parts, counted over all: part of which mode it is. */
typedef struct {
	int mode, part;
} ModePart;
ModePart layout_part(const Layout *l, int leaf);
/* How many parts of a mode a tile of `extent` elements covers, the fastest part first. It covers
 * all but the last whole. 0: the tile may begin or end within a part. */
int parts_of_tile(Ctx *c, const Tup *parts, int64_t extent, IxFacts facts);
int map_coordinate(const Layout *l,
		   int mode); /* which of a map's coordinates is that mode's; -1: none */
/* What the map describes: its tensor's layout; or of a map with ragged=, two modes more, by which a
 * copy says where the tensor ends. */
const Layout *map_layout(Ctx *c, const Op *map);
bool map_may_be_ragged(const Layout *l, int mode);
/* Where along the ragged mode a box lies that begins at `at` of a tensor that ends at `end`, and
 * along the two after the tensor's own. */
void ragged_at(Ctx *c, const Ix *at, const Ix *end, const Ix *to[3]);

/* ------------------------------------------------------------------ atoms */
typedef enum {
#define MMA(id, ...) ATOM_##id,
#include "atoms.def"
	ATOM_COUNT
} AtomId;
typedef struct {
	int warp, op;     /* OpKind: of the warp stage, and the instruction */
	const char *name; /* "wgmma" */
	int m;
	bool (*has_n)(int n); /* 1 .. ATOM_N */
	int k;
	Elem a, b, c;
	int immediates; /* 4: signs, transposes of A and B; 2: signs; 0 */
	int fraction;   /* bits of a sum below its largest product that are kept; 0: exact */
	const char *tv, *tv_a, *tv_b;
} AtomRow;
enum { ATOM_N = 256 };
enum { GROUP_THREADS = 128 }; /* of a warpgroup */
extern const AtomRow atom_rows[ATOM_COUNT];
typedef struct {
	AtomId id;
	int n;
} Atom; /* prints as wgmma.m64n256k16.f32.bf16.bf16 */
void atom_print(Atom a, Buf *out);
bool atom_parse(const char *s, size_t n, Atom *out);
/* (thread, value) -> offset in the tile, column-major: of the accumulator, M x N; of A and B in
 * registers, M x K and N x K, NULL where they cannot lie there */
const Layout *atom_tv_c(Ctx *c, Atom a);
const Layout *atom_tv_a(Ctx *c, Atom a);
const Layout *atom_tv_b(Ctx *c, Atom a);
int atom_threads(Ctx *c, Atom a); /* of a warp, or of a warpgroup */
bool atom_holds_b(Atom a);        /* reads B from registers, not from shared memory */

/* Copies from home to home. */
typedef enum {
#define COPY(id, ...) COPY_##id,
#include "atoms.def"
	COPY_COUNT
} CopyId;
typedef struct {
	int of, op; /* OpKind: of the warp stage, and the instruction */
	int bits;   /* of an element; 0: any */
	int n, trans;
	int regs, columns; /* that lie side by side, in each row of a part */
	const char *tv;    /* (thread, value) of a part -> column + row * columns */
} CopyRow;
extern const CopyRow copy_rows[COPY_COUNT];
const Layout *copy_tv(Ctx *c, const CopyRow *row);
const CopyRow *copy_row_with(int op, int n); /* the one of those with that n=; NULL: none */
const CopyRow *copy_row_of(int op); /* the first for that OpKind of the warp stage; NULL: none */

/* Whether one conversion does it, rounded once: what f32 holds exactly becomes anything, integers
 * of 32 bits become f32 or integers, wider floats f32, and nothing what lies two in a byte. */
static inline bool elem_converts(Elem from, Elem to)
{
	bool wide = !elem_is_float(from) && elem_rows[from].bits >= 32;
	bool holds = elem_rows[from].bits <= 32 && (elem_rows[to].bits <= 32 || elem_is_wide(to));
	return (elem_is_wide(from) && to == EL_F32) ||
	       (holds && elem_rows[to].bits >= 8 && (!wide || to == EL_F32 || !elem_is_float(to)));
}

/* half.c: integers, and numbers of 16 bits that hold them exactly */
typedef struct {
	double least, most;
} Integers;
Integers elem_integers(Elem e); /* all that e has */
Integers integers_plus(Integers x, double y);
double elem_wrap(Elem e, double x); /* op.c: an integer's low bits, as e has them */
bool elem_pairs(Elem e);            /* is computed with by pairs, two in a register */
bool elem_computes(Elem e);         /* elementwise operations may be of it */
bool half_holds(Elem half, Integers x);
const double *half_plus(Elem from, Elem to); /* of a row PLUS of halves.def; NULL: there is none */

/* Integers that are computed with. */
static inline bool elem_is_word(Elem e)
{
	return !elem_is_float(e) && elem_rows[e].bits == 32;
}

/* Bytes of n elements, which are whole ones. */
const Ix *elem_bytes_of(Ctx *c, Elem e, const Ix *n);

/* ------------------------------------------------------------------ attributes */
typedef enum {
#define ATTR(id, name, kind, help) A_##id,
#include "attrs.def"
	ATTR_COUNT
} AttrId;
typedef enum { AK_INT, AK_INTS, AK_REAL, AK_STR, AK_ATOM } AttrKind;
typedef struct {
	const char *name;
	AttrKind kind;
	const char *help;
} AttrRow;
extern const AttrRow attr_rows[ATTR_COUNT];
enum { ATTR_INTS = 16 /* one for each CTA of a cluster */ };
typedef struct {
	AttrId id;
	int n; /* AK_INTS: how many of i */
	int64_t i[ATTR_INTS];
	double real;
	const char *str; /* interned */
	Atom atom;
} Attr;
typedef struct {
	Attr *at; /* ordered by id */
	int n;
} Attrs;

/* ------------------------------------------------------------------ ops */
typedef enum { ST_TILE = 1, ST_WARP = 2, ST_PTX = 4, ST_ANY = 7 } Stage;
const char *stage_name(Stage s);
enum {
	OPF_SYMS = 1,
	OPF_BODY = 2,
	OPF_DECL = 4,
	OPF_PURE = 8,
	OPF_ALIGNED = 16,
	OPF_ELT = 32,
	OPF_NAME = 64,
	OPF_GLOBAL = 128,
	OPF_EACH = 256,
	OPF_FEATURE = 512 /* times the Feature that a target needs: the highest bits */
};
/* Effects: four bits for each of four operands, then how it completes and who issues it. */
enum { FX_R = 1, FX_W = 2, FX_AR = 4, FX_AW = 8 };
#define FX_OF(fx, i) (((fx) >> (4 * (i))) & 15)
typedef enum {
#define DONE(id, ...) DONE_##id,
#include "completes.def"
	DONE_COUNT
} DoneId;
enum {
#define DONE(id, ...) FX_DONE_##id = 1 << (16 + DONE_##id),
#include "completes.def"
	FX_ONE = 1 << (16 + DONE_COUNT),
	FX_SYNC = FX_ONE << 1,
	FX_PEER = FX_SYNC << 1,
	FX_RELEASE_GRID = FX_PEER << 1,
	FX_ACQUIRE_GRID = FX_PEER << 2,
	FX_ACQUIRE_LAUNCHES = FX_PEER << 3
};

typedef enum {
#define OP(id, ...) OP_##id,
#include "ops.def"
	OP_COUNT
} OpKind;
typedef enum {
	ON_NONE,
#define OPERAND(id) ON_##id,
#include "operands.def"
} OperandName;
enum { OPERANDS_NAMED = 7 /* of one op, at most */ };
typedef struct {
	const char *name;
	int stages, in_lo, in_hi;
	uint8_t in[OPERANDS_NAMED + 1]; /* OperandName, from 1 on */
	int nix;                        /* -1: any number */
	uint8_t ix[OPERANDS_NAMED + 1];
	int nout, flags, effects;
} OpRow;
extern const OpRow op_rows[OP_COUNT];

/* How asynchronous operands are completed: rows of completes.def. */
typedef enum {
	DONE_BY_BARRIER,
	DONE_BY_WARPGROUP,
	DONE_BY_THREAD,
	DONE_BY_LANES,
	DONE_BY_LANE
} DoneHow;
typedef struct {
	DoneHow how;
	OpKind fence, commit, wait_read, wait, arrive; /* OP_COUNT: there is none */
} DoneRow;
const DoneRow *op_done(const Op *op); /* NULL: program order */
bool op_done_by(const Op *op, DoneHow how);
const DoneRow *done_of_wait(OpKind kind); /* whose groups an op commits or waits for; or NULL */

/* Elementwise rows, for those who need the arity or the meaning. */
typedef struct {
	OpKind op;
	const char *name;
	int arity;
	struct {
		bool rounds;       /* ulps 0: as IEEE 754 has it */
		double ulps, of_x; /* units in the last place of the result; and 2^-23 of x */
	} error;
	bool turns;                                /* grows here and falls there */
	bool flushes;                              /* a zero may stand for a subnormal result */
	float (*value)(float x, float y, float z); /* or NULL */
	enum { ELT_NONE, ELT_F32, ELT_WIDE, ELT_FLOATS } types; /* floats that it is computed in */
	double (*wide)(double x, double y, double z);           /* of others than f32; or NULL */
	double (*whole)(Elem e, double x, double y, double z);  /* of s32 and u32; or NULL */
} EltRow;
const EltRow *elt_by_op(OpKind op);   /* NULL unless elementwise (CVT is not: it has a type) */
bool elt_computes(OpKind op, Elem e); /* half.c: in that type */
const EltRow *elt_by_name(const char *name);

/* What reduce joins a row's elements by: rows of combine.def. */
typedef struct {
	const char *name;
	OpKind op;      /* that joins two */
	double neutral; /* joined to what, changes nothing */
} CombineRow;
const CombineRow *combine_by_name(const char *name); /* NULL: none */
const CombineRow *combine_by_op(OpKind op);          /* that joins two; NULL: none */
const CombineRow *combine_of(const Op *op);          /* its combine=; NULL: it has none */

struct Val {
	const char *name; /* without %, unique in its kernel, interned */
	const Type *type;
	Op *def; /* NULL for arguments */
	int arg; /* argument number, -1 otherwise */
};

typedef struct {
	Val *val;
	const Ix *at; /* %val[at], or NULL */
} Operand;

struct Block {
	Op *first, *last;
	Op *owner; /* NULL for the kernel's body */
};

struct Op {
	OpKind kind;
	Loc loc;
	Operand *in;
	int nin, in_cap;
	const Ix **ix;
	int nix, ix_cap;
	const char **sym; /* names it defines (SYMS), or its own name (NAME, RING) */
	int nsym, sym_cap;
	Val *out; /* NULL when the row has no result */
	Attrs attrs;
	Block *body;
	Op *prev, *next;
	Block *block; /* that it stands in; NULL when detached */
};

/* An operand by its name in operands.def, one that the op has; and whether it has it:
 *     IN(load, BARRIER).val    IX(load, BYTE)    HAS_IN(load, BARRIER) */
#define IN(op, name)     (*op_operand(op, ON_##name))
#define IX(op, name)     (*op_index(op, ON_##name))
#define HAS_IN(op, name) op_has_operand(op, ON_##name)
#define HAS_IX(op, name) op_has_index(op, ON_##name)
/* Of the first of several, as conditions are: for (int i = IX_PLACE(op, COND); i < op->nix; i++) */
#define IX_PLACE(op, name) op_index_place((op)->kind, ON_##name)
Operand *op_operand(const Op *op, OperandName name);
const Ix **op_index(const Op *op, OperandName name);
bool op_has_operand(const Op *op, OperandName name);
bool op_has_index(const Op *op, OperandName name);
int op_index_place(OpKind kind, OperandName name); /* in ix, where an op of it has one */
/* What number i that a loop carries, from 1 on, begins with, and what each iteration adds to it. */
static inline const Ix *for_start(const Op *loop, int i)
{
	return loop->ix[2 * i];
}
static inline const Ix *for_step(const Op *loop, int i)
{
	return loop->ix[2 * i + 1];
}

/* ------------------------------------------------------------------ kernels */
typedef struct {
	const Ix *cond;          /* must not be 0 */
	const char *text, *rule; /* as the user wrote it; where it comes from */
	Loc loc;
} Fact;

typedef struct {
	Val *val;
	bool is_out;
	bool is_inout;     /* out, and what a tile of it holds is read before the tile is written */
	bool is_constant;  /* its last write was over before the launch ahead of this one began */
	bool is_in_place;  /* an input that may have the address of an output of its type */
	bool is_workspace; /* out, and nobody's but this launch's: what its CTAs tell each other */
} Arg;

/* Reason a pass decided as it did: rows of why.def. subject is a name of the kernel, or NULL. */
typedef enum {
#define REASON(id, ...) REASON_##id,
#include "why.def"
	REASON_COUNT
} ReasonId;
typedef struct {
	const char *name, *what;
} WhyRow;
extern const WhyRow why_rows[REASON_COUNT];
/* How the CTAs of a cluster share a load, or the slots of a ring. Sets of ranks are words. */
enum { SHARE_CTAS = 16 };
typedef struct {
	int ranks;
	/* Of a load: off (each CTA for itself), leader or slice; NULL: of a ring. */
	const char *issue;
	bool narrowed;       /* two of different groups may load the same */
	const char **proofs; /* theorems that decided */
	int nproofs, slices;
	int loads;                      /* tiles that a cluster reads, of as many as it has CTAs */
	uint16_t with[SHARE_CTAS];      /* those that load the same as a rank */
	const Ix *mask, *issues, *part; /* of rank */
	/* Of a ring: whose slots a rank fills, and who fills its. */
	uint16_t into[SHARE_CTAS], from[SHARE_CTAS];
} ReasonShare;
typedef struct {
	ReasonId id;
	const char *subject;
	int64_t value;
	const char *text;
	bool rejected; /* tried and not taken */
	const ReasonShare *share;
} Reason;

struct Kernel {
	Ctx *ctx;
	const char *name, *target;
	Stage stage;
	int errors_before; /* of its context, when the pass on it began */
	bool frozen;       /* builders panic */
	Loc loc;
	VEC(Arg) args;
	VEC(IxFact) syms; /* extents and strides that the caller binds */
	VEC(Fact) facts;
	Attrs attrs; /* the schedule, then launch facts */
	Block body;
	InternSet *names;       /* taken by values and syms; build.c's */
	struct PtrMap *numbers; /* of each stem, the last that made a fresh name; build.c's */
	VEC(Reason) whys;       /* in the order of the decisions; not part of the text */
};
struct Module {
	Ctx *ctx;
	VEC(Kernel *) kernels;
};

/* build.c: the only way to make IR */
Module *module_new(Ctx *c);
Kernel *kernel_new(Module *m, const char *name, Loc loc);
Val *kernel_arg(Kernel *k, const char *name, const Type *t, bool is_out);
Val *kernel_workspace(Kernel *k, const char *name, const Type *t);
void kernel_arg_inout(Kernel *k, const Val *arg);
void kernel_arg_constant(Kernel *k, const Val *arg);
void kernel_sym(Kernel *k, const char *name, int64_t lo, int64_t hi,
		int64_t div);                              /* adds or narrows */
void kernel_syms_most(Kernel *k, const Ix *x, int64_t hi); /* each name of x is at most that */
void kernel_fact(Kernel *k, const Ix *cond, const char *text, const char *rule, Loc loc);
IxFacts kernel_facts(const Kernel *k); /* what is known of every name: arguments, hardware, loops */
/* The same while a kernel grows: at first of all but its ops, then of each op that is added. */
typedef struct {
	IxFact *at;
	int n, cap;
	struct PtrMap *places; /* as in IxFacts; NULL: none are kept */
} FactList;
FactList facts_begin(const Kernel *k);
void facts_of_op(const Op *op, FactList *v, Arena *a); /* of the names that op binds */
IxFacts facts_seen(const FactList *v);                 /* until the next op */
/* groups.count, groups.find; what is known of the name i that such an op binds */
bool op_is_of_groups(const Op *op);
IxFact groups_fact(const Op *op, int i, IxFacts known);
IxFact ticket_fact(const Op *op, IxFacts known); /* of `tickets` and `ticket.at` */
void kernel_freeze(Kernel *k);
const char *kernel_fresh(Kernel *k, const char *stem); /* a name no Val and no sym of k has */

Op *op_new(Kernel *k, OpKind kind, Loc loc); /* detached */
/* The op itself. */
Op *op_in(Kernel *k, Op *op, Val *v, const Ix *at);
Op *op_ix(Kernel *k, Op *op, const Ix *x);
/* Several, in their order: operands without a position, expressions. */
#define op_ins(k, op, ...) \
	op_in_all(k, op, (Val *[]){__VA_ARGS__}, COUNTOF(((Val *[]){__VA_ARGS__})))
#define op_ixs(k, op, ...) \
	op_ix_all(k, op, (const Ix *[]){__VA_ARGS__}, COUNTOF(((const Ix *[]){__VA_ARGS__})))
Op *op_in_all(Kernel *k, Op *op, Val *const *v, size_t n);
Op *op_ix_all(Kernel *k, Op *op, const Ix *const *x, size_t n);
void op_sym(Kernel *k, Op *op, const char *name);
Val *op_result(Kernel *k, Op *op, const char *name,
	       const Type *t); /* name is made fresh when taken */
void op_int(Kernel *k, Op *op, AttrId id, int64_t v);
void op_ints(Kernel *k, Op *op, AttrId id, const int64_t *v, int n);
void op_real(Kernel *k, Op *op, AttrId id, double v);
void op_str(Kernel *k, Op *op, AttrId id, const char *v);
void op_atom(Kernel *k, Op *op, Atom a);
Block *op_body(Kernel *k, Op *op); /* made on first use */
/* These take the op out of the block that it stands in. */
void block_append(Block *b, Op *op);
void op_insert_before(Op *at, Op *op);
void op_insert_after(Op *at, Op *op);
void op_remove(Op *op); /* detaches */
void kernel_int(Kernel *k, AttrId id, int64_t v);
void kernel_ints(Kernel *k, AttrId id, const int64_t *v, int n);
void kernel_str(Kernel *k, AttrId id, const char *v);

/* attrs: a missing attribute is `otherwise` */
const Attr *attrs_get(const Attrs *a, AttrId id);
void attrs_set(Ctx *c, Attrs *a, Attr attr);
void attrs_drop(Attrs *a, AttrId id);
int64_t attrs_int(const Attrs *a, AttrId id, int64_t otherwise);
const char *attrs_str(const Attrs *a, AttrId id, const char *otherwise);

/* why.c: fmt is a sentence without its end; subject is interned or NULL. find: the decision taken
 * (on subject, where it is not NULL), or NULL */
void kernel_why(Kernel *k, ReasonId id, const char *subject, int64_t value, const char *fmt, ...)
	PRINTF(5, 6);
void kernel_why_not(Kernel *k, ReasonId id, const char *subject, int64_t value, const char *fmt,
		    ...) PRINTF(5, 6);
const Reason *kernel_why_find(const Kernel *k, ReasonId id, const char *subject);
/* The next of this kind; NULL: the first, or there is no other. */
const Reason *kernel_why_next(const Kernel *k, ReasonId id, const Reason *after);

/* walk.c */
Op *op_next(const Op *op); /* the next in textual order, bodies included; NULL at the end */
Op *kernel_first(const Kernel *k);
Op *kernel_find(const Kernel *k, OpKind kind);   /* the first of that kind; or NULL */
Op *op_find_next(const Op *op, OpKind kind);     /* the next after op; or NULL */
bool op_takes(const Op *op, const Val *v);       /* for one of its operands */
Op *kernel_with(const Kernel *k, int effects);   /* the first with one of these; or NULL */
Op *op_parent(const Op *op);                     /* whose body it stands in; NULL at the top */
const Op *op_around(const Op *op, OpKind kind);  /* it, or the nearest around it; NULL: none */
const Op *op_role(const Op *op);                 /* that it stands in; NULL outside */
bool op_inside(const Op *op, const Op *region);  /* it, or what stands in it */
bool op_precedes(const Op *a, const Op *b);      /* or is b; both in one block */
void kernel_replace(Kernel *k, Val *v, Val *by); /* in every operand */
bool val_used(const Kernel *k, const Val *v);
bool op_only_names(const Op *op); /* a let, or another whose names hold to the end of its block */
/* Copies a block's ops to the end of `to`. A name or value that is replaced reads through the map;
 * defined ones get fresh names. keep (may be NULL) says which ops without a body come along; bodies
 * left empty are dropped. */
typedef struct {
	const char *name;
	const Ix *by;
} SymSub;
void block_copy(Kernel *k, const Block *from, Block *to, const SymSub *sub, int nsub,
		bool (*keep)(void *user, const Op *op), void *user);
void kernel_sweep(
	Kernel *k); /* drops unused values of PURE ops, unused lets, empty bodies without effect */
int op_effect(const Op *op, int operand); /* FX_R | FX_W | FX_AR | FX_AW */
bool op_has(const Op *op, int effects);   /* one of FX_ONE, FX_SYNC, .. */

/* window.c: what an op reads of a matrix: at[i] is the first of n[i] elements of its mode i;
 * turned: as its transpose, whose mode 0 is mode 1 of the matrix. */
typedef struct {
	int64_t at[2], n[2];
	bool turned;
	const Ix *begin; /* beyond at[moves], held to what the matrix has; NULL: it does not move */
	int moves;
} Window;
Window type_window(Ctx *c, const Type *t);                     /* all of a static matrix */
Window op_window(Ctx *c, const Op *op, int operand);           /* all, where nothing is said */
const Attr *op_window_attr(const Op *op, int operand);         /* NULL: nothing is */
void op_read_window(Kernel *k, Op *op, int operand, Window w); /* which must not be all */
void op_read_all(Op *op, int operand);
int64_t window_extent(Window w, int mode);                   /* of what is read */
void window_place(Window w, const int64_t *at, int64_t *of); /* an element's in the matrix */
int64_t window_room(Ctx *c, const Type *t, Window w);        /* how far it may move */
bool window_same(Window a, Window b);

/* print.c, parse.c: print(parse(x)) == x */
void kernel_print(const Kernel *k, Buf *out);
void module_print(const Module *m, Buf *out);
void op_print(const Op *op, Buf *out); /* one line, for messages */
Module *module_parse(Ctx *c, int src); /* NULL after diagnostics */

/* verify.c: against ops.def, scopes, types and stage; a violation is reported as a diagnostic when
 * the text came from a file, and is a panic (with the pass's name and a dump) when a pass made it
 */
bool kernel_verify(const Kernel *k, const char **why);
bool kernel_check(const Kernel *k, const char **why, Loc *where); /* and where */
/* At the tile stage: an input whose tiles are read where tiles of an output are written. */
bool kernel_reads_in_place(const Kernel *k, const Val *arg);
/* verify_joins.c: a name of the grid, of which several values share the tile or parts of it. */
const char *tiles_share(const Kernel *k, const Op *op, const Val *tile);

/* interp.c: the meaning of the language. Runs the tile stage on the host, sequentially, no
 * schedule: f32 products summed in f64 and rounded once to the accumulator's type at the end of the
 * k loop's sum. */
typedef struct {
	const char *name;
	void *data; /* tensors: elements as stored; scalars: double * */
} InterpArg;
typedef struct {
	const char *name;
	int64_t value;
} InterpSym;
typedef struct {
	const InterpArg *args;
	int nargs;
	bool *const *wrote; /* of an argument: set for each element that is stored; NULL: of none */
	const InterpSym *syms;
	int nsyms;
	/* Which grid tiles to run, by linear index (first coordinate fastest); NULL: all. */
	bool (*tile)(void *user, int64_t tile);
	void *user;
	/* Of an argument, as data: for each element of an output the least and the most that a
	 * device may compute in its place, with what sums of products and functions are rounded
	 * to: one number where nothing is rounded in an order that the kernel chooses. -inf and
	 * inf: anything. NULL: not asked for, of any. */
	void *const *lo, *const *hi;
} InterpRun;
bool kernel_interp(const Kernel *k, const InterpRun *run, const char **why);

/* target.c: columns of targets.def */
typedef enum {
#define FEATURE(id, ...) FT_##id,
#include "targets.def"
	FT_COUNT
} Feature;
typedef struct {
	const char *name, *ptx_version;
	int smem_bytes, regs, max_regs_thread, max_threads, box_max;
	int sms, sm_threads;
	unsigned features; /* bits 1 << FT_.. */
} Target;
const Target *target_by_name(const char *name); /* NULL: none */
bool target_has(const char *name, Feature f);
const char *target_lacks(Ctx *c, const char *name, Feature f); /* and which have it; or NULL */
Feature feature_of_op(OpKind kind);

/* So many elements at a time are joined to a tensor in memory: rows of combine.def. */
typedef struct {
	OpKind by;
	Elem elem;
	int n;
	Feature feature;
} JoinRow;
const JoinRow *join_row(const CombineRow *by, Elem e, int n); /* NULL: none */
Feature feature_converts(Elem e);                             /* to and from that type */
Feature feature_computes(Elem e);                    /* elementwise operations of that type */
const char *target_names(Arena *a, Feature f);       /* "sm_90 or sm_90a": those that have it */
int target_cluster_max(const Target *t);             /* CTAs */
int target_entry_regs(const Target *t, int threads); /* each's, where an SM holds so many */
/* Of so many CTAs, that run at one time where an SM holds so many CTAs. */
int target_clusters(const Target *t, int ctas, int of_sm);
enum { SMEM_KEPT = 1024 };                /* bytes of each CTA's shared memory, by the system */
int kernel_ctas(const Kernel *k);         /* that an SM is to hold at a time */
int kernel_cluster_ctas(const Kernel *k); /* of a cluster; 1: there are none */
int kernel_entry_regs(const Kernel *k, int threads); /* of a CTA: what each begins with */
int64_t kernel_smem(const Kernel *k);                /* bytes that a CTA may have */

#endif
