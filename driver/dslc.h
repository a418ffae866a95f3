/* dslc.h - the compiler as a library. No globals, no exit, no printing, no file left behind; two
 * compilations may run in two threads. C99 and C++11. */
#ifndef DSLC_H
#define DSLC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dslc_options {
	size_t size;		     /* sizeof(dslc_options): later versions add members at the end */
	const char *name;	     /* of the source, for messages; NULL: "<memory>" */
	const char *target;	     /* NULL: "sm_90a" */
	const char *const *defines;  /* "NAME=VALUE" */
	size_t ndefines;
	const char *ptxas_path;	     /* NULL: searched as the tool does */
	const char *const *ptxas_args;
	size_t nptxas_args;
	int opt_level;		     /* 0..3 */
	int ptxas_timeout_s;	     /* 0: 120 */
	int emit;		     /* DSLC_CUBIN | DSLC_PTX | ...; 0: DSLC_CUBIN */
} dslc_options;

enum { DSLC_CUBIN = 1, DSLC_PTX = 2, DSLC_LLVM = 4, DSLC_MANIFEST = 8, DSLC_IR = 16, DSLC_HEADER = 32 };

typedef struct dslc_result dslc_result; /* owned by the caller: dslc_result_free */

/* Never NULL unless memory is out. dslc_ok tells whether there is output. */
dslc_result *dslc_compile(const char *source, size_t size, const dslc_options *opt);
int dslc_ok(const dslc_result *r);
int dslc_exit_code(const dslc_result *r);		   /* what the tool would exit with */
const void *dslc_output(const dslc_result *r, int what, size_t *size); /* NULL if not asked for */
const char *dslc_diagnostics(const dslc_result *r, int json); /* "" when there are none */
void dslc_result_free(dslc_result *r);
const char *dslc_version(void);

#ifdef __cplusplus
}
#endif
#endif
