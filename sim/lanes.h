/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lanes.h - loops over the 32 lanes of a warp, for the files of arithmetic. A handler's mask has
 * the threads that take part; a full mask runs without tests, so that the compiler can use vectors.
 */
#ifndef DSL_SIM_LANES_H
#define DSL_SIM_LANES_H

#include "sim/handlers.h"
#include "sim/machine.h"

/* Lanes do not depend on each other, also where a result is an operand. */
#if defined(__clang__)
#define SIM_VECTOR
#else
#define SIM_VECTOR _Pragma("GCC ivdep")
#endif

static inline void *lanes(Warp *w, const Ins *in, int k)
{
	return w->file + in->args[k].slot;
}

#define LANES_DO(...)                                              \
	do {                                                       \
		if (mask == FULL) {                                \
			SIM_VECTOR for (u32 l = 0; l < LANES; l++) \
			{                                          \
				__VA_ARGS__;                       \
			}                                          \
		} else {                                           \
			for (u32 l = 0; l < LANES; l++)            \
				if (mask >> l & 1) {               \
					__VA_ARGS__;               \
				}                                  \
		}                                                  \
	} while (0)

/* d = EXPR of x, y, z; all of C type T. */
#define OP1(T, ...)                                \
	do {                                       \
		T *d = lanes(w, in, 0);            \
		const T *x = lanes(w, in, 1);      \
		LANES_DO(d[l] = (T)(__VA_ARGS__)); \
	} while (0)
#define OP2(T, ...)                                                 \
	do {                                                        \
		T *d = lanes(w, in, 0);                             \
		const T *x = lanes(w, in, 1), *y = lanes(w, in, 2); \
		LANES_DO(d[l] = (T)(__VA_ARGS__));                  \
	} while (0)
#define OP3(T, ...)                                                       \
	do {                                                              \
		T *d = lanes(w, in, 0);                                   \
		const T *x = lanes(w, in, 1), *y = lanes(w, in, 2);       \
		const T *z = in->nargs > 3 ? lanes(w, in, 3) : (void *)x; \
		(void)z;                                                  \
		LANES_DO(d[l] = (T)(__VA_ARGS__));                        \
	} while (0)

/* d = EXPR of arguments, which may have any width; GET(k) is one of them in this lane. */
#define GET(k) arg_get(w, &in->args[k], l)
#define EACH_SET(...)      \
	EACH_LANE(l, mask) \
	arg_set(w, &in->args[0], l, (u64)(__VA_ARGS__))

/* Lanes where EXPR holds are set in r. */
#define EACH_BIT(r, ...)   \
	EACH_LANE(l, mask) \
	r |= (u32)(__VA_ARGS__) << l

/* OP for the unsigned type of the instruction's size, or for the type itself. */
#define CASE(KEY, ...)       \
	case KEY:            \
		__VA_ARGS__; \
		break
#define BY_SIZE(OP, ...)                               \
	do {                                           \
		switch (type_bytes[in->type[0]]) {     \
			CASE(2, OP(u16, __VA_ARGS__)); \
			CASE(4, OP(u32, __VA_ARGS__)); \
		default:                               \
			OP(u64, __VA_ARGS__);          \
		}                                      \
	} while (0)
#define BY_TYPE(OP, ...)                                   \
	do {                                               \
		switch (in->type[0]) {                     \
			CASE(T_S16, OP(s16, __VA_ARGS__)); \
			CASE(T_S32, OP(s32, __VA_ARGS__)); \
			CASE(T_S64, OP(s64, __VA_ARGS__)); \
		default:                                   \
			BY_SIZE(OP, __VA_ARGS__);          \
		}                                          \
	} while (0)

/* An instruction that one of these, or a statement, is all of. */
#define RUN(name, ...)                                   \
	Run run_##name(Warp *w, const Ins *in, u32 mask) \
	{                                                \
		(void)w, (void)in, (void)mask;           \
		__VA_ARGS__;                             \
		return RUN_NEXT;                         \
	}

/* An instruction that each thread runs by itself, one after the other; each_NAME gives false where
 * it failed. */
#define PER_LANE(name) RUN(name, EACH_LANE(l, mask) if (!each_##name(w, in, l)) return RUN_FAIL)

static inline s32 clamp32(s64 v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v;
}

#endif
