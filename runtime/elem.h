/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elem.h - element types: the rows of elems.def as a table, and elements of each type in memory
 * as doubles.
 *   elem_get(EL_BF16, data, 3)        the value of data's fourth element
 *   elem_round(EL_F16, 1e6) == INFINITY
 * A double holds every value of every type but 64-bit integers beyond 2^53. No state. */
#ifndef DSL_RUNTIME_ELEM_H
#define DSL_RUNTIME_ELEM_H

#include "runtime/number.h"

typedef enum {
#define ELEM(id, ...) EL_##id,
#include "runtime/elems.def"
	EL_COUNT
} Elem;

typedef struct {
	const char *name, *also; /* also: another spelling, or NULL */
	int bits;
	char cls; /* 'F', 'S', 'U' */
	int mantissa, exponent;
	uint64_t (*pack)(double x); /* rounded as number.h says; the low bits */
	double (*unpack)(uint64_t bits);
	int spoken;
} ElemRow;

#define ELEM(id, name, also, bits, cls, number, ...)         \
	static inline uint64_t elem_pack_##id(double x)      \
	{                                                    \
		return (uint##bits##_t)number##_from_f64(x); \
	}                                                    \
	static inline double elem_unpack_##id(uint64_t u)    \
	{                                                    \
		return number##_to_f64((uint##bits##_t)u);   \
	}
#include "runtime/elems.def"

/* clang-format off */
static const ElemRow elem_rows[EL_COUNT] = {
#define ELEM(id, name, also, bits, cls, number, mantissa, exponent, tma, sim, llvm, spoken) \
	{name, also, bits, (#cls)[0], mantissa, exponent, elem_pack_##id, elem_unpack_##id, spoken},
#include "runtime/elems.def"
};
/* clang-format on */

static inline int elem_is_called(Elem e, const char *name)
{
	const ElemRow *row = &elem_rows[e];
	return !strcmp(row->name, name) || (row->also && !strcmp(row->also, name));
}

/* Floating point of more bits than f32. */
static inline int elem_is_wide(Elem e)
{
	return elem_rows[e].cls == 'F' && elem_rows[e].bits > elem_rows[EL_F32].bits;
}

static inline int elem_is_float(Elem e)
{
	return elem_rows[e].cls == 'F';
}

/* Bytes of n elements side by side, and elements in so many bytes. Those of 4 bits lie two in a
 * byte. */
static inline int64_t elem_span(Elem e, int64_t n)
{
	return n / 8 * elem_rows[e].bits + (n % 8 * elem_rows[e].bits + 7) / 8;
}

static inline int64_t elem_count(Elem e, int64_t bytes)
{
	return bytes * 8 / elem_rows[e].bits;
}

/* Little-endian memory: 1, 2, 4 or 8 bytes, each by a move of its own. */
static inline uint64_t bits_load(const void *at, int64_t size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&two, at, sizeof two);
		return two;
	case 4:
		memcpy(&four, at, sizeof four);
		return four;
	default:
		memcpy(&eight, at, sizeof eight);
		return eight;
	}
}

static inline void bits_store(void *at, int64_t size, uint64_t u)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)u;
		break;
	case 2:
		memcpy(at, &u, 2);
		break;
	case 4:
		memcpy(at, &u, 4);
		break;
	default:
		memcpy(at, &u, 8);
	}
}

/* Of two elements in a byte the first is the low half. */
static inline double elem_get(Elem e, const void *data, int64_t i)
{
	int64_t bit = i * elem_rows[e].bits;
	uint64_t u = bits_load((const char *)data + bit / 8, elem_span(e, 1));
	return elem_rows[e].unpack(u >> bit % 8);
}

static inline void elem_put(Elem e, void *data, int64_t i, double x)
{
	int64_t bit = i * elem_rows[e].bits, low = bit % 8, size = elem_span(e, 1);
	char *at = (char *)data + bit / 8;
	uint64_t u = elem_rows[e].pack(x) << low;
	if (size * 8 > elem_rows[e].bits)
		u |= bits_load(at, size) & ~(((UINT64_C(1) << elem_rows[e].bits) - 1) << low);
	bits_store(at, size, u);
}

static inline double elem_round(Elem e, double x)
{
	if (e == EL_F32) /* as the machine does it, without a look at the bits */
		return (double)(float)x;
	return elem_rows[e].unpack(elem_rows[e].pack(x));
}

#endif
