enum { A_NAMED };

int used(void)
{
	return A_NAMED;
}
