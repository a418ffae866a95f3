/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cost.c - the time of a kernel with one product, estimated. A tile's loop over k, its epilogue and
 * what of them hides behind other tiles make the time of an SM; this, the time of HBM and that of
 * L2 are joined, the slowest dominating:
 *     t = launch + (sm^3 + hbm^3 + l2^3)^(1/3)
 * docs/model.md explains the terms. */
#include "runtime/cost.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
#define COST(name, ...) C_##name,
#include "runtime/costs.def"
	C_COUNT
};

/* tests/gpu/fit_costs.c, which includes this file, writes them; nothing else does. */
static double constants[C_COUNT] = {
#define COST(name, value, ...) [C_##name] = (value),
#include "runtime/costs.def"
};
#define C(name) ((float)constants[C_##name])

typedef struct {
	double clock, hbm; /* as the driver reports them */
	CostDevice device;
} Row;

static const Row devices[] = {
#define DEVICE(name, sms, ghz, tb, ...) {ghz, tb, {name, sms, __VA_ARGS__}},
#include "runtime/costs.def"
};

static const int held[][2] = {
#define HELD(ctas, one, two) [ctas] = {one, two},
#include "runtime/held.def"
};

/* ------------------------------------------------------------------ devices */

/* 1 where the driver does not say. */
static double ratio(double x, double of)
{
	return x > 0 ? x / of : 1;
}

static double distance(const Row *r, int sms, double clock, double hbm)
{
	return fabs(log(ratio(sms, r->device.sms))) + fabs(log(ratio(clock, r->clock))) +
	       fabs(log(ratio(hbm, r->hbm)));
}

static CostDevice scaled(const Row *r, int sms, double clock, double hbm)
{
	CostDevice d = r->device;
	double of_sms = ratio(sms, d.sms), of_clock = ratio(clock, r->clock),
	       of_hbm = ratio(hbm, r->hbm);
	d.sms = (int)lround(d.sms * of_sms);
	d.clock *= of_clock;
	d.l2 *= of_sms * of_clock;
	d.hbm *= of_hbm;
	d.hbm_out *= of_hbm;
	return d;
}

CostDevice cost_device(const char *name, int sms, double clock_ghz, double hbm_tb_s)
{
	const Row *nearest = devices;
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		if (name && strstr(devices[i].device.name, name))
			return devices[i].device;
		if (distance(&devices[i], sms, clock_ghz, hbm_tb_s) <
		    distance(nearest, sms, clock_ghz, hbm_tb_s))
			nearest = &devices[i];
	}
	return scaled(nearest, sms, clock_ghz, hbm_tb_s);
}

/* ------------------------------------------------------------------ what depends on the variant */

static int cluster_ctas(const CostVariant *v)
{
	return v->cluster_m * v->cluster_n * (v->workspace ? 1 : v->split);
}

/* CTAs that run at one time, where an SM holds so many. */
static float places(const CostVariant *v, const CostDevice *d, int of_sm)
{
	int ctas = cluster_ctas(v);
	int most = (int)(sizeof held / sizeof *held) - 1, row = ctas < most ? ctas : most;
	int clusters = of_sm / 2 * held[row][1] + of_sm % 2 * held[row][0];
	int here = clusters * d->sms / held[1][0];
	return (float)((here > 1 ? here : 1) * ctas);
}

int cost_columns(const CostVariant *v, int most)
{
	int columns = v->swap ? v->tile_m : v->tile_n;
	for (int c = most & -8; c > 8; c -= 8)
		if (columns % c == 0 && (v->swap || (columns % 16 ? c % 16 : !(c & (c - 1)))))
			return c;
	return v->swap ? 8 : columns % 16 ? columns : 16;
}

/* Warpgroups that multiply one tile. */
static int multiply(const CostVariant *v)
{
	return v->roles == COST_PINGPONG ? 1 : v->warpgroups;
}

/* Chunks of a tile that a warpgroup stores: one at least for each CTA that shares the tile, unless
 * the tile is small. */
static int chunks(const CostVariant *v)
{
	enum { WIDEST = 64, FEW = 32 /* sums of a thread */ };
	int columns = v->swap ? v->tile_m : v->tile_n, rows = v->swap ? v->tile_n : v->tile_m;
	int each = rows / 64 / multiply(v), repeat = each > 1 ? each : 1;
	int most = repeat * columns / 2 <= FEW ? columns : repeat * columns / v->split;
	int n = repeat * columns / cost_columns(v, most < WIDEST ? most : WIDEST);
	return n > 1 ? n : 1;
}

/* Clocks of the exchange of a tile's sums. */
static float exchange(const CostVariant *v)
{
	int n = chunks(v), adders = n < v->split ? n : v->split;
	if (v->split <= 1)
		return 0;
	float moved =
		(float)(v->tile_m * v->tile_n) * 4 / 32 * (float)(v->split - 1) / (float)adders;
	float others = (float)(v->split - 1);
	return v->workspace ? C(ws0) + C(ws1) * others + C(wsb) * moved
			    : C(sk0) + C(sk1) * others + C(skb) * moved;
}

/* Clocks of shared memory for a step: wgmma reads A once and B once for each 64 rows. */
static float smem_clk(const CostProduct *p, const CostVariant *v)
{
	float a = (float)v->tile_m, b = (float)v->tile_n, k = (float)v->tile_k / 1024;
	float rows = v->swap ? b : a, columns = v->swap ? a : b;
	float writes = (a * (float)p->bits_a + b * (float)p->bits_b) / 2;
	return C(smem) * k * ((rows + rows / 64 * columns) * (float)p->bits_mma + writes);
}

/* What a further tile of an SM pays, and how much of its epilogue. */
static void set_further(CostReady *r, const CostVariant *v)
{
	int overlaps = v->persistent || v->roles == COST_PINGPONG;
	r->further = overlaps ? 0 : C(nonp) * r->fill + r->exchange;
	r->hide = v->roles == COST_PINGPONG ? C(hide) : v->persistent ? C(coopx) : 1;
}

/* Of a step of k: what each unit needs, to the 8th power where the slowest dominates. */
static void set_step(CostReady *r, const CostProduct *p, const CostVariant *v, const CostDevice *d)
{
	float clk =
		(float)v->tile_m * (float)v->tile_n * (float)v->tile_k * (float)p->bits_mma / 32768;
	float wait = v->roles == COST_COOPERATIVE && v->warpgroups > 1 ? C(coop) : 0;
	float doublings = log2f((float)(v->cluster_m * v->cluster_n));
	int many = doublings > 0;
	r->mma = clk * (1 + C(eff) + wait + (multiply(v) > 2 ? C(w3) : 0));
	r->smem = smem_clk(p, v);
	r->units8 = powf(r->mma, 8) + powf(r->smem, 8) + powf(C(turn) + C(cturn) * doublings, 8);
	float ahead =
		v->stages > 1 ? (float)v->stages - 1 : .5f; /* stages that loads may be ahead */
	r->factor = (many ? 1 + C(clus) : 1) * (v->roles == COST_NONE ? 1 + C(none) : 1) *
		    (1 + C(thin) / (ahead * ahead * ahead));
	r->alone = v->roles == COST_PINGPONG ? 1 + C(ping1) : 1;
	r->step = C(ks) + (many ? C(cks) : 0);
	r->latency = C(lat) + C(clat) * doublings;
	r->r_ahead = 1 / ahead;
	r->work = clk / (float)d->sms;
}

/* The part of the rows that the busiest CTA loads, of those that share them: slices are whole
 * swizzles of eight rows. */
static float share(int rows, int ctas)
{
	float all = rows / 8 % ctas ? C(lead) : 0;
	return all + (1 - all) / (float)ctas;
}

CostReady cost_ready(const CostProduct *p, const CostVariant *v, const CostDevice *d)
{
	float doublings = log2f((float)cluster_ctas(v));
	float one = places(v, d, 1), all = places(v, d, v->ctas);
	bool shares = v->tile_n * p->bits_out / 8 % 32; /* sectors, with the next tile */
	CostReady r = {
		.r_tile_m = 1 / (float)v->tile_m,
		.r_tile_n = 1 / (float)v->tile_n,
		.tile_m = (float)v->tile_m,
		.tile_n = (float)v->tile_n,
		.r_cluster_m = 1 / (float)v->cluster_m,
		.r_cluster_n = 1 / (float)v->cluster_n,
		.share_a = share(v->tile_m, v->cluster_n),
		.share_b = share(v->tile_n, v->cluster_m),
		.cluster_m = (float)v->cluster_m,
		.cluster_n = (float)v->cluster_n,
		.tile_k = (float)v->tile_k,
		.split = (float)v->split,
		.r_split_k = 1 / (float)(v->tile_k * v->split),
		.r_held = 1 / one,
		.places = all,
		.most_tiles = v->workspace ? all : INFINITY,
		.r_places = 1 / all,
		.ctas = (float)v->ctas,
		.r_ctas = 1 / (float)v->ctas,
		.group = (float)(v->group ? v->group : 8),
		.epilogue = C(e0) + C(ec) * (float)chunks(v),
		.epilogue_byte = C(ep) / 64 * (shares ? 1 + C(part) : 1),
		.stores = shares ? 1 + C(partm) : 1,
		.fill = C(fill) + (v->persistent ? C(pfill) : 0) +
			(doublings > 0 ? C(cfill) + C(dfill) * doublings : 0),
		.exchange = exchange(v),
		.shared = v->ctas > 1 ? powf(1 + C(co), 3) : 1,
		.pingpong = v->roles == COST_PINGPONG,
	};
	set_further(&r, v);
	set_step(&r, p, v, d);
	return r;
}

/* ------------------------------------------------------------------ what depends on the sizes */

/* What loads pay more where rows do not begin at whole lines of 128 bytes. */
static float surplus(double pitch)
{
	long bytes = (long)fmin(fabs(pitch), 1e15);
	return bytes % 128 == 0 ? 0 : bytes % 64 == 0 ? C(p64) : bytes % 32 == 0 ? C(p32) : C(p16);
}

/* More than 2^24 count as so many: all tiles are to have a number. */
static float extent(double x)
{
	return (float)fmin(fmax(x, 1), 1 << 24);
}

CostAt cost_at(const CostProduct *p, const CostSizes *s, const CostDevice *d)
{
	CostAt at = {.m = extent(s->m),
		     .n = extent(s->n),
		     .k = extent(s->k),
		     .batch = fminf(extent(s->batch), 1 << 16)};
	float pa = surplus(s->pitch_a), pb = surplus(s->pitch_b), mb = 1e-6f * at.batch;
	float of_a = (float)p->bits_a / 8, of_b = (float)p->bits_b / 8;
	at.load_a = of_a / C(port) * (1 + pa);
	at.load_b = of_b / C(port) * (1 + pb);
	at.out_a = of_a / 128 * C(oob);
	at.out_b = of_b / 128 * C(oob);
	at.bytes = (float)(p->bits_out + p->bits_in) / 8;
	at.r_clock = 1e-3f / (float)d->clock;
	at.power = (float)d->power;
	at.first = C(first) * at.r_clock;
	at.last = C(last) * at.r_clock;
	at.r_cache = 1 / (float)d->cache;
	at.a = at.k * of_a * 1e-6f;
	at.b = at.k * of_b * 1e-6f;
	at.hbm_a = at.m * at.a * at.batch * (1 + C(pmem) * pa) / (float)d->hbm;
	at.hbm_b = at.n * at.b * at.batch * (1 + C(pmem) * pb) / (float)d->hbm;
	at.hbm_d = at.m * at.n * mb / 8 *
		   ((float)p->bits_out / (float)d->hbm_out + (float)p->bits_in / (float)d->hbm);
	at.l2_out_a = at.a * at.batch / (float)d->l2 * C(oobm);
	at.l2_out_b = at.b * at.batch / (float)d->l2 * C(oobm);
	at.l2_a = at.a * at.batch / (float)d->l2 * (1 + pa);
	at.l2_b = at.b * at.batch / (float)d->l2 * (1 + pb);
	return at;
}

/* ------------------------------------------------------------------ both */

typedef struct {
	float sm, hbm, l2; /* us */
	float step, load, loop, epilogue, end, clk;
	float tiles, per_sm;
} Parts;

/* Rounded up; r is 1 / what it is counted in. */
static inline float up(float x, float r)
{
	return (float)(int64_t)(x * r + .9999f);
}

static inline float least(float a, float b)
{
	return a < b ? a : b;
}

static inline float most(float a, float b)
{
	return a > b ? a : b;
}

static inline float root8(float x)
{
	return sqrtf(sqrtf(sqrtf(x)));
}

typedef struct {
	float mt, nt;       /* tiles along each side, whole clusters */
	float a, b;         /* rows of a tile that exist, on the average */
	float out_a, out_b; /* that do not, of all tiles of whole clusters */
	float steps, rounds;
} Tiling;

static inline Tiling tiling(const CostReady *v, const CostAt *s, Parts *p)
{
	float m = up(s->m, v->r_tile_m), n = up(s->n, v->r_tile_n), r = 1 / (m * n);
	Tiling t = {
		.mt = up(m, v->r_cluster_m) * v->cluster_m,
		.nt = up(n, v->r_cluster_n) * v->cluster_n,
		.a = s->m * n * r,
		.b = s->n * m * r,
		.steps = up(s->k, v->r_split_k),
	};
	p->tiles = t.mt * t.nt * v->split * s->batch;
	p->per_sm = up(p->tiles, v->r_held);
	t.out_a = v->tile_m - s->m / t.mt;
	t.out_b = v->tile_n - s->n / t.nt;
	t.rounds = up(p->tiles, v->r_places);
	return t;
}

/* Clocks of one step of k of a tile. */
static inline void step(const CostReady *v, const CostAt *s, const Tiling *t, Parts *p)
{
	float in = t->a * v->share_a * s->load_a + t->b * v->share_b * s->load_b;
	float out = t->out_a * s->out_a + t->out_b * s->out_b;
	p->load = (in + out) * v->tile_k;
	float l2 = p->load * p->load, l4 = l2 * l2;
	float alone = p->per_sm <= 1 ? v->alone : 1;
	p->step = root8(v->units8 + l4 * l4) * v->factor * alone + v->step;
}

/* Clocks of the busiest SM. */
static inline void clocks(const CostReady *v, const CostAt *s, const Tiling *t, Parts *p)
{
	p->loop = t->steps * most(p->step, (v->latency + p->load) * v->r_ahead);
	p->epilogue = v->epilogue + v->epilogue_byte * t->a * t->b * s->bytes;
	float half = (p->loop + p->epilogue) * .5f;
	float more =
		(v->pingpong ? most(p->loop, half) : p->loop) + v->hide * p->epilogue + v->further;
	float end = p->end = p->epilogue + v->exchange;
	float clk = p->per_sm * more;
	if (v->ctas > 1)
		clk = most(p->per_sm * t->steps * p->step + (p->per_sm - 1) * end * v->r_ctas +
				   more - p->loop,
			   t->rounds * more);
	p->clk = clk - (more - p->loop) + v->fill + end;
}

/* The clock falls with the power that the tensor cores draw, once they draw it for long. */
static inline void sm_time(const CostReady *v, const CostAt *s, const Tiling *t, Parts *p)
{
	float busy = least(p->tiles * t->steps * v->work / p->clk, 1),
	      fade = least(p->clk * 5e-6f, 1);
	p->sm = p->clk * s->r_clock * (1 + s->power * busy * busy * fade);
}

/* A row outside the tensor, which is filled with zeros, takes L2 longer than one inside. */
static inline float l2_time(const CostReady *v, const CostAt *s, const Tiling *t)
{
	float a = s->m * s->l2_a * v->r_cluster_n + (v->tile_m * t->mt - s->m) * s->l2_out_a;
	float b = s->n * s->l2_b * v->r_cluster_m + (v->tile_n * t->nt - s->n) * s->l2_out_b;
	return a * t->nt + b * t->mt;
}

/* B is swept once for each group of tile rows, A once for each round of columns; a sweep is from
 * HBM as far as what lies between two of them exceeds half of the cache. */
static inline float reads(const CostReady *v, const CostAt *s, const Tiling *t, float tiles)
{
	float once = s->hbm_a + s->hbm_b, twice = 2 * s->r_cache;
	if ((s->m * s->a + s->n * s->b) * twice <= 1)
		return once;
	float group = least(v->group, t->mt);
	float at_once = least(tiles, v->places) / (v->split * group);
	float columns = most(least(at_once, t->nt), 1), rows = group * t->a * s->a;
	float miss_a = least(most((rows + columns * t->b * s->b) * twice - 1, 0), 1);
	float miss_b = least(most((rows + s->n * s->b) * twice - 1, 0), 1);
	float a = s->hbm_a * miss_a * (most(t->nt / columns, 1) - 1);
	float b = s->hbm_b * miss_b * (most(t->mt / group, 1) - 1);
	return least(once + a + b, 8 * once);
}

static inline void memory_time(const CostReady *v, const CostAt *s, const Tiling *t, Parts *p)
{
	float apart = s->first * v->fill + s->last * p->end;
	p->hbm = reads(v, s, t, p->tiles) + s->hbm_d * v->stores + apart;
	p->l2 = l2_time(v, s, t) + apart;
}

/* The third power of all that comes after the launch: no root, where only the order counts. CTAs
 * that wait for sums in the workspace must all run at one time: else the launch is refused. */
static inline float estimate(const CostReady *v, const CostAt *s, Parts *p)
{
	Tiling t = tiling(v, s, p);
	if (p->tiles > v->most_tiles)
		return INFINITY;
	step(v, s, &t, p);
	clocks(v, s, &t, p);
	sm_time(v, s, &t, p);
	memory_time(v, s, &t, p);
	return (p->sm * p->sm * p->sm + p->hbm * p->hbm * p->hbm + p->l2 * p->l2 * p->l2) *
	       v->shared;
}

float cost_rank(const CostReady *v, const CostAt *at)
{
	Parts p;
	return estimate(v, at, &p);
}

double cost_us(const CostProduct *p, const CostVariant *v, const CostSizes *s, const CostDevice *d,
	       CostTerms *terms)
{
	CostReady r = cost_ready(p, v, d);
	CostAt at = cost_at(p, s, d);
	Parts q = {0};
	double us = d->launch + cbrt(estimate(&r, &at, &q));
	if (terms)
		*terms = (CostTerms){
			.us = us,
			.sm = q.sm,
			.hbm = q.hbm,
			.l2 = q.l2,
			.fill = r.fill * at.r_clock,
			.epilogue = q.epilogue * at.r_clock,
			.exchange = r.exchange * at.r_clock,
			.step = q.step,
			.mma = r.mma,
			.smem = r.smem,
			.load = q.load,
			.tiles = q.tiles,
			.per_sm = q.per_sm,
		};
	return us;
}
