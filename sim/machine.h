/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.h - the simulated device while a kernel runs: clusters of CTAs of warps, what they wait
 * for and what is on its way. One cluster is run by one host thread from start to end, so nothing
 * in it is shared; Job, which all threads see, has a lock. What a run says does not depend on the
 * threads: clusters count in their order, up to the first that fails.
 *   job_run(&job)  ->  every cluster: warps by turns, asynchronous work in between, checks */
#ifndef DSL_SIM_MACHINE_H
#define DSL_SIM_MACHINE_H

#include "sim/code.h"
#include "sim/sim.h"

#include <pthread.h>

typedef struct Cta Cta;
typedef struct Cluster Cluster;
typedef struct Job Job;
typedef struct Async Async;
typedef struct Rec Rec;

/* spare.c: blocks of one size that nobody uses now. */
enum { SPARE_MOST = 64, SPARE_ALIGN = 64 };
typedef struct {
	pthread_mutex_t lock;
	size_t bytes;
	u32 n;
	u8 *at[SPARE_MOST];
} Spare;

/* memory.c: global memory. Addresses are never given twice, so a stale one is noticed. */
typedef struct {
	u64 addr, size;
	u8 *host; /* NULL: freed */
} Alloc;
typedef struct Memory {
	Alloc *allocs; /* by address */
	u32 n, cap;
	u64 next;
	u64 total;
	Spare files; /* register files of warps */
} Memory;

/* hb.c: vector clocks. An actor is a warp, an mbarrier (its phases), or a queue of asynchronous
 * groups; v[actor] is how far of it is known to have happened. */
typedef struct {
	u32 *v;
	u32 n;
} Clock;
typedef struct {
	Clock seen;   /* by the generic proxy */
	Clock fenced; /* generic accesses that the async proxy is ordered after */
	Clock strong; /* those that a fence is after: a relaxed write hands them on */
} Know;

typedef enum { W_NONE, W_MBAR, W_BAR, W_CLUSTER, W_BULK, W_CP, W_REGS, W_WGMMA, W_SHFL } WaitKind;
typedef struct {
	WaitKind kind;
	u32 lane, line;
	Cta *cta;
	u32 offset; /* W_MBAR: of the barrier; W_BAR: its number */
	u64 phase;  /* W_MBAR: waited for; W_REGS: registers asked for */
	u64 since;  /* step */
} Wait;

/* A split: threads of a warp that run together. Threads that wait for others at a reconvergence
 * point are in no split but in their record. */
typedef struct {
	u32 pc, mask;
	s32 rec; /* where it meets its siblings; -1 */
	bool blocked;
	u64 stamp;  /* events of the cluster when it blocked */
	u32 ticket; /* phase of the named barrier it waits at */
	u32 parked; /* threads that wait for those of their member masks */
	Wait wait;  /* while it is blocked */
} Split;
typedef struct {
	u32 pc, expected, arrived;
	s32 parent; /* -1; -2: free */
	bool soft;  /* those who left early are not waited for */
} Meet;

/* A wgmma that was issued by one warp: its 16 rows. */
typedef struct {
	const Ins *in;
	u64 a, b; /* descriptors */
	bool scale;
	u32 group;
} Wgmma;

typedef struct {
	Wgmma *ops; /* a ring is not needed: emptied at each wait */
	u32 n, cap, head;
	bool flying;   /* some were issued that the warp has not waited for */
	u32 committed; /* groups closed */
	u32 done;      /* groups finished */
	u32 actor;     /* of the warpgroup, or of each warp; 0: none yet */
} WgmmaQueue;

/* Bulk groups of one thread, or cp.async groups of a warp. */
typedef struct {
	u32 committed, open; /* groups closed; operations in the open one */
	u32 pending;         /* operations that have not completed */
	u32 actor;           /* 0: none yet */
	u32 waited;          /* groups waited for */
	u32 used;            /* bulk: the last group that has an operation */
	u32 seq, last[64];   /* cp.async: operations; the last one of each group, by number % 64 */
} Groups;

struct Warp {
	u8 *file; /* slots */
	const Code *code;
	Cta *cta;
	Cluster *cluster;
	u32 id, actor; /* in the CTA; in the clocks */
	u32 live;      /* threads that have not exited */
	Split splits[LANES];
	u32 nsplits, turn;
	Meet meets[LANES * 2];
	Split *cur;
	u32 met; /* threads whose parties came together while their splits were parked */
	u8 *local;
	u32 regs; /* by setmaxnreg, a thread */
	struct {
		const Ins *in; /* the last one */
		u32 n, clock;  /* how many; when that was */
	} regset;
	u32 carry; /* condition code of each thread */
	WgmmaQueue wgmma;
	Groups *bulk; /* by lane, NULL before the first */
	Groups cp;
	Know know;
	Know read; /* by relaxed reads, for the next fence: an acquire pattern's first half */
	u32 (*own)[LANES]; /* by thread, what it knows of each; NULL: a warp is one actor */
	u32 acting;        /* threads of the instruction that runs */
	u32 made_actor;    /* counts its fence.mbarrier_init; 0: none yet */
	u8 *busy;          /* by slot / 64: 1 a wgmma in flight owns it */
	u8 *dirty;         /* by slot / 64: written since the last wgmma.fence */
	u32 undefs;        /* registers that may not be defined */
	u8 *undef;         /* as file: bits of these that are not defined */
	u32 *origin;       /* by slot / 64: 1 + register that nothing wrote; 0: defined */
	u64 role;          /* step of the first instruction, for the trace */
	const Alloc *near; /* the last allocation found */
};

typedef struct {
	u32 offset; /* in shared memory */
	bool live, fenced;
	u32 expected, pending; /* arrivals */
	s64 tx;                /* bytes that have been announced and not delivered */
	u64 phase;             /* the one that is not complete */
	u32 drop;              /* taken off expected at the next phase */
	u32 actor;
	Know gather, done; /* of the arrivals of this phase; of all phases before */
	u32 init_line, init_actor, init_clock;
	u32 made_actor, made_clock; /* of the fence.mbarrier_init after it; 0: none */
	u32 arrive_line[8];         /* instructions that ever arrived here */
	u32 narrive, waiters;
	u64 arrivals;
} Mbar;

typedef struct {
	u32 expected, arrived; /* threads */
	u32 phase;
	u32 red_all, red_any, red_count, result_all, result_any, result_count;
	u64 waiting; /* warps that have arrived and wait, by id */
	bool whole;  /* without a count: all threads of the CTA */
	Know gather, done;
	u32 line;
} NamedBar;

typedef struct {
	u32 write, reads; /* records: the last write; set of reads since */
} Cell;                   /* of 2 bytes */

/* shadow.c, flags.c: what is remembered of a CTA's shared memory, or of an allocation. */
typedef struct Shadow {
	Cta *cta; /* NULL: global memory */
	const u8 *host;
	u64 from, bytes; /* its first address */
	struct Records *records;
	Cell *cells;
	u8 *masks;   /* bytes of the cell's last write */
	u8 *written; /* bytes of each cell that have ever been written */
	Know *flags; /* of words that released something */
	u32 nflags, flags_cap;
	u32 *flag_at; /* by word; index + 1; NULL: no flags */
} Shadow;

/* The last access of an actor of another CTA. */
typedef struct {
	u32 actor, clock;
	Warp *warp;
	const Ins *in;
	u32 lane;
} Remote;

struct Cta {
	Cluster *cluster;
	u32 rank; /* in the cluster */
	u32 id[3];
	u8 *smem; /* from offset SMEM_BASE on */
	u32 smem_end;
	Warp *warps;
	u32 nwarps, live_warps;
	NamedBar bars[16];
	Mbar *mbars;
	u32 nmbars, mbars_cap;
	u16 *mbar_at; /* by (offset - SMEM_BASE) / 8; index + 1 */
	u32 pool;     /* registers that were released */
	bool exited;
	u32 inbound; /* asynchronous operations on their way here */
	u32 outbound;
	/* checks */
	Shadow shadow;
	Know exit; /* what its warps knew when they exited */
	Remote *remote;
	u32 nremote, remote_cap;
};

struct Cluster {
	Job *job;
	u32 index, id[3];
	Cta *ctas;
	u32 nctas;
	Warp *warps; /* of all its CTAs */
	u32 nwarps, live;
	Rng rng;
	u64 events;   /* things that may end a wait */
	u64 steps;    /* instructions of warps */
	u64 progress; /* step of the last store, arrival or completion */
	u64 released; /* step of the last meets_release */
	SimResult result;
	Async *pending;
	u32 npending;
	u32 nactors;
	u64 bar_phase;             /* barrier.cluster */
	u32 bar_arrived, bar_gone; /* warps; of those, exited since */
	Know bar_gather, bar_done;
	u64 *bar_of; /* by warp: phase it arrived in, + 1 */
	bool failed;
	u32 turn;
	u32 grid_actor; /* of the kernel before this one */
	struct Records *records;
	struct Tiles *tiles; /* wgmma.c: NULL before the first wait */
};

typedef enum {
	AS_TMA_LOAD,
	AS_TMA_STORE,
	AS_BULK_LOAD,
	AS_BULK_STORE,
	AS_DSMEM,
	AS_CP,
	AS_CP_ARRIVE,
	AS_ST
} AsyncKind;

/* A tensor map as this device encodes it: 128 bytes, which host or kernel fill field by field.
 * Zero means not set where a field has no default: rank, type, box and step. */
typedef struct {
	u64 base;
	u64 stride[4]; /* bytes, of dimensions 1.. */
	u32 dim[5];    /* elements - 1 */
	u16 box[5];
	u8 step[5]; /* element strides */
	u8 rank, type, swizzle, fill, interleave, log2_bytes;
	u8 rest[47]; /* zeros */
} TensorMap;
_Static_assert(sizeof(TensorMap) == 128, "a tensor map has 128 bytes");

struct Async {
	Async *next;
	AsyncKind kind;
	const Ins *in;
	Warp *warp;
	u32 lane;
	u64 due; /* step; UINT64_MAX: when nothing else can be done */
	u64 started;
	TensorMap map;
	s32 at[5];
	u64 global;
	Cta *cta; /* whose shared memory */
	u32 offset, bytes;
	Cta *bar_cta;
	u32 bar_offset;
	Cta *from;
	u32 from_offset;
	u32 group;
	u8 data[32]; /* AS_ST */
	u32 mask;
	u64 (*globals)[LANES]; /* AS_CP: by lane; NULL otherwise */
	u32 offsets[LANES];
	u32 sizes[LANES];
	Rec *rec, *rec_read;
};

struct Job {
	const SimLaunch *l;
	const Code *code;
	const SimModule *m;
	Memory *memory;
	const SimOptions *opt;
	u32 cluster[3];
	bool clustered; /* the launch or the kernel says so, be it of one CTA */
	u32 nclusters;
	u32 entry_regs;
	struct Trace *trace;
	_Atomic u32 end;      /* clusters from here on do not count: one before failed */
	pthread_mutex_t lock; /* of all below */
	u32 *order;           /* in which clusters start; NULL: by index */
	u32 next;             /* place in it of the cluster to start */
	struct Ended *ended;  /* by index: clusters that wait for an earlier one to end */
	u32 counted;          /* clusters before this one are in result */
	bool no_memory;
	SimResult *result;
	struct Globals *globals; /* of a grid whose CTAs wait for each other, else NULL */
	u32 nactors;             /* then of all its clusters */
};

/* memory.c: spaces */
typedef enum { SP_GENERIC, SP_GLOBAL, SP_SHARED, SP_CLUSTER, SP_LOCAL, SP_PARAM } Space;
typedef struct {
	u8 *host;
	Cta *cta; /* of shared memory, else NULL */
	u32 offset;
	bool global;
	Shadow *shadow; /* NULL: nothing is remembered */
} Place;
/* Where addr of that space is; false: out of bounds or misaligned, and reported. */
bool place_at(Warp *w, const Ins *in, u32 lane, Space space, u64 addr, u32 bytes, u32 align,
	      Place *out);
u64 mem_address(Warp *w, const Arg *a, u32 lane);
Space mem_space(const Ins *in);
/* size bytes of global memory, or NULL and a report. */
u8 *global_at(Warp *w, const Ins *in, u32 lane, u64 addr, u64 bytes, const char *what);
/* access.c: what an atomic leaves at an address, which CTAs of other threads may share; b is the
 * second value of cas. What was there before. */
u64 atom_exchange(const Ins *in, u8 *at, u64 v, u64 b);
bool shared_span(Warp *w, const Ins *in, u32 lane, const Cta *cta, u32 offset, u64 bytes, u32 align,
		 const char *what);

/* access.c: global memory is the earlier kernel's until griddepcontrol.wait. */
void grid_check(Warp *w, const Ins *in, u32 lane);
/* Of a read: not where the launch says that nobody writes. */
void grid_check_read(Warp *w, const Ins *in, u32 lane, u64 addr);

/* spare.c: at a multiple of SPARE_ALIGN, with anything in it; NULL: no memory */
void spare_start(Spare *s);
void spare_end(Spare *s);
u8 *spare_take(Spare *s, size_t bytes);
void spare_give(Spare *s, u8 *at, size_t bytes);

/* globals.c: what CTAs of the grid know of each other through global memory, and who touched which
 * of the launch's works when. All clusters of such a grid are one thread's. */
bool globals_start(Job *j);
void globals_end(Job *j);
/* Of the allocation that w was last near. */
Shadow *globals_shadow(const Warp *w);
/* Whether accesses there are looked at; those of the launch's works in each case. */
bool globals_work(const Job *j, u64 addr);

/* together.c: clusters that run at one time, as many as the options say */
void together_run(Job *j);

/* exec.c */
bool cluster_init(Cluster *c, Job *j, u32 index);
void cluster_free(Cluster *c);
bool cluster_turn(Cluster *c); /* false: it has ended, or failed */
bool next_cluster(Job *j, u32 *index);
bool job_run(Job *job);
void cluster_event(Cluster *c);
Run wait_for(Warp *w, const Ins *in, Wait wait);

/* warp.c: splits */
void warp_start(Warp *w);
bool warp_step(Warp *w, u32 quantum); /* false: nothing could run */
void warp_exit(Warp *w, u32 mask);
void split_part(Warp *w, u32 waiting); /* of the current split; the others go on */
bool meets_release(Cluster *c);        /* of those who others cannot go on without */

/* undef.c */
size_t undef_bytes(const Code *c); /* after the slots of each warp */
void undef_start(Warp *w);
void undef_guard(Warp *w, const Ins *in, u32 mask);
Run undef_run(Warp *w, const Ins *in, u32 mask); /* an instruction that is watched */

/* member.c: threads that meet by a member mask, each at its own instruction */
typedef struct {
	u32 mask;
	const Ins *in[LANES];
} Party;
typedef void (*Together)(Warp *w, const Party *p);
/* Argument k is the mask; op is run for each party that has come together. */
Run members_run(Warp *w, const Ins *in, u32 mask, int k, Together op);
u32 members_missing(Warp *w); /* threads that the warp's parked ones wait for */

/* setmaxnreg.c: all of a warpgroup have done the same, when its last warp is gone */
void regs_left(Warp *w);

/* exit.c: what threads, warps and CTAs leave behind */
void warp_left(Warp *w, u32 mask);
void cta_left(Warp *w);

/* async.c */
/* A copy of proto, which has its kind and all that the issuing thread does not say. */
Async *async_new(Warp *w, const Ins *in, u32 lane, const Async *proto);
void async_run(Cluster *c, bool idle);
void async_drop(Cluster *c);
/* Whether a lane's bulk groups, or a warp's groups of cp.async, up to this one are on their way. */
bool bulk_pending(const Warp *w, u32 lane, u32 group);
bool cp_pending(const Warp *w, u32 group);

/* Bytes that an operation reads or writes now, the last that its warp was near. */
void async_touch(const Async *as, const u8 *host, u64 bytes, bool write);

/* copies.c */
bool copy_operand(Warp *w, const Ins *in, const Arg *a, u32 lane, bool cluster, u32 align,
		  Place *p);
/* Starts proto, a copy from global memory, for each CTA that the mask names; without one, for that
 * of dst. Its barrier is at the same offset of the same CTA. */
bool copy_lands(Warp *w, const Ins *in, u32 lane, const Arg *mask_arg, const Place *dst,
		const Place *bar, Async *proto);
/* Starts proto, a copy of src that completes in the thread's groups of bulk copies. */
bool copy_leaves(Warp *w, const Ins *in, u32 lane, const Place *src, Async *proto);

/* tma_map.c: what is wrong with the 128 bytes at t, or NULL, and dimensions beyond the rank have
 * extent 1; a field of them, of dimension i, gets a new value: NULL, or why it cannot. */
const char *map_wrong(TensorMap *t);
const char *map_set(TensorMap *t, Mod field, u32 i, u64 v);

/* tma.c */
void tma_load(Cluster *c, Async *as);
void tma_store(Cluster *c, Async *as);
u64 swizzled(u64 offset, u32 bytes);

/* lanes */
static inline u32 *r32(Warp *w, u32 slot)
{
	return (u32 *)(void *)(w->file + slot);
}
static inline u64 *r64(Warp *w, u32 slot)
{
	return (u64 *)(void *)(w->file + slot);
}
static inline u16 *r16(Warp *w, u32 slot)
{
	return (u16 *)(void *)(w->file + slot);
}
static inline u32 lane_first(u32 mask)
{
	return (u32)__builtin_ctz(mask);
}
#define EACH_LANE(l, m) \
	for (u32 rest_ = (m), l; rest_ && (l = lane_first(rest_), 1); rest_ &= rest_ - 1)

/* The value of an argument in one lane, zero-extended. */
u64 arg_get(Warp *w, const Arg *a, u32 lane);
u64 extended(Type t, u64 v); /* to 64 bits, by the sign of t */
void arg_set(Warp *w, const Arg *a, u32 lane, u64 value);
u32 pred_get(Warp *w, const Arg *a); /* the mask, negation applied */
void pred_set(Warp *w, const Arg *a, u32 mask, u32 value);

/* mbar.c */
Mbar *mbar_find(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset, const char *what);
Mbar *mbar_at(Cta *cta, u32 offset);
void mbar_complete(Cluster *c, const Async *as, Mbar *b, u32 bytes);
void mbar_arrived(Cluster *c, Warp *w, const Ins *in, u32 lane, Cta *cta, Mbar *b, u32 count);

/* Those that w initialised are visible to the async proxy; published: also to the cluster, after a
 * relaxed arrive. */
void mbars_fence(Warp *w, bool published);
bool mbar_init_known(const Warp *w, const Mbar *b);

/* barrier.c */
void bars_recount(Cta *cta);
void cluster_bar_check(Cluster *c);

/* report.c */
void report(Warp *w, const Ins *in, s32 lane, SimKind kind, const char *fmt, ...) SIM_PRINTF(5, 6);
void report_deadlock(Cluster *c);
/* Adds what from says to to; false: to has the most that it may. */
bool result_take(SimResult *to, SimResult *from, u32 most);
void line_name(const Cluster *c, u32 line, Text *t);
void shared_name(const Cluster *c, u32 offset, Text *t);
static inline bool checked(const Cluster *c, u32 check)
{
	return c->job->opt->checks & check;
}

/* hb.c */
void know_join(Know *to, const Know *from);
void know_free(Know *k);
void know_forget(Know *k);
u32 actor_new(Cluster *c);
void clock_raise(Clock *k, u32 actor, u32 value);
static inline u32 clock_of(const Clock *k, u32 actor)
{
	return actor < k->n ? k->v[actor] : 0;
}
void hb_release(Warp *w, Know *to); /* what w knows, and it enters a new epoch */
void hb_acquire(Warp *w, const Know *from);
void hb_fence(Warp *w);  /* fence.proxy.async */
void hb_strong(Warp *w); /* any other fence */
bool hb_off(const Warp *w);
void hb_exit(Warp *w);
bool hb_threads(Warp *w);        /* each is an actor of its own; false: no memory */
void hb_meet(Warp *w, u32 mask); /* these threads know what each of them knows */
bool knows(const Warp *w, u32 lane, u32 actor, u32 clock); /* lane LANES: one of them does */
static inline u32 thread_actor(const Warp *w, u32 lane)
{
	return w->actor + (w->own ? lane : 0);
}

static inline u32 thread_clock(const Warp *w, u32 lane)
{
	return w->own ? w->own[lane][lane] : clock_of(&w->know.seen, w->actor);
}

/* flags.c: volatile, relaxed, acquire, release; such accesses do not race with each other */
extern const char strong_access[];
bool is_strong(const Ins *in);
void flag_write(Warp *w, const Ins *in, const Place *p, bool update);
void flag_read(Warp *w, const Ins *in, const Place *p);
void flags_free(Shadow *s);

/* shadow.c: who touched which shared memory when. The access may be a thread's own (as NULL) or an
 * asynchronous one by actor, complete when known to have reached group. */
typedef struct {
	Warp *w;
	const Ins *in;
	u32 lane;
	bool write, async;
	u32 actor, clock;   /* of who is asynchronous (0: the thread); UINT32_MAX: not known yet */
	const char *what;   /* "wgmma", "TMA load" */
	const void *stored; /* what a thread will write there; NULL: not known */
	bool fresh;         /* of a read: nobody need have written there */
} Access;
bool shadow_start(Shadow *s, struct Records **records);
void shadow_free(Shadow *s);
Rec *shadow_touch(Cta *cta, u32 offset, u32 bytes, const Access *a);
/* What a thread does where place_at said. */
void place_touch(const Place *p, u32 bytes, Access a);
void shadow_settle(Cluster *c, Rec *r, u32 clock);
void shadow_remote(Warp *w, const Ins *in, u32 lane, Cta *target, u32 actor, u32 clock);
void records_free(struct Records *r);

/* trace.c */
struct Trace *trace_open(const char *path);
bool trace_close(struct Trace *t); /* false, with errno: not all was written */
void trace_span(const Cluster *c, const Warp *w, const char *name, const char *kind, u64 from,
		u64 to);

#endif
