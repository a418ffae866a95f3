/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulator against a GPU, bit by bit: each instruction of tests/sim/insns.def on random and on
 * special operands, the same PTX and the same inputs on both devices.
 *   sim_compare [ROUNDS]      a line per difference, a count at the end; exits with 1 after one
 * Functions that the ISA leaves approximate are compared within a few units in the last place. */
#include "runtime/dsl.h"

#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256 };

typedef struct {
	const char *text;
	int width[4]; /* of D, A, B, C */
} Row;
static const Row rows[] = {
#define INSN_TEST(text, d, a, b, c, x, y, z, want) {text, {d, a, b, c}},
#include "../sim/insns.def"
};

typedef struct {
	uint64_t v[4][THREADS]; /* D, A, B, C */
} Data;

static const uint64_t special[] = {0,
				   1,
				   2,
				   31,
				   32,
				   33,
				   0x7f,
				   0x80,
				   0xff,
				   0x7c00,
				   0x8000,
				   0x3c00,
				   0xfc01,
				   0x7fff,
				   0xffff,
				   0x3f800000,
				   0xbf800000,
				   0x7f800000,
				   0xff800000,
				   0x7fc00000,
				   0x00800000,
				   0x007fffff,
				   0x80000000,
				   0x80000001,
				   0x7f7fffff,
				   0x7fffffff,
				   0xffffffff,
				   0x477fe000,
				   0x33800000,
				   0x4f000000,
				   0x5f000000,
				   0x3ff0000000000000,
				   0x7ff0000000000000,
				   0x8000000000000000,
				   0xffffffffffffffff,
				   0x0010000000000000,
				   0x43e0000000000000,
				   0x41dfffffffc00000};

static uint64_t mix(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Random bits, special values, small integers, and floats whose exponents are near. */
static uint64_t operand(uint64_t *s, int width)
{
	uint64_t r = mix(s), v = mix(s);
	switch (r % 5) {
	case 0:
		return special[v % (sizeof special / sizeof *special)];
	case 1:
		return v % 67;
	case 2:
		v = width == 64   ? (v & 0x801fffffffffffff) | 0x3fe0000000000000
		    : width == 32 ? (v & 0x81ffffff) | 0x3e000000
				  : (v & 0x8fff) | 0x3000;
		return v;
	default:
		return v;
	}
}

static size_t line(char *to, size_t n, size_t room, const char *fmt, const char *type, char letter,
		   int at)
{
	int k = snprintf(to + n, room - n, fmt, type, letter, at);
	return n + (size_t)(k < 0 ? 0 : k);
}

static void program(char *to, size_t room, const Row *r)
{
	static const char head[] =
		".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 "
		"p)\n{\n"
		".reg .b64 %at;\n.reg .b64 %off;\n.reg .b32 %t;\nld.param.u64 %at, [p];\n"
		"mov.u32 %t, %tid.x;\nmul.wide.u32 %off, %t, 8;\nadd.u64 %at, %at, %off;\n";
	size_t n = (size_t)snprintf(to, room, "%s", head);
	for (int i = 0; i < 4; i++) {
		int w = r->width[i];
		const char *type = w == 1 ? "pred" : w == 16 ? "b16" : w == 32 ? "b32" : "b64";
		if (!w)
			continue;
		n = line(to, n, room, ".reg .%s %%%c;\n", type, "DABC"[i], 0);
		if (i)
			n = line(to, n, room, "ld.global.%s %%%c, [%%at+%d];\n", type, "DABC"[i],
				 8 * THREADS * i);
	}
	for (const char *s = r->text; *s; s++) {
		bool letter = strchr("DABC", *s) && s > r->text && (s[-1] == ' ' || s[-1] == '{') &&
			      (s[1] == ',' || s[1] == ';' || s[1] == '}' || !s[1]);
		n += (size_t)snprintf(to + n, room - n, letter ? "%%%c" : "%c", *s);
	}
	const char *end = r->width[0] == 1    ? ";\n.reg .b32 %E;\nselp.b32 %E, 1, 0, "
						"%D;\nst.global.b32 [%at], %E;\nret;\n}\n"
			  : r->width[0] == 16 ? ";\nst.global.b16 [%at], %D;\nret;\n}\n"
			  : r->width[0] == 32 ? ";\nst.global.b32 [%at], %D;\nret;\n}\n"
					      : ";\nst.global.b64 [%at], %D;\nret;\n}\n";
	snprintf(to + n, room - n, "%s", end);
}

static bool launch(dsl_device *dev, const char *ptx, Data *d)
{
	dsl_module *mod = NULL;
	dsl_addr at = 0;
	dsl_raw raw = {.size = sizeof raw,
		       .grid = {1, 1, 1},
		       .block = {THREADS, 1, 1},
		       .params = &at,
		       .param_bytes = 8};
	dsl_status st = dsl_module_load_data(dev, ptx, strlen(ptx) + 1, &mod);
	if (!st)
		st = dsl_mem_alloc(dev, sizeof *d, &at);
	if (!st)
		st = dsl_copy_in(dev, at, d, sizeof *d);
	if (!st)
		st = dsl_launch_raw(mod, "k", &raw);
	if (!st)
		st = dsl_copy_out(dev, d, at, sizeof *d);
	if (st)
		printf("%s: %s\n%s\n", dsl_device_name(dev), dsl_detail(), ptx);
	dsl_mem_free(dev, at);
	dsl_module_unload(mod);
	return !st;
}

static bool approximate(const char *text)
{
	return strstr(text, "approx") || strstr(text, ".full");
}

/* Equal, both NaN, or for approximate functions a few units apart. */
static bool same(const Row *r, uint64_t a, uint64_t b)
{
	if (a == b)
		return true;
	if (!approximate(r->text))
		return false;
	int64_t apart = (int64_t)(a & 0xffffffff) - (int64_t)(b & 0xffffffff);
	float x, y;
	uint32_t low = (uint32_t)a, other = (uint32_t)b;
	memcpy(&x, &low, sizeof x);
	memcpy(&y, &other, sizeof y);
	return (apart >= -8 && apart <= 8) || (x - y <= 0x1p-21f && y - x <= 0x1p-21f);
}

static int compare(const Row *r, const Data *gpu, const Data *sim, long *cases, bool quiet)
{
	int wrong = 0;
	for (int t = 0; t < THREADS; t++) {
		++*cases;
		if (same(r, gpu->v[0][t], sim->v[0][t]))
			continue;
		if (wrong++ < 2 && !quiet)
			printf("%s: A 0x%llx B 0x%llx C 0x%llx: GPU 0x%llx, simulator 0x%llx\n",
			       r->text, (unsigned long long)gpu->v[1][t],
			       (unsigned long long)gpu->v[2][t], (unsigned long long)gpu->v[3][t],
			       (unsigned long long)gpu->v[0][t], (unsigned long long)sim->v[0][t]);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 4, wrong = 0, failed = 0;
	long cases = 0;
	uint64_t seed = 1;
	dsl_device *gpu, *sim;
	static Data a, b;
	char ptx[2048];
	if (dsl_device_open("cuda:0", &gpu) || dsl_device_open("sim", &sim)) {
		printf("sim_compare: %s\n", dsl_detail());
		return 1;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		program(ptx, sizeof ptx, &rows[i]);
		int here = 0;
		for (int k = 0; k < rounds; k++) {
			for (int j = 0; j < 4; j++)
				for (int t = 0; t < THREADS; t++)
					a.v[j][t] = j ? operand(&seed, rows[i].width[j]) : 0;
			if (strncmp(rows[i].text, "bfe.u64", 7) == 0) /* wider ones are emulated */
				for (int t = 0; t < THREADS; t++)
					for (int j = 2; j < 4; j++)
						a.v[j][t] &= 0xff;
			b = a;
			if (launch(gpu, ptx, &a) && launch(sim, ptx, &b))
				here += compare(&rows[i], &a, &b, &cases, here);
			else
				failed++;
		}
		wrong += here;
	}
	printf("%zu instructions, %ld cases, %d differ, %d launches failed\n",
	       sizeof rows / sizeof *rows, cases, wrong, failed);
	dsl_device_close(gpu);
	dsl_device_close(sim);
	return wrong || failed;
}
