// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_render.c - print formats rendered in the confined child; what happens to it may not touch
 * the parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>

#include "parsers/render.h"

static const char good[] =
	"name: demo\nID: 77\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned int reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long addr;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n\n"
	"print fmt: \"reason %s at 0x%lx by %s, half %u\", __print_symbolic(REC->reason, { 12, \"HLT\" }, { 48, \"EPT\" }), "
	"REC->addr, REC->comm, REC->reason / 2\n";

static uint8_t raw[40];

static struct tp_format *format(const char *text, size_t len)
{
	struct tp_format *f = NULL;

	error_free(tp_format_parse(&f, "test", text, len));
	return f;
}

/* Render @n copies of the record; true when the child lives after it. */
static bool render_n(const struct tp_format *f, size_t n, char **texts)
{
	struct render_event *ev = xcalloc(n, sizeof(*ev));
	struct render *r;
	bool alive;
	size_t i;

	assert_null(render_start(&r, &f, 1, false, 8));
	for (i = 0; i < n; i++)
		ev[i] = (struct render_event){ .id = 77, .raw = raw, .size = sizeof(raw) };
	alive = render_batch(r, ev, n, texts);
	render_stop(r);
	free(ev);
	return alive;
}

static void set_record(void)
{
	raw[0] = 77;
	raw[8] = 12;
	raw[16] = 0xcd;
	raw[17] = 0xab;
	memcpy(raw + 24, "CPU 0/KVM", 9);
}

static void test_good(void **state)
{
	struct tp_format *f = format(good, strlen(good));
	static char *texts[5000];
	size_t i;

	(void)state;
	set_record();
	assert_non_null(f);
	assert_true(render_n(f, ARRAY_SIZE(texts), texts));	/* more than one batch */
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_string_equal(texts[i], "reason HLT at 0xabcd by CPU 0/KVM, half 6");
		free(texts[i]);
	}
	tp_format_free(f);
}

static void test_unknown(void **state)
{
	struct tp_format *f = format(good, strlen(good));
	struct render_event ev[2] = { { .id = 78, .raw = raw, .size = sizeof(raw) },
				      { .id = 77, .raw = raw, .size = 0 } };
	const struct tp_format *list[] = { f };
	char *texts[2];
	struct render *r;

	(void)state;
	assert_null(render_start(&r, list, 1, false, 8));
	render_batch(r, ev, 2, texts);
	assert_null(texts[0]);
	free(texts[1]);
	render_stop(r);
	tp_format_free(f);
}

/*
 * A child that dies (as libtraceevent does of 1 in 900 mutated formats) leaves NULLs, and
 * nothing hangs.
 */
static void test_mutated(void **state)
{
	unsigned int seed = 4711;
	size_t i, k, rendered = 0, died = 0;

	(void)state;
	for (i = 0; i < 150; i++) {
		char text[sizeof(good)];
		struct tp_format *f;
		char *out[3] = { NULL, NULL, NULL };

		memcpy(text, good, sizeof(good));
		for (k = 0; k < 1 + i % 6; k++) {
			size_t at = strcspn(good, "p") + rand_r(&seed) % (sizeof(good) - strcspn(good, "p") - 1);

			text[at] = "0/%(){},\"-9Rz"[rand_r(&seed) % 13];
		}
		f = format(text, strlen(text));
		if (!f)
			continue;
		died += !render_n(f, 3, out);
		for (k = 0; k < 3; k++) {
			rendered += out[k] != NULL;
			free(out[k]);
		}
		tp_format_free(f);
	}
	print_message("# %zu texts, %zu children died\n", rendered, died);
	assert_true(rendered > 0);
}

/* Division by a field that is zero: SIGFPE in libtraceevent 1.7.1. */
static void test_death(void **state)
{
	_cleanup_free_ char *text = xasprintf("%.*s\"%%u\", 12 / REC->reason\n", (int)(strstr(good, "print fmt: ") + 11 - good), good);
	struct tp_format *f = format(text, strlen(text));
	char *out[2] = { NULL, NULL };

	(void)state;
	set_record();
	raw[8] = 0;
	assert_non_null(f);
	render_n(f, 2, out);	/* dies, or a later library knows better: either way we are here */
	free(out[0]);
	free(out[1]);
	tp_format_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
