// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_trace_dat.c - trace.dat files and raw pages built in memory: layouts, order, losses,
 * damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parser.h"
#include "tree.h"
#include "ring_build.h"

struct seen {
	struct event	ev[256];
	char		*name[256];	/* of counted events */
	size_t		n, tasks;
	uint64_t	lost;
	char		*remarks, *paths;
	char		*cite;		/* of the last event looked at */
	char		*fields;
	uint64_t	ips[8];
	size_t		n_ips;
	char		clock[16], host[16];
	struct case_db	*db;
};

static void collect(void *arg, const char *name, const struct field_value *v)
{
	struct seen *seen = arg;
	char *more = v->type == FIELD_STR ?
		     xasprintf("%s%s=%.*s ", seen->fields, name, (int)v->len, v->s) :
		     xasprintf("%s%s=%" PRId64 " ", seen->fields, name, v->i);

	free(seen->fields);
	seen->fields = more;
}

static void batch(void *priv, struct stream *s, const struct batch *b)
{
	struct seen *seen = priv;
	uint64_t ips[8];
	uint32_t i;
	size_t n;

	snprintf(seen->clock, sizeof(seen->clock), "%s", s->desc.clock);
	snprintf(seen->host, sizeof(seen->host), "%s", s->desc.host ? s->desc.host : "");
	for (i = 0; i < b->n && seen->n < ARRAY_SIZE(seen->ev); i++) {
		const struct event *ev = &b->ev[i];

		if (ev->kind == EV_TASK) {
			seen->tasks++;
			continue;
		}
		seen->ev[seen->n] = *ev;
		seen->name[seen->n++] = ev->ev == EVENT_TYPE_NONE ? NULL :
					xstrdup(s->types[ev->ev].name);
		seen->lost += ev->kind == EV_LOST ? ev->a[0] : 0;
		free(seen->cite);
		seen->cite = s->ops->cite_text(s->ops_priv, ev);
		free(seen->fields);
		seen->fields = xstrdup("");
		if (!s->ops->stack)	/* a text's */
			continue;
		s->ops->fields(s->ops_priv, ev, collect, seen);
		n = s->ops->stack(s->ops_priv, ev, ips, 8);
		if (n) {
			seen->n_ips = n;
			memcpy(seen->ips, ips, sizeof(ips));
		}
	}
}

static const struct consumer capture = { .sync = true, .batch = batch };

static struct error *open_capture(struct parse_ctx *ctx, struct stream **ret,
				  const struct source_desc *desc, const struct stream_ops *ops,
				  void *ops_priv)
{
	struct seen *seen = ctx->open_arg;
	char *more = xasprintf("%s%s ", seen->paths, desc->path);

	free(seen->paths);
	seen->paths = more;
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &capture, ctx->open_arg);
}

static const struct parser *find_parser(const char *name)
{
	const struct parser *const *it;

	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, name))
			return *it;
	return NULL;
}

static struct error *parse_bytes(struct seen *seen, const void *data, size_t size)
{
	struct member m = { .id = 1, .path = "t", .name = "t", .data = data, .size = size };
	struct parse_ctx ctx = { .m = &m, .side = "unknown", .open_stream = open_capture, .open_arg = seen };
	struct strtab messages;
	struct error *err;
	size_t i;

	memset(seen, 0, sizeof(*seen));
	assert_null(case_create(&seen->db, NULL));
	strtab_init(&messages, 256);
	ctx.db = seen->db;
	ctx.messages = &messages;
	seen->paths = xstrdup("");
	err = find_parser("trace.dat")->parse(&ctx);
	seen->remarks = xstrdup("");
	for (i = 0; i < messages.n; i++) {
		char *more = xasprintf("%s%s\n", seen->remarks, messages.strings[i]);

		free(seen->remarks);
		seen->remarks = more;
	}
	strtab_deinit(&messages);
	return err;
}

static void parse_out(struct seen *seen, struct out *o)
{
	struct error *err = parse_bytes(seen, o->data, o->n);

	if (err)
		fail_msg("%s", err->what);
}

static void done(struct seen *seen)
{
	size_t i;

	case_close(seen->db);
	for (i = 0; i < seen->n; i++)
		free(seen->name[i]);
	free(seen->remarks);
	free(seen->paths);
	free(seen->cite);
	free(seen->fields);
}

/* Two CPUs with all kinds of records; the first has three pages. */
static void two_cpus(struct cpu_data cpus[2], bool big, uint8_t lsize)
{
	struct out *o;
	size_t at;

	memset(cpus, 0, 2 * sizeof(*cpus));
	o = &cpus[0].pages;
	o->big = big;
	o->lsize = lsize;
	at = page_begin(o, 1000);
	sched_switch(o, 0, 7, "qemu-system-x86", 1, 8, "CPU 0/KVM");	/* 1000 */
	kprobe(o, 10, 8, 4711);						/* 1010 */
	extend(o, 1ull << 30);
	kernel_stack(o, 0, 8, 0x2000, 3);
	page_end(o, at, 0, 0);
	at = page_begin(o, 2ull << 30);
	kprobe(o, 5, 8, 1);						/* 2^31 + 5 */
	word(o, 29, 0);							/* the rest is empty */
	page_end(o, at, 1u << 31 | 1u << 30, 42);
	at = page_begin(o, 3ull << 30);
	stamp(o, (3ull << 30) + 100);
	call(o, 0, 8, 0x1004, 0);					/* 3 * 2^30 + 100 */
	call(o, 50, 8, 0x1004, 7000);					/* ... + 150 */
	page_end(o, at, 1u << 31, 0);
	cpus[1].cpu = 1;
	o = &cpus[1].pages;
	o->big = big;
	o->lsize = lsize;
	at = page_begin(o, 1005);
	sched_switch(o, 0, 0, "swapper/1", 0, 9, "kworker/1:2");	/* 1005 */
	word(o, 29, 3);							/* a discarded event */
	put(o, 8, 4);
	put(o, 0, 4);
	sched_switch(o, 2, 9, "kworker/1:2", 256, 0, "swapper/1");	/* 1010 */
	page_end(o, at, 0, 0);
}

static void free_cpus(struct cpu_data cpus[2])
{
	free(cpus[0].pages.data);
	free(cpus[1].pages.data);
}

static void check_two_cpus(const struct seen *seen)
{
	static const struct {
		uint64_t	time;
		enum event_kind	kind;
		int32_t		tid;
		uint16_t	cpu;
		const char	*name;
	} want[] = {
		{ 1000, EV_SCHED_SWITCH, 7, 0, "sched_switch" },
		{ 1005, EV_SCHED_SWITCH, 0, 1, "sched_switch" },
		{ 1010, EV_PROBE_ENTER, 8, 0, "p_do_work_0" },
		{ 1010, EV_SCHED_SWITCH, 9, 1, "sched_switch" },
		{ 1010 + (1ull << 30), EV_STACK, 8, 0, NULL },
		{ 1010 + (1ull << 30), EV_OTHER, 8, 0, "kernel_stack" },
		{ (2ull << 30) + 5, EV_LOST, -1, 0, NULL },
		{ (2ull << 30) + 5, EV_PROBE_ENTER, 8, 0, "p_do_work_0" },
		{ (3ull << 30) + 100, EV_LOST, -1, 0, NULL },
		{ (3ull << 30) + 100, EV_FUNC_ENTER, 8, 0, "funcgraph_entry" },
		{ (3ull << 30) + 150, EV_FUNC_EXIT, 8, 0, "funcgraph_exit" },
	};
	size_t i;

	assert_int_equal(seen->n, ARRAY_SIZE(want));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(seen->ev[i].time, want[i].time);
		assert_int_equal(seen->ev[i].kind, want[i].kind);
		assert_int_equal(seen->ev[i].tid, want[i].tid);
		assert_int_equal(seen->ev[i].cpu, want[i].cpu);
		if (want[i].name)
			assert_string_equal(seen->name[i], want[i].name);
	}
	assert_memory_equal(seen->ev[0].a, "CPU 0/KVM\0\0\0\0\0\0\0", 16);
	assert_int_equal(seen->ev[0].a[2], 7);
	assert_int_equal(seen->ev[0].a[3], TSTATE_INTERRUPTIBLE);
	assert_int_equal(seen->ev[0].b[0], 8);
	assert_int_equal(seen->ev[0].b[1], 100);
	assert_int_equal(seen->ev[0].flags, EVF_KNOWN | EVF_IRQS_OFF);
	assert_int_equal(seen->ev[2].a[0], 4711);
	assert_int_equal(seen->ev[3].a[3], TSTATE_PREEMPTED);
	assert_int_equal(seen->ev[6].a[0], 42);
	assert_int_equal(seen->ev[8].a[0], 0);
	assert_int_equal(seen->ev[10].a[0], 7000);
	assert_int_equal(seen->lost, 42);
	assert_int_equal(seen->n_ips, 3);
	assert_int_equal(seen->ips[2], 0x2002);
	assert_int_equal(seen->tasks, 2);
	assert_string_equal(seen->clock, "mono");
	assert_string_equal(seen->host, "node1");
	assert_non_null(strstr(seen->cite, "CPU 0/KVM-8 [000] 3.221225: funcgraph_exit: func="));
	assert_non_null(strstr(seen->fields, "func=4100 depth=0 overrun=0 calltime=5000 rettime=12000 "));
}

static void test_v6(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		two_cpus(cpus, i & 1, i & 2 ? 4 : 8);
		v6_file(&o, i & 1, i & 2 ? 4 : 8, cpus, 2);
		parse_out(&seen, &o);
		assert_string_equal(seen.remarks, "");
		assert_string_equal(seen.paths, "t ");
		check_two_cpus(&seen);
		/* Positions are offsets in the file: the record's type is found there. */
		assert_true(seen.ev[0].pos < o.n);
		done(&seen);
		free(o.data);
		free_cpus(cpus);
	}
}

static void test_v7(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;
	int i, how;

	(void)state;
	for (how = NONE; how <= ZSTD; how++) {
		for (i = 0; i < 4; i++) {
			two_cpus(cpus, i & 1, i & 2 ? 4 : 8);
			v7_file(&o, (enum packing)how, i & 1, i & 2 ? 4 : 8, cpus, 2, NULL);
			parse_out(&seen, &o);
			assert_string_equal(seen.remarks, "");
			check_two_cpus(&seen);
			assert_int_equal(case_int(seen.db, 0, "SELECT cpus FROM source", ""), 2);
			done(&seen);
			free(o.data);
			free_cpus(cpus);
		}
	}
}

static void test_instances(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o, at;
	size_t patch;

	(void)state;
	two_cpus(cpus, false, 8);
	v7_file(&o, ZSTD, false, 8, cpus, 2, "guest-a");
	parse_out(&seen, &o);
	assert_string_equal(seen.paths, "t t#guest-a ");
	assert_int_equal(seen.n, 11 + 9);
	assert_int_equal(case_int(seen.db, 0, "SELECT count(*) FROM source", ""), 2);
	done(&seen);
	free(o.data);
	/*
	 * Version 6: an option with offset and name; there the same as after the CPU count
	 * follows.
	 */
	v6_head(&o, false, 8, 2);
	put_bytes(&o, "options  \0", 10);
	put(&o, 3, 2);
	put(&o, 8 + 4, 4);
	patch = o.n;
	put(&o, 0, 8);
	put_text(&o, "one");
	put(&o, 0, 2);
	flyrecord(&o, cpus, 2);
	set(&o, patch, o.n, 8);
	at = empty(&o);
	flyrecord(&o, cpus, 2);
	free(at.data);
	parse_out(&seen, &o);
	assert_string_equal(seen.paths, "t t#one ");
	assert_int_equal(seen.n, 22);
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

/* Time options, statistics of the recorder, a guest's corrections. */
static void test_options(void **state)
{
	struct cpu_data cpus[2];
	struct out o, shift;
	struct seen seen;

	(void)state;
	two_cpus(cpus, true, 8);
	v6_head(&o, true, 8, 2);
	put_bytes(&o, "options  \0", 10);
	option_text(&o, 1, "0x10");			/* date: 16 us */
	option_text(&o, 7, "500");			/* offset */
	option_text(&o, 2, "CPU: 0\nentries: 5\noverrun: 50\ncommit overrun: 0\ndropped events: 2\n");
	shift = empty(&o);			/* a guest of its own: id, vCPU 0 is task 77 */
	put_text(&shift, "vm1");
	put(&shift, 5, 8);
	put(&shift, 1, 4);
	put(&shift, 0, 4);
	put(&shift, 77, 4);
	option(&o, 13, shift.data, (uint32_t)shift.n);
	free(shift.data);
	shift = empty(&o);
	put(&shift, 99, 8);
	put(&shift, 0, 4);
	put(&shift, 2, 4);
	put(&shift, 1, 4);				/* CPU 0: one sample */
	put(&shift, 1000, 8);
	put(&shift, (uint64_t)-100, 8);
	put(&shift, 1, 8);
	put(&shift, 2, 4);				/* CPU 1: two, the scaling a half */
	put(&shift, 0, 8);
	put(&shift, 2000, 8);
	put(&shift, 1000, 8);
	put(&shift, 1000, 8);
	put(&shift, 1, 8);
	put(&shift, 1, 8);
	put(&shift, 0, 8);				/* fractions: as above */
	put(&shift, 1, 8);
	put(&shift, 1, 8);
	option(&o, 12, shift.data, (uint32_t)shift.n);
	free(shift.data);
	put(&o, 0, 2);
	flyrecord(&o, cpus, 2);
	parse_out(&seen, &o);
	assert_string_equal(seen.remarks, "");
	assert_int_equal(seen.ev[0].time, 1000 - 100 + 500);
	assert_int_equal(seen.ev[2].time, 1005 / 2 + 1000 + 500);
	assert_int_equal(case_int(seen.db, 0, "SELECT clock_offset_ns FROM source", ""), 16000);
	assert_int_equal(case_int(seen.db, 0, "SELECT side = 'guest' FROM source", ""), 1);
	assert_int_equal(case_int(seen.db, 0, "SELECT value = '0x63' FROM fact "
				  "WHERE key = 'trace_cmd.peer'", ""), 1);
	assert_int_equal(case_int(seen.db, 0, "SELECT num FROM fact "
				  "WHERE key = 'trace_cmd.guest.vm1.vcpu.0.tid'", ""), 77);
	assert_int_equal(case_int(seen.db, 0, "SELECT events FROM loss WHERE what LIKE '%left%'", ""), 5);
	assert_int_equal(case_int(seen.db, 0, "SELECT events FROM loss WHERE what LIKE '%overwr%'", ""), 8);
	assert_int_equal(case_int(seen.db, 0, "SELECT events FROM loss WHERE what LIKE '%dropped%'", ""), 2);
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

static void test_tsc(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;

	(void)state;
	two_cpus(cpus, false, 8);
	v6_head(&o, false, 8, 2);
	put_bytes(&o, "options  \0", 10);
	option_text(&o, 4, "local [x86-tsc]\n");
	put(&o, 14, 2);
	put(&o, 16, 4);
	put(&o, 3, 4);
	put(&o, 1, 4);
	put(&o, 0, 8);
	put(&o, 0, 2);
	flyrecord(&o, cpus, 2);
	parse_out(&seen, &o);
	assert_string_equal(seen.clock, "tsc");
	assert_int_equal(seen.ev[0].time, 1500);
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

#define TRACE_TEXT \
	"# tracer: nop\n#\n" \
	"            bash-1977    [000] d..2.    17.284993: sched_wakeup: comm=a pid=5 prio=120 target_cpu=001\n" \
	"            bash-1977    [000] d..2.    17.284999: sched_wakeup: comm=a pid=5 prio=120 target_cpu=001\n"

static void test_latency(void **state)
{
	struct seen seen;
	struct out o, c, options;
	size_t first;
	int i;

	(void)state;
	v6_head(&o, false, 8, 2);
	put_bytes(&o, "latency  \0", 10);
	put_bytes(&o, TRACE_TEXT, strlen(TRACE_TEXT));
	parse_out(&seen, &o);
	assert_string_equal(seen.remarks, "a latency tracer's text\n");
	assert_int_equal(case_int(seen.db, 0, "SELECT events FROM source", ""), 2);
	done(&seen);
	free(o.data);
	for (i = NONE; i <= ZSTD; i++) {
		file_begin(&o, "7", false, 8);
		put_text(&o, i == ZSTD ? "zstd" : i == ZLIB ? "zlib" : "none");
		put_text(&o, "1");
		first = o.n;
		put(&o, 0, 8);
		options = empty(&o);
		put(&options, 22, 2);
		put(&options, 8 + 1 + 6, 4);
		put(&options, o.n, 8);
		put_text(&options, "");
		put_text(&options, "local");
		option_u64(&options, 0, 0);
		put(&o, 22, 2);
		put(&o, i != NONE, 2);
		put(&o, 0, 4);
		c = empty(&o);
		if (i != NONE) {
			put(&c, 1, 4);
			pack(&c, (enum packing)i, TRACE_TEXT, strlen(TRACE_TEXT));
		} else {
			put_bytes(&c, TRACE_TEXT, strlen(TRACE_TEXT));
		}
		put(&o, c.n, 8);
		put_bytes(&o, c.data, c.n);
		free(c.data);
		set(&o, first, o.n, 8);
		section(&o, NONE, 0, &options);
		parse_out(&seen, &o);
		assert_int_equal(case_int(seen.db, 0, "SELECT events FROM source", ""), 2);
		done(&seen);
		free(o.data);
	}
}

/* Cut anywhere: never a crash, always a word about it, and events as long as there are pages. */
static void test_cut(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;
	size_t n, with_events;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		two_cpus(cpus, i == 3, 8);
		if (i == 0)
			v6_file(&o, false, 8, cpus, 2);
		else
			v7_file(&o, i == 1 ? NONE : ZSTD, i == 3, 8, cpus, 2, NULL);
		for (with_events = 0, n = 3; n < o.n; n += n < 4000 ? 61 : 331) {
			uint8_t *copy = xmalloc(n);	/* so that a sanitizer sees its end */
			struct error *err;

			memcpy(copy, o.data, n);
			err = parse_bytes(&seen, copy, n);
			assert_true(err || *seen.remarks);
			with_events += seen.n > 0;
			error_free(err);
			done(&seen);
			free(copy);
		}
		assert_true(with_events > 3);
		free(o.data);
		free_cpus(cpus);
	}
}

/* Pages that lie about themselves. */
static void test_bad_pages(void **state)
{
	static const struct { size_t at; uint64_t v; size_t bytes; } lies[] = {
		{ 8, 0x7ffffff, 4 },		/* commit beyond the page */
		{ 12, 1, 4 },			/* beyond 4 GiB */
		{ 16, 28 << 0 | 0xfffffff0, 4 },	/* deltas and types */
		{ 0, UINT64_MAX, 8 },		/* impossible time */
	};
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;
	size_t i, page;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lies); i++) {
		two_cpus(cpus, false, 8);
		v6_file(&o, false, 8, cpus, 2);
		page = o.n - cpus[1].pages.n;
		set(&o, page + lies[i].at, lies[i].v, lies[i].bytes);
		parse_out(&seen, &o);
		assert_true(*seen.remarks);
		assert_true(seen.n >= 8);	/* the other CPU */
		done(&seen);
		free(o.data);
		free_cpus(cpus);
	}
}

/* trace_printk() writes its text into the record. */
static void test_print(void **state)
{
	struct cpu_data cpus[2] = { 0 };
	struct seen seen;
	struct out o, p;
	size_t at;

	(void)state;
	cpus[0].pages.lsize = 8;
	at = page_begin(&cpus[0].pages, 2500000);
	p = common(&cpus[0].pages, ID_PRINT, 8);
	put(&p, 0x2001, 8);
	put_text(&p, "went wrong\n");
	finish(&cpus[0].pages, 0, &p, false);
	page_end(&cpus[0].pages, at, 0, 0);
	v6_file(&o, false, 8, cpus, 1);
	parse_out(&seen, &o);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.name[0], "print");
	assert_string_equal(seen.cite, "CPU 0/KVM-8 [000] 0.002500: print: went wrong");
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

/* What would make the same bytes be read again and again. */
static void test_overlap(void **state)
{
	struct cpu_data cpus[2];
	struct seen seen;
	struct out o;
	size_t table;

	(void)state;
	two_cpus(cpus, false, 8);
	v6_file(&o, false, 8, cpus, 2);
	table = o.n - 10;
	while (memcmp(o.data + table, "flyrecord", 10))
		table--;
	set(&o, table + 10, 0, 8);		/* CPU 0: from the file's begin */
	set(&o, table + 18, o.n, 8);
	parse_out(&seen, &o);
	assert_non_null(strstr(seen.remarks, "overlap"));
	done(&seen);
	free(o.data);
	/* Options that name themselves. */
	v7_file(&o, ZSTD, false, 8, cpus, 2, NULL);
	table = o.n - 8;
	memcpy(o.data + table, o.data + 10 + 2 + 1 + 1 + 4 + 5 + 6, 8);
	parse_out(&seen, &o);
	assert_true(*seen.remarks);
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

static void test_unknown_format(void **state)
{
	struct cpu_data cpus[2] = { 0 };
	struct seen seen;
	struct out o, p;
	size_t at;

	(void)state;
	cpus[0].pages.lsize = 8;
	at = page_begin(&cpus[0].pages, 100);
	p = common(&cpus[0].pages, 999, 3);
	put(&p, 1, 8);
	finish(&cpus[0].pages, 0, &p, false);
	page_end(&cpus[0].pages, at, 0, 0);
	v6_file(&o, false, 8, cpus, 1);
	parse_out(&seen, &o);
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.name[0], "tracepoint:999");
	assert_int_equal(seen.ev[0].tid, 3);
	assert_non_null(strstr(seen.remarks, "format is missing"));
	done(&seen);
	free(o.data);
	free_cpus(cpus);
}

/* Damaged heads are one line each. */
static void test_refused(void **state)
{
	static const struct { const char *bytes; size_t n; const char *says; } rows[] = {
		{ "\x17\x08\x44", 3, "cut after its first bytes" },
		{ "\x17\x08\x44tracing5\0\0\x08\0\x10\0\0", 19, "version 5 is not read" },
		{ "\x17\x08\x44tracing6\0\2\x08\0\x10\0\0", 19, "damaged in its first bytes" },
		{ "\x17\x08\x44tracing6\0\0\x07\0\x10\0\0", 19, "damaged in its first bytes" },
		{ "\x17\x08\x44tracing6\0\0\x08\1\0\0\0", 19, "pages of 1 bytes" },
		{ "\x17\x08\x44tracing6\0\0\x08\0\x10\0\0", 18, "no events in it" },
	};
	struct seen seen;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = parse_bytes(&seen, rows[i].bytes, rows[i].n);

		assert_non_null(err);
		assert_non_null(strstr(err->what, rows[i].says));
		error_free(err);
		done(&seen);
	}
}

/* ---- raw pages ---- */

static struct error *parse_raw(struct seen *seen, struct tree_part *parts, size_t n)
{
	struct tree t = { parts, n };
	struct parse_ctx ctx = { .m = &parts[0].m, .side = "unknown", .open_stream = open_capture,
				 .open_arg = seen, .tree = &t };
	struct strtab messages;
	struct error *err;

	memset(seen, 0, sizeof(*seen));
	assert_null(case_create(&seen->db, NULL));
	strtab_init(&messages, 256);
	ctx.db = seen->db;
	ctx.messages = &messages;
	seen->paths = xstrdup("");
	err = find_parser("raw tracefs")->parse(&ctx);
	seen->remarks = xstrdup(messages.n ? messages.strings[0] : "");
	strtab_deinit(&messages);
	return err;
}

static void add_part(struct tree_part *p, const char *name, const void *data, size_t size)
{
	p->name = name;
	p->m = (struct member){ .id = 1, .path = name, .name = name, .data = data, .size = size };
}

static void test_raw(void **state)
{
	static const struct field sched[] = {
		{ "char prev_comm[16]", 16, false }, { "pid_t prev_pid", 4, true }, { "int prev_prio", 4, true },
		{ "long prev_state", 0, true }, { "char next_comm[16]", 16, false }, { "pid_t next_pid", 4, true },
		{ "int next_prio", 4, true },
	};
	struct tree_part parts[8] = { 0 };
	struct cpu_data cpus[2];
	struct seen seen;
	char *format;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		uint8_t lsize = i & 2 ? 4 : 8;

		two_cpus(cpus, i & 1, lsize);
		format = format_text("sched_switch", ID_SWITCH, sched, ARRAY_SIZE(sched), lsize, "\"\"");
		add_part(&parts[0], "per_cpu/cpu0/trace_pipe_raw", cpus[0].pages.data, cpus[0].pages.n);
		add_part(&parts[1], "per_cpu/cpu1/trace_pipe_raw", cpus[1].pages.data, cpus[1].pages.n);
		add_part(&parts[2], "events/sched/sched_switch/format", format, strlen(format));
		add_part(&parts[3], "saved_tgids", "8 7\n", 4);
		add_part(&parts[4], "saved_cmdlines", COMMS, strlen(COMMS));
		add_part(&parts[5], "trace_clock", "local [boot]\n", 13);
		assert_null(parse_raw(&seen, parts, 6));
		assert_int_equal(seen.n, 10);	/* without formats there is no EV_STACK */
		assert_string_equal(seen.name[0], "sched_switch");
		assert_int_equal(seen.ev[0].a[3], TSTATE_INTERRUPTIBLE);
		assert_string_equal(seen.name[2], "tracepoint:301");
		assert_int_equal(seen.lost, 42);
		assert_string_equal(seen.clock, "boot");
		assert_int_equal(seen.ev[1].pos, cpus[0].pages.n + 8u + lsize);
		done(&seen);
		free(format);
		free_cpus(cpus);
	}
}

static void test_claims(void **state)
{
	static const struct {
		const char	*name;
		bool		pages;
		enum tree_role	role;
		size_t		root;
	} rows[] = {
		{ "a/tracing/per_cpu/cpu3/trace_pipe_raw", true, TREE_HEAD, 10 },
		{ "a/tracing/per_cpu/cpu3/trace_pipe_raw", false, TREE_NONE, 0 },
		{ "per_cpu/cpu12/snapshot_raw", true, TREE_HEAD, 0 },
		{ "x/cpu0.raw", true, TREE_HEAD, 2 },
		{ "x/cpu0.raw", false, TREE_NONE, 0 },
		{ "x/cpux.raw", true, TREE_NONE, 0 },
		{ "a/events/sched/sched_switch/format", false, TREE_PART, 2 },
		{ "a/events/sched/format", false, TREE_NONE, 0 },
		{ "a/events/header_page", false, TREE_PART, 2 },
		{ "a/header_page", false, TREE_PART, 2 },
		{ "saved_cmdlines", false, TREE_PART, 0 },
		{ "a/per_cpu/cpu3/stats", false, TREE_PART, 2 },
		{ "a/per_cpu/cpu99999/stats", false, TREE_NONE, 0 },
		{ "proc/vmstat", false, TREE_NONE, 0 },
	};
	struct cpu_data cpus[2];
	size_t i;

	(void)state;
	two_cpus(cpus, true, 4);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sniff s = { .name = rows[i].name, .head = (const uint8_t *)"text, no pages, and long "
				   "enough to be looked at: 0123456789 0123456789 0123456789", .len = 80 };
		size_t root = 0;

		if (rows[i].pages) {
			s.head = cpus[0].pages.data;
			s.len = cpus[0].pages.n;
		}
		s.size = s.len;
		assert_int_equal(find_parser("raw tracefs")->claim(&s, &root), rows[i].role);
		if (rows[i].role != TREE_NONE)
			assert_int_equal(root, rows[i].root);
	}
	free_cpus(cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v6),
		cmocka_unit_test(test_v7),
		cmocka_unit_test(test_instances),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_tsc),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bad_pages),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_unknown_format),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_claims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
