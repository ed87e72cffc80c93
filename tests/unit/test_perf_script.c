// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_perf_script.c - the text of perf script: any selection of fields, headers, call chains,
 * losses.
 */
#include "../../parsers/perf_script_line.h"
#include "text_capture.h"

struct want {
	const char	*line;
	const char	*comm;
	int32_t		pid, tid;
	int		cpu;		/* -1: none */
	uint64_t	time, period;
	const char	*event;
	size_t		system_len;
	const char	*text;
};

static const struct want wants[] = {
	{ "       CPU 1/KVM   153 [001]    37.705521:       kprobes:p_throttle: (ffffffffb1ceede0) cfs_rq=0xf",
	  "CPU 1/KVM", -1, 153, 1, 37705521000, 0, "kprobes:p_throttle", 7, "(ffffffffb1ceede0) cfs_rq=0xf" },
	{ "perf   155 [000]    15.775998:    4000000 cpu-clock/period=4000000/: ", "perf", -1, 155, 0, 15775998000, 4000000,
	  "cpu-clock/period=4000000/", 0, "" },
	{ "swapper     0/0     [127] 1234567.000000009: cycles:ppp:  ffffffff9744e8cb x+0xb ([k])", "swapper", 0, 0, 127,
	  1234567000000009, 0, "cycles:ppp", 0, "ffffffff9744e8cb x+0xb ([k])" },
	{ " kworker/0:1-ev  12/17   10.000001: sched:sched_waking: comm=a pid=1", "kworker/0:1-ev", 12, 17, -1, 10000001000, 0,
	  "sched:sched_waking", 5, "comm=a pid=1" },
	{ "CPU 0/KVM 7 [003] G      5.000000: kvm:kvm_entry: vcpu 0, rip 0xfff0", "CPU 0/KVM", -1, 7, 3, 5000000000, 0,
	  "kvm:kvm_entry", 3, "vcpu 0, rip 0xfff0" },
	{ " 7 [003] 5.000000: kvm:kvm_entry: vcpu 0", NULL, -1, 7, 3, 5000000000, 0, "kvm:kvm_entry", 3, "vcpu 0" },
	{ "CPU 0/KV   169   0   153.849761:            kvm:kvm_entry: vcpu 0", NULL, -1, 169, 0, 153849761000, 0, "kvm:kvm_entry", 3,
	  "vcpu 0" },
	{ "perf       169   1   153.849761: cpu-clock: x", "perf", -1, 169, 1, 153849761000, 0, "cpu-clock", 0, "x" },
	{ "    0 [001]   153.912767: kvm:kvm_entry: x", NULL, -1, 0, 1, 153912767000, 0, "kvm:kvm_entry", 3, "x" },
	{ ":123   123 [000]     5.000000: kvm:kvm_entry:", NULL, -1, 123, 0, 5000000000, 0, "kvm:kvm_entry", 3, "" },
	{ "5.000000: kvm:kvm_entry: x", NULL, -1, -1, -1, 5000000000, 0, "kvm:kvm_entry", 3, "x" },
	{ "a b:c 1 [000] 4.0: x   9 [002]     5.000000: probe_libc:malloc: (7f00)", "a b:c 1 [000] 4", -1, 9, 2, 5000000000, 0,
	  "probe_libc:malloc", 10, "(7f00)" },
	{ "perf   166 [001]    38.106409: PERF_RECORD_LOST lost 12", "perf", -1, 166, 1, 38106409000, 0, "", 0,
	  "PERF_RECORD_LOST lost 12" },
};

static void test_split(void **state)
{
	struct perf_script_line l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		const struct want *w = &wants[i];

		if (!perf_script_split(w->line, strlen(w->line), &l))
			fail_msg("not split: %s", w->line);
		if (w->comm)
			assert_true(l.comm_len == strlen(w->comm) &&
				    !memcmp(l.comm, w->comm, l.comm_len));
		else
			assert_null(l.comm);
		assert_int_equal(l.pid, w->pid);
		assert_int_equal(l.tid, w->tid);
		assert_int_equal(l.cpu == EVENT_CPU_NONE ? -1 : l.cpu, w->cpu);
		assert_int_equal(l.time, w->time);
		assert_int_equal(l.period, w->period);
		assert_int_equal(l.event_len, strlen(w->event));
		assert_memory_equal(l.event, w->event, l.event_len);
		assert_int_equal(l.system_len, w->system_len);
		assert_int_equal(l.text_len, strlen(w->text));
		assert_memory_equal(l.text, w->text, l.text_len);
	}
}

static void test_not_split(void **state)
{
	static const char *const lines[] = {
		"", "x", "Nov 30 17:00:01 host kernel: 12.000000: x", "   37.705521 [0001]  perf[153]   0.000", "5.00000: kvm:x: y",
		"qemu-169   [000] d..1.    10.000001: kvm_exit: reason x", "a 7 [000] 5.000000: ", "a 7 [000] 5.000000: (x): y",
		"64 bytes from 10.0.0.1: time=1.000000: x",
	};
	struct perf_script_line l;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (perf_script_split(lines[i], strlen(lines[i]), &l))
			fail_msg("split: %s", lines[i]);
}

static void test_frames(void **state)
{
	static const struct { const char *line, *name; uint64_t ip; } frames[] = {
		{ "\tffffffff9744e8cb native_safe_halt+0xb ([kernel.kallsyms])", "native_safe_halt", 0xffffffff9744e8cb },
		{ "\t          12fd41 [unknown] (/usr/bin/perf)", "", 0x12fd41 },
		{ "            ee137 ns::f(int, char)+0x7 (/usr/lib/x y.so)", "ns::f(int, char)", 0xee137 },
		{ "\tffffffffc04af072 virtblk_done", "virtblk_done", 0xffffffffc04af072 },
		{ "\tffffffffc04af072", "", 0xffffffffc04af072 },
		{ "\tffffffffc04af072 (/x)", "", 0xffffffffc04af072 },
	};
	const char *name;
	uint64_t ip;
	size_t i, len;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		assert_true(perf_script_frame(frames[i].line, strlen(frames[i].line), &ip, &name,
					      &len));
		assert_int_equal(ip, frames[i].ip);
		assert_int_equal(len, strlen(frames[i].name));
		assert_memory_equal(name, frames[i].name, len);
	}
	assert_false(perf_script_frame("ffffffffc04af072 x", 18, &ip, &name, &len));
	assert_false(perf_script_frame("\tperf 1 [000]", 13, &ip, &name, &len));
}

#define HEADER										\
	"# ========\n# captured on    : Mon Nov 30 17:13:59 2026\n# header version : 1\n"	\
	"# hostname : kvmhost\n# os release : 6.1.0-50-amd64\n# perf version : 6.1.176\n# arch : x86_64\n" \
	"# nrcpus online : 2\n# cmdline : /usr/bin/perf record -a -k mono -e kvm:kvm_exit \n" \
	"# event : name = kvm:kvm_exit, , id = { 13, 14 }, type = 2, size = 128, config = 0x626, " \
	"{ sample_period, sample_freq } = 1, sample_type = IP, use_clockid = 1, clockid = 1\n" \
	"# event : name = sched:sched_waking, , id = { 15 }, type = 2, { sample_period, sample_freq } = 1\n" \
	"# event : name = kvm:kvm_pio, , id = { 16 }, type = 2, { sample_period, sample_freq } = 7\n" \
	"# event : name = dummy:HG, , id = { 17 }, type = 1, size = 128, config = 0x9, { sample_period, sample_freq } = 1\n" \
	"# node0 cpu list : 0\n# node1 cpu list : 1\n"				\
	"# missing features: X \n# ========\n#\n"

static int64_t number(struct capture *c, const char *sql)
{
	return case_int(c->db, -1, sql, "");
}

static void test_header(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "perf script", HEADER
		"CPU 0/KVM   7/9   [001]  5.000001: kvm:kvm_exit: vcpu 0 reason npf rip 0xfff info1 0x0000000100000004 "
		"info2 0x00000000fffd5000 intr_info 0x00000000 error_code 0x00000000\n");
	assert_string_equal(c.clock, "mono");
	assert_int_equal(c.cpus, 2);
	assert_int_equal(c.n_events, 1);
	assert_string_equal(nth(&c, EV_KVM_EXIT, 0)->type, "kvm:kvm_exit");
	assert_string_equal(nth(&c, EV_KVM_EXIT, 0)->reason, "npf");
	assert_int_equal(nth(&c, EV_KVM_EXIT, 0)->ev.a[2], 0xfffd5000);
	assert_string_equal(nth(&c, EV_TASK, 0)->comm, "CPU 0/KVM");
	assert_int_equal(nth(&c, EV_TASK, 0)->ev.b[0], 7);
	assert_int_equal(number(&c, "SELECT count(*) FROM source WHERE host = 'kvmhost' AND kernel = '6.1.0-50-amd64' "
				"AND arch = 'x86_64' AND side = 'host'"), 1);
	assert_int_equal(number(&c, "SELECT count(*) FROM coverage WHERE event = 'kvm:kvm_exit' AND known = 'listed' "
				"AND complete = 'all' AND scope = 'system'"), 1);
	/* an interrupt taken from the guest may have woken somebody: perf leaves that out */
	assert_int_equal(number(&c, "SELECT count(*) FROM coverage WHERE event = 'sched:sched_waking' AND known = 'listed' "
				"AND complete = 'filtered'"), 1);
	assert_int_equal(number(&c, "SELECT count(*) FROM coverage WHERE event = 'kvm:kvm_pio' AND complete = 'sampled'"), 1);
	assert_int_equal(number(&c, "SELECT count(*) FROM coverage WHERE event LIKE 'dummy%'"), 0);
	assert_int_equal(number(&c, "SELECT num FROM fact WHERE key = 'numa.nodes'"), 2);
	assert_int_equal(number(&c, "SELECT count(*) FROM fact f JOIN cite k ON k.id = f.cite_id WHERE f.key = 'host.name' "
				"AND k.line = 4"), 1);
	capture_free(&c);
}

static void test_chains(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "perf script",
		"perf   155 [000]    15.775998:    4000000 cpu-clock: \n"
		"\tffffffff9744f129 _raw_spin_unlock_irqrestore+0x19 ([kernel.kallsyms])\n"
		"\t          12fd41 [unknown] (/usr/bin/perf)\n"
		"\n"
		"perf   155 [000]    15.775999: kvm:kvm_entry: vcpu 0, rip 0xfff0\n"
		"\tffffffff96ae1742 vcpu_run+0x2d2 ([kvm])\n"
		"\n"
		"perf   155 [000]    15.776000:    4000000 cpu-clock:  ffffffff96ae1743 f+0x1 ([k])\n"
		"perf   155 [000]    15.776001:    4000000 cpu-clock: \n");
	assert_int_equal(count_kind(&c, EV_SAMPLE), 3);
	assert_string_equal(nth(&c, EV_SAMPLE, 0)->type, "cpu-clock");
	assert_int_equal(nth(&c, EV_SAMPLE, 0)->ev.a[0], 0xffffffff9744f129);
	assert_string_equal(nth(&c, EV_SAMPLE, 0)->stack, "_raw_spin_unlock_irqrestore\n0x12fd41");
	assert_string_equal(nth(&c, EV_SAMPLE, 1)->stack, "f");
	assert_int_equal(nth(&c, EV_SAMPLE, 2)->ev.b[0], EVENT_U32_NONE);
	assert_int_equal(count_kind(&c, EV_STACK), 1);
	assert_string_equal(nth(&c, EV_STACK, 0)->stack, "vcpu_run");
	assert_int_equal(nth(&c, EV_STACK, 0)->ev.tid, 155);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 0)->ev.a[0], 0xfff0);
	assert_int_equal(c.n_events, 4);
	capture_free(&c);
}

static void test_texts(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "perf script",
		"perf 1 [000] 1.000000: PERF_RECORD_LOST lost 12\n"
		"perf 1 [000] 1.000000: PERF_RECORD_COMM: perf:1/1\n"
		"perf 1 [000] 1.000001: raw_syscalls:sys_enter: NR 16 (7, 2400, 0, 7fd124c2b5e0, 1, 0)\n"
		"perf 1 [000] 1.000002: raw_syscalls:sys_exit: NR 16 = -11\n"
		"perf 1 [000] 1.000003: kprobes:r_kvm_vm_create: (ffffffffb1cef350 <- ffffffffb1cef351) arg1=0x5\n"
		"perf 1 [000] 1.000004: sched:sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=D ==> next_comm=c next_pid=2 next_prio=98 ffffffff974474c8 __schedule+0x4f8 ([kernel.kallsyms])\n"
		"perf 1 [000] 1.000005: syscalls:sys_enter_ioctl: fd: 0x00000003, cmd: 0x0000ae01, arg: 0x00000000\n"
		"perf 1 [000] 1.000006: kvm:kvm_userspace_exit: reason KVM_EXIT_IO (2) ffffffffc05fb5f2 [unknown] (/lib/a b/kvm.ko)\n"
		"perf 1 [000] 1.000007: sched:sched_waking: comm=broken\n");
	assert_int_equal(nth(&c, EV_LOST, 0)->ev.a[0], 12);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 0)->ev.b[0], 16);
	assert_int_equal(nth(&c, EV_SYS_ENTER, 0)->ev.a[1], 0x2400);
	assert_int_equal((int64_t)nth(&c, EV_SYS_EXIT, 0)->ev.a[0], -11);
	assert_string_equal(nth(&c, EV_PROBE_RETURN, 0)->func, "kvm_vm_create");
	assert_int_equal(nth(&c, EV_SCHED_SWITCH, 0)->ev.b[1], 98);
	assert_int_equal(nth(&c, EV_SCHED_SWITCH, 0)->ev.a[3], TSTATE_UNINTERRUPTIBLE);
	assert_string_equal(nth(&c, EV_SYSCALL_ENTER, 0)->func, "ioctl");
	assert_int_equal(nth(&c, EV_SYSCALL_ENTER, 0)->ev.a[1], 0xae01);
	assert_true(remark_has(&c, "text of 1 event not understood"));
	assert_int_equal(c.n_lost, 12);
	assert_int_equal(nth(&c, EV_KVM_USERSPACE_EXIT, 0)->ev.b[0], 2);
	capture_free(&c);
}

/* Quoted in a mail, wrapped once; and what only looks like it. */
static void test_mail(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, NULL,
		"Hello,\n\nhere is what perf script says at 12.000000: see below.\n\n"
		">  CPU 0/KVM   169 [000]   153.849761:            kvm:kvm_entry: vcpu 0, rip 0xffffffff8ac0dfeb\n"
		">  CPU 0/KVM   169 [000]   153.864583:       sched:sched_waking: comm=kworker/0:1 pid=17\n"
		"> prio=120 target_cpu=000\n\nThanks\n");
	assert_int_equal(c.n_events, 2);
	assert_int_equal(nth(&c, EV_SCHED_WAKING, 0)->ev.b[0], 17);
	assert_int_equal(nth(&c, EV_KVM_ENTRY, 0)->line, 5);
	capture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_not_split),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_mail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
