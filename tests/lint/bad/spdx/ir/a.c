/* a.c - has none. */
