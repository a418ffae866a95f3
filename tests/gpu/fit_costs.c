/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fit_costs.c - the formula of runtime/cost.c with other constants, for fit_costs.py:
 *     cc -O2 -shared -fPIC -I. tests/gpu/fit_costs.c -o fit_costs.so -lm */
#include "runtime/cost.c"

#define OF_DEVICE(X) X(clock) X(power) X(launch) X(l2) X(hbm) X(hbm_out) X(cache)

#define COST(name, ...) #name,
#define NAME(name)      #name,
const char *const fit_names[] = {
#include "runtime/costs.def"
	OF_DEVICE(NAME) NULL};

#define COST(name, value, sigma, ...) sigma,
#define SIGMA(name)                   .3,
const double fit_sigma[] = {
#include "runtime/costs.def"
	OF_DEVICE(SIGMA)};

static const CostProduct bf16 = {16, 16, 16, 16, 0};

/* M N K, then what a CostVariant has, in its order. */
typedef struct {
	double m, n, k, tile_m, tile_n, tile_k, warpgroups, stages, roles, persistent, swap, group;
	double cluster_m, cluster_n, split, workspace, ctas;
} Point;

static CostVariant variant_of(const Point *p)
{
	return (CostVariant){
		.tile_m = (int)p->tile_m,
		.tile_n = (int)p->tile_n,
		.tile_k = (int)p->tile_k,
		.warpgroups = (int)p->warpgroups,
		.stages = (int)p->stages,
		.roles = (int)p->roles,
		.persistent = (int)p->persistent,
		.swap = (int)p->swap,
		.group = (int)p->group,
		.cluster_m = (int)p->cluster_m,
		.cluster_n = (int)p->cluster_n,
		.split = (int)p->split,
		.workspace = (int)p->workspace,
		.ctas = (int)p->ctas,
	};
}

void fit_start(const char *device, double *value);
void fit_us(const char *device, const double *value, const Point *points, int n, double *us);

/* The constants of the tables, in the order of fit_names; a device by its name. */
void fit_start(const char *device, double *value)
{
	CostDevice d = cost_device(device, 0, 0, 0);
	memcpy(value, constants, sizeof constants);
	value += C_COUNT;
#define GET(name) *value++ = d.name;
	OF_DEVICE(GET)
}

void fit_us(const char *device, const double *value, const Point *points, int n, double *us)
{
	CostDevice d = cost_device(device, 0, 0, 0);
	memcpy(constants, value, sizeof constants);
	value += C_COUNT;
#define SET(name) d.name = *value++;
	OF_DEVICE(SET)
	for (int i = 0; i < n; i++) {
		const Point *p = &points[i];
		CostVariant v = variant_of(p);
		CostSizes s = {p->m, p->n, p->k, 1, p->k * 2, p->k * 2};
		us[i] = cost_us(&bf16, &v, &s, &d, NULL);
	}
}
