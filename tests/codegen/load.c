/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* load.c - textual IR for the tests, and a look into what ptxas wrote. */
#include "load.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

Module *load_text(Ctx *c, const char *name, const char *text)
{
	Module *m = module_parse(c, ctx_src(c, name, text, strlen(text)));
	for (int i = 0; m && i < m->kernels.n; i++) {
		const char *why;
		if (!kernel_verify(m->kernels.at[i], &why)) {
			fprintf(stderr, "%s: %s\n", name, why);
			return NULL;
		}
		kernel_freeze(m->kernels.at[i]);
	}
	if (!m) {
		Buf b = {0};
		diag_text(c, &b, false);
		fprintf(stderr, "%s", b.s ? b.s : "no module and no reason\n");
		buf_free(&b);
	}
	return m;
}

Module *load_file(Ctx *c, const char *path)
{
	Buf b = {0};
	char part[4096];
	const char *name = strrchr(path, '/');
	FILE *f = fopen(path, "rb");
	for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
		buf_add(&b, part, n);
	if (f)
		fclose(f);
	if (!b.s)
		fprintf(stderr, "%s cannot be read\n", path);
	Module *m = b.s ? load_text(c, name ? name + 1 : path, b.s) : NULL;
	buf_free(&b);
	return m;
}

size_t cubin_code(const void *cubin, size_t size, const unsigned char **code)
{
	const unsigned char *at = cubin;
	Elf64_Ehdr head;
	Elf64_Shdr names, s;
	if (size < sizeof head)
		return 0;
	memcpy(&head, at, sizeof head);
	memcpy(&names, at + head.e_shoff + (size_t)head.e_shstrndx * sizeof names, sizeof names);
	for (size_t i = 0; i < head.e_shnum; i++) {
		memcpy(&s, at + head.e_shoff + i * sizeof s, sizeof s);
		const char *name = (const char *)at + names.sh_offset + s.sh_name;
		if (strncmp(name, ".text.", 6) != 0)
			continue;
		*code = at + s.sh_offset;
		return s.sh_size / 16;
	}
	return 0;
}
