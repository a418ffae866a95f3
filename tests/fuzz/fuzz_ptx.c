/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as PTX: it is refused with a line and a reason, or decoded, and then its kernels run for
 * a while: the first parameters are the address of one array, a tensor map of it follows at 64, the
 * rest is zeros. Never a crash, whatever is reported. */
#include "sim/sim.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARRAY = 4096, PARAMS = 4096, STEPS = 4000, MOST_KERNELS = 4 };

static void params_fill(struct Memory *m, unsigned char *params)
{
	u64 at = sim_alloc(m, ARRAY);
	SimMap map = {.base = at,
		      .rank = 2,
		      .elem = SIM_F32,
		      .dims = {32, 8},
		      .strides = {128},
		      .box = {32, 8}};
	for (u32 i = 0; i < 8; i++)
		memcpy(params + 8 * i, &at, 8);
	if (at)
		sim_map_encode(&map, params + 64);
}

static void kernel_run(struct Memory *m, struct SimModule *mod, const char *name)
{
	_Alignas(64) unsigned char params[PARAMS] = {0};
	char why[256];
	SimResult result;
	SimLaunch l = {.module = mod,
		       .kernel = name,
		       .grid = {1, 1, 1},
		       .block = {128, 1, 1},
		       .params = params,
		       .param_bytes = sizeof params,
		       .dynamic_bytes = 4096};
	u32 bounds[3];
	sim_kernel_bounds(mod, name, bounds, l.cluster);
	for (int i = 0; i < 3; i++) {
		if (l.cluster[i] > 4)
			return;
		l.grid[i] = l.cluster[i] ? l.cluster[i] : 1;
	}
	params_fill(m, params);
	SimOptions o = {.seed = 1, .checks = CHECK_ALL, .threads = 1, .max_steps = STEPS};
	if (sim_run(m, &l, &o, &result, why, sizeof why))
		sim_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[600];
	struct Memory *m = sim_memory_new();
	struct SimModule *mod = m ? sim_load(m, (const char *)data, size, why, sizeof why) : NULL;
	const char *name;
	for (u32 i = 0; mod && i < MOST_KERNELS && (name = sim_kernel_name(mod, i)); i++)
		kernel_run(m, mod, name);
	sim_unload(mod);
	sim_memory_free(m);
	return 0;
}
