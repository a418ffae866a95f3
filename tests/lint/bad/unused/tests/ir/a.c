int tested(void);

int main(void)
{
	return tested();
}
