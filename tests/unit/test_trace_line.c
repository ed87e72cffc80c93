// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_trace_line.c - splitting trace lines: comms with anything in them, every flags column,
 * clocks, damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../parsers/fgraph_call.h"
#include "../../parsers/trace_line.h"

static const struct good {
	const char	*line, *comm, *rest;
	int32_t		tid, tgid;
	uint16_t	cpu;
	uint64_t	time;
	int		fraction;
	uint8_t		flags;
} good[] = {
	{ "          <idle>-0       [001] d..2.    39.375723: sched_switch: x", "<idle>", "sched_switch: x", 0, -1, 1,
	  39375723000, 6, EVF_KNOWN | EVF_IRQS_OFF },
	{ "          l1init-143     (    143) [000] dNs4.   220.026896: sched_wakeup: comm=a", "l1init",
	  "sched_wakeup: comm=a", 143, 143, 0, 220026896000, 6,
	  EVF_KNOWN | EVF_IRQS_OFF | EVF_NEED_RESCHED | EVF_PREEMPT_RESCHED | EVF_SOFTIRQ },
	{ "           <...>-77    (-----) [007] .....     1.000001: a: b", "<...>", "a: b", 77, -1, 7, 1000001000, 6, EVF_KNOWN },
	{ "       CPU 0/KVM-174   [001]   213.895328: kvm_entry:             vcpu 0", "CPU 0/KVM",
	  "kvm_entry:             vcpu 0", 174, -1, 1, 213895328000, 6, 0 },
	{ "   kworker/5:2-ev-99   [015] d.h1   95922.997039: a: b", "kworker/5:2-ev", "a: b", 99, -1, 15, 95922997039000, 6,
	  EVF_KNOWN | EVF_IRQS_OFF | EVF_HARDIRQ },
	{ " irq/29-iwlwifi-520     [002] DNh4.     5.123456789: a: b", "irq/29-iwlwifi", "a: b", 520, -1, 2, 5123456789, 9,
	  EVF_KNOWN | EVF_IRQS_OFF | EVF_NEED_RESCHED | EVF_PREEMPT_RESCHED | EVF_HARDIRQ },
	{ "   odd [3] 1-2.x-66     [012] .......     5.123456: a: b", "odd [3] 1-2.x", "a: b", 66, -1, 12, 5123456000, 6, EVF_KNOWN },
	{ "     iou-wrk-726-728    [002] dnH2.     5.123456: a: [120] 1.5: b", "iou-wrk-726", "a: [120] 1.5: b", 728, -1, 2,
	  5123456000, 6, EVF_KNOWN | EVF_IRQS_OFF | EVF_NEED_RESCHED | EVF_HARDIRQ | EVF_SOFTIRQ },
	{ "            bash-5      [000] dpZ1.    10.000000: a: b", "bash", "a: b", 5, -1, 0, 10000000000, 6,
	  EVF_KNOWN | EVF_IRQS_OFF | EVF_PREEMPT_RESCHED | EVF_NMI | EVF_HARDIRQ },
	{ "bash-5\t[000]\td..1.\t10.000000:\ta: b", "bash", "a: b", 5, -1, 0, 10000000000, 6, EVF_KNOWN | EVF_IRQS_OFF },
	{ "trace.dat:            bash-5     [000]    10.000000: a: b", "bash", "a: b", 5, -1, 0, 10000000000, 6, 0 },
	{ "            bash-5      [000] d..1.  123456789: a: b", "bash", "a: b", 5, -1, 0, 123456789, -1, EVF_KNOWN | EVF_IRQS_OFF },
	{ "            bash-5      [000] d..1.  6600000.123456: a: b", "bash", "a: b", 5, -1, 0, 6600000123456000, 6,
	  EVF_KNOWN | EVF_IRQS_OFF },
	{ "qemu-system-x86-18971   [015] d.... 95922.997039: kvm_exit: vcpu 0", "qemu-system-x86", "kvm_exit: vcpu 0", 18971, -1, 15,
	  95922997039000, 6, EVF_KNOWN | EVF_IRQS_OFF },
};

static void splits(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		const struct good *g = &good[i];
		struct trace_line t;

		if (!trace_line_split(g->line, strlen(g->line), &t))
			fail_msg("not split: %s", g->line);
		assert_int_equal(t.comm_len, strlen(g->comm));
		assert_memory_equal(t.comm, g->comm, t.comm_len);
		assert_int_equal(t.rest_len, strlen(g->rest));
		assert_memory_equal(t.rest, g->rest, t.rest_len);
		assert_int_equal(t.tid, g->tid);
		assert_int_equal(t.tgid, g->tgid);
		assert_int_equal(t.cpu, g->cpu);
		assert_int_equal(t.time, g->time);
		assert_int_equal(t.fraction, g->fraction);
		assert_int_equal(t.flags, g->flags);
	}
}

static void refuses(void **state)
{
	static const char *const bad[] = {
		"", "[000]", "# tracer: nop", "CPU:1 [LOST 1000 EVENTS]",
		"[    1.234567] kvm: disabled by bios",
		" qemu-system-x86  1234 [001]   123.456789: kvm:kvm_exit: reason",	/* perf script */
		"bash-5 [000] 10.000000 a: b", "bash-5 [000] d..1. 10.0000", "bash-5 [000] hello 10.000000: a",
		"bash- [000] d..1. 10.000000: a: b", "-5 [000] d..1. 10.000000: a: b",
		"bash-5 [99999] d..1. 10.000000: a: b", "bash-99999999999 [000] d..1. 10.000000: a: b",
		"bash-5 [000] d..1. 99999999999999999999999.000000: a: b", "bash-5 [000] d..1. 1.0000000000: a: b",
	};
	size_t i, len;
	struct trace_line t;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (trace_line_split(bad[i], strlen(bad[i]), &t))
			fail_msg("split: %s", bad[i]);
	/* no prefix of a line up to its time is a line, and none is read beyond its end */
	for (len = 0; len < strlen("   bash-5      [000] d..1.    10.000000:"); len++) {
		_cleanup_free_ char *cut = xmalloc(len ? len : 1);

		memcpy(cut, "   bash-5      [000] d..1.    10.000000:", len);
		assert_false(trace_line_split(cut, len, &t));
	}
}

static void latency_format(void **state)
{
	static const char a[] = "  <idle>-0         0d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq";
	static const char b[] = "    bash-1234     12dNh3   17us : sched_wakeup: comm=x pid=1 prio=120 target_cpu=001";
	struct trace_line t;

	(void)state;
	assert_true(trace_line_split_latency(a, strlen(a), &t));
	assert_int_equal(t.tid, 0);
	assert_int_equal(t.cpu, 0);
	assert_int_equal(t.time, 0);
	assert_int_equal(t.flags, EVF_KNOWN | EVF_IRQS_OFF | EVF_SOFTIRQ);
	assert_memory_equal(t.rest, "_raw_spin", 9);
	assert_true(trace_line_split_latency(b, strlen(b), &t));
	assert_int_equal(t.tid, 1234);
	assert_int_equal(t.cpu, 12);
	assert_int_equal(t.time, 17000);
	assert_int_equal(t.fraction, -2);
	assert_memory_equal(t.rest, "sched_wakeup: ", 14);
	assert_false(trace_line_split_latency("it took 17us : long", 19, &t));
}

static void names(void **state)
{
	static const struct {
		const char *rest, *name, *fields;
	} rows[] = {
		{ "kvm_exit:             vcpu 0", "kvm_exit", "vcpu 0" },
		{ "a-b.c_1: x", "a-b.c_1", "x" },
		{ "kvm_exit:", "kvm_exit", "" },
		{ "kvm:kvm_exit: x", "", "" },
		{ "schedule <-worker_thread", "", "" },
		{ "<stack trace>", "", "" },
		{ "sys_ioctl(fd: 3)", "", "" },
		{ ": x", "", "" },
	};
	const char *fields;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct trace_line t = { .rest = rows[i].rest, .rest_len = strlen(rows[i].rest) };
		size_t n = trace_line_name(&t, &fields);

		assert_int_equal(n, strlen(rows[i].name));
		assert_memory_equal(t.rest, rows[i].name, n);
		if (n)
			assert_string_equal(fields, rows[i].fields);
	}
}

static void lost_lines(void **state)
{
	static const struct {
		const char *line;
		int cpu;
		uint64_t events;
	} rows[] = {
		{ "CPU:1 [LOST 2157 EVENTS]", 1, 2157 }, { "CPU:12 [2157 EVENTS DROPPED]", 12, 2157 },
		{ "CPU:0 [EVENTS DROPPED]", 0, 0 }, { "  CPU:3 [LOST 1 EVENTS]", 3, 1 },
		{ "CPU:1 [LOST many EVENTS]", -1, 0 }, { "CPU 0 is empty", -1, 0 }, { "CPU:70000 [LOST 1 EVENTS]", -1, 0 },
		{ "CPU:1 [LOST 2157 EV", -1, 0 },
	};
	uint64_t events;
	uint16_t cpu;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(trace_lost_line(rows[i].line, strlen(rows[i].line), &cpu, &events),
				 rows[i].cpu >= 0);
		if (rows[i].cpu < 0)
			continue;
		assert_int_equal(cpu, rows[i].cpu);
		assert_int_equal(events, rows[i].events);
	}
}

/* Hex is read eight digits at a time: every length, both cases, and a wrong byte at every place. */
static void hex_numbers(void **state)
{
	char text[40];
	uint64_t want, v;
	int len, at;

	(void)state;
	for (len = 1; len <= 16; len++) {
		want = 0xfedcba9876543210ULL >> (64 - 4 * len);
		for (at = 0; at < 4; at++) {
			const char *p = text, *end;

			snprintf(text, sizeof(text), at & 1 ? "%s%" PRIX64 : "%s%" PRIx64, at & 2 ? "0x" : "", want);
			end = text + strlen(text);
			assert_true(read_hex(&p, end, &v));
			assert_ptr_equal(p, end);
			assert_int_equal(v, want);
		}
	}
	for (at = 0; at < 256; at++) {
		const char *p = text;
		bool digit = (at >= '0' && at <= '9') || (at >= 'a' && at <= 'f') ||
			     (at >= 'A' && at <= 'F');

		for (len = 0; len < 8; len++) {
			memcpy(text, "12345678", 8);
			text[len] = (char)at;
			p = text;
			assert_int_equal(read_hex(&p, text + 8, &v), len || digit);
			assert_int_equal(p - text, digit ? 8 : len);
		}
	}
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t v;
		size_t used;
	} rows[] = {
		{ "0x10 ", 16, 4 }, { "10 ", 10, 2 }, { "-5,", (uint64_t)-5, 2 }, { "7bf2000", 0x7bf2000, 7 }, { "ffff", 0xffff, 4 },
		{ "x", 0, 0 }, { "", 0, 0 }, { "-", 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *p = rows[i].text;
		uint64_t v = 0;

		assert_int_equal(read_num(&p, p + strlen(p), &v), rows[i].used != 0);
		assert_int_equal(p - rows[i].text, rows[i].used);
		assert_int_equal(v, rows[i].v);
	}
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "1.783 us", 1783 }, { "+ 43.221 us", 43221 }, { "! 219.208 us", 219208 }, { "# 8906.860 us", 8906860 },
		{ "* 12345.67 us", 12345670 }, { "@ 123456.7 us", 123456700 }, { "$ 1234567 us", 1234567000 },
		{ "1.783", -1 }, { "us", -1 }, { "createv-808", -1 }, { "1.7831 us", -1 }, { "", -1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns = 0;

		assert_int_equal(fgraph_duration(rows[i].text, strlen(rows[i].text), &ns),
				 rows[i].ns >= 0);
		if (rows[i].ns >= 0)
			assert_int_equal(ns, rows[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits),	  cmocka_unit_test(refuses),
		cmocka_unit_test(latency_format), cmocka_unit_test(names),
		cmocka_unit_test(lost_lines),	  cmocka_unit_test(hex_numbers),
		cmocka_unit_test(numbers),	  cmocka_unit_test(durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
