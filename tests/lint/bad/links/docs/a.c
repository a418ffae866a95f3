/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* called, gone: words of a comment are no definitions. */
int declared(int x);

static int found(int x)
{
	return called(x);
}

PASS_OF(rings)
{
}
