int used(void);

int alone(void)
{
	return used();
}

int tested(void)
{
	return 1;
}
