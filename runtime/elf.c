/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elf.c - finds a section in a cubin in memory. Every offset is checked before it is followed, so a
 * file that is cut short, damaged or not a cubin at all gives a status and nothing else.
 * The sections that dslc adds are text with a NUL at the end. */
#include "runtime/rt.h"

#include <elf.h>
#include <string.h>

enum { MACHINE_CUDA = 190 }; /* EM_CUDA */

typedef struct {
	const unsigned char *at;
	size_t size;
	Elf64_Ehdr head;
} Cubin;

static bool in_range(const Cubin *c, uint64_t offset, uint64_t size)
{
	return offset <= c->size && size <= c->size - offset;
}

static dsl_status cubin_open(const Why *w, Cubin *c, const void *bytes, size_t size)
{
	*c = (Cubin){.at = bytes, .size = size};
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return why_fail(w, DSL_ERR_NOT_CUBIN, "the %zu bytes do not start as an ELF file",
				size);
	if (size < sizeof c->head)
		return why_fail(w, DSL_ERR_DAMAGED,
				"the file ends inside its ELF header (%zu bytes)", size);
	memcpy(&c->head, bytes, sizeof c->head);
	const Elf64_Ehdr *h = &c->head;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_machine != MACHINE_CUDA)
		return why_fail(w, DSL_ERR_NOT_CUBIN,
				"an ELF file for machine %d, not a CUDA cubin", (int)h->e_machine);
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum ||
	    !in_range(c, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return why_fail(w, DSL_ERR_DAMAGED,
				"the section headers lie outside the file of %zu bytes", size);
	return DSL_OK;
}

static Elf64_Shdr section_at(const Cubin *c, size_t i)
{
	Elf64_Shdr s;
	memcpy(&s, c->at + c->head.e_shoff + i * sizeof s, sizeof s);
	return s;
}

static bool name_is(const Cubin *c, const Elf64_Shdr *names, uint32_t at, const char *name)
{
	size_t n = strlen(name) + 1;
	return at < names->sh_size && n <= names->sh_size - at &&
	       memcmp(c->at + names->sh_offset + at, name, n) == 0;
}

static dsl_status section_text(const Why *w, const Cubin *c, const Elf64_Shdr *s, const char *name,
			       const char **data, size_t *data_size)
{
	if (s->sh_type != SHT_PROGBITS || s->sh_size == 0 || !in_range(c, s->sh_offset, s->sh_size))
		return why_fail(w, DSL_ERR_DAMAGED, "section %s lies outside the file of %zu bytes",
				name, c->size);
	const char *text = (const char *)c->at + s->sh_offset;
	if (memchr(text, 0, s->sh_size) != text + s->sh_size - 1)
		return why_fail(w, DSL_ERR_DAMAGED, "section %s is not a text with its NUL", name);
	*data = text;
	*data_size = s->sh_size - 1;
	return DSL_OK;
}

dsl_status elf_section(const Why *w, const void *bytes, size_t size, const char *name,
		       const char **data, size_t *data_size)
{
	Cubin c;
	dsl_status st = cubin_open(w, &c, bytes, size);
	if (st)
		return st;
	Elf64_Shdr names = section_at(&c, c.head.e_shstrndx);
	if (!in_range(&c, names.sh_offset, names.sh_size))
		return why_fail(w, DSL_ERR_DAMAGED, "the section names lie outside the file");
	for (size_t i = 0; i < c.head.e_shnum; i++) {
		Elf64_Shdr s = section_at(&c, i);
		if (name_is(&c, &names, s.sh_name, name))
			return section_text(w, &c, &s, name, data, data_size);
	}
	return why_fail(w, DSL_ERR_NO_MANIFEST, "the cubin has no section %s", name);
}

dsl_status dsl_cubin_section(const void *bytes, size_t size, const char *name, const char **data,
			     size_t *data_size)
{
	if (!bytes)
		return detail_null("dsl_cubin_section", "bytes");
	if (!name || !data || !data_size)
		return detail_null("dsl_cubin_section", "name, data or data_size");
	Why w = why_thread();
	return elf_section(&w, bytes, size, name, data, data_size);
}
