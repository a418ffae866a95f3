/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What becomes of the program and of the file being written when a fault of ours or a signal ends
 * it: each case in a child process. */
#include "driver/compile.h"
#include "driver/files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char half_written[] = "/tmp/dslc-crash-XXXXXX";

static void end_by_panic(void)
{
	panic("a fault for the test");
}

static void end_by_fault(void)
{
	raise(SIGFPE);
}

static void end_by_interrupt(void)
{
	raise(SIGTERM);
}

/* Wait status of a child in which `end` happens while half_written is being written. */
static int status_after(void (*end)(void))
{
	int status = 0;
	strcpy(half_written + strlen(half_written) - 6, "XXXXXX");
	int fd = mkstemp(half_written);
	assert_true(fd >= 0);
	close(fd);
	pid_t pid = fork();
	if (pid == 0) {
		int quiet = open("/dev/null", O_WRONLY);
		dup2(quiet, STDERR_FILENO);
		for (int s = 1; s < 32; s++)
			if (s != SIGKILL && s != SIGSTOP)
				signal(s, SIG_DFL);
		crash_install();
		litter_add(crash_litter(), half_written);
		end();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_panic(void **state)
{
	(void)state;
	int status = status_after(end_by_panic);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERNAL);
	assert_int_equal(EXIT_INTERNAL, 70);
	assert_int_not_equal(access(half_written, F_OK), 0);
}

static void test_fault(void **state)
{
	(void)state;
	int status = status_after(end_by_fault);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERNAL);
	assert_int_not_equal(access(half_written, F_OK), 0);
}

static void test_interrupt(void **state)
{
	(void)state;
	int status = status_after(end_by_interrupt);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_not_equal(access(half_written, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_panic),
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_interrupt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
