/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* replay.c - runs a fuzz entry point over files instead of random bytes, so that every build, also
 * one without libFuzzer, tries the entry point on all inputs of the tests.
 * Usage: replay_NAME FOLDER...; needs one file at least.
 *   replay_frontend tests/frontend/bad   ->   61 inputs */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(size + 1);
	if (!f || !data || fread(data, 1, size, f) != size)
		die(path);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

static int replay_path(const char *path);

static int replay_folder(const char *path)
{
	int n = 0;
	DIR *d = opendir(path);
	if (!d)
		die(path);
	for (struct dirent *e; (e = readdir(d));) {
		char inner[4096];
		if (e->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
		n += replay_path(inner);
	}
	closedir(d);
	return n;
}

static int replay_path(const char *path)
{
	struct stat st;
	if (stat(path, &st))
		die(path);
	if (S_ISDIR(st.st_mode))
		return replay_folder(path);
	return S_ISREG(st.st_mode) ? replay_file(path, (size_t)st.st_size) : 0;
}

int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 1; i < argc; i++)
		n += replay_path(argv[i]);
	printf("%d inputs\n", n);
	return n == 0;
}
