/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* nvml.c - the clock of the SMs and the power, as NVIDIA's management library reads them. Found by
 * dlopen; without it times are as good and only these columns are missing.
 *     "0000:65:00.0"  ->  1470 MHz, 698 W */
#include "driver/bench/machine.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_SM = 1 }; /* nvmlClockType_t */

/* Data and function pointers have one size where dlsym exists (POSIX, dlsym). */
bool entry_find(void *lib, const char *name, void *f)
{
	void *p = dlsym(lib, name);
	memcpy(f, &p, sizeof p);
	return p;
}

void *library_open(const char *variable, const char *const *names, int n)
{
	const char *named = getenv(variable);
	if (named && *named)
		return dlopen(named, RTLD_NOW | RTLD_LOCAL);
	void *lib = NULL;
	for (int i = 0; i < n && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return lib;
}

static const char *entries_find(Nvml *n, const char *bus)
{
	int (*init)(void);
	int (*find)(const char *bus, void **device);
	if (!entry_find(n->lib, "nvmlInit_v2", &init) ||
	    !entry_find(n->lib, "nvmlDeviceGetHandleByPciBusId_v2", &find) ||
	    !entry_find(n->lib, "nvmlDeviceGetClockInfo", &n->clock) ||
	    !entry_find(n->lib, "nvmlDeviceGetPowerUsage", &n->power) ||
	    !entry_find(n->lib, "nvmlShutdown", &n->end))
		return "NVML is too old";
	if (init())
		return "NVML does not start";
	return find(bus, &n->device) ? "NVML does not know this GPU" : NULL;
}

void nvml_open(Nvml *n, const char *bus)
{
	static const char *const names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
	*n = (Nvml){.lib = library_open("DSLC_NVML", names, COUNTOF(names))};
	n->why = n->lib ? entries_find(n, bus) : "libnvidia-ml.so.1 cannot be loaded";
}

void nvml_read(const Nvml *n, Sample *out)
{
	unsigned mhz = 0, milliwatts = 0;
	if (n->why)
		return;
	out->mhz = n->clock(n->device, CLOCK_SM, &mhz) ? 0 : mhz;
	out->watts = n->power(n->device, &milliwatts) ? 0 : milliwatts / 1e3;
}

void nvml_close(Nvml *n)
{
	if (n->lib && !n->why)
		n->end();
	if (n->lib)
		dlclose(n->lib);
	*n = (Nvml){0};
}
