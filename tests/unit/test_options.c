// SPDX-License-Identifier: GPL-2.0-or-later
/* test_options.c - the command line, times and sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "options.h"

/* Parse "a b c"; "ok" or the error's text. */
static const char *parse(struct cmdline *cl, const char *line)
{
	static char buf[400], words[400];
	static char *argv[20];
	struct error *err;
	int argc = 0;
	char *w, *save = NULL;

	argv[argc++] = strdup("kvmortem");
	snprintf(words, sizeof(words), "%s", line);
	for (w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	err = options_parse(cl, argc, argv);
	free(argv[0]);
	snprintf(buf, sizeof(buf), "%s", err ? err->what : "ok");
	if (err)
		assert_int_equal(err->code, ERR_USAGE);
	error_free(err);
	return buf;
}

static void good(struct cmdline *cl, const char *line)
{
	assert_string_equal(parse(cl, line), "ok");
}

static void bad(const char *line, const char *says)
{
	struct cmdline cl;
	const char *r = parse(&cl, line);

	if (!strstr(r, says))
		fail_msg("'%s' said '%s', not '%s'", line, r, says);
	cmdline_free(&cl);
}

static void test_commands(void **state)
{
	struct cmdline cl;

	(void)state;
	good(&cl, "case.tar");
	assert_string_equal(cl.cmd->name, "analyze");
	assert_int_equal(cl.opt.n_args, 1);
	good(&cl, "info a b");
	assert_string_equal(cl.cmd->name, "info");
	assert_int_equal(cl.opt.n_args, 2);
	assert_string_equal(cl.opt.args[0], "a");
	good(&cl, "./info -q");
	assert_string_equal(cl.cmd->name, "analyze");
	assert_true(cl.opt.quiet);
	good(&cl, "analyze info");
	assert_string_equal(cl.cmd->name, "analyze");
	assert_string_equal(cl.opt.args[0], "info");
	good(&cl, "-o out.json info x -f json");
	assert_string_equal(cl.cmd->name, "info");
	assert_string_equal(cl.opt.output, "out.json");
	assert_string_equal(cl.opt.format, "json");
	good(&cl, "--help");
	assert_true(cl.help);
	assert_null(cl.cmd);
	good(&cl, "info --help");
	assert_string_equal(cl.cmd->name, "info");
	good(&cl, "-");
	assert_string_equal(cl.opt.args[0], "-");
}

static void test_values(void **state)
{
	struct cmdline cl;

	(void)state;
	good(&cl, "x");
	assert_int_equal(cl.opt.progress, -1);
	assert_int_equal(cl.opt.chain_stall, -1);
	assert_string_equal(cl.opt.color, "auto");
	good(&cl, "x --no-progress --color=never --stall-threshold 2.5 -j 4 --max-temp 2G -vv --strict --fail-on-match");
	assert_int_equal(cl.opt.progress, 0);
	assert_true(cl.opt.stall_threshold_ms == 2.5);
	assert_int_equal(cl.opt.jobs, 4);
	assert_true(cl.opt.max_temp == 2ULL << 30);
	assert_int_equal(cl.opt.verbose, 2);
	assert_true(cl.opt.strict && cl.opt.fail_on_match);
	good(&cl, "x --signatures a --signatures b");
	assert_int_equal(cl.opt.n_signature_dirs, 2);
	assert_string_equal(cl.opt.signature_dirs[1], "b");
	cmdline_free(&cl);
	good(&cl, "x --time +1.5,");
	assert_string_equal(cl.opt.time, "+1.5,");
}

static void test_errors(void **state)
{
	(void)state;
	bad("--bogus x", "--bogus: unknown option");
	bad("-Z x", "-Z: unknown option");
	bad("x -o", "-o: needs an argument");
	bad("x --output", "needs an argument");
	bad("x -j 0", "--jobs needs a number");
	bad("x -j many", "--jobs needs a number");
	bad("x --stall-threshold nan", "--stall-threshold needs a number");
	bad("x --max-temp 5Q", "--max-temp needs a size");
	bad("x --max-temp -1", "--max-temp needs a size");
	bad("x --color sometimes", "--color is auto");
	bad("x --time 5", "--time needs FROM,TO");
	bad("x --time ,", "--time needs FROM,TO");
	bad("x --time 7,5", "ends before it begins");
	bad("x --time soon,later", "not a time: 'soon'");
	bad("info --fail-on-match x", "--fail-on-match is an option of analyze");
}

static void test_times(void **state)
{
	static const struct { const char *s; int kind; int64_t ns; } rows[] = {
		{ "12345.678", TIME_SPEC_ABSOLUTE, 12345678000000 },
		{ "0", TIME_SPEC_ABSOLUTE, 0 },
		{ "1.0000000019", TIME_SPEC_ABSOLUTE, 1000000001 },
		{ "+1.5", TIME_SPEC_RELATIVE, 1500000000 },
		{ "2024-01-04T10:33:10+01:00", TIME_SPEC_WALL, 1704360790000000000 },
		{ "2024-01-04T09:33:10Z", TIME_SPEC_WALL, 1704360790000000000 },
		{ "2024-01-04 09:33:10.25", TIME_SPEC_WALL, 1704360790250000000 },
		{ "2024-01-04T09:33", TIME_SPEC_WALL, 1704360780000000000 },
		{ "2024-01-04T03:33:10-0600", TIME_SPEC_WALL, 1704360790000000000 },
	};
	static const char *const wrong[] = { "1.", ".5", "-1", "1e3", "99999999999", "2024-13-01T00:00", "2024-01-04T25:00",
					     "2024-01-04", "2024-01-04T10:33:10+99:00", "+", "+-1", "1 s" };
	struct time_spec t;
	struct error *err;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_null(time_spec_parse(&t, rows[i].s, strlen(rows[i].s)));
		assert_int_equal(t.kind, rows[i].kind);
		assert_true(t.ns == rows[i].ns);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		err = time_spec_parse(&t, wrong[i], strlen(wrong[i]));
		if (!err)
			fail_msg("'%s' was taken for a time", wrong[i]);
		error_free(err);
	}
}

static void test_window(void **state)
{
	struct source_desc sched = { .clock = "sched" }, wall = { .clock = "wall" };
	struct stream_time w;
	struct error *err;

	(void)state;
	assert_null(time_window_apply(&w, NULL, &sched));
	assert_false(w.set);
	assert_null(time_window_apply(&w, "5,+2", &sched));
	assert_true(w.set && w.has_from && w.has_to && !w.from_rel && w.to_rel);
	assert_true(w.from_ns == 5000000000 && w.to_ns == 2000000000);
	assert_null(time_window_apply(&w, "2024-01-04T09:33:10Z,", &wall));
	assert_true(w.has_from && !w.has_to && w.from_ns == 1704360790000000000);
	/* A monotonic clock with a known offset to the wall clock. */
	wall = (struct source_desc){ .clock = "mono", .has_clock_offset = true, .clock_offset_ns = 1704360000000000000 };
	assert_null(time_window_apply(&w, "2024-01-04T09:33:10Z,2024-01-04T09:33:11Z", &wall));
	assert_true(w.from_ns == 790000000000 && w.to_ns == 791000000000);
	err = time_window_apply(&w, "2024-01-04T09:33:10Z,", &sched);
	assert_non_null(err);
	assert_non_null(strstr(err->what, "no wall clock is known"));
	error_free(err);
}

static void test_sizes(void **state)
{
	uint64_t v;

	(void)state;
	assert_null(size_parse(&v, "1048576", "x"));
	assert_true(v == 1 << 20);
	assert_null(size_parse(&v, "1.5k", "x"));
	assert_true(v == 1536);
	assert_null(size_parse(&v, "3MiB", "x"));
	assert_true(v == 3 << 20);
	assert_null(size_parse(&v, "2T", "x"));
	assert_true(v == 2ULL << 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands), cmocka_unit_test(test_values),
		cmocka_unit_test(test_errors),	 cmocka_unit_test(test_times),
		cmocka_unit_test(test_window),	 cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
