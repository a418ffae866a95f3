/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* chance.h - what a seed decides: the same numbers, in order, for the same seed.
 *     uint64_t state = seed; chance_within(&state, 1, 6) */
#ifndef DSL_RANDOM_CHANCE_H
#define DSL_RANDOM_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* lo .. hi */
static inline int chance_within(uint64_t *state, int lo, int hi)
{
	return lo + (int)(chance_next(state) % (uint64_t)(hi - lo + 1));
}

static inline bool chance_of(uint64_t *state, int percent)
{
	return chance_within(state, 0, 99) < percent;
}

static inline const char *chance_word(uint64_t *state, const char *const *words, int n)
{
	return words[chance_within(state, 0, n - 1)];
}

static inline int chance_number(uint64_t *state, const int *numbers, int n)
{
	return numbers[chance_within(state, 0, n - 1)];
}

static inline int at_most(int v, int most)
{
	return v < most ? v : most;
}

static inline int at_least(int v, int least)
{
	return v > least ? v : least;
}

#endif
