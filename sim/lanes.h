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
#define OP3(T, ...)                                                                       \
	do {                                                                              \
		T *d = lanes(w, in, 0);                                                   \
		const T *x = lanes(w, in, 1), *y = lanes(w, in, 2), *z = lanes(w, in, 3); \
		(void)z;                                                                  \
		LANES_DO(d[l] = (T)(__VA_ARGS__));                                        \
	} while (0)

/* OP for the unsigned type of the instruction's size. */
#define BY_SIZE(OP, ...)                   \
	switch (type_bytes[in->type[0]]) { \
	case 2:                            \
		OP(u16, __VA_ARGS__);      \
		break;                     \
	case 4:                            \
		OP(u32, __VA_ARGS__);      \
		break;                     \
	default:                           \
		OP(u64, __VA_ARGS__);      \
	}                                  \
	return RUN_NEXT

/* An instruction that one of these, or a statement, is all of. */
#define RUN(name, ...)                                   \
	Run run_##name(Warp *w, const Ins *in, u32 mask) \
	{                                                \
		__VA_ARGS__;                             \
		return RUN_NEXT;                         \
	}

#endif
