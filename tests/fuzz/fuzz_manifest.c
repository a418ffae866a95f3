/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_manifest.c - any bytes as a cubin and as a manifest: both are refused with a status or
 * taken, and what is taken can be asked whether it runs on any numbers. */
#include "runtime/desc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static dsl_arg argument(const KArg *a, int64_t v)
{
	if (a->kind == KA_TENSOR)
		return dsl_arg_ptr(a->name, (dsl_addr)v * 16);
	if (a->elem == EL_F32 || a->elem == EL_BF16)
		return dsl_arg_float(a->name, (double)v);
	return dsl_arg_int(a->name, v);
}

static void try_kernel(const KDesc *k, const void *manifest, size_t size)
{
	static const int64_t values[] = {0, 1, 8, 4096, INT64_C(1) << 40, INT64_MAX, -1, INT64_MIN};
	dsl_arg args[KD_MAX_ARGS + KD_MAX_SYMS];
	char why[100] = "";
	for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
		size_t n = 0;
		for (int i = 0; i < k->nargs; i++)
			args[n++] = argument(&k->args[i], values[v]);
		for (int i = 0; i < k->nsyms; i++)
			args[n++] = dsl_arg_int(k->syms[i], values[(v + (size_t)i) % 6]);
		if (dsl_desc_can_run(k, args, n, why, sizeof why) != DSL_OK && !*why)
			abort();
		if (k->cost.family)
			dsl_manifest_choice(manifest, size, k->name, args, n, why, sizeof why);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct KModuleDesc *d = NULL;
	const char *section;
	size_t n;
	if (dsl_cubin_section(data, size, ".dslc.manifest", &section, &n) == DSL_OK &&
	    strlen(section) != n)
		abort();
	if (dsl_desc_parse((const char *)data, size, &d) != DSL_OK)
		return 0;
	for (int i = 0; i < d->nkernels; i++)
		try_kernel(&d->kernels[i], data, size);
	dsl_desc_free(d);
	return 0;
}
