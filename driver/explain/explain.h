/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* explain.h - private to driver/explain*.c: what was derived of a kernel, read once from its final
 * IR, for the text, the JSON and the pictures. Names are the kernel's; vectors are the ctx's. */
#ifndef DSL_DRIVER_EXPLAIN_H
#define DSL_DRIVER_EXPLAIN_H

#include "driver/compile.h"
#include "driver/options/options.h"
#include "ir/schedule.h"

enum { BOX_MAX = 5 };

typedef struct {
	const char *name, *ring, *over; /* over: the ring whose memory it takes, or NULL */
	const Type *type;
	int64_t slots, groups; /* slots of each group of warps that has its own */
	int64_t offset, bytes; /* bytes of one slot */
} FactBuffer;

typedef struct {
	const char *name, *ring;
	int64_t slots, count, offset;
	int64_t bytes;     /* announced a phase; 0: none */
	int64_t before;    /* of these, by warps before the one that was seen last */
	const Ix *warp;    /* which that is; NULL: any */
	const Ix *by_rank; /* count where CTAs of a cluster differ; else NULL */
} FactBarrier;

typedef struct {
	const char *name;
	int64_t slots;
	int64_t bytes;     /* of one slot of all its buffers */
	bool staging;      /* written by warps, read by TMA stores */
	const Reason *why; /* who fills whose slots in a cluster; NULL: each CTA its own */
} FactRing;

/* A tensor map at work: a load of a buffer or a store from one. */
typedef struct {
	const char *buffer, *tensor, *map, *barrier, *role; /* barrier NULL: a store */
	const char
		*asks; /* the launcher's verdict: 1 where TMA can take the tensor; NULL: always */
	Elem elem;
	bool ragged;      /* the last two modes say where it ends */
	bool adds;        /* to what the tensor holds */
	int warps;        /* that issue a part each, of boxes of rows by indices; else 0 */
	int rank, copies; /* instructions that fill one slot; of a store: in the text */
	int64_t box[BOX_MAX], swizzle, bytes;
	int64_t tile_bytes; /* of a slot; what one CTA issues is less where it loads a part */
	const Reason *why;  /* of a load: how the CTAs of a cluster share it; NULL: of one CTA */
	/* of a load: the launcher copies the tensor first where one of these formulas or its
	 * address is no multiple of 16; "" where only the address may be none. NULL: never */
	const char *uneven;
	const char
		*slow; /* of a load: TMA is half as fast where one of these is no multiple of 128 */
} FactCopy;

/* A buffer that threads fill. */
typedef struct {
	const char *buffer, *tensor, *role;
	int64_t bytes; /* at a time */
} FactLanes;

typedef struct {
	const char *name;
	int64_t first, warps, active, regs, turns;
	bool moves; /* registers, by setmaxnreg */
} FactRole;

/* Instructions that multiply alike, and the fragment that they add to. */
typedef struct {
	const char *atom, *role, *ring; /* ring of its operands */
	const Layout *tv;               /* (thread of the role, register) -> place in the tile */
	int instructions;               /* of a warpgroup, a stage */
	int64_t lbo[2], sbo[2];         /* of the descriptors of A and B */
	bool a_in_registers, b_in_registers; /* which have no descriptors */
} FactMma;

typedef struct {
	const char *id; /* a formula of the warp */
	int64_t threads;
} FactNamed;

/* What holds of a clause of the schedule, written or not. */
typedef struct {
	bool there; /* it has a meaning in this kernel, and is written out */
	int64_t v[2];
	const char *word; /* of a clause of words */
} FactClause;

/* What the launcher checks: condition, and the rule behind it. */
typedef struct {
	const char *text, *rule;
} FactCheck;

typedef VEC(const char *) TextVec;

typedef struct {
	const Kernel *k;
	Attrs given;          /* the schedule as written */
	const SizeArg *sizes; /* asked about */
	int nsizes;
	FactClause clause[CLAUSE_COUNT];
	const char *along;
	int64_t threads, launch_regs, acc_regs, accs, smem, smem_limit;
	const char *grid; /* CTAs, a formula of the arguments */
	const Ix *ctas;   /* the same */
	VEC(FactRing) rings;
	VEC(FactBuffer) buffers;
	VEC(FactBarrier) barriers;
	VEC(FactCopy) loads;
	VEC(FactCopy) stores;
	VEC(FactLanes) lanes;
	VEC(FactRole) role;
	VEC(FactNamed) named;
	VEC(FactCheck) checks; /* explain.c's, from the manifest */
	TextVec tile;          /* explain.c's: which tile a CTA computes, "m = ..." */
	VEC(FactMma) mmas;
	int direct_stores; /* store instructions from registers, in the text */
	int copied_stores; /* from staging buffers, where TMA cannot take the tensor */
} Facts;

typedef VEC(Facts) FactsVec;

/* A kernel on its way: what a later pass hides is kept when it is there. */
typedef struct {
	const Kernel *k;
	Attrs given;
	TextVec tile;
} Seen;

typedef struct {
	Ctx *c;
	SaidVec said;
	VEC(Seen) kernels;
	const SizeArg *sizes;
	int nsizes;
} Explained;

/* explain.c: what compile_run passes by is kept, and read when it is done */
void explained_watch(Explained *e, CompileOpt *opt);
bool explained_done(const Explained *e); /* all kernels are at the ptx stage */
void explained_facts(Explained *e, const CompileOut *out, FactsVec *all);

/* facts.c: of a kernel at the ptx stage; given: its attributes after the frontend */
Facts facts_of(const Kernel *k, Attrs given);
const FactRing *facts_ring(const Facts *f, const char *name);
const FactBuffer *facts_buffer(const Facts *f, const char *name);
const FactCopy *facts_load(const Facts *f, const char *buffer);
bool facts_has_one_source(const Facts *f, const char *buffer); /* one tensor fills it */
const FactRing *facts_main_ring(const Facts *f);               /* NULL: none */
const char *facts_layout(
	Ctx *c, const Type *t,
	const char *shape); /* Reason it is so: the pass's reason, "as written" or "default". */
const char *facts_reason(const Facts *f, ReasonId id, const char *subject, AttrId given);

/* text.c: the source with everything spelled out; notes_print: what it cannot say */
void explain_program(const Src *src, const SaidVec *said, const FactsVec *all, Ctx *c, Buf *out);
void notes_print(const Facts *f, Buf *out); /* lines "//: ..." */
/* A line of notes_print; a title of "" goes on. */
void note(Buf *out, const char *title, const char *fmt, ...) PRINTF(3, 4);
extern const char explain_mark[]; /* "//:", in front of every comment of explain */

/* multicast.c: how a cluster shares a load, and the slots of a ring */
void share_note(const Facts *f, const FactCopy *load, Buf *out);
void share_ring_note(const FactRing *ring, Buf *out);
uint16_t share_mates(const uint16_t *sets, int rank); /* 0: a lower rank has them */

/* occupancy.c: how many CTAs run at one time, and at sizes, in how many rounds those of a launch
 * come */
typedef struct {
	const char *by; /* what of an SM its CTAs use up first */
	bool at_most;   /* as many as ptxas leaves registers for */
	int64_t of_sm, clusters, ctas,
		all; /* CTAs of an SM; what runs at one time; CTAs without clusters */
} Fill;
typedef struct {
	int64_t units, at_once; /* CTAs, or what a persistent CTA computes at a time */
} Rounds;
Fill fill_of(const Facts *f);
bool rounds_of(const Facts *f, Rounds *r); /* false: its sizes are not given */
void fill_note(const Facts *f, Buf *out);

/* json.c, svg.c */
void explain_json(const char *source, const SaidVec *said, const FactsVec *all, Buf *out);
void explain_svg(const FactsVec *all, Buf *out);

#endif
