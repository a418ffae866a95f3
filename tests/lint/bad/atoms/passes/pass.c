/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OP_PULL_BOX and 128 in a comment, over
 * two lines: OP_LD */
const char *text = "OP_MMA_TIMES takes 64";
int one = OP_LOAD, two = OP_LOAD_PULL, three = OP_LD; /* 64 */ int four = OP_TIMES_16 + 128;
int five = OP_TIMES_WAIT | FX_DONE_TIMES, six = RANK_MAX; int seven = OP_TIMES_TELL;
Op *first = kernel_find(k, OP_MMA), *again = kernel_mma(k, NULL);
void all(void) { for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op)) {} }
