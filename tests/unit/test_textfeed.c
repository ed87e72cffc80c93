// SPDX-License-Identifier: GPL-2.0-or-later
/* test_textfeed.c - lines out of whole and mixed texts, with two parsers made for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "textfeed.h"
#include "unquote.h"

/* "REC TIME word end" is a record; "FRAME x" belongs to the record before; "# REC" is a header. */
static struct {
	char		text[100][200];
	uint64_t	no[100];
	bool		rejoined[100];
	size_t		n;
	unsigned int	begun, ended;
	char		value[200];
	uint64_t	value_line;
	int64_t		cite;
} got;

static int rec_sniff(const struct sniff *s)
{
	return s->len >= 5 && !memcmp(s->head, "# REC", 5) ? 80 : 0;
}

static struct error *rec_begin(struct parse_ctx *ctx, void **state)
{
	int64_t id;

	got.begun++;
	*state = &got;
	return ctx_source(ctx, &id, "test records");
}

static enum line_result rec_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	(void)ctx;
	assert_ptr_equal(state, &got);
	if (ln->len >= 5 && !memcmp(ln->s, "# REC", 5))
		return LINE_SKIPPED;
	if (!((ln->len > 8 && !memcmp(ln->s, "REC ", 4) && !memcmp(ln->s + ln->len - 3, "end", 3)) ||
	      (ln->len > 6 && !memcmp(ln->s, "FRAME ", 6))))
		return LINE_NOT_MINE;
	assert_true(got.n < ARRAY_SIZE(got.text));
	snprintf(got.text[got.n], sizeof(got.text[0]), "%.*s", (int)ln->len, ln->s);
	got.no[got.n] = ln->no;
	got.rejoined[got.n++] = ln->rejoined;
	return LINE_TAKEN;
}

static struct error *rec_end(struct parse_ctx *ctx, void *state)
{
	(void)ctx;
	assert_ptr_equal(state, &got);
	got.ended++;
	return NULL;
}

static bool rec_wants_more(const char *s, size_t len)
{
	return len > 4 && !memcmp(s, "REC ", 4) && !memmem(s, len, "end", 3);
}

static const struct parser rec_parser = {
	.name = "test records", .kind = PARSER_LINES, .priority = -100, .embed = true, .sniff = rec_sniff,
	.begin = rec_begin, .line = rec_line, .end = rec_end, .wants_more = rec_wants_more,
};
REGISTER(parsers, &rec_parser);

static int value_sniff(const struct sniff *s)
{
	size_t n = strlen(s->name);

	return n >= 12 && !strcmp(s->name + n - 12, "kmtest_value") && s->size < 50 ? 90 : 0;
}

static struct error *value_parse(struct parse_ctx *ctx)
{
	const uint8_t *nl = memchr(ctx->m->data, '4', ctx->m->size);
	int64_t line;

	snprintf(got.value, sizeof(got.value), "%.*s", (int)ctx->m->size, (const char *)ctx->m->data);
	got.cite = ctx_cite_at(ctx, nl ? (uint64_t)(nl - ctx->m->data) : 0, "cited", 5);
	line = case_int(ctx->db, -1, "SELECT line FROM cite WHERE id = ?", "i", got.cite);
	got.value_line = (uint64_t)line;
	return NULL;
}

static const struct parser value_parser = {
	.name = "test value", .kind = PARSER_VALUE, .sniff = value_sniff, .parse = value_parse,
};
/* REGISTER() is for one a file. */
static const void *const __attribute__((used, section("km_parsers"))) value_entry = &value_parser;

/* A second LINES format that is never embedded: "# TST", "T x". */
static int lines_sniff(const struct sniff *s)
{
	return s->len >= 5 && !memcmp(s->head, "# TST", 5) ? 80 : 0;
}

static enum line_result lines_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	(void)ctx;
	(void)state;
	return ln->len > 2 && (!memcmp(ln->s, "T ", 2) || !memcmp(ln->s, "# TST", 3)) ? LINE_TAKEN : LINE_NOT_MINE;
}

static const struct parser lines_parser = {
	.name = "test lines", .kind = PARSER_LINES, .sniff = lines_sniff, .line = lines_line,
};
static const void *const __attribute__((used, section("km_parsers"))) lines_entry = &lines_parser;

static struct case_db *db;

static int set_up(void **state)
{
	(void)state;
	memset(&got, 0, sizeof(got));
	return case_create(&db, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	case_close(db);
	return 0;
}

/* Analyse @text as the member @name; returns "status|format|message". */
static const char *feed_named(const char *name, const char *text, size_t len, bool truncated)
{
	static char buf[800];
	struct member m = { .path = name,
			    .name = name,
			    .data = (const uint8_t *)text,
			    .size = len,
			    .truncated = truncated };
	struct parse_ctx proto = { .db = db };
	struct error *err = NULL;
	sqlite3_stmt *st;

	assert_null(case_insert(db, &m.id, "INSERT INTO member(path, status) VALUES(?, 'ignored')", "s", name));
	assert_null(analyze_member(&proto, &m));
	assert_null(case_query(db, &st, "SELECT status || '|' || COALESCE(format, '') || '|' || COALESCE(message, '') "
			       "FROM member WHERE id = ?", "i", m.id));
	assert_true(case_step(db, st, &err));
	snprintf(buf, sizeof(buf), "%s", (const char *)sqlite3_column_text(st, 0));
	case_done(st);
	assert_int_equal(got.begun, got.ended);
	return buf;
}

static const char *feed(const char *text)
{
	return feed_named("mail.txt", text, strlen(text), false);
}

static void assert_begins(const char *s, const char *begin)
{
	if (strncmp(s, begin, strlen(begin)))
		fail_msg("'%s' does not begin with '%s'", s, begin);
}

static void test_whole(void **state)
{
	const char *r = feed("# REC of a file\r\nREC 1 end\r\n\r\nnoise\nREC 2 end");

	(void)state;
	assert_begins(r, "read|test records|1 of 5 lines not understood, the first is line 4");
	assert_int_equal(got.n, 2);
	assert_string_equal(got.text[0], "REC 1 end");
	assert_int_equal(got.no[1], 5);
}

/* A file of one format with lines of another: both are read. */
static void test_transcript(void **state)
{
	const char *r = feed("# TST\nT 1\nREC 1 end\nT 2\nnoise\n");

	(void)state;
	assert_begins(r, "read|test lines|besides, lines of other formats: 1 of test records; 1 of 5 lines not understood");
	assert_int_equal(got.n, 1);
	assert_int_equal(got.no[0], 3);
	/* Sources: the one of the taken record. */
	assert_int_equal(case_int(db, -1, "SELECT COUNT(*) FROM source", ""), 1);
}

static void test_whole_cut(void **state)
{
	const char text[] = "# REC\nREC 1 end\nREC 2 end";

	(void)state;
	/* The last line of a cut member has no end: it is not evidence. */
	feed_named("x.txt", text, sizeof(text) - 1, true);
	assert_int_equal(got.n, 1);
}

static void test_bom_and_utf16(void **state)
{
	char wide[200] = "\xff\xfe";
	const char *text = "# REC\r\nREC 1 end\r\n";
	size_t i;

	(void)state;
	assert_begins(feed("\xef\xbb\xbf# REC\nREC 1 end\n"), "read|test records|");
	assert_int_equal(got.n, 1);
	for (i = 0; text[i]; i++) {
		wide[2 + 2 * i] = text[i];
		wide[3 + 2 * i] = '\0';
	}
	assert_begins(feed_named("w.txt", wide, 2 + 2 * i, false), "read|test records");
	assert_int_equal(got.n, 2);
	assert_int_equal(got.no[1], 2);
}

static void test_prose(void **state)
{
	(void)state;
	assert_begins(feed("Hello,\n\nthe REC lines took long.\nREC is a format.\n"),
		      "ignored|text|text, but nothing in it is known evidence");
	assert_int_equal(got.n, 0);
	/* begin() made a source for nothing: it is gone. */
	assert_int_equal(case_int(db, -1, "SELECT COUNT(*) FROM source", ""), 0);
}

static void test_quoted_once(void **state)
{
	(void)state;
	assert_begins(feed("Look:\n\n  REC 1.00001 end\n  FRAME a\nREC 2.00002 end\nFRAME a\n\nReply:\n"
			   "> Look:\n>\n>   REC 1.00001 end\n>   FRAME a\n> REC 2.00002  end\n>FRAME a\n"
			   "> > REC 3.00003 end\n>> FRAME a\nEnd\n"),
		      "read|mixed text|lines taken: 6 of test records");
	assert_int_equal(got.n, 6);
	assert_string_equal(got.text[0], "REC 1.00001 end");
	assert_string_equal(got.text[3], "FRAME a");
	assert_string_equal(got.text[4], "REC 3.00003 end");
	assert_string_equal(got.text[5], "FRAME a");
	assert_int_equal(got.no[4], 15);
}

static void test_rejoined(void **state)
{
	(void)state;
	feed("> REC 1 aaa\n> bbb end\nREC 2 cut\n\nend\n> REC 3\n> ccc\n> end\n> REC 4 cut\nend\nREC 5\nREC 6 end\n");
	assert_int_equal(got.n, 3);
	assert_string_equal(got.text[0], "REC 1 aaa bbb end");
	assert_true(got.rejoined[0]);
	assert_int_equal(got.no[0], 1);
	assert_string_equal(got.text[1], "REC 3 ccc end");
	assert_int_equal(got.no[1], 6);
	/* "REC 5 REC 6 end" is what the parser asked for. */
	assert_string_equal(got.text[2], "REC 5 REC 6 end");
	/* Many pieces: the buffer they are joined in grows under them. */
	feed("REC 7 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
	     "cccccccccccccccccccccccccccccccccccccc\ndddddddddd end\n");
	assert_int_equal(got.n, 4);
	assert_int_equal(strlen(got.text[3]), 44 + 1 + 51 + 1 + 38 + 1 + 14);
}

static void test_quoted_printable(void **state)
{
	(void)state;
	feed("From: a@example.org\nSubject: x\nContent-Type: multipart/mixed; boundary=\"=_part_1\"\n\n"
	     "--=_part_1\nContent-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n"
	     "REC 1 a=3Db e=\nnd\n> REC 2\xc2\xa0x =65nd\n--=_part_1\nContent-Type: text/plain\n\nREC 3 a=3Db end\n");
	assert_int_equal(got.n, 3);
	assert_string_equal(got.text[0], "REC 1 a=b end");
	assert_int_equal(got.no[0], 9);
	assert_string_equal(got.text[1], "REC 2 x end");
	assert_string_equal(got.text[2], "REC 3 a=3Db end");
}

static void test_diff_and_script(void **state)
{
	(void)state;
	feed("--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@ f()\n REC 1 end\n-REC 2 end\n REC 3 end\n\nREC 4 end\n"
	     "printf(\"REC %d end\\n\", x);\n> @@ -1 +1 @@\n> -REC 5 end\n> +REC 6 end\n> REC 7 end\n");
	assert_int_equal(got.n, 2);
	assert_string_equal(got.text[0], "REC 4 end");
	assert_string_equal(got.text[1], "REC 7 end");
}

static void test_sections(void **state)
{
	(void)state;
	assert_begins(feed("facts:\n== a/kmtest_value\nx\n42\n== other\nREC 1 end\n"), "read|mixed text");
	assert_string_equal(got.value, "x\n42\n");
	assert_int_equal(got.value_line, 4);
	assert_int_equal(got.n, 1);
	feed("text\n> root@host:~# cat /sys/kmtest_value\n> 43\n>\n> end\n");
	assert_string_equal(got.value, "43\n");
	assert_int_equal(got.value_line, 3);
	feed("==> /proc/kmtest_value <==\n44\n\n==> /proc/none <==\n0\n");
	assert_string_equal(got.value, "44\n\n");
	feed("x\n/sys/kernel/kmtest_value:y\n/sys/kernel/kmtest_value:45\n/sys/kernel/none:46\n");
	assert_string_equal(got.value, "y\n45\n");
	assert_int_equal(got.value_line, 3);
	/* A log under its name is read as one. */
	got.n = 0;
	feed("prose\n== var/log/rec\n# REC\nREC 8 end\nnoise\n");
	assert_int_equal(got.n, 1);
	assert_int_equal(got.no[0], 4);
}

static void test_long_and_binary(void **state)
{
	size_t len = 300000;
	char *text = malloc(len);

	(void)state;
	memset(text, 'a', len);
	memcpy(text, "REC 1 end\n", 10);
	memcpy(text + len - 11, "\nREC 2 end\n", 11);
	assert_non_null(strstr(feed_named("l", text, len, false), "longer than 64 KiB"));
	assert_int_equal(got.n, 2);
	memset(text, '\1', len);
	assert_begins(feed_named("b", text, len, false), "ignored||not a known format");
	memcpy(text, "KDUMP   ", 8);
	assert_begins(feed_named("b", text, len, false), "ignored|kdump|a kernel dump is not read");
	free(text);
}

static void test_unquote(void **state)
{
	static const struct { const char *in; unsigned int depth; const char *out; } rows[] = {
		{ "plain", 0, "plain" }, { "> a", 1, "a" }, { ">a", 1, "a" }, { ">>> a", 3, "a" }, { "> > >  a", 3, " a" },
		{ ">", 1, "" }, { "", 0, "" }, { " > a", 0, " > a" }, { "> >", 2, "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *s = rows[i].in;
		size_t len = strlen(s);

		assert_int_equal(mail_unquote(&s, &len), rows[i].depth);
		assert_int_equal(len, strlen(rows[i].out));
		assert_memory_equal(s, rows[i].out, len);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole),	    TEST(test_transcript),
		TEST(test_whole_cut),	    TEST(test_bom_and_utf16),
		TEST(test_prose),	    TEST(test_quoted_once),
		TEST(test_rejoined),	    TEST(test_quoted_printable),
		TEST(test_diff_and_script), TEST(test_sections),
		TEST(test_long_and_binary), TEST(test_unquote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
