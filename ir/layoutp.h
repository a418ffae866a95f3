/* layoutp.h - private to ir/layout*.c: layouts as flat lists of modes, and how operations
 * refuse. */
#ifndef DSL_LAYOUTP_H
#define DSL_LAYOUTP_H

#include "ir/ctx.h"
#include "ir/ixp.h"
#include "ir/layout.h"

typedef struct {
	const Ix *shape, *stride;
} Mode;
typedef VEC(Mode) Modes;

/* layout.c */
void layout_flatten(Ctx *c, const Layout *l, Modes *out);
const Layout *layout_of_modes(Ctx *c, const Modes *m); /* one mode: a leaf; none: 1:0 */
const Layout *layout_outer(Ctx *c, const Layout *l);   /* without swizzle and offset */
/* `outer` behind the swizzle and the offset of l */
const Layout *layout_wrap(Ctx *c, const Layout *l, const Layout *outer);
const Layout *layout_leaf(Ctx *c, const Ix *shape, const Ix *stride);
const Ix *ix_plain(Ctx *c, const Ix *x); /* simplified with no facts */

#endif
