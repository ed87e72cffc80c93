// SPDX-License-Identifier: GPL-2.0-or-later
/* test_text_forms.c - rarer layouts of text traces, as files of fixtures/forms. */
#include "text_capture.h"

/* The file through recognition, into the parser that it must be for. */
static void capture_file(struct capture *c, const char *name, const char *parser)
{
	_cleanup_free_ char *path = xasprintf("%s/fixtures/forms/%s", SRCDIR, name);
	char *text = xcalloc(1, 1 << 16);
	FILE *f = fopen(path, "r");
	const struct parser *p;
	size_t len;

	if (!f)
		fail_msg("%s: can't be opened", path);
	len = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	p = recognise(name, (const uint8_t *)text, len);
	assert_non_null(p);
	assert_string_equal(p->name, parser);
	capture(c, parser, text);
	free(text);
}

static void verbose(void **state __unused)
{
	const struct seen *e;
	struct capture c;

	capture_file(&c, "ftrace-latency-verbose.txt", "ftrace");
	assert_int_equal(c.n_events, 4);
	assert_string_equal(c.clock, "local");
	e = nth(&c, EV_KVM_EXIT, 0);
	assert_string_equal(e->reason, "HLT");
	assert_int_equal(e->ev.tid, 28457);
	assert_int_equal(e->ev.cpu, 1);
	/* the time in brackets, not that since the buffer's start */
	assert_int_equal(e->ev.time, 31454075761000);
	assert_int_equal(e->ev.flags, EVF_KNOWN | EVF_IRQS_OFF);
	e = nth(&c, EV_SCHED_WAKING, 0);
	assert_int_equal(e->ev.flags, EVF_KNOWN | EVF_IRQS_OFF | EVF_HARDIRQ);
	assert_string_equal(e->comm, "x y");
	e = nth(&c, EV_SCHED_SWITCH, 0);
	assert_int_equal(e->ev.tid, 0);
	assert_int_equal(e->ev.cpu, 0);
	assert_int_equal(e->ev.flags, EVF_KNOWN | EVF_IRQS_OFF | EVF_NEED_RESCHED);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 0)->ev.time, 31454075787000);
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
}

static void report_latency(void **state __unused)
{
	const struct seen *e;
	struct capture c;

	capture_file(&c, "trace-cmd-report-latency.txt", "trace-cmd report");
	assert_int_equal(c.n_events, 4);
	assert_int_equal(c.cpus, 2);
	e = nth(&c, EV_SCHED_STAT_RUNTIME, 0);
	assert_int_equal(e->ev.time, 213892687000);
	assert_int_equal(e->ev.tid, 342);
	assert_int_equal(e->ev.cpu, 1);
	assert_int_equal(e->ev.flags, EVF_KNOWN | EVF_IRQS_OFF | EVF_NEED_RESCHED |
			 EVF_PREEMPT_RESCHED | EVF_HARDIRQ);
	e = nth(&c, EV_KVM_EXIT, 0);
	assert_string_equal(e->reason, "vintr");
	assert_int_equal(e->ev.cpu, 0);
	assert_int_equal(e->ev.flags, EVF_KNOWN);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 1)->ev.cpu, 12);
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
}

static void raw_arguments(void **state __unused)
{
	const struct seen *e;
	struct capture c;

	capture_file(&c, "trace-cmd-report-R-arrays.txt", "trace-cmd report");
	assert_int_equal(c.n_events, 3);
	e = nth(&c, EV_SYS_ENTER, 0);
	assert_int_equal(e->ev.b[0], 16);
	assert_int_equal(e->ev.a[0], 0xb);
	assert_int_equal(e->ev.a[1], 0xae01);
	assert_int_equal(e->ev.a[2], 0x7fff30201000);
	e = nth(&c, EV_SYS_EXIT, 0);
	assert_int_equal((int64_t)e->ev.a[0], -22);
	/* big-endian */
	e = nth(&c, EV_SYS_ENTER, 1);
	assert_int_equal(e->ev.a[0], 0xb);
	assert_int_equal(e->ev.a[1], 0xae01);
	assert_int_equal(e->ev.a[2], 0x3ff20301000);
	capture_free(&c);
}

/* 32-bit longs; an array that is cut gives no arguments, and costs nothing else. */
static void array_sizes(void **state __unused)
{
	static const char text[] =
		"cpus=1\n a-1     [000]    1.000000: sys_enter:  id=3 args=ARRAY[05, 00, 00, 00, 01, ae, 00, 00, 02, 00, 00, 00, 00, 00, 00, 00, 00, 00, "
		"00, 00, 00, 00, 00, 00]\n a-1     [000]    1.000001: sys_enter:  id=4 args=ARRAY[05, 00, 00\n";
	struct capture c;

	capture(&c, "trace-cmd report", text);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 0)->ev.a[1], 0xae01);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 0)->ev.a[2], 2);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 1)->ev.b[0], 4);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 1)->ev.a[0], 0);
	capture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verbose),
		cmocka_unit_test(report_latency),
		cmocka_unit_test(raw_arguments),
		cmocka_unit_test(array_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
