/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* chance.h - what a seed decides: the same numbers, in order, for the same seed.
 *     uint64_t state = seed; chance_within(&state, 1, 6) */
#ifndef DSL_RANDOM_CHANCE_H
#define DSL_RANDOM_CHANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

static inline int64_t multiple(int64_t v, int of)
{
	return (v + of - 1) / of * of;
}

/* What reads a batch by its name, at times by a number, a quotient, a remainder or a sum. A batch
 * that is not there is read as zeros. */
static inline void chance_batch(uint64_t *state, const char *name, char *to, size_t n)
{
	static const char *const forms[][2] = {{"", " / 2"},     {"", " % 2"},
					       {"", " + 1"},     {"(", " + 1) / 2"},
					       {"min(", ", 1)"}, {"2 * min(", ", 1)"},
					       {"1 + ", " / 2"}, {"3 - min(", ", 3)"}};
	int form = chance_within(state, 0, 9);
	if (!chance_of(state, 35))
		snprintf(to, n, "%s", name);
	else if (form > 7)
		snprintf(to, n, "%d", form - 8);
	else
		snprintf(to, n, "%s%s%s", forms[form][0], name, forms[form][1]);
}

#endif
