/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* desc.h - kernel descriptions (kdesc.h) for the rooms and tests beside the runtime; not installed
 * and not part of the ABI: host programs read the manifest, which is text.
 *   dsl_desc_parse(manifest, size, &d);  d->kernels[0].nargs;  dsl_desc_free(d); */
#ifndef DSL_RUNTIME_DESC_H
#define DSL_RUNTIME_DESC_H

#include "runtime/dsl.h"
#include "runtime/kdesc.h"

/* module.c: lives as long as mod. */
const KModuleDesc *dsl_module_desc(const dsl_module *mod);

/* manifest.c: the description that a manifest text holds. Free with dsl_desc_free. */
dsl_status dsl_desc_parse(const char *manifest, size_t size, KModuleDesc **out);
void dsl_desc_free(KModuleDesc *desc);

/* expr.c: "M 127 + 128 /" as "(M + 127) / 128", cut where it does not fit. */
void dsl_desc_infix(const char *postfix, char *out, size_t n);

/* launch.c: as dsl_manifest_can_run. */
dsl_status dsl_desc_can_run(const KDesc *kernel, const dsl_arg *args, size_t n, char *why,
			    size_t len);

#endif
