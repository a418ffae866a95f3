/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_prove.c - the verifier's word on a random role program, for all of its trip counts.
 *     Prog  ->  WORDS_REFUTED at 2 trips: a deadlock
 */
#include "random.h"

#include <string.h>

/* LAPS: a barrier that no one waits for and that gets one arrival of 4 a trip recurs in so many. */
enum { LAPS = 12, MOST = 20000 };

static void lay_out(Machine *m, bool exact, Order order)
{
	m->exact = exact;
	m->alike = order == BY_TIME;
	machine_layout(m);
	size_t bytes = sizeof *m->timely * (size_t)m->words;
	memset(m->abroad, 0xff, bytes);
	if (order == BY_TIME)
		memset(m->timely, 0xff, bytes);
}

bool prog_joins(Prog *p)
{
	WordsResult w;
	p->words.trip_repeat = PERIOD;
	for (int exact = 0; exact < 2; exact++) {
		lay_out(&p->m, exact, BY_TIME);
		if (words_cover(&p->m, &p->words, MOST, &w))
			return true;
	}
	return false;
}

bool prog_prove(Prog *p, Order order, WordsResult *w)
{
	WordsLimits limits = {{1, 1, 1, 1}, MOST};
	for (int exact = 0; exact < 2; exact++) {
		lay_out(&p->m, exact, order);
		for (int laps = 1; laps <= LAPS; laps *= LAPS) {
			p->words.trip_repeat = laps * PERIOD;
			words_prove(&p->m, &p->words, limits, w);
			if (w->verdict != WORDS_LIMIT)
				break;
		}
		if (w->verdict != WORDS_REFUTED)
			break;
	}
	if (w->verdict == WORDS_REFUTED)
		return !words_run(&p->m, &p->words, 1, w->at.trips, NULL, NULL, &w->why);
	return w->verdict == WORDS_PROVED;
}
