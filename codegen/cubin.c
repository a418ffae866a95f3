/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cubin.c - puts the manifest and the PTX into the ELF that ptxas wrote. Both become sections
 * after the end of the file, followed by new section names and section headers; the ELF header is
 * patched to point there. Every offset of the ELF stays, so the segments stay valid: a kernel whose
 * segments moved runs into an illegal instruction.
 *   ELF  ->  ELF | .dslc.manifest | .dslc.ptx | names | section headers
 * The manifest then gets the checksum of the whole file. */
#include "codegen/artifact.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NEW_SECTIONS = 2 };

typedef struct {
	const unsigned char *at;
	size_t size;
	Elf64_Ehdr head;
	Elf64_Shdr names; /* the section header of the section names */
} Elf;

static bool elf_range(const Elf *e, uint64_t offset, uint64_t size)
{
	return offset <= e->size && size <= e->size - offset;
}

static const char *elf_open(Elf *e, const void *bytes, size_t size)
{
	e->at = bytes;
	e->size = size;
	if (size < sizeof e->head || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return "wrote no ELF file";
	memcpy(&e->head, bytes, sizeof e->head);
	const Elf64_Ehdr *h = &e->head;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_machine != EM_CUDA)
		return "wrote an ELF file that is not a 64-bit cubin";
	if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum ||
	    h->e_shnum >= SHN_LORESERVE - NEW_SECTIONS ||
	    !elf_range(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return "wrote an ELF file whose section headers lie beyond its end";
	memcpy(&e->names, e->at + h->e_shoff + (size_t)h->e_shstrndx * sizeof e->names,
	       sizeof e->names);
	if (!elf_range(e, e->names.sh_offset, e->names.sh_size))
		return "wrote an ELF file whose section names lie beyond its end";
	return NULL;
}

static void pad(Buf *out, size_t start, size_t align)
{
	static const char zeros[16];
	size_t n = (out->n - start) % align;
	if (n)
		buf_add(out, zeros, align - n);
}

/* Appends text with its NUL as a section body; its name goes into names. */
static Elf64_Shdr section_add(Buf *out, size_t start, Buf *names, const char *name,
			      const char *text)
{
	pad(out, start, 16);
	Elf64_Shdr s = {
		.sh_name = (Elf64_Word)names->n,
		.sh_type = SHT_PROGBITS,
		.sh_offset = out->n - start,
		.sh_size = strlen(text) + 1,
		.sh_addralign = 1,
	};
	buf_add(out, text, s.sh_size);
	buf_add(names, name, strlen(name) + 1);
	return s;
}

/* The new section headers: the old ones with the name table moved, then the new ones. */
static void headers_add(Buf *out, const Elf *e, const Elf64_Shdr *names, const Elf64_Shdr *extra)
{
	const unsigned char *old = e->at + e->head.e_shoff;
	size_t size = sizeof(Elf64_Shdr), at = e->head.e_shstrndx;
	buf_add(out, (const char *)old, at * size);
	buf_add(out, (const char *)names, size);
	buf_add(out, (const char *)(old + (at + 1) * size), (e->head.e_shnum - at - 1) * size);
	buf_add(out, (const char *)extra, NEW_SECTIONS * size);
}

/* Two sections, none and the names of both, which are empty. */
void cubin_empty(Buf *out)
{
	const Elf64_Shdr sections[] = {{.sh_type = SHT_NULL},
				       {.sh_type = SHT_STRTAB,
					.sh_offset = sizeof(Elf64_Ehdr),
					.sh_size = 1,
					.sh_addralign = 1}};
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_CUDA,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof head + sizeof(uint64_t),
		.e_ehsize = sizeof head,
		.e_shentsize = sizeof *sections,
		.e_shnum = 2,
		.e_shstrndx = 1,
	};
	static const char names[sizeof(uint64_t)];
	buf_add(out, (const char *)&head, sizeof head);
	buf_add(out, names, sizeof names);
	buf_add(out, (const char *)sections, sizeof sections);
}

/* Of a file that is complete but for the digits, whose manifest is at `at`. */
static void sum_write(char *file, size_t size, size_t at, char *manifest)
{
	const size_t n = strlen(KD_SUM_NONE);
	char text[sizeof KD_SUM_NONE], *digits = strstr(manifest, KD_SUM_KEY KD_SUM_NONE);
	if (!digits)
		return;
	digits += strlen(KD_SUM_KEY);
	at += (size_t)(digits - manifest);
	uint64_t sum = kdesc_sum(KD_SUM, file, at);
	sum = kdesc_sum(sum, file + at + n, size - at - n);
	snprintf(text, sizeof text, "%016" PRIx64, sum);
	memcpy(file + at, text, n);
	memcpy(digits, text, n);
}

const char *cubin_append(const void *elf, size_t size, char *manifest, const char *ptx, Buf *out)
{
	Elf e;
	const char *wrong = elf_open(&e, elf, size);
	if (wrong)
		return wrong;
	size_t start = out->n;
	Buf names = {0};
	buf_add(&names, (const char *)e.at + e.names.sh_offset, e.names.sh_size);
	buf_add(out, elf, size);
	Elf64_Shdr extra[NEW_SECTIONS];
	extra[0] = section_add(out, start, &names, ".dslc.manifest", manifest);
	extra[1] = section_add(out, start, &names, ".dslc.ptx", ptx);
	Elf64_Shdr moved = e.names;
	moved.sh_offset = out->n - start;
	moved.sh_size = names.n;
	buf_add(out, names.s, names.n);
	pad(out, start, 16);
	Elf64_Ehdr head = e.head;
	head.e_shoff = out->n - start;
	head.e_shnum = (Elf64_Half)(head.e_shnum + NEW_SECTIONS);
	headers_add(out, &e, &moved, extra);
	memcpy(out->s + start, &head, sizeof head);
	sum_write(out->s + start, out->n - start, extra[0].sh_offset, manifest);
	buf_free(&names);
	return NULL;
}
