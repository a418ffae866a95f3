/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cost.h - how long a kernel with one product takes, estimated: D(M,N) = A(M,K) B(N,K)', each of
 * `batch` times. The compiler ranks schedules by it, the launcher the variants of a family. Plain
 * arithmetic on numbers: no device, no memory, no errors.
 *     cost_us(&product, &variant, &sizes, &device, NULL)  ->  microseconds */
#ifndef DSL_RUNTIME_COST_H
#define DSL_RUNTIME_COST_H

/* What is computed, the same for all variants. Bits in memory. */
typedef struct {
	int bits_a, bits_b;    /* of an element of A, of B */
	int bits_mma;          /* of an operand of the mma: 8, 16, 32 */
	int bits_out, bits_in; /* of all that the epilogue stores, and loads, for an element of D */
} CostProduct;

typedef enum { COST_NONE, COST_COOPERATIVE, COST_PINGPONG } CostRoles;

/* How: a schedule, tile included. Extents are the program's, before swap exchanges them. */
typedef struct {
	int tile_m, tile_n, tile_k; /* elements */
	int warpgroups;             /* that multiply one tile */
	int stages;
	int roles; /* CostRoles */
	int persistent, swap;
	int group;                /* tile rows of a sweep; 0: derived */
	int cluster_m, cluster_n; /* CTAs */
	int split;                /* CTAs that share the k of a tile */
	int workspace;            /* 1: they see each other's sums there, not in a cluster */
	int ctas;                 /* that an SM holds at a time */
} CostVariant;

typedef struct {
	double m, n, k, batch;
	double pitch_a, pitch_b; /* bytes from one row to the next */
} CostSizes;

/* A GPU: a row of costs.def, or one scaled to what the driver reports. */
typedef struct {
	const char *name; /* "NVIDIA H200" */
	int sms;
	double clock;            /* GHz, while the power limit does not bind */
	double power;            /* the clock is divided by 1 + power * (share of the peak)^2 */
	double launch;           /* us from the end of a kernel to the start of the next */
	double l2, hbm, hbm_out; /* TB/s: L2 to all SMs, reads, writes */
	double cache;            /* MB of L2 that count */
} CostDevice;

/* What decided, in microseconds unless said; for people. */
typedef struct {
	double us;          /* all of it */
	double sm, hbm, l2; /* each alone; the slowest dominates */
	double fill, epilogue, exchange;
	double step; /* clocks of a tile_k step, and what it needs of: */
	double mma, smem, load;
	double tiles, per_sm; /* tiles of work of all CTAs; of the busiest SM */
} CostTerms;

/* Columns of the mma, of 16 bits, that a warpgroup stores at a time, up to `most` where it can:
 * whole swizzles, or rows of an odd number of 16 bytes. */
int cost_columns(const CostVariant *v, int most);

/* The row whose name this is part of, or else the nearest: the one for its SMs, scaled. */
CostDevice cost_device(const char *name, int sms, double clock_ghz, double hbm_tb_s);

/* Infinite where the launch would be refused. */
double cost_us(const CostProduct *p, const CostVariant *v, const CostSizes *s, const CostDevice *d,
	       CostTerms *terms); /* NULL: not wanted */

/* The same in two halves for who asks often: what depends on the variant, what on the sizes. The
 * rank grows with the time, and is no time. r_x is 1 / x. */
typedef struct {
	float r_tile_m, r_tile_n, tile_m, tile_n, r_cluster_m, r_cluster_n, cluster_m, cluster_n;
	float share_a, share_b;         /* of a tile's rows: what the busiest CTA loads */
	float tile_k, split, r_split_k; /* split_k: k of a step of all that share a tile */
	float r_held, places, r_places, ctas, r_ctas; /* CTAs at a time: one an SM, all */
	float most_tiles;
	/* of a step, from mma on; units8: the 8th powers of all units but loads */
	float group, mma, smem, units8, factor, alone, step, latency, r_ahead;
	float work, epilogue, epilogue_byte, stores, fill, exchange, further, hide, shared;
	int pingpong;
} CostReady;
typedef struct {
	float m, n, k, batch;
	float load_a, load_b, out_a,
		out_b; /* clk for an element of k of a row, inside and outside */
	float bytes, r_clock, power, first, last, r_cache;
	float a, b, hbm_a, hbm_b, hbm_d;      /* MB of a row; us of one sweep */
	float l2_a, l2_b, l2_out_a, l2_out_b; /* us for a row, inside and outside */
} CostAt;
CostReady cost_ready(const CostProduct *p, const CostVariant *v, const CostDevice *d);
CostAt cost_at(const CostProduct *p, const CostSizes *s, const CostDevice *d);
float cost_rank(const CostReady *v, const CostAt *at);

#endif
