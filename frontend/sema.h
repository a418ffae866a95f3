/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sema.h - from tree to IR, private to the frontend. One walk per kernel checks each statement and
 * builds a right one at once. The meaning of an expression is a Value: its kind, its shape and, of
 * what runs on the device, the IR value. A mistake is reported where it is found, with its remedy:
 *     return rejected(s, v.loc, D_E0203, "a tensor cannot be called\nwrite A[...]");
 * It becomes V_BAD, and nothing more is said of a V_BAD. */
#ifndef DSL_SEMA_H
#define DSL_SEMA_H

#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "base/ptrmap.h"

typedef enum {
#define VALUE(id, ...) V_##id,
#include "frontend/values.def"
	V_COUNT
} ValueKind;

typedef struct Tensor Tensor;
struct Tensor {
	const char *name;
	Node *decl;
	Val *val;
	Elem elem;
	const Layout *layout;
	bool is_out, is_inout; /* inout is out, too */
	int reads, writes;     /* reads: of what is inout */
	bool kept;             /* what it held counts, though nothing reads it */
};

enum {
	RANK_MAX = MODES_MOST,
	BUFFER_RANK = 2 /* what an mma reads is a matrix */
};

typedef struct {
	Tensor *tensor;
	int rank;
	int64_t extent[RANK_MAX]; /* of one tile */
	/* Tiles of the rows that indices name, in their order: the tensor is then one of as many
	 * rows as there are indices, `of` the one that these lie in. */
	Tensor *names, *of;
	int gather;
	/* Tiles counted from row `first` on, of rows before `last`; NULL: all of the tensor. */
	const Ix *first, *last;
	int along; /* the mode of these rows */
} Tiling;

/* A name that counts tiles: of which extent, how long a tile is, and from which row on; NULL: the
 * first. */
typedef struct {
	const char *name;
	const Ix *extent;
	int64_t tile;
	const Ix *first;
} Coord;

typedef struct Tile Tile;
struct Tile {
	const Tiling *tiling;
	const Ix *at[RANK_MAX]; /* coordinates, in tiles; NULL: open */
	const Tile *names;      /* an index for each coordinate along mode `gather`; NULL: none */
	int gather;
	bool turned; /* a vector, read along the other mode of what it is combined with */
};

typedef struct Mma Mma;
struct Mma {
	Atom atom;
	int64_t arrange[3];
	Loc loc;
	bool swap;         /* its M is along the rows of the second operand */
	bool open;         /* without numbers: N and arrangement are those of the tile it is of */
	bool arranged;     /* the arrangement is written */
	int64_t values[3]; /* atoms of each warp in a step of which a tile has a multiple */
	const Mma *of;     /* the open one that this is for one tile; else NULL */
};

typedef struct Ring Ring;
typedef struct Buffer Buffer;
typedef struct {
	Tensor *tensor;
	Buffer *buffer;
	const char *multicast; /* NULL: as the schedule says */
	const char *cache;     /* a row of cache.def, or NULL */
	const char *via;       /* the way, in the words of copies.def; NULL: derived */
	int64_t bytes;         /* that a thread copies at a time; 0: derived */
	bool stores;           /* the buffer goes to the tensor */
} TmaLoad;

/* copy vec = simt(16 bytes) * threads(128) */
typedef struct {
	const char *name;
	int64_t bytes, threads; /* threads 0: not said */
} Simt;

struct Buffer {
	const char *name;
	const Node *decl;
	const Type *type;
	bool is_auto;
	Ring *ring;
	const TmaLoad *load; /* named in its pipeline, or NULL */
	Val *val;
	Loc filled;       /* the copy whose elements a read would see; NOLOC: none */
	Loc ever;         /* the first copy into it */
	const char *gone; /* what became of what filled it, where that is not to be seen any more */
	int used;         /* regions around the reads of it: the one inside that of the copy */
	bool leaves;      /* tiles of an output go through it */
	bool put;         /* threads write values to it */
	bool read, broken; /* broken: a copy into it was wrong, and reported */
};

struct Ring {
	const char *name;
	Loc loc;
	int64_t slots; /* 0: derived */
	bool own;      /* of a buffer that the program puts in no pipeline */
	bool put;      /* threads write it from registers */
	int depth;     /* of the region in which it was filled last; 0: nowhere */
	VEC(Buffer *) buffers;
};

typedef struct {
	ValueKind kind;
	Loc loc;
	const Ix *ix;         /* INT; COORD too */
	double real;          /* REAL */
	const char *str;      /* STR, WORD */
	const Tup *tup;       /* TUPLE */
	const Alg *list;      /* LIST */
	const Layout *layout; /* LAYOUT, SWIZZLE (of 1:0), SHAPE: of a fragment */
	Elem elem;            /* ELEM, SHAPE */
	Val *val;             /* ACC, SCALAR, FRAG */
	const Layout *wide;   /* FRAG: the shape that it stands for, where its elements repeat */
	bool is_condition;    /* FRAG, SCALAR: 1 or 0 */
	Tensor *tensor;       /* TENSOR */
	const Tiling *tiling; /* TILES */
	const Tile *tile;     /* TILE; BUFFER: that was copied to it last */
	const Mma *mma;       /* MMA */
	Buffer *buffer;       /* BUFFER, VIEW */
	const Window
		*window;     /* VIEW: of its buffer; where it begins may be of the grid and loops */
	Ring *ring;          /* PIPELINE */
	const TmaLoad *load; /* TMA */
	const Simt *simt;    /* SIMT */
	const Coord *coord;  /* INT that is just this name; else NULL */
	const Node *pick;    /* the BIND of a const that is open, on which it depends; else NULL */
} Value;

typedef struct {
	const char *name;
	Loc loc;
	Value value;
	int named;          /* its place in opt->names */
	const Node *unread; /* its pick, which nothing has read yet; else NULL */
} Symbol;

/* part <- 0; part += mm(sA, sB); acc <- acc + part; where `trips` iterations may come before the
 * last step. */
typedef struct {
	Op *fill, *add, *copy;
	Val *part;
	const Val *acc;
	const Block *block;
	int64_t trips, depth; /* elements of K in one */
} Promotion;

/* What a grid over groups binds; row NULL: it is none. */
typedef struct {
	const Ix *group, *row,
		*end;     /* the group, a tile's first row, the one after the group's last */
	const Ix *extent; /* groups */
	int64_t rows;     /* of a tile */
} GroupNames;

/* What a loop over the tiles of one group binds; name NULL: none is open. */
typedef struct {
	const Tensor *ends;
	const Ix *group, *name, *first, *last; /* a tile; the group's first element, and after it */
	int64_t extent;                        /* of a tile */
} GroupLoop;

/* A loop whose length memory says: the fewest tiles, or numbers, of what its name indexes. */
typedef struct Bounded Bounded;
struct Bounded {
	const Ix *name, *least; /* NULL: it has indexed nothing so far */
	Bounded *up;            /* around it */
};

/* An integer of a tensor: its name in the IR, and what the source says. */
typedef struct {
	const char *name, *text;
} Number;

/* Where a statement may stand. */
typedef enum { AT_FILE = 1, AT_KERNEL = 2, AT_GRID = 4, AT_LOOP = 8, AT_ANY = 15 } Place;

typedef struct {
	Loc loc; /* NOLOC: not written */
	int64_t consumers;
	Loc consumers_loc;
	Loc group_loc;    /* of the last group that is read */
	const Node *swap; /* its clause; NULL: none */
} Schedule;

typedef struct {
	Ctx *ctx;
	Arena *arena;
	FrontendOpt *opt;
	Module *module;
	VEC(Symbol) symbols;
	PtrMap places; /* name -> its place among them, from 1 */
	PtrMap left;   /* names whose blocks have ended -> themselves */
	Place place;
	int errors_before; /* of the file; of the kernel */
	int errors_before_kernel;
	/* of the kernel being read */
	Kernel *kernel;
	const Node *body; /* of the kernel */
	FactList facts;   /* of its names, as far as it has been read */
	Loc kernel_loc;
	Block *block;
	VEC(Tensor *) tensors;
	VEC(Buffer *) buffers;
	VEC(Ring *) rings;
	VEC(const TmaLoad *) stores;
	VEC(Promotion) promotions; /* that may go over several iterations of the loop around */
	PtrMap parts;              /* what sums are promoted from -> their accumulators */
	const Mma *mma;            /* the first that an mma op used: all have as many warpgroups */
	const Tiling *grid;
	const Ix *grid_at[RANK_MAX]; /* 0 where `_` is the name of the one tile */
	int grid_open;               /* the mode whose tiles are a loop's in the grid; -1: none */
	const Tile *turn;            /* of a loop over tiles, the innermost here; NULL: none */
	const Simt *simt;            /* by which tiles leave; NULL: derived */
	Loc mma_loc;                 /* of the first mma that the kernel declares */
	Loc grid_loc, work_loc;      /* of the grid; of the first loop or += in it */
	Op *grid_op;
	GroupNames groups;
	GroupLoop along;
	VEC(Number) numbers; /* what is read from memory */
	Bounded *bounded;    /* the innermost loop here of those that it bounds; or NULL */
	VEC(int) regions;    /* the grid and the loops around here, each with a number of its own */
	int last_region;
	Schedule schedule;
	Loc stmt;         /* being read */
	const Node *pick; /* as Value has it, of what was read of the binding */
	bool free_names;  /* a name that nothing binds stands for a positive number */
	bool has_elem;    /* swizzle128 has a meaning: a layout of `elem` is being read */
	Elem elem;
} Sema;

/* sema.c: all of a file */
void sema_file(Sema *s, const Node *file);
bool sema_tired(const Sema *s); /* so many errors that more would not help */

void said(Sema *s, SaidKind kind, const char *name, Loc loc, const char *value);

/* scope.c */
void scope_add(Sema *s, const Node *at, Value v); /* at->name; a name that is taken is reported */
Symbol *scope_find(Sema *s, const char *name);
int scope_mark(const Sema *s);
void scope_leave(Sema *s, int mark);
bool name_is_free(Sema *s, const char *name, Loc loc); /* reports when not */
bool name_fits_ir(Sema *s, const char *name, Loc loc); /* not bound elsewhere */

/* name.c: what editors show; see opt->names */
int name_declared(Sema *s, const Node *at, const Value *v);
void name_used(Sema *s, const Symbol *sym, Loc at);
void name_kernel(Sema *s, const Node *kernel);

/* suggest.c: the nearest of many names */
typedef struct {
	const char *want, *best;
	int distance;
} Suggest;
Suggest suggest_begin(const char *want);
void suggest_try(Suggest *g, const char *name);
void suggest_names(Sema *s, Suggest *g);               /* everything an expression may say */
DiagMsg *suggest_end(Sema *s, Suggest *g, DiagMsg *m); /* "did you mean", when near enough */

/* value.c */
typedef struct {
	const char *text, *help;
} ValueRow;
extern const ValueRow value_rows[V_COUNT];
const char *value_text(const Value *v);
Value value_bad(void);
Value value_int(Sema *s, int64_t v);
Value value_ix(const Ix *x);
Value value_of(ValueKind kind);
/* Report an error and its remedy, as diag does. */
bool reject(Sema *s, Loc loc, DiagId id, const char *fmt, ...) PRINTF(4, 5);     /* false */
#define rejected(s, loc, id, ...) (reject(s, loc, id, __VA_ARGS__), value_bad()) /* V_BAD */
bool want(Sema *s, const Value *v, ValueKind kind, const char *what);
bool want_int(Sema *s, const Value *v, int64_t lo, int64_t hi, const char *what, int64_t *out);
const char *value_str(Sema *s, const Value *v);
const Layout *value_layout(Sema *s, const Value *v);             /* a shape alone is column-major */
const Layout *layout_checked(Sema *s, const Layout *l, Loc loc); /* NULL: too large, reported */
bool layout_in_memory(Sema *s, const Layout *l, Loc loc); /* false: offsets are no numbers, ... */
int64_t shape_extent(const Layout *l, int mode);          /* of a shape of numbers */
const char *shape_str(Sema *s, const Layout *l);
bool shape_same(Sema *s, const Layout *a, const Layout *b);
const Layout *shape_of(Sema *s, const Layout *l); /* top-level sizes, column-major */

/* eval.c */
Value eval(Sema *s, const Node *n);
bool function_named(const char *name); /* of values or layouts */
bool eval_int(Sema *s, const Node *n, int64_t lo, int64_t hi, const char *what, int64_t *out);

/* view.c */
bool is_buffer(const Value *v); /* or a view of one */
Window value_window(Sema *s, const Value *v);
Value view_index(Sema *s, const Node *n, const Value *of); /* sC[_,0 .. 512] */
Value eval_turned(Sema *s, const Node *n);                 /* sC' */

/* arith.c: integers */
Value int_new(Sema *s, Loc loc, IxKind kind, const Value *a, const Value *b);
Value int_binary(Sema *s, Loc loc, Operator op, const Value *a, const Value *b);

/* algebra.c: layouts; functions are the rows of layout/layout_ops.def */
bool is_layoutish(const Value *v);              /* what those functions take */
bool to_alg(Sema *s, const Value *v, Alg *out); /* false, reported: no such operand */
Value layout_call(Sema *s, Loc loc, int op, const Value *args, int n);
Value layout_tuple(Sema *s, Loc loc, const Value *elements, int n);
Value layout_basis(Sema *s, Loc loc, const Value *v, int64_t index);
Value layout_colon(Sema *s, const Node *colon, const Value *shape, const Value *stride);
Value layout_chain(Sema *s, Loc loc, const Value *operands, int n);
Value swizzle_template(Sema *s, Loc loc, Value *args, int n);
bool swizzle_named(const char *name, int *bytes);
Value swizzle_bytes(Sema *s, Loc loc, int bytes);

/* simt.c: copy vec = simt(16 bytes) * threads(128) */
bool is_simt_copy(const Node *n);
Value simt_copy(Sema *s, const Node *n, const char *name);
bool simt_fits(Sema *s, const Node *via, const Simt *c, const Value *to); /* else reports */
void simt_finish(Sema *s);

/* put.c: sP <- bf16(p) */
bool is_put(const Value *from); /* what registers hold, and no tile of a tensor */
bool stmt_put(Sema *s, const Node *n, const Value *to, const Value *from); /* else reports */

/* staged.c: tma stD = store(sD, D) */
Value staged_store(Sema *s, const Node *call);
void staged_finish(Sema *s); /* what they say goes to the schedule */

/* elt.c: values on tiles and scalars */
bool mode_at_grid(Sema *s, const Tile *to, int i); /* the tile is the grid's along it */
bool is_whole_tile(Sema *s, const Value *v);       /* else says that indices are missing */
bool is_at_loops_tile(const Sema *s);              /* or the grid has names for all tiles */
bool is_elementwise(const Value *v);
bool is_size(const Value *v); /* an integer that the caller or a loop binds */
Value elt_apply(Sema *s, Loc loc, const EltRow *row, Value *args);
/* elt_types.c: in which type they are computed */
bool is_number(const Value *v); /* known when the kernel is compiled */
Elem elt_elem(const Value *v);  /* f32 of a number */
double value_number(const Value *v);
Elem elt_computed_in(const Value *args, int n);
Elem elt_type_of(const EltRow *row, const Value *args);
/* Of operand i, where the row is computed in e. */
Elem elt_operand_type(const EltRow *row, const Value *args, int i, Elem e);
bool elt_size_fits(Sema *s, const Value *v, Elem e);        /* else reports */
bool elt_is_f32(Sema *s, const char *what, const Value *v); /* else reports */
const char *help_copied(void);
bool elt_types_fit(Sema *s, Loc loc, const EltRow *row, const Value *args, Elem e);
bool elt_read(Sema *s, Value *v); /* a tile, as it is */
Value elt_cast(Sema *s, Loc loc, Elem to, Value *arg);

/* rowmax, colmax, tilemax: what elements are reduced by, and the mode of which each has a value. */
typedef struct {
	const CombineRow *by;
	int kept; /* 0: rows, 1: columns, -1: neither */
} Reduction;
bool scan_named(const char *name); /* cumsum */
Value elt_scan(Sema *s, const Node *call, Value *arg);
bool reduction_named(const char *name, Reduction *r);
Value elt_reduce(Sema *s, const Node *call, const Reduction *r, Value *args, int n);
Val *elt_inside(Sema *s, Loc loc, Val *v, const Reduction *r);
bool elt_whole(Sema *s, const Value *v);                   /* else says that elements repeat */
bool elt_reducible(Sema *s, const Node *call, Value *arg); /* reads tiles, too */
const Layout *reduced_shape(Sema *s, const Layout *tile, int kept);
Value elt_shape(Sema *s, const Node *call, bool rows);

/* coord.c: coord(gK[j,0], 0) */
Value coord_call(Sema *s, const Node *call);
/* Along which side both are coordinates, 0 or 1; -1: they are not, or along both sides. */
int coords_side(const Value *a, const Value *b);
Value coord_series(Sema *s, Loc loc, const Ix *from, int side, int64_t n);

/* inplace.c: tensors that are inout */
bool reads_in_place(Sema *s, const Value *v);             /* else reports */
bool reads_before(Sema *s, const Value *v, const Val *x); /* what is written is of no older tile */

/* tiles.c */
Value tiles_from(Sema *s, const Node *n);      /* windows.c: gK from start[b] .. end[b] */
bool tiling_begins(const Tiling *t, int mode); /* its tiles count from such a row */
const Ix *tiling_rows(Sema *s, const Tiling *t, int mode); /* of which there are tiles */
bool window_fill_fits(Sema *s, const Value *from);         /* else reports */
Value tiles_divide(Sema *s, Loc loc, const Value *tensor, const Value *tiler);
Value tiles_index(Sema *s, Loc loc, const Value *tiles, Value *at, int n);
const Ix *tiles_count(Sema *s, const Tiling *t, int mode);
const Ix *tensor_extent(Sema *s, const Tensor *t, int mode);
const Ix *tiling_extent(Sema *s, const Tiling *t, int mode); /* of its tensor */
void warn_of_transposed(Sema *s, Loc loc, const Tile *t, const Tile *other, const Val *acc);
const Symbol *name_that_counts(Sema *s, const Tiling *t, int mode); /* its tiles; NULL: none */
void warn_of_other_tiles(Sema *s, const Tiling *t, int mode, const Value *at);
bool one_tile_along(Sema *s, const Tiling *t, int mode); /* at most */
Val *tile_build(Sema *s, const Tile *t, Loc loc);
ModeList tiling_modes(Sema *s, const Tiling *t);              /* those of its matrix */
const Layout *tiling_shape(Sema *s, const Tiling *t);         /* of its matrix */
const Tup *tiling_stride(Sema *s, const Tiling *t, int mode); /* of parts, the first's */
bool tiling_repeats(Sema *s, const Tiling *t, int mode);      /* its first part has one element */
/* gather.c: the tile's coordinates along a mode are what a tile of indices holds */
bool tile_gathers(Sema *s, Tile *t, int mode, const Value *names);
Value tiles_by_indices(Sema *s, const Value *tiles, Value *at, int n); /* gD[rows,_] */
bool tile_by_indices(Sema *s, Tile *t, Value *at, Loc loc);            /* one of these */
bool scatter_fits(Sema *s, const Value *to);        /* rows at the grid's place */
Tensor *tiling_tensor(const Tiling *t);             /* that its rows lie in */
Val *gather_names(Sema *s, const Tile *t, Loc loc); /* NULL: reported */
bool gather_fits(Sema *s, const Value *from);
bool names_lie_along(Sema *s, const Value *v, const Val *tile); /* else reported */
bool reject_indices(Sema *s, Loc loc, const char *where);
int tile_open(const Tile *t, int *mode); /* how many modes are open; the first */

/* row_groups.c: for (g,m,n) in groups(gD, ends) */
const Tensor *groups_ends(Sema *s, const Node *call, Value *tiles); /* NULL: reported */
int groups_mode(const Tiling *t);
bool groups_ends_fit(Sema *s, const Value *ends);
/* group_loops.c: for k in groups(gA[m], ends, g): gA[m], and how often it runs */
Value group_loop_tiles(Sema *s, const Node *n);
const Ix *group_loop_begin(Sema *s, Loc loc, const Ix *all, int64_t extent);
bool group_loop_has(const Sema *s, const Tile *t); /* the tile is one of the group's */
bool group_loop_index_fits(Sema *s, const Tiling *t, int mode, const Value *at);
bool group_loop_fill_fits(Sema *s, const Value *from);
void groups_begin(Sema *s, Op *op, const char *group, const char *row, const Tensor *ends);
bool groups_index_fits(Sema *s, const Tiling *t, int mode, const Value *at);
bool groups_fill_fits(Sema *s, const Value *from);
/* Where tile `at` of a mode begins, in elements; NULL: open. */
const Ix *tile_origin(Sema *s, const Tiling *t, int mode, const Ix *at);
void tile_ends(Sema *s, const Tile *t, Op *op);

/* numbers.c: len[b], an integer that the kernel reads */
bool is_number_index(Sema *s, const Tensor *t, const Value *at, int n);
Value number_index(Sema *s, Loc loc, const Value *tensor, const Value *at, int n);
void number_to_tile(Value *v); /* what has a tile of one element, as that: a value, no index */
bool is_from_memory(const Sema *s, const Ix *x); /* or counted by a loop that memory bounds */
const Ix *number_tile(Sema *s, const Tiling *t, int mode, const Ix *at); /* held to its tiles */
bool number_wanted(Sema *s, const Value *v, const char *what); /* as a bound; else reports */
/* What is indexed as a number, and is none: reported. */
Value number_missing(Sema *s, Loc loc, const Value *tensor, const Value *at, int n);
const char *ix_spelled(Sema *s, const Ix *x);              /* as the source says it */
bool number_loop_end(Sema *s, Op *loop, const Bounded *b); /* else reports */
void numbers_finish(Sema *s);

/* vector.c: bias[n] */
/* The tile of one element; NULL: this is no element at a place of the grid. */
const Tile *vector_element(Sema *s, const Value *tensor, const Value *at, int n);
int side_of(Sema *s, const Ix *at); /* 0: of the accumulator's rows, 1: of its columns; -1: none */
const Layout *vector_shape(Sema *s, int side, int64_t n);
const char *grid_name_of(Sema *s, const Ix *extent); /* of a mode of that extent; NULL: none is */
bool is_vector_index(Sema *s, const Tensor *t, const Value *at, int n);
Value vector_index(Sema *s, Loc loc, const Value *tensor, Value *at, int n);
/* The tile of v, a vector as a matrix of one row or column, what repeats once; and its shape. NULL:
 * reported. */
Val *vector_tile(Sema *s, const Value *v, const Layout **shape);
bool tile_repeats(Sema *s, const Tile *t);                     /* along some mode */
bool is_vector_twice(Sema *s, const Value *a, const Value *b); /* the same tile of a vector */

/* places.c */
void tensor_places(Sema *s, const Tensor *t); /* facts of its elements; reports what cannot be */

/* kernel.c */
const char *source_text(Sema *s, Loc loc); /* each run of blanks one blank */
void sema_kernel(Sema *s, const Node *n);
void sema_query(Sema *s, const Node *query, Value *out); /* LIST of parse_query */
bool target_fits(Sema *s, const char *name, Loc loc);    /* reports */
/* Whether the kernel's target has it; reports, with those that have. */
bool target_takes(Sema *s, Loc loc, Feature f, const char *remedy);
void target_takes_elem(Sema *s, Loc loc, Elem e);
bool elem_by_name(Sema *s, const char *name, Loc loc, Elem *out); /* reports */
bool elem_is(const char *name, Elem *out);

/* pick.c: const bM = pick(64, 128); */
Value pick_const(Sema *s, const Node *bind, const Node *call);
const char *pick_text(Sema *s, const Value *v);  /* pick(64, 128), as it is written */
void pick_is_read(Sema *s, const Symbol *sym);   /* else a warning */
const Node *pick_of(const Node *at);             /* the call; NULL: none is declared here */
void choice_add(Sema *s, Choice what);           /* of what is open here */
const char *const_text(Sema *s, const Value *v); /* as -D takes it */
bool is_of_const(const Value *v);                /* a number or a word */

/* decl.c, atom.c, loops.c, stmt.c, acc.c, sched.c */
void sema_block(Sema *s, const Node *block);
Define *define_of(Sema *s, const char *name); /* of the kernel being read; NULL: none */
const Node *define_read(Sema *s, Define *d, const char *end, ParseText *parse);
Value bind_const(Sema *s, const Node *n);
Value bind_let(Sema *s, const Node *n);
Value bind_layout(Sema *s, const Node *n);
Value bind_buffer(Sema *s, const Node *n);
Value bind_tma(Sema *s, const Node *n);
Value bind_copy(Sema *s, const Node *n);
Value bind_pipeline(Sema *s, const Node *n);
Value bind_mma(Sema *s, const Node *n);
void buffers_build(Sema *s);
void buffers_check(Sema *s);
void ring_build(Sema *s, const Ring *r);
void own_ring(Sema *s, Buffer *b); /* of one buffer, which the program puts in no pipeline */
bool mma_exists(const char *name); /* wgmma, ... */
int64_t mma_warpgroups(Sema *s, const Mma *m);
Value mma_template(Sema *s, const Node *template, Value *args, int n);
Value mma_open(Sema *s, const Node *call, Value *args, int n); /* wgmma(bf16, bf16, f32) */
const char *mma_text(Sema *s, const Mma *m);        /* wgmma<64,128,16>(bf16, bf16, f32) */
const char *mma_arrangement(Sema *s, const Mma *m); /* (2,1,1) */
bool mma_has_numbers(Sema *s, const Value *v);      /* else reports */
Value mma_values(Sema *s, const Node *n);           /* mma * values(1,2,1) */
Value mma_arrange(Sema *s, Loc loc, const Value *mma, const Value *arrangement);
Value mma_shape(Sema *s, const Node *call); /* mm.C(bM,bN) */
void stmt_for(Sema *s, const Node *n);
bool is_held_whole(Sema *s, const Value *v, const char *what); /* in registers; else an error */
/* What is written to `name`, which holds such elements, or is of them; else an error. */
bool elem_fits(Sema *s, const Value *v, const char *name, const char *has, Elem e);
Value bind_acc(Sema *s, const Node *n);
void stmt_copy(Sema *s, const Node *n);
void stmt_accumulate(Sema *s, const Node *n);
bool may_write(Sema *s, const Value *to);       /* a tile of an output, here */
bool is_written_once(Sema *s, const Value *to); /* written_once.c: in a loop; else reports */
/* join.c: S[m] += x; S[m] <- max(S[m], x), where it is that */
void stmt_add(Sema *s, const Node *n, const Value *to);
void joins_in_order(Sema *s); /* reports joins whose result depends on the order of tiles */
bool stmt_joins(Sema *s, const Node *n, const Value *to);
/* partial.c */
void reductions_fit(Sema *s);             /* reports results that depend on the tiles' widths */
const char *tensor_name(const Val *tile); /* that it is a tile of, or of a view of it */
void acc_assign(Sema *s, const Node *n, const Value *to);
/* What an operand of mma is made of, in shared memory or in registers. */
typedef struct {
	const char *name;
	Elem elem;
	int64_t rows, depth;
} MmaOperand;
Value bind_operand(Sema *s, const Node *n); /* rA : mm.A <- gA[m,k] */
MmaOperand mma_operand(Sema *s, const Value *v);
Op *mma_build(Sema *s, const Node *n, const Value *v, Val *acc); /* v: acc, mma, A, B */
/* promote.c: acc += mm(sA, sB) of which the tensor core adds up at most so many elements of K */
void promote_build(Sema *s, const Node *n, const Value *v, int64_t every);
void scaled_build(Sema *s, const Node *n, const Value *v, const Node *scale);
/* What a loop over tiles runs over; of another loop nothing is known. */
typedef struct {
	const Ix *extent;
	int64_t tile;
} LoopMode;
void promote_group(Sema *s, Op *loop, const LoopMode *over); /* over: NULL of a range */
/* Words around a product: rows SUM of words.def. */
typedef struct {
	const char *name, *form;
	int every; /* 1: a second operand, every n */
} SumRow;
const SumRow *sum_by_name(const char *name);                              /* NULL: none */
Val *build_number(Sema *s, const Node *n, const Value *v, const Type *t); /* NULL: reported */
bool via_fits(Sema *s, const Node *n, const Value *to); /* what stands after via, or nothing */
void sched_block(Sema *s, const Node *n);
void sched_finish(Sema *s);
/* Finds what declarations depend on; adds the clauses that -Dschedule has for one that is open. */
void sched_ahead(Sema *s, Node *body);
bool sched_swaps(Sema *s); /* as far as constants are declared */
bool sched_word(const char *name);
const char *sched_multicast(Sema *s, const Node *word); /* interned; NULL after a message */
void sched_suggest(Suggest *g);
/* fills.c: which copy a read of a buffer sees */
void region_enter(Sema *s);
void region_leave(Sema *s);
bool fill_fits(Sema *s, const Buffer *b, Loc loc); /* reports */
void fill(Sema *s, Buffer *b, Loc loc);
void fill_needs_elements(Sema *s, const Tensor *t, Loc loc);
/* The launch refuses a size of 0, and says why. */
void needs_some(Sema *s, const char *size, const char *why, Loc loc);
bool fill_is_seen(Sema *s, Buffer *b, Loc loc); /* by a read here; reports */

/* remedies.c: what to write instead; "" where nothing is known */
DiagMsg *help_habit(Sema *s, const char *name, DiagMsg *m); /* NULL: no name of other languages */
const char *habit_of(const char *name);                     /* the help; NULL: there is none */
const char *help_tensor(Sema *s, const Tensor *t); /* where a tile or a number is asked for */
const char *help_value(Sema *s, const Value *v);
const char *help_operator(Sema *s, Operator op, const Value *a, const Value *b);
const char *help_call(Sema *s, const char *name, int given, int takes);
const char *tile_example(Sema *s, const Tiling *t);    /* gC[m,n] */
const char *element_example(Sema *s, const Tensor *t); /* table[b,j] */

Op *build(Sema *s, OpKind kind, Loc loc);
Op *build_in(Sema *s, Op *op, Val *v);
Op *build_copy(Sema *s, Loc loc, Val *to, Val *from);
Op *build_fill(Sema *s, Loc loc, Val *to, double value);

#endif
