/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* crash.c - the tool's last words. A panic (SIGABRT) or a fault of ours exits with 70; an interrupt
 * ends the program that runs for us, removes what would stay behind (temporary files, half an
 * output) and then ends the tool as it would have. The variables here are the only static ones of
 * the tool: a signal handler can reach no others. */
#include "driver/files.h"
#include "driver/compile.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static Litter litter;
static const int ours[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static const int theirs[] = {SIGINT, SIGTERM, SIGHUP};

Litter *crash_litter(void)
{
	return &litter;
}

static void say(const char *s)
{
	ssize_t n = write(STDERR_FILENO, s, strlen(s));
	(void)n;
}

static void on_fault(int sig)
{
	litter_clear(&litter);
	if (sig != SIGABRT)
		say("dslc: internal error: the compiler crashed\n");
	say("dslc: this is a bug in dslc, not in your program: please report it with the "
	    "input\n");
	_exit(EXIT_INTERNAL);
}

static void on_interrupt(int sig)
{
	litter_clear(&litter);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Leaves alone a handler that is there already, a sanitizer's for example, and what is ignored. */
static void install(int sig, void (*handler)(int), int flags)
{
	struct sigaction old, new = {.sa_handler = handler, .sa_flags = flags};
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(sig, &new, NULL);
}

void crash_install(void)
{
	static char stack[65536];
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&alt, NULL);
	for (size_t i = 0; i < COUNTOF(ours); i++)
		install(ours[i], on_fault, SA_ONSTACK);
	for (size_t i = 0; i < COUNTOF(theirs); i++)
		install(theirs[i], on_interrupt, 0);
	install(SIGXFSZ, SIG_IGN, 0); /* a file that may grow no more is an error of write */
}
