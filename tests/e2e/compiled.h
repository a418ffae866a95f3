/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled.h - a source compiled in this process, on $DSL_TEST_DEVICE or a simulator. */
#ifndef DSL_TESTS_E2E_COMPILED_H
#define DSL_TESTS_E2E_COMPILED_H

#include "driver/dslc.h"
#include "runtime/dsl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* False: it does not compile, or there is no such device, or it does not load it. What was made is
 * the caller's. */
static inline bool compiled_open(const char *source, const char *simulator, dslc_result **result,
				 dsl_device **dev, dsl_module **mod)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	size_t size;
	*result = dslc_compile(source, strlen(source), NULL);
	const char *cubin = dslc_output(*result, DSLC_CUBIN, &size);
	return cubin && !dsl_device_open(name ? name : simulator, dev) &&
	       !dsl_module_load_data(*dev, cubin, size, mod);
}

#endif
