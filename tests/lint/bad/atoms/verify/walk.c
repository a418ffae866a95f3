/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
int bits = 64, most = 128;
int wait = OP_SEM_WAIT + OP_SEM_ARRIVE, get = OP_TICKET_GET; /* OP_SEM_WAIT */
