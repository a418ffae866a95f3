int print(void);
/* TODO: ranges */
