/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* repack.c - the kernel that copies tensors into padded rows, on the simulator (or on the device
 * that DSL_TEST_DEVICE names): each row of the copy is the tensor's, and no byte outside the tensor
 * is read, none outside the workspace is written: both allocations are exact. */
#include "runtime/rt.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct {
	int bits, rank, offset;
	uint64_t dims[KD_MAX_RANK], strides[KD_MAX_RANK - 1];
} Case;

static dsl_device *open_device(void)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	dsl_device *dev = NULL;
	if (dsl_device_open(name ? name : "sim", &dev) || repack_load(dev))
		fail_msg("%s", dsl_detail());
	return dev;
}

/* A kernel that reads n tensors by a map each. */
static void describe(KDesc *k, Plan *p, Launch *l, const Case *c, int n)
{
	memset(k, 0, sizeof *k);
	memset(l, 0, sizeof *l);
	k->name = "k";
	k->nmaps = k->nargs = n;
	for (int i = 0; i < n; i++) {
		Elem e = c[i].bits == 8 ? EL_E4M3 : c[i].bits == 16 ? EL_BF16 : EL_F32;
		k->args[i] = (KArg){.name = "T", .elem = e, .rank = c[i].rank};
		k->maps[i] = (KMap){.arg = i, .elem = e, .rank = c[i].rank, .copy = 1};
		l->made[i] = 1;
		memcpy(l->maps[i].dims, c[i].dims, sizeof c[i].dims);
		memcpy(l->maps[i].strides, c[i].strides, sizeof c[i].strides);
	}
	p->k = k;
	l->plan = p;
}

static uint64_t span(const Case *c)
{
	uint64_t n = c->dims[0] * (uint64_t)c->bits / 8;
	for (int d = 1; d < c->rank; d++)
		n += (c->dims[d] - 1) * c->strides[d - 1];
	return n;
}

/* Row number r counts along mode 1 first. */
static uint64_t row_at(const Case *c, const MapGeom *g, uint64_t r)
{
	uint64_t at = 0;
	for (int d = 1; d < c->rank; d++) {
		at += r % c->dims[d] * g->strides[d - 1];
		r /= c->dims[d];
	}
	return at;
}

static void compare(const Case *c, const Copy *copy, const unsigned char *from,
		    const unsigned char *to)
{
	uint64_t rows = 1, len = c->dims[0] * (uint64_t)c->bits / 8;
	for (int d = 1; d < c->rank; d++)
		rows *= c->dims[d];
	for (uint64_t r = 0; r < rows; r++)
		if (memcmp(from + row_at(c, &copy->from, r), to + row_at(c, &copy->to, r), len) !=
		    0)
			fail_msg("%d bits, %llu x %llu, offset %d: row %llu differs", c->bits,
				 (unsigned long long)c->dims[0], (unsigned long long)c->dims[1],
				 c->offset, (unsigned long long)r);
}

static unsigned char *noise(size_t n)
{
	static uint32_t seed = 1;
	unsigned char *at = malloc(n);
	assert_non_null(at);
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		at[i] = (unsigned char)(seed >> 24);
	}
	return at;
}

/* All tensors of the list by one launch. */
static void run(dsl_device *dev, const Case *c, int n)
{
	KDesc k;
	Plan p;
	Launch l;
	Why w = why_thread();
	dsl_addr at[KD_MAX_MAPS], space;
	unsigned char *host[KD_MAX_MAPS];
	describe(&k, &p, &l, c, n);
	for (int i = 0; i < n; i++) {
		size_t bytes = span(&c[i]) + (size_t)c[i].offset;
		host[i] = noise(bytes);
		assert_int_equal(dsl_mem_alloc(dev, bytes, &at[i]), DSL_OK);
		assert_int_equal(dsl_copy_in(dev, at[i], host[i], bytes), DSL_OK);
		l.maps[i].base = at[i] + (uint64_t)c[i].offset;
		assert_int_equal(copy_add(&w, &l, i), DSL_OK);
	}
	assert_int_equal(dsl_mem_alloc(dev, l.workspace, &space), DSL_OK);
	if (repack_launch(dev, &l, space, true) || dsl_sync(dev))
		fail_msg("%s", dsl_detail());
	unsigned char *got = noise(l.workspace);
	assert_int_equal(dsl_copy_out(dev, got, space, l.workspace), DSL_OK);
	for (int i = 0; i < n; i++) {
		assert_true(l.maps[i].base == space + l.copies[i].to.base);
		assert_true(l.maps[i].base % 128 == 0);
		compare(&c[i], &l.copies[i], host[i] + c[i].offset, got + l.copies[i].to.base);
		free(host[i]);
		dsl_mem_free(dev, at[i]);
	}
	free(got);
	dsl_mem_free(dev, space);
}

/* Every offset from 16 bytes, every length about a unit's. */
static void every_offset_and_length(void **state)
{
	dsl_device *dev = open_device();
	(void)state;
	for (int bits = 8; bits <= 32; bits *= 2)
		for (int offset = 0; offset < 16; offset += bits / 8)
			for (uint64_t n = 1; n <= 36 * 8 / (uint64_t)bits; n += 1 + (n > 20)) {
				uint64_t pitch = (n + 1) * (uint64_t)bits / 8;
				Case c = {bits, 2, offset, {n, 3}, {pitch}};
				run(dev, &c, 1);
			}
	dsl_device_close(dev);
}

static void ranks_and_batches(void **state)
{
	static const Case rows[] = {
		{16, 1, 2, {700}, {0}},
		{16, 2, 0, {137, 133}, {274}},
		{16, 2, 0, {136, 33}, {274}},
		{16, 2, 6, {4099, 5}, {8198}},
		{8, 3, 1, {19, 7, 5}, {21, 150}},
		{8, 3, 0, {19, 5, 7}, {150, 21}},
		{32, 3, 4, {9, 11, 3}, {36, 0}},
		{16, 3, 0, {9, 11, 1}, {18, 0}},
		{8, 4, 3, {33, 3, 2, 5}, {34, 103, 207}},
		{16, 5, 2, {3, 5, 2, 3, 4}, {6, 30, 62, 188}},
		{16, 5, 2, {3, 5, 2, 3, 4}, {8, 0, 40, 0}},
		{16, 2, 2, {1, 3000}, {2}},
		{8, 2, 0, {1, 1}, {1}},
		{16, 2, 0, {64, 100}, {2}}, /* windows that overlap */
	};
	dsl_device *dev = open_device();
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++)
		run(dev, &rows[i], 1);
	run(dev, rows, COUNTOF(rows)); /* several launches of four */
	dsl_device_close(dev);
}

/* More units than the device holds threads: each takes many, in steps that carry along all modes.
 */
static void many_units(void **state)
{
	const char *name = getenv("DSL_TEST_DEVICE");
	dsl_device *dev = NULL;
	static const Case rows[] = {
		{16, 2, 2, {1001, 70}, {2002}},
		{8, 4, 5, {37, 13, 11, 7}, {38, 499, 5501}},
		{32, 2, 4, {3, 4500}, {20}},
		{16, 5, 2, {3, 3, 2, 2, 300}, {8, 26, 54, 110}},
	};
	(void)state;
	if (dsl_device_open(name ? name : "sim:sms=1", &dev) || repack_load(dev))
		fail_msg("%s", dsl_detail());
	for (size_t i = 0; i < COUNTOF(rows); i++)
		run(dev, &rows[i], 1);
	run(dev, rows, COUNTOF(rows));
	dsl_device_close(dev);
}

static uint32_t draw(uint32_t n)
{
	static uint32_t state = 7;
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

/* Any rank, extents, distances and address: rows that touch, lie apart, overlap or stand still. */
static Case any_case(void)
{
	Case c = {.bits = 8 << draw(3), .rank = 1 + (int)draw(5)};
	uint64_t bytes = (uint64_t)c.bits / 8, reach;
	c.offset = (int)(draw(16) / bytes * bytes);
	c.dims[0] = 1 + draw(draw(2) ? 300 : 20);
	reach = c.dims[0] * bytes;
	for (int d = 1; d < c.rank; d++) {
		c.dims[d] = 1 + draw(c.rank > 3 ? 5 : 12);
		c.strides[d - 1] = draw(8) == 0   ? 0
				   : draw(8) == 0 ? bytes
						  : reach + draw(3) * bytes;
		reach += (c.dims[d] - 1) * c.strides[d - 1];
	}
	return c;
}

static void any_places(void **state)
{
	dsl_device *dev = open_device();
	(void)state;
	for (int i = 0; i < 400; i++) {
		Case some[6];
		int n = 1 + (int)draw(6);
		for (int j = 0; j < n; j++)
			some[j] = any_case();
		run(dev, some, n);
	}
	dsl_device_close(dev);
}

static void too_large(void **state)
{
	static const Case rows[] = {
		{16, 2, 2, {1, UINT64_C(1) << 31}, {2}},
		{16, 3, 2, {1, 1 << 20, 1 << 11}, {2, 2}},
		{8, 3, 1, {UINT64_C(1) << 31, 1 << 10, 2}, {3, 3}},
	};
	char text[256];
	Why w = {text, sizeof text};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		KDesc k;
		Plan p;
		Launch l;
		describe(&k, &p, &l, &rows[i], 1);
		assert_int_equal(copy_add(&w, &l, 0), DSL_ERR_EXTENT);
		assert_non_null(strstr(text, "tensor T"));
		assert_int_equal(l.ncopies, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_offset_and_length),
		cmocka_unit_test(ranks_and_batches),
		cmocka_unit_test(many_units),
		cmocka_unit_test(any_places),
		cmocka_unit_test(too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
