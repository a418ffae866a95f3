/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cubin.c - sections appended to a cubin and found again; files cut, damaged or foreign. */
#include "sample.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void sections_come_back(void **state)
{
	(void)state;
	Buf elf = {0}, out = {0};
	const char *data;
	size_t size;
	sample_elf(190, &elf);
	buf_add(&out, "before", 6);
	assert_null(cubin_append(elf.s, elf.n, "{manifest}", "ptx text", &out));
	const char *cubin = out.s + 6;
	size_t n = out.n - 6;
	assert_status(dsl_cubin_section(cubin, n, ".dslc.manifest", &data, &size), DSL_OK);
	assert_string_equal(data, "{manifest}");
	assert_int_equal(size, strlen("{manifest}"));
	assert_status(dsl_cubin_section(cubin, n, ".dslc.ptx", &data, &size), DSL_OK);
	assert_string_equal(data, "ptx text");
	assert_status(dsl_cubin_section(cubin, n, ".dslc.none", &data, &size), DSL_ERR_NO_MANIFEST);
	buf_free(&elf);
	buf_free(&out);
}

/* Sections come back from an ELF without code too. */
static void empty_has_sections(void **state)
{
	(void)state;
	Buf elf = {0}, out = {0};
	const char *data;
	size_t size;
	cubin_empty(&elf);
	assert_null(cubin_append(elf.s, elf.n, "{manifest}", "ptx text", &out));
	assert_status(dsl_cubin_section(out.s, out.n, ".dslc.ptx", &data, &size), DSL_OK);
	assert_string_equal(data, "ptx text");
	assert_status(dsl_cubin_section(out.s, out.n, ".text", &data, &size), DSL_ERR_NO_MANIFEST);
	buf_free(&elf);
	buf_free(&out);
}

/* All bytes of the old file stay where they are, but for the three header fields. */
static void old_bytes_stay(void **state)
{
	(void)state;
	Buf elf = {0}, out = {0};
	sample_elf(190, &elf);
	assert_null(cubin_append(elf.s, elf.n, "m", "p", &out));
	Elf64_Ehdr *old = (Elf64_Ehdr *)(void *)elf.s, head;
	memcpy(&head, out.s, sizeof head);
	assert_int_equal(head.e_shnum, old->e_shnum + 2);
	assert_int_equal(head.e_shoff % 8, 0);
	head.e_shnum = old->e_shnum;
	head.e_shoff = old->e_shoff;
	assert_memory_equal(&head, old, sizeof head);
	assert_memory_equal(out.s + sizeof head, elf.s + sizeof head, elf.n - sizeof head);
	buf_free(&elf);
	buf_free(&out);
}

static void append_refuses_what_is_no_elf(void **state)
{
	(void)state;
	Buf elf = {0}, out = {0};
	sample_elf(190, &elf);
	for (size_t n = 0; n < elf.n; n++) {
		char *copy = malloc(n ? n : 1);
		assert_non_null(copy);
		memcpy(copy, elf.s, n);
		assert_non_null(cubin_append(copy, n, "m", "p", &out));
		assert_int_equal(out.n, 0);
		free(copy);
	}
	elf.s[EI_CLASS] = ELFCLASS32;
	assert_non_null(cubin_append(elf.s, elf.n, "m", "p", &out));
	buf_free(&elf);
	buf_free(&out);
}

static void cut_short_anywhere(void **state)
{
	(void)state;
	Sample s;
	Buf cubin = {0};
	sample_fill(&s);
	sample_cubin_write(&s.module, &cubin);
	for (size_t n = 0; n < cubin.n; n++) {
		const char *data;
		size_t size;
		char *copy = malloc(n ? n : 1);
		assert_non_null(copy);
		memcpy(copy, cubin.s, n);
		assert_status(dsl_cubin_section(copy, n, ".dslc.manifest", &data, &size),
			      n < 4 ? DSL_ERR_NOT_CUBIN : DSL_ERR_DAMAGED);
		free(copy);
	}
	buf_free(&cubin);
}

/* Damages the parts of the file that are followed: its header and its section headers. */
static void damaged_headers(void **state)
{
	(void)state;
	Sample s;
	Buf cubin = {0};
	uint32_t u = 3;
	int refused = 0;
	sample_fill(&s);
	sample_cubin_write(&s.module, &cubin);
	size_t tail = 5 * sizeof(Elf64_Shdr);
	for (int i = 0; i < 20000; i++) {
		char *copy = malloc(cubin.n);
		const char *data;
		size_t size;
		assert_non_null(copy);
		memcpy(copy, cubin.s, cubin.n);
		u = u * 1664525 + 1013904223;
		size_t at = (u >> 5) % (sizeof(Elf64_Ehdr) + tail);
		at = at < sizeof(Elf64_Ehdr) ? at : cubin.n - 1 - (at - sizeof(Elf64_Ehdr));
		copy[at] ^= (char)(1 << (u >> 29));
		dsl_status st = dsl_cubin_section(copy, cubin.n, ".dslc.manifest", &data, &size);
		if (!st)
			assert_true(data >= copy && data + size < copy + cubin.n &&
				    data[size] == 0);
		refused += st != DSL_OK;
		free(copy);
	}
	assert_true(refused > 1000);
	buf_free(&cubin);
}

static void foreign_files(void **state)
{
	(void)state;
	Buf elf = {0}, host = {0};
	const char *data;
	size_t size;
	sample_elf(190, &elf);
	assert_status(dsl_cubin_section(elf.s, elf.n, ".dslc.manifest", &data, &size),
		      DSL_ERR_NO_MANIFEST);
	sample_elf(62, &host);
	assert_status(dsl_cubin_section(host.s, host.n, ".dslc.manifest", &data, &size),
		      DSL_ERR_NOT_CUBIN);
	assert_says(dsl_detail(), "machine 62", NULL);
	assert_status(dsl_cubin_section("//\n.version 9.0", 15, ".dslc.manifest", &data, &size),
		      DSL_ERR_NOT_CUBIN);
	assert_status(dsl_cubin_section(NULL, 4, "x", &data, &size), DSL_ERR_INVALID);
	assert_status(dsl_cubin_section("", 0, NULL, &data, &size), DSL_ERR_INVALID);
	buf_free(&elf);
	buf_free(&host);
}

/* The key of the checksum; with another, the file is one of an older dslc. */
static char *sum_key(Buf *cubin)
{
	char *at = cubin->s;
	while (memcmp(at, KD_SUM_KEY, strlen(KD_SUM_KEY)) != 0)
		at++;
	return at;
}

/* One bit of any byte: the module is refused, or the bit is one of that key. */
static void one_bit_is_seen(void **state)
{
	(void)state;
	Sample s;
	Buf cubin = {0};
	dsl_module *mod;
	fake_reset();
	dsl_device *dev = device_open();
	sample_fill(&s);
	sample_cubin_write(&s.module, &cubin);
	size_t key = (size_t)(sum_key(&cubin) - cubin.s);
	for (size_t i = 0; i < cubin.n; i++) {
		bool in_key = i >= key && i < key + strlen(KD_SUM_KEY);
		cubin.s[i] ^= (char)(1 << i % 8);
		dsl_status st = dsl_module_load_data(dev, cubin.s, cubin.n, &mod);
		assert_true(st || in_key);
		cubin.s[i] ^= (char)(1 << i % 8);
	}
	assert_status(dsl_module_load_data(dev, cubin.s, cubin.n, &mod), DSL_OK);
	dsl_device_close(dev);
	buf_free(&cubin);
}

static void without_a_checksum(void **state)
{
	(void)state;
	Sample s;
	Buf cubin = {0};
	dsl_module *mod;
	fake_reset();
	dsl_device *dev = device_open();
	sample_fill(&s);
	sample_cubin_write(&s.module, &cubin);
	cubin.s[sizeof(Elf64_Ehdr)] ^= 1; /* in its code */
	assert_status(dsl_module_load_data(dev, cubin.s, cubin.n, &mod), DSL_ERR_DAMAGED);
	assert_says(dsl_detail(), "changed since dslc wrote it", "checksum is", "says", NULL);
	sum_key(&cubin)[1] = 'x';
	assert_status(dsl_module_load_data(dev, cubin.s, cubin.n, &mod), DSL_OK);
	dsl_device_close(dev);
	buf_free(&cubin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_come_back),
		cmocka_unit_test(empty_has_sections),
		cmocka_unit_test(old_bytes_stay),
		cmocka_unit_test(append_refuses_what_is_no_elf),
		cmocka_unit_test(cut_short_anywhere),
		cmocka_unit_test(damaged_headers),
		cmocka_unit_test(foreign_files),
		cmocka_unit_test(one_bit_is_seen),
		cmocka_unit_test(without_a_checksum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
