/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each form of forms.def as a kernel of its own: it loads, and nothing of it is unknown.
 *   test_sim_forms --ptx      prints one module of them all, which ptxas has to take */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static const char *const forms[] = {
#define FORM(text) text,
#include "forms.def"
};

static const char head[] = ".version 9.0\n.target sm_90a\n.address_size 64\n.const .u32 c;\n";

static void form_print(FILE *f, u32 i)
{
	fprintf(f,
		".visible .entry k%u(.param .u64 p)\n{\n.reg .b64 %%d<20>;\n.reg .b32 %%r<20>;\n"
		".reg .b16 %%h<20>;\n.reg .pred %%p<8>;\n.reg .f32 %%f<20>;\n.reg .f64 %%e<20>;\n"
		".shared .align 1024 .b8 sm[8192];\nld.param.u64 %%d0, [p];\n%s;\nret;\n}\n",
		i, forms[i]);
}

static bool form_known(u32 i)
{
	char *text = NULL, why[600], name[16];
	const char *what = NULL;
	size_t size = 0;
	int line;
	FILE *f = open_memstream(&text, &size);
	fputs(head, f);
	form_print(f, i);
	fclose(f);
	struct Memory *m = sim_memory_new();
	struct SimModule *mod = sim_load(m, text, size, why, sizeof why);
	snprintf(name, sizeof name, "k%u", i);
	bool known = mod && !sim_kernel_lacks(mod, name, &what, &line);
	if (!known)
		print_message("%s: %s\n", forms[i], mod ? what : why);
	sim_unload(mod);
	sim_memory_free(m);
	free(text);
	return known;
}

static void each_form(void **state)
{
	int unknown = 0;
	(void)state;
	for (u32 i = 0; i < SIM_COUNT(forms); i++)
		unknown += !form_known(i);
	assert_int_equal(unknown, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_form)};
	if (argc < 2 || strcmp(argv[1], "--ptx") != 0)
		return cmocka_run_group_tests(tests, NULL, NULL);
	fputs(head, stdout);
	for (u32 i = 0; i < SIM_COUNT(forms); i++)
		form_print(stdout, i);
	return 0;
}
