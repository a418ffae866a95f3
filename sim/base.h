/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* base.h - the ground floor of the simulator: short names of the machine's types, a pool, a
 * growing text, an error that unwinds a load. Private to runtime/sim. */
#ifndef DSL_SIM_BASE_H
#define DSL_SIM_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

#define SIM_COUNT(a)         (sizeof(a) / sizeof(*(a)))
#define SIM_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

enum { LANES = 32 };
#define FULL 0xffffffffu

/* Memory that lives as long as a module, and what a load that fails jumps to. */
typedef struct Chunk Chunk;
typedef struct {
	Chunk *chunks;
	jmp_buf fail;    /* taken by pool_new without memory and by load_fail */
	char error[512]; /* the sentence */
	int line;        /* of the PTX, 0 when there is none */
	bool no_memory;
} Pool;

void *pool_new(Pool *a, size_t size); /* zeroed, 16-byte aligned */
void *pool_grow(Pool *a, void *old, size_t old_size, size_t size);
char *pool_text(Pool *a, const char *s, size_t n);
void pool_free(Pool *a);
_Noreturn void load_fail(Pool *a, int line, const char *fmt, ...) SIM_PRINTF(3, 4);

/* A growing array of T inside the pool: POOL_PUSH(a, at, n, cap, value) adds one. */
#define POOL_PUSH(a, at, n, cap, ...)                                                    \
	do {                                                                             \
		if ((n) == (cap)) {                                                      \
			size_t old_ = (size_t)(cap) * sizeof *(at);                      \
			(cap) = (cap) ? (cap) * 2 : 16;                                  \
			(at) = pool_grow((a), (at), old_, (size_t)(cap) * sizeof *(at)); \
		}                                                                        \
		(at)[(n)++] = __VA_ARGS__;                                               \
	} while (0)

/* Names to numbers. */
typedef struct {
	const char **keys;
	s64 *values;
	u32 n, cap;
} Map;
void map_put(Pool *a, Map *m, const char *key, s64 value);
bool map_get(const Map *m, const char *key, s64 *value);

/* Room for need elements of each bytes at the pointer that list points to; false: no memory. */
bool list_grow(void *list, u32 *cap, u32 need, size_t each);

/* A text that grows; text_add cuts it when memory is out. */
typedef struct {
	char *at;
	size_t n, cap;
} Text;
void text_add(Text *t, const char *fmt, ...) SIM_PRINTF(2, 3);
void text_free(Text *t);

/* Numbers that decide: splitmix64. */
typedef struct {
	u64 s;
} Rng;

static inline u64 rng_next(Rng *r)
{
	u64 z = r->s += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline u32 rng_below(Rng *r, u32 n)
{
	return (u32)((rng_next(r) >> 32) * n >> 32);
}

#endif
