// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_reports.c - the reports on a case file filled by hand: golden outputs, filters, hostile
 * strings, writing files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "reports/escape.h"
#include "reports/human.h"
#include "reports/model.h"
#include "reports/query.h"
#include "reports/table.h"
#include "utf8.h"

#define FIXTURES	SRCDIR "/fixtures/reports/"

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = NULL;
	size_t n = 0;

	if (!f)
		return NULL;
	n = getdelim(&s, &n, '\0', f) < 0 ? 0 : 1;
	fclose(f);
	if (!n) {
		free(s);
		return strdup("");
	}
	return s;
}

static struct case_db *make_case(void)
{
	char *sql = slurp(FIXTURES "case.sql"), *msg = NULL;
	struct case_db *db;

	assert_non_null(sql);
	assert_null(case_create(&db, NULL));
	if (sqlite3_exec(db->db, sql, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("case.sql: %s", msg);
	free(sql);
	return db;
}

/* report_write() into a file and back; the file's name has no ending that says something. */
static char *written(struct case_db *db, struct options opt, const char *view, void *arg)
{
	char path[] = "/tmp/kvmortem-test-XXXXXX";
	int fd = mkstemp(path);
	struct error *err;
	char *s;

	assert_true(fd >= 0);
	close(fd);
	opt.output = path;
	err = report_write(db, &opt, view, arg);
	s = err ? xasprintf("error %d: %s\n", err->code, err->what) : slurp(path);
	error_free(err);
	unlink(path);
	return s;
}

static void assert_golden(const char *name, const char *got)
{
	char *path = xasprintf(FIXTURES "%s", name), *want;

	if (getenv("KVMORTEM_UPDATE_GOLDEN")) {
		FILE *f = fopen(path, "w");

		fputs(got, f);
		fclose(f);
	}
	want = slurp(path);
	assert_non_null(want);
	if (strcmp(want, got))
		fprintf(stderr, "%s differs; got:\n%s", path, got);
	assert_string_equal(want, got);
	free(want);
	free(path);
}

static void golden_views(void **state)
{
	static const char *const views[] = { "analyze", "info",	  "exits",
					     "latency", "stalls", "chain" };
	static const char *const widths[] = { "80", "200" };
	struct case_db *db = make_case();
	struct options opt = { .chain_stall = -1 };
	size_t i, w;
	char name[64], *s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(views); i++) {
		for (w = 0; w < ARRAY_SIZE(widths); w++) {
			opt.format = "text";
			setenv("COLUMNS", widths[w], 1);
			s = written(db, opt, views[i], NULL);
			snprintf(name, sizeof(name), "%s-%s.txt", views[i], widths[w]);
			assert_golden(name, s);
			free(s);
		}
		opt.format = "json";
		s = written(db, opt, views[i], NULL);
		snprintf(name, sizeof(name), "%s.json", views[i]);
		assert_golden(name, s);
		json_object_put(json_tokener_parse(s));
		free(s);
	}
	unsetenv("COLUMNS");
	case_close(db);
}

/* No line is wider than the terminal but commands to be copied, and none ends in blanks. */
static void text_fits(void **state)
{
	struct case_db *db = make_case();
	struct options opt = { .format = "text", .chain_stall = -1 };
	char *s, *line, *save;
	int width;

	(void)state;
	for (width = 80; width <= 200; width += 30) {
		char columns[8];

		snprintf(columns, sizeof(columns), "%d", width);
		setenv("COLUMNS", columns, 1);
		s = written(db, opt, "analyze", NULL);
		for (line = strtok_r(s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (!strncmp(line, "    perf ", 9))
				continue;
			if (display_width(line) > (size_t)width || line[strlen(line) - 1] == ' ')
				fail_msg("at %d columns: '%s'", width, line);
		}
		free(s);
	}
	unsetenv("COLUMNS");
	case_close(db);
}

static void filters(void **state)
{
	struct case_db *db = make_case();
	struct options opt = { .format = "json", .chain_stall = -1 };
	struct json_object *o;
	char *s;

	(void)state;
	opt.vm = "win11";
	s = written(db, opt, "analyze", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "vms"), 1);
	assert_int_equal(js_len(js_at(o, "vms", 0), "vcpus"), 2);
	assert_int_equal(js_len(o, "stalls"), 2);
	json_object_put(o);
	free(s);
	opt.vm = NULL;
	opt.vcpu = "163";
	s = written(db, opt, "analyze", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "stalls"), 1);
	assert_int_equal(js_int(js_at(o, "stalls", 0), "vcpu"), 2);
	assert_int_equal(js_len(o, "patterns"), 1);
	json_object_put(o);
	free(s);
	s = written(db, opt, "latency", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "rows"), 1);
	assert_string_equal(js_str(js_at(o, "rows", 0), "task"),
			    "CPU 1/KVM"); /* without the ":163" it is stored with */
	json_object_put(o);
	free(s);
	opt.vcpu = "77";
	s = written(db, opt, "stalls", NULL);
	assert_string_equal(
		s,
		"error 1: --vcpu 77: no such one here; there are 0 (tid 162, VM 1), 1 (tid 163, VM 1), 0 (tid 301, VM 2)\n");
	free(s);
	case_close(db);
}

static void exits_by(void **state)
{
	struct case_db *db = make_case();
	struct options opt = { .format = "json", .exits_by = "vcpu", .chain_stall = -1 };
	struct json_object *o;
	char *s;

	(void)state;
	s = written(db, opt, "exits", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "rows"), 4);
	assert_int_equal(js_int(js_at(o, "rows", 2), "vcpu"), 2);
	assert_int_equal(js_int(js_at(o, "rows", 2), "avg_ns"), 156250);
	json_object_put(o);
	free(s);
	opt.exits_by = "all";
	s = written(db, opt, "exits", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "rows"), 3);
	assert_string_equal(js_str(js_at(o, "rows", 0), "reason"), "io");
	assert_int_equal(js_int(js_at(o, "rows", 0), "count"), 3000);
	assert_int_equal(js_int(js_at(o, "rows", 0), "total_ns"), 2709994480LL);
	assert_int_equal(js_int(js_at(o, "rows", 0), "max_ns"), 1331609340);
	assert_null(js_get(js_at(o, "rows", 0), "vm"));
	json_object_put(o);
	free(s);
	opt.exits_event = "msr";
	opt.format = "text";
	s = written(db, opt, "exits", NULL);
	assert_string_equal(s, "No msr events in the input.\n");
	free(s);
	case_close(db);
}

static void chain_at(void **state)
{
	struct case_db *db = make_case();
	struct options opt = { .format = "json", .chain_stall = -1 };
	struct json_object *o;
	char *s;

	(void)state;
	opt.chain_at = "22.8";
	s = written(db, opt, "chain", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "stalls"), 2);		/* stall 1 lasts until 22.83 */
	assert_int_equal(js_int(js_at(o, "stalls", 1), "id"), 2);
	assert_null(js_get(o, "slices"));
	json_object_put(o);
	free(s);
	opt.chain_at = "+0.25";
	s = written(db, opt, "chain", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_len(o, "stalls"), 0);
	assert_int_equal(js_len(o, "slices"), 2);
	json_object_put(o);
	free(s);
	opt.chain_at = "2024-01-04T09:20:22Z";	/* the fixture's anchor + 22 s */
	s = written(db, opt, "chain", NULL);
	o = json_tokener_parse(s);
	assert_int_equal(js_int(js_at(o, "stalls", 0), "id"), 1);
	json_object_put(o);
	free(s);
	opt.format = "text";
	opt.chain_at = "20.25";
	s = written(db, opt, "chain", NULL);
	assert_non_null(strstr(s, "No stall at that time. What the vCPUs did then:\n"));
	assert_non_null(strstr(s, "50 % in the guest, 25 %"));
	free(s);
	opt.chain_at = "1000";
	s = written(db, opt, "chain", NULL);
	assert_string_equal(
		s,
		"error 1: --at 1000: no recording of the input covers that time; `info` shows their spans\n");
	free(s);
	opt.chain_at = NULL;
	opt.chain_stall = 9;
	s = written(db, opt, "chain", NULL);
	assert_string_equal(
		s, "error 1: --stall 9: no such stall; `stalls` lists them with their numbers\n");
	free(s);
	case_close(db);
}

static void empty_case(void **state)
{
	static const char *const views[] = { "analyze", "info",	  "exits",
					     "latency", "stalls", "chain" };
	struct options opt = { .chain_stall = -1 };
	struct case_db *db;
	size_t i;

	(void)state;
	assert_null(case_create(&db, NULL));
	for (i = 0; i < ARRAY_SIZE(views); i++) {
		struct json_object *o;
		char *s;

		opt.format = "json";
		s = written(db, opt, views[i], NULL);
		o = json_tokener_parse(s);
		assert_int_equal(js_int(o, "schema"), 1);
		json_object_put(o);
		free(s);
		opt.format = "text";
		s = written(db, opt, views[i], NULL);
		assert_true(*s && strncmp(s, "error", 5));
		free(s);
	}
	case_close(db);
}

/*
 * Everything a bundle can name is hostile here; what comes out must not act on a terminal nor break
 * lines.
 */
static void hostile(void **state)
{
	static const char *const evil[] = {
		"\033[2J\033]0;owned\007",
		"a\nb\rc",
		"\xe2\x80\xae"
		"txt.exe",
		"<script>alert(1)</script>",
		"\xc2\x9b"
		"31m",
		"\xff\xfe",
		"%s%n%s",
		"\xe8\x99\x9a\xe6\x8b\x9f\xe6\x9c\xba",
		"$(reboot) `id`",
		"e\xcc\x81\xcc\x81\xcc\x81",
		"\xf0\x9f\x92\xa9",
		"\xe2\x80\x8b",
	};
	static const char *const views[] = { "analyze", "info",	  "exits",
					     "latency", "stalls", "chain" };
	char *longest = xmalloc(10241);
	size_t i, k;

	(void)state;
	memset(longest, 'x', 10240);
	longest[10240] = '\0';
	for (i = 0; i <= ARRAY_SIZE(evil); i++) {
		const char *s = i < ARRAY_SIZE(evil) ? evil[i] : longest;
		struct options opt = { .chain_stall = -1 };
		struct case_db *db = make_case();
		static const char *const updates[] = {
			"UPDATE member SET path = ?1, format = ?1, message = ?1",
			"UPDATE source SET path = ?1, kernel = ?1, host = ?1, clock = ?1",
			"UPDATE recording SET command = ?1",
			"UPDATE cite SET text = ?1",
			"UPDATE vm SET name = ?1",
			"UPDATE vcpu SET comm = ?1",
			"UPDATE exit_stat SET reason = ?1",
			"UPDATE stall SET task = ?1, cause = ?1, what = ?1, kind = ?1",
			"UPDATE chain_link SET task = ?1, what = ?1, kind = ?1",
			"UPDATE pattern SET shape = ?1",
			"UPDATE runq_delay SET task = ?1",
			"UPDATE runq_wait SET top_task = ?1",
			"UPDATE loss SET what = ?1",
			"UPDATE coverage SET event = ?1",
			"UPDATE verdict SET title = ?1, because = ?1, workaround = ?1, mechanism = ?1, contradiction = ?1, signature = ?1, "
			"record_next = json_array(?1), missing = json_array(?1), fixed_by = ?1",
			"UPDATE evidence SET says = ?1, strength = ?1",
			"UPDATE event_count SET event = ?1",
		};

		for (k = 0; k < ARRAY_SIZE(updates); k++) {
			sqlite3_stmt *st;

			assert_int_equal(sqlite3_prepare_v2(db->db, updates[k], -1, &st, NULL),
					 SQLITE_OK);
			sqlite3_bind_text(st, 1, s, -1, SQLITE_STATIC);
			assert_int_equal(sqlite3_step(st), SQLITE_DONE);
			sqlite3_finalize(st);
		}
		for (k = 0; k < ARRAY_SIZE(views); k++) {
			struct json_object *o;
			char *out, *p;
			uint32_t cp;
			size_t n, left;

			opt.format = "text";
			out = written(db, opt, views[k], NULL);
			for (p = out, left = strlen(out); left; p += n, left -= n) {
				n = utf8_next(p, left, &cp);
				assert_true(n);
				assert_true(cp == '\n' || !char_hidden(cp));
			}
			if (i == ARRAY_SIZE(evil))
				assert_true(strlen(out) < 200000);
			free(out);
			opt.format = "json";
			out = written(db, opt, views[k], NULL);
			o = json_tokener_parse(out);
			assert_non_null(o);
			for (p = out; *p; p++)
				assert_true(*p == '\n' || (unsigned char)*p >= 0x20);
			json_object_put(o);
			free(out);
		}
		case_close(db);
	}
	free(longest);
}

static void escapes(void **state)
{
	char *s;

	(void)state;
	s = escape_terminal("a\033[1mb\tc\nd\x7f\xff\xc2\x9b\xe2\x80\xae", 17);
	assert_string_equal(s, "a\\e[1mb\\tc\\nd\\x7f\xef\xbf\xbd\\u{9b}\\u{202e}");
	free(s);
	s = escape_prose("  two\n  words\t\033 ");
	assert_string_equal(s, "two words \\e");
	free(s);
	assert_int_equal(display_width("\xe8\x99\x9a\xe6\x8b\x9f" "e\xcc\x81"), 5);
	assert_int_equal(display_cut("\xe8\x99\x9a\xe6\x8b\x9f", 3), 3);
	assert_int_equal(display_cut("e\xcc\x81x", 1), 3);
}

static void humans(void **state)
{
	static const struct { int64_t ns; const char *text;
	} durations[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 64520, "64.5 us" },
		{ 999600, "1.00 ms" },
		{ 255800000, "256 ms" },
		{ 1331609340, "1.33 s" },
		{ 107244000000, "107 s" },
		{ 1040000000000, "17.3 min" },
		{ 93600000000000, "26.0 h" },
		{ 267840000000000, "3.10 d" },
		{ -1500, "-1.50 us" },
		{ INT64_MAX, "106752 d" },
	};
	char buf[HUMAN_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(durations); i++)
		assert_string_equal(human_ns(buf, durations[i].ns), durations[i].text);
	assert_string_equal(human_time(buf, 21593569000), "21.593569 s");
	assert_string_equal(human_time(buf, 1704360682922522000), "2024-01-04 09:31:22.922522 UTC");
	assert_string_equal(human_count(buf, -1234567), "-1,234,567");
	assert_string_equal(human_count(buf, INT64_MIN), "-9,223,372,036,854,775,808");
	assert_string_equal(human_count(buf, 999), "999");
	assert_string_equal(human_bytes(buf, 4594586), "4.59 MB");
	assert_string_equal(human_share(buf, 1, 100000), "<0.1 %");
	assert_string_equal(human_share(buf, 41, 100), "41 %");
	assert_string_equal(human_share(buf, 1, 0), "");
}

static char *printed(struct table *t, int width)
{
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	table_print(t, f, 1, width, "", "");
	fclose(f);
	return s;
}

static void tables(void **state)
{
	static const struct table_column columns[] = {
		{ "name", TABLE_CUT },
		{ "n", TABLE_RIGHT },
		{ "more", TABLE_OPTIONAL },
		{ "none", TABLE_HIDE_EMPTY },
	};
	struct table *t = table_create(columns, ARRAY_SIZE(columns));
	char *s;

	(void)state;
	table_cell(t, "\xe8\x99\x9a\xe6\x8b\x9f");
	table_cell(t, "7");
	table_cell(t, "x");
	table_cell(t, NULL);
	table_cell(t, "abcdefghijklmnopqrstuvwxyz");
	table_cell(t, "1234");
	table_cell(t, "");
	table_cell(t, "");
	s = printed(t, 80);
	assert_string_equal(s, " name                           n  more\n"
			       " \xe8\x99\x9a\xe6\x8b\x9f                           7  x\n"
			       " abcdefghijklmnopqrstuvwxyz  1234\n");
	free(s);
	s = printed(t, 24);
	assert_string_equal(s, " name                  n\n"
			       " \xe8\x99\x9a\xe6\x8b\x9f                  7\n"
			       " abcdefghijklmnop…  1234\n");
	free(s);
	table_free(t);
}

static void queries(void **state)
{
	struct case_db *db = make_case();
	static const char *const refused[] = {
		"DELETE FROM vm",
		"SELECT 1; SELECT 2",
		"",
		"ATTACH 'x' AS y",
		"PRAGMA journal_mode = WAL",
		"PRAGMA user_version = 9999",
		"SELECT nothing",
		"SELECT load_extension('x')",
		"CREATE TEMP TABLE t(a)",
		"VACUUM",
		"BEGIN",
	};
	struct options opt = { .format = "json", .chain_stall = -1 };
	struct error *err;
	sqlite3_stmt *st;
	size_t i;
	char *s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		err = query_prepare(db, &st, refused[i]);
		assert_non_null(err);
		assert_int_equal(err->code, ERR_USAGE);
		assert_null(st);
		error_free(err);
	}
	assert_null(query_prepare(
		db, &st,
		"SELECT id, id, name, 9223372036854775807 AS big, NULL AS none, 0.5 AS half FROM vm ORDER BY id; "));
	s = written(db, opt, "query", st);
	assert_string_equal(
		s,
		"{\"schema\": 1,\n\"columns\": [\"id\",\"id:2\",\"name\",\"big\",\"none\",\"half\"],\n\"rows\": [\n"
		"  {\"id\":1,\"id:2\":1,\"name\":\"win11\",\"big\":9223372036854775807,\"none\":null,\"half\":0.5},\n"
		"  {\"id\":2,\"id:2\":2,\"name\":\"qemu-system-x86\",\"big\":9223372036854775807,\"none\":null,\"half\":0.5}\n ]\n}\n");
	free(s);
	sqlite3_reset(st);
	opt.format = "text";
	s = written(db, opt, "query", st);
	assert_string_equal(s, "id  id:2  name                             big  none  half\n"
			       " 1     1  win11            9223372036854775807         0.5\n"
			       " 2     2  qemu-system-x86  9223372036854775807         0.5\n");
	free(s);
	sqlite3_finalize(st);
	assert_null(query_prepare(db, &st, "SELECT abs(-9223372036854775807 - 1)"));
	s = written(db, opt, "query", st);
	assert_string_equal(s, "error 1: query: integer overflow\n");
	free(s);
	sqlite3_finalize(st);
	query_release(db);
	case_close(db);
}

static void writing(void **state)
{
	struct case_db *db = make_case();
	struct options opt = { .chain_stall = -1 };
	char dir[] = "/tmp/kvmortem-test-XXXXXX", *path, *s;
	struct error *err;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/out.json", dir);
	opt.output = path;
	assert_null(report_write(db, &opt, "latency", NULL));	/* the ending says JSON */
	s = slurp(path);
	assert_int_equal(*s, '{');
	free(s);
	chmod(path, 0640);
	opt.format = "text";
	assert_null(report_write(db, &opt, "latency", NULL));	/* -f beats it; the mode stays */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	opt.chain_at = "1000";
	err = report_write(db, &opt, "chain", NULL);		/* a failure leaves the old file */
	assert_non_null(err);
	error_free(err);
	s = slurp(path);
	assert_int_equal(*s, 'T');
	free(s);
	opt.format = "xml";
	err = report_write(db, &opt, "latency", NULL);
	assert_int_equal(err->code, ERR_USAGE);
	assert_non_null(strstr(err->what, "unknown format 'xml': known are "));
	error_free(err);
	opt.format = "json";
	opt.chain_at = NULL;
	opt.output = "/dev/full";
	err = report_write(db, &opt, "latency", NULL);
	assert_int_equal(err->code, ERR_IO);
	assert_string_equal(err->what,
			    "/dev/full: No space left on device; the report is not complete");
	error_free(err);
	opt.output = dir;
	err = report_write(db, &opt, "latency", NULL);
	assert_int_equal(err->code, ERR_IO);
	error_free(err);
	opt.output = "/nonexistent/x.json";
	err = report_write(db, &opt, "latency", NULL);
	assert_int_equal(err->code, ERR_IO);
	error_free(err);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);			/* no temporary file is left */
	free(path);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_views), cmocka_unit_test(text_fits),
		cmocka_unit_test(filters),	cmocka_unit_test(exits_by),
		cmocka_unit_test(chain_at),	cmocka_unit_test(empty_case),
		cmocka_unit_test(hostile),	cmocka_unit_test(escapes),
		cmocka_unit_test(humans),	cmocka_unit_test(tables),
		cmocka_unit_test(queries),	cmocka_unit_test(writing),
	};

	unsetenv("NO_COLOR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
