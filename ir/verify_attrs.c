/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_attrs.c - the rules of attributes: their words and the bounds of their numbers. */
#include "ir/verify_rules.h"

#include <string.h>

/* Attributes that are one of few words. */
static const struct {
	AttrId id;
	const char *words[5];
} worded[] = {
	{A_ROLES, {"none", "cooperative", "pingpong"}},
	{A_ALONG, {"m", "n"}},
	{A_MULTICAST, {"auto", "slice", "leader", "off"}},
	{A_CACHE,
	 {
#define CACHE(id, name) name,
#include "ir/cache.def"
	 }},
	{A_COMBINE,
	 {
#define COMBINE(id, name, ...) name,
#include "ir/combine.def"
	 }},
};

static const char *check_word(const Kernel *k, const Attr *a)
{
	for (size_t i = 0; i < COUNTOF(worded); i++) {
		const char *const *word = worded[i].words;
		if (worded[i].id != a->id)
			continue;
		while (*word && strcmp(*word, a->str))
			word++;
		if (!*word)
			return ctx_strf(k->ctx, "the attribute '%s' has no word '%s'",
					attr_rows[a->id].name, a->str);
	}
	return NULL;
}

/* No count, size or offset comes near 2^31, so that sums and products of them fit in 64 bits. */
const char *attrs_rule(const Kernel *k, const Attrs *attrs)
{
	for (int i = 0; i < attrs->n; i++) {
		const Attr *a = &attrs->at[i];
		int n = attr_rows[a->id].kind == AK_INT ? 1 : a->n;
		const char *why = check_word(k, a);
		if (why)
			return why;
		for (int j = 0; j < n; j++)
			if (a->i[j] < 0 || a->i[j] > INT32_MAX)
				return ctx_strf(k->ctx, "the attribute '%s' is 0 to 2147483647",
						attr_rows[a->id].name);
	}
	return NULL;
}
