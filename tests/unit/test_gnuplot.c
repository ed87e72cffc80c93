// SPDX-License-Identifier: GPL-2.0-or-later
/* test_gnuplot.c - quoting for gnuplot, finding it; what is run is clean, limited and reaped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "config.h"
#include "../../reports/gnuplot.h"

static char *quoted(const char *s, size_t columns)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	gnuplot_quote(out, s, columns);
	fclose(out);
	return text;
}

static void quotes(void **state)
{
	static const char *const hostile[][2] = {
		{ "plain", "'plain'" },
		{ "it's", "'it’s'" },
		{ "''; system 'x", "'’’; system ’x'" },
		{ "`id` $(id) @GPVAL \"q\" \\\\", "'`id` $(id) @GPVAL \"q\" \\\\'" },
		{ "two\nlines\r\tof it", "'two lines of it'" },
		{ "\xe2\x80\xae" "gpj.exe", "'\\u{202e}gpj.exe'" },
		{ "\x1b[2J", "'\\e[2J'" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(hostile); i++) {
		char *text = quoted(hostile[i][0], 80);

		assert_string_equal(text, hostile[i][1]);
		free(text);
	}
}

static void cuts(void **state)
{
	char *text = quoted("''''''''''", 4);

	(void)state;
	assert_string_equal(text, "'’’’’…'");
	free(text);
}

static char dir[] = "/tmp/kvmortem-gnuplot-XXXXXX";

static void write_program(const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
}

static void is_found(void **state)
{
	char path[400], want[200], *found, old[4096];

	(void)state;
#ifndef HAVE_GNUPLOT
	skip();
#endif
	snprintf(old, sizeof(old), "%s", getenv("PATH"));
	write_program("gnuplot", "#!/bin/sh\n");
	assert_int_equal(chdir(dir), 0);
	setenv("PATH", ":.:bin::", 1);
	assert_null(gnuplot_find());
	unsetenv("PATH");
	assert_null(gnuplot_find());
	snprintf(path, sizeof(path), ".:/nonexistent:%s", dir);
	snprintf(want, sizeof(want), "%s/gnuplot", dir);
	setenv("PATH", path, 1);
	found = gnuplot_find();
	assert_string_equal(found, want);
	free(found);
	assert_int_equal(chmod(want, 0644), 0);
	assert_null(gnuplot_find());
	setenv("PATH", old, 1);
}

static bool run(const char *name, int timeout_ms)
{
	char path[200];
	int64_t left = 100000;
	struct gnuplot_job job = { .program = path, .script = "x.gp", .dir = open(dir, O_RDONLY),
				   .in = -1, .out = -1, .timeout_ms = timeout_ms,
				   .left_ms = &left };
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ok = gnuplot_run(&job);
	assert_true(left <= 100000 && (ok || timeout_ms >= 5000 || left <= 100000 - timeout_ms));
	left = 0;
	assert_false(gnuplot_run(&job));	/* no time is left */
	close(job.dir);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* nothing is left to reap */
	return ok;
}

static void statuses(void **state)
{
	(void)state;
	write_program("good", "#!/bin/sh\nexit 0\n");
	write_program("bad", "#!/bin/sh\nexit 1\n");
	write_program("dies", "#!/bin/sh\nkill -9 $$\n");
	assert_true(run("good", 5000));
	assert_false(run("bad", 5000));
	assert_false(run("dies", 5000));
	assert_false(run("missing", 5000));
}

/* Arguments, directory, environment, files and signals are as gnuplot.h says. */
static void is_clean(void **state)
{
	int fd = open("/dev/null", O_RDONLY);	/* not marked close-on-exec: must not arrive */

	(void)state;
	setenv("KVMORTEM_SECRET", "x", 1);
	setenv("GNUPLOT_LIB", "x", 1);
	setenv("LD_PRELOAD_X", "x", 1);
	write_program("looks",
		      "#!/bin/sh\n"
		      "[ \"$#\" = 2 ] && [ \"$1\" = -d ] && [ \"$2\" = x.gp ] || exit 2\n"
		      "[ -f looks ] || exit 3\n"
		      "[ -z \"$KVMORTEM_SECRET$GNUPLOT_LIB$LD_PRELOAD_X$DISPLAY\" ] || exit 4\n"
		      "[ \"$PATH:$HOME\" = /usr/bin:/bin:/nonexistent ] || exit 5\n"
		      "[ \"$(readlink /proc/$$/fd/0)\" = /dev/null ] || exit 6\n"
		      "for f in /proc/$$/fd/*; do case $f in */[012]|*/10) ;; *) [ \"$(readlink $f)\" != /dev/null ] || exit 7 ;; esac; done\n"
		      "exit 0\n");
	assert_true(run("looks", 5000));
	close(fd);
}

static void ends_in_time(void **state)
{
	struct timespec from, to;
	char path[200];
	FILE *f;
	int pid = 0;

	(void)state;
	write_program("hangs", "#!/bin/sh\ntrap '' TERM\nsleep 60 &\necho $! >child\nwait\n");
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_false(run("hangs", 500));
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 20);
	snprintf(path, sizeof(path), "%s/child", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	/* what it started is gone too, or a zombie of init's */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 100; i++) {
		char state_of = 0;

		f = fopen(path, "r");
		if (!f)
			return;
		if (fscanf(f, "%*d %*s %c", &state_of) != 1)
			state_of = 0;
		fclose(f);
		if (!state_of || state_of == 'Z' || state_of == 'X')
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	fail_msg("what the program started goes on");
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "gnuplot", "good", "bad", "dies", "looks", "hangs", "child" };
	char path[200];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes),	cmocka_unit_test(cuts),
		cmocka_unit_test(is_found),	cmocka_unit_test(statuses),
		cmocka_unit_test(is_clean),	cmocka_unit_test(ends_in_time),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
