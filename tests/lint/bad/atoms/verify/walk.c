/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
int bits = 64, most = 128;
