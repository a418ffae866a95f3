/* ir/c.c - what another file does. */
