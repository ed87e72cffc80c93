// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_fgraph_text.c - function_graph text with any columns: depths, durations, tasks, interleaved
 * CPUs, migration.
 */
#include "text_capture.h"

static void expect(const struct seen *e, enum event_kind kind, const char *func, uint32_t depth,
		   uint64_t ns)
{
	if (e->ev.kind != kind || strcmp(e->func, func) || e->ev.b[1] != depth || e->ev.a[0] != ns)
		fail_msg("kind %d %s depth %u %" PRIu64 " ns, not kind %d %s depth %u %" PRIu64 " ns (%s)", e->ev.kind, e->func,
			 e->ev.b[1], e->ev.a[0], kind, func, depth, ns, e->cite);
}

/* The events that are calls, in order. */
static const struct seen *call(const struct capture *c, size_t i)
{
	size_t k;

	for (k = 0; k < c->n; k++)
		if (c->seen[k].ev.ev != EVENT_TYPE_NONE && !i--)
			return &c->seen[k];
	fail_msg("no such call");
	return NULL;
}

static void all_columns(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "function_graph",
		"# tracer: function_graph\n#\n"
		"#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS\n"
		"#      |          |     |    |           |   |                     |   |   |   |\n"
		"  235.850845 |   0)  createv-808   |               |  kvm_dev_ioctl [kvm]() {\n"
		"  235.850996 |   0)  createv-808   |               |      alloc_fd() {\n"
		"  235.850998 |   0)  createv-808   | + 43.221 us   |        _raw_spin_lock();\n"
		"  235.851215 |   0)  createv-808   | ! 219.208 us  |      } /* alloc_fd */\n"
		"  235.851216 |   0)  createv-808   | $ 1234567 us  |  }\n");
	assert_string_equal(c.clock, "local");
	assert_string_equal(c.format, "function_graph");
	assert_int_equal(c.n_events, 5);
	assert_int_equal(c.messages.n, 0);
	expect(call(&c, 0), EV_FUNC_ENTER, "kvm_dev_ioctl", 0, 0);
	expect(call(&c, 1), EV_FUNC_ENTER, "alloc_fd", 2, 0);
	expect(call(&c, 2), EV_FUNC_LEAF, "_raw_spin_lock", 3, 43221);
	expect(call(&c, 3), EV_FUNC_EXIT, "alloc_fd", 2, 219208);
	expect(call(&c, 4), EV_FUNC_EXIT, "kvm_dev_ioctl", 0, 1234567000);	/* by the stack */
	assert_string_equal(call(&c, 0)->type, "funcgraph_entry");
	assert_string_equal(call(&c, 2)->type, "funcgraph_entry");
	assert_string_equal(call(&c, 4)->type, "funcgraph_exit");
	assert_int_equal(call(&c, 0)->ev.time, 235850845000);
	assert_int_equal(call(&c, 0)->ev.tid, 808);
	assert_int_equal(call(&c, 0)->ev.cpu, 0);
	assert_int_equal(call(&c, 4)->line, 9);
	assert_string_equal(nth(&c, EV_TASK, 0)->comm, "createv");
	assert_int_equal(count_kind(&c, EV_TASK), 1);
	capture_free(&c);
}

static void default_columns(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "function_graph",
		"# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n# |     |   |                     |   |   |   |\n"
		" 0)               |  outer() {\n"
		" 1)               |  schedule() {\n"
		" 0)   0.500 us    |    leaf [mod]();\n"
		" ------------------------------------------\n 1)   l1init-143   =>   rcu_pre-15  \n"
		" ------------------------------------------\n\n"
		" 1)               |  other() {\n"
		" 1) * 12345.67 us |  }\n"
		" ------------------------------------------\n 1)   rcu_pre-15   =>   l1init-143  \n"
		" ------------------------------------------\n\n"
		" 1) # 8906.860 us |  }\n"
		" 0) + 10.000 us   |  } /* outer */\n");
	assert_string_equal(c.clock, "none");
	assert_int_equal(c.n_events, 7);
	assert_int_equal(c.messages.n, 0);
	expect(call(&c, 0), EV_FUNC_ENTER, "outer", 0, 0);
	expect(call(&c, 1), EV_FUNC_ENTER, "schedule", 0, 0);
	expect(call(&c, 2), EV_FUNC_LEAF, "leaf", 1, 500);
	expect(call(&c, 3), EV_FUNC_ENTER, "other", 0, 0);
	expect(call(&c, 4), EV_FUNC_EXIT, "other", 0, 12345670);
	expect(call(&c, 5), EV_FUNC_EXIT, "schedule", 0, 8906860);	/* of l1init, which the first separator named */
	expect(call(&c, 6), EV_FUNC_EXIT, "outer", 0, 10000);
	assert_int_equal(call(&c, 0)->ev.tid, -1);
	assert_int_equal(call(&c, 1)->ev.tid, -1);
	assert_int_equal(call(&c, 3)->ev.tid, 15);
	assert_int_equal(call(&c, 5)->ev.tid, 143);
	assert_int_equal(call(&c, 6)->ev.time, 0);
	capture_free(&c);
}

/* A task that changes CPU inside a function; a CPU that two tasks share. */
static void migration(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "function_graph",
		" 0)  CPU 0/K-186   |               |  task_numa_work() {\n"
		" 0)   sleepy-7     |               |  schedule() {\n"
		" 1)  CPU 0/K-186   |               |    cond_resched() {\n"
		" 1)  CPU 0/K-186   |   1.000 us    |    }\n"
		" 1)  CPU 0/K-186   | @ 123456.7 us |  }\n"
		" 0)   sleepy-7     |   2.000 us    |  }\n"
		" 0)   sleepy-7     |   3.000 us    |  }\n");
	expect(call(&c, 3), EV_FUNC_EXIT, "cond_resched", 1, 1000);
	expect(call(&c, 4), EV_FUNC_EXIT, "task_numa_work", 0, 123456700);
	expect(call(&c, 5), EV_FUNC_EXIT, "schedule", 0, 2000);
	assert_int_equal(call(&c, 6)->ev.b[0], EVENT_U32_NONE); /* its entry was never seen */
	assert_string_equal(nth(&c, EV_TASK, 0)->comm, "CPU 0/K");
	capture_free(&c);
}

static void other_columns(void **state)
{
	static const struct {
		const char *line, *func, *clock;
		enum event_kind kind;
		uint64_t time, ns;
		int tid, cpu;
		uint32_t depth;
		uint8_t flags;
	} rows[] = {
		{ "     1234 us |   1)               |  f() {", "f", "unknown", EV_FUNC_ENTER, 1234000, 0, -1, 1, 0, 0 },
		{ "  1.000001 |               |    f() {", "f", "local", EV_FUNC_ENTER, 1000001000, 0, -1, EVENT_CPU_NONE, 1, 0 },
		{ "  1.000001 |   0)  a-b-12    |  d.h1. |   1.500 us    |  f();", "f", "local", EV_FUNC_LEAF, 1000001000, 1500,
		  12, 0, 0, EVF_KNOWN | EVF_IRQS_OFF | EVF_HARDIRQ },
		{ " 0)   1.500 us    |  f [kvm](); /* ret=0x0 */", "f", "none", EV_FUNC_LEAF, 0, 1500, -1, 0, 0, 0 },
		{ " 0)   1.500 us    |  f(a=0x1, b=\"x;y\"); /* = 0x0 */", "f", "none", EV_FUNC_LEAF, 0, 1500, -1, 0, 0, 0 },
		{ " 0)   1.500 us    |  f+0x12/0x30();", "f", "none", EV_FUNC_LEAF, 0, 1500, -1, 0, 0, 0 },
		{ " 0)   1.500 us    |  } /* f [kvm] ret=0x0 */", "f", "none", EV_FUNC_EXIT, 0, 1500, -1, 0, 0, 0 },
		{ " 0)   1.500 us    |  } /* = 0x0 */", "", "none", EV_FUNC_EXIT, 0, 1500, -1, 0, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct capture c;

		capture(&c, "function_graph", rows[i].line);
		if (c.n_events != 1)
			fail_msg("%" PRIu64 " events: %s", c.n_events, rows[i].line);
		expect(call(&c, 0), rows[i].kind, rows[i].func, rows[i].depth, rows[i].ns);
		assert_string_equal(c.clock, rows[i].clock);
		assert_int_equal(call(&c, 0)->ev.time, rows[i].time);
		assert_int_equal(call(&c, 0)->ev.tid, rows[i].tid);
		assert_int_equal(call(&c, 0)->ev.cpu, rows[i].cpu);
		assert_int_equal(call(&c, 0)->ev.flags, rows[i].flags);
		capture_free(&c);
	}
}

static void interrupts_comments_losses(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "function_graph",
		"  1.000001 |   0)    a-12      |               |  f() {\n"
		"  1.000002 |   0)    a-12      |   ==========> |\n"
		"  1.000003 |   0)    a-12      |               |    /* sched_waking: comm=CPU 0/KVM pid=12 prio=120 target_cpu=000 */\n"
		"  1.000003 |   0)    a-12      |               |    /* a note, kvm_apic: (Fixed|edge) */\n"
		"  1.000004 |   0)    a-12      |   <========== |\n"
		"CPU:0 [LOST 12 EVENTS]\n"
		"  1.000009 |   0)    a-12      |   9.000 us    |  }\n");
	assert_int_equal(c.n_events, 3);
	assert_string_equal(nth(&c, EV_SCHED_WAKING, 0)->comm, "CPU 0/KVM");
	assert_int_equal(c.n_lost, 12);
	assert_int_equal(nth(&c, EV_LOST, 0)->ev.cpu, 0);
	/* what was open before the loss is not closed by the brace behind it */
	assert_int_equal(nth(&c, EV_FUNC_EXIT, 0)->ev.b[0], EVENT_U32_NONE);
	assert_int_equal(c.messages.n, 0);
	capture_free(&c);
}

static void empty_and_double(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, "function_graph", "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n");
	assert_int_equal(c.streams, 1);		/* traced, and nothing happened */
	assert_int_equal(c.n_events, 0);
	capture_free(&c);
	capture(&c, "function_graph",
		"# tracer: function_graph\n 0)   1.000 us    |  f();\n# tracer: function_graph\n 0)   1.000 us    |  g();\n");
	assert_int_equal(c.streams, 2);
	assert_string_equal(c.path, "m#2");
	capture_free(&c);
}

static void in_prose(void **state)
{
	struct capture c;

	(void)state;
	capture(&c, NULL,
		"Hello,\n\nthree points:\n 1) foo | bar\n 2) the | pipe (); is odd\n 3) done\n | a | table |\n ------------------------------------------\n");
	assert_int_equal(c.n_events, 0);
	capture_free(&c);
	capture(&c, NULL,
		"Hello,\n\nthis is slow:\n\n"
		" 0)               |  kvm_vm_ioctl [kvm]() {\n 0) # 5907.544 us |    schedule();\n 0) # 6100.213 us |  }\n\nThanks\n");
	assert_int_equal(c.n_events, 3);
	expect(nth(&c, EV_FUNC_EXIT, 0), EV_FUNC_EXIT, "kvm_vm_ioctl", 0, 6100213);
	capture_free(&c);
}

static void damaged(void **state)
{
	static const char line[] = "  235.850998 |   0)  createv-808   | + 43.221 us   |        _raw_spin_lock [kvm](a=1); /* x */";
	static const char deep[] = " 0)               |";
	_cleanup_free_ char *text = xmalloc(70000);
	struct capture c;
	size_t len;

	(void)state;
	for (len = 0; len <= strlen(line); len++) {
		_cleanup_free_ char *cut = xstrndup(line, len);

		capture(&c, "function_graph", cut);
		assert_true(c.n_events <= 1);
		capture_free(&c);
	}
	/* deeper than any kernel nests */
	memset(text, ' ', 60000);
	memcpy(text, deep, strlen(deep));
	strcpy(text + 60000, "f() {\n 0)  1.000 us |  }\n");
	capture(&c, "function_graph", text);
	assert_int_equal(c.n_events, 2);
	assert_true(nth(&c, EV_FUNC_ENTER, 0)->ev.b[1] > 20000);
	capture_free(&c);
	capture(&c, "function_graph", " 0)   1.000 us    |  f();\ngarbage\n 0)   1.000 us    |  g\n");
	assert_int_equal(c.n_events, 1);
	assert_true(remark_has(&c, "2 of 3 lines not understood, the first is line 2"));
	assert_true(c.ctx.partly);
	capture_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_columns),
		cmocka_unit_test(default_columns),
		cmocka_unit_test(migration),
		cmocka_unit_test(other_columns),
		cmocka_unit_test(interrupts_comments_losses),
		cmocka_unit_test(empty_and_double),
		cmocka_unit_test(in_prose),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
