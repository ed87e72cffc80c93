// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - the edge: signals, the command line, the one place that prints an error and chooses the
 * exit status.
 */
#include <locale.h>
#include <signal.h>

#include "config.h"
#include "diag.h"
#include "options.h"

static void on_sigint(int sig)
{
	(void)sig;
	stream_interrupt();
}

/* The first Ctrl-C asks for the report of what was read, the second one kills. */
static void set_signals(void)
{
	struct sigaction sa = { .sa_handler = on_sigint, .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_DFL);	/* quiet, even where the parent ignored it */
}

static int status_of(const struct error *err)
{
	switch (err->code) {
	case ERR_INPUT:
		return EXIT_NOTHING;
	case ERR_USAGE:
		return EXIT_USAGE;
	default:
		return EXIT_FAILED;
	}
}

int main(int argc, char **argv)
{
	struct error *err;
	struct cmdline cl;
	int status = EXIT_OK;

	/*
	 * Archive members' names are bytes or UTF-8, whatever the user's locale is; numbers keep
	 * their point.
	 */
	setlocale(LC_CTYPE, "C.UTF-8");
	set_signals();
	err = options_parse(&cl, argc, argv);
	if (err)
		goto out;
	if (cl.help) {
		options_help(cl.cmd, stdout);
	} else if (cl.version) {
		printf("kvmortem %s\n", KM_VERSION);
	} else {
		status = cl.cmd->run(&cl.opt, &err);
	}
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = error_io("stdout: can't write");
out:
	if (err) {
		diag(NULL, "%s", err->what);
		if (status == EXIT_OK || err->code == ERR_USAGE)
			status = status_of(err);
		error_free(err);
	}
	cmdline_free(&cl);
	return status;
}
