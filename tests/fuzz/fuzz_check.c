/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz_check - any bytes as textual IR, and what parses at the ptx stage goes to the pipeline
 * verifier: it proves, or it says why not. */
#include "verify/check.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Buf messages = {0};
	Ctx *c = ctx_new();
	Module *m = module_parse(c, ctx_src(c, "fuzz.ir", (const char *)data, size));
	for (int i = 0; m && i < m->kernels.n; i++) {
		CheckResult r;
		if (m->kernels.at[i]->stage != ST_PTX)
			continue;
		if (check_kernel(m->kernels.at[i], NULL, &r) != CHECK_PROVED && !r.why)
			abort();
	}
	diag_text(c, &messages, false);
	buf_free(&messages);
	ctx_free(c);
	return 0;
}
