/* Any text as PTX: it is refused with a line and a reason, or decoded, and then a kernel without
 * parameters of its own may run for a while. Never a crash. */
#include "runtime/sim/sim.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void kernel_run(struct Memory *m, struct SimModule *mod, const char *name)
{
	_Alignas(64) unsigned char params[4096] = {0};
	char why[256];
	SimResult result;
	SimLaunch l = {.module = mod,
		       .kernel = name,
		       .grid = {1, 1, 1},
		       .block = {64, 1, 1},
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
	SimOptions o = {.seed = 1, .checks = CHECK_ALL, .threads = 1, .max_steps = 2000};
	if (sim_run(m, &l, &o, &result, why, sizeof why))
		sim_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[600];
	struct Memory *m = sim_memory_new();
	struct SimModule *mod = m ? sim_load(m, (const char *)data, size, why, sizeof why) : NULL;
	for (u32 i = 0; mod && i < sim_kernel_count(mod); i++)
		kernel_run(m, mod, sim_kernel_name(mod, i));
	sim_unload(mod);
	sim_memory_free(m);
	return 0;
}
