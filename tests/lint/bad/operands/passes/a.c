/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* a.c - operands by name, by a number that is computed, and by numbers */
const Val *map = IN(load, MAP).val;
const Val *other = load->in[i].val;
const Val *a = mma->in[1].val;
const Ix *byte = load->ix[0], *all = load->ix[n];
