// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_perf_data.c - perf.data files built in memory: layouts, ids, order, damage, the
 * recorder's own records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zstd.h>

#include "parser.h"

#define ATTR		128
#define IDENTIFIER	(1ull << 16)
#define IP		(1ull << 0)
#define TID		(1ull << 1)
#define TIME		(1ull << 2)
#define ADDR		(1ull << 3)
#define READ		(1ull << 4)
#define CALLCHAIN	(1ull << 5)
#define ID		(1ull << 6)
#define CPU		(1ull << 7)
#define PERIOD		(1ull << 8)
#define STREAM_ID	(1ull << 9)
#define RAW		(1ull << 10)
#define USUAL		(IDENTIFIER | IP | TID | TIME | CPU | PERIOD)
#define SAMPLE_ID_ALL	(1ull << 18)

/* A file being built: attributes of cpu-clock, and records. */
struct file {
	uint8_t		data[1 << 16];
	size_t		n, n_attrs, data_at;
};

static void put(struct file *f, uint64_t v, size_t bytes)
{
	assert_true(f->n + bytes <= sizeof(f->data));
	memcpy(f->data + f->n, &v, bytes);
	f->n += bytes;
}

static void set64(struct file *f, size_t at, uint64_t v)
{
	memcpy(f->data + at, &v, sizeof(v));
}

/* Attribute i has the ids 100 + i; its config is i. */
static void begin(struct file *f, const uint64_t *sample_types, size_t n, uint64_t read_format)
{
	size_t i, ids = 104, attrs = ids + 8 * n;

	memset(f, 0, sizeof(*f));
	f->n_attrs = n;
	f->n = attrs + n * (ATTR + 16);
	f->data_at = f->n;
	memcpy(f->data, "PERFILE2", 8);
	set64(f, 8, 104);
	set64(f, 16, ATTR + 16);
	set64(f, 24, attrs);
	set64(f, 32, n * (ATTR + 16));
	set64(f, 40, f->data_at);
	for (i = 0; i < n; i++) {
		size_t at = attrs + i * (ATTR + 16);

		set64(f, ids + 8 * i, 100 + i);
		set64(f, at, 1 | (uint64_t)ATTR << 32);		/* PERF_TYPE_SOFTWARE */
		set64(f, at + 8, i);
		set64(f, at + 24, sample_types[i]);
		set64(f, at + 32, read_format);
		set64(f, at + 40, SAMPLE_ID_ALL);
		set64(f, at + ATTR, ids + 8 * i);
		set64(f, at + ATTR + 8, 8);
	}
}

static size_t record(struct file *f, uint32_t type, uint16_t misc)
{
	size_t at = f->n;

	put(f, type, 4);
	put(f, misc, 2);
	put(f, 0, 2);
	return at;
}

static void finish(struct file *f, size_t at)
{
	uint16_t size = (uint16_t)(f->n - at);

	memcpy(f->data + at + 6, &size, sizeof(size));
}

static void sample(struct file *f, uint64_t id, uint64_t time, uint32_t tid, uint32_t cpu)
{
	size_t at = record(f, 9, 0);

	put(f, id, 8);
	put(f, 0xffffffff81000000ull, 8);
	put(f, 1, 4);
	put(f, tid, 4);
	put(f, time, 8);
	put(f, cpu, 8);
	put(f, 1, 8);
	finish(f, at);
}

/* What stands behind other records: TID, TIME, CPU, IDENTIFIER. */
static void trailer(struct file *f, size_t at, uint64_t time, uint32_t cpu)
{
	put(f, 1ull << 32 | 1, 8);
	put(f, time, 8);
	put(f, cpu, 8);
	put(f, 100, 8);
	finish(f, at);
}

static void round_end(struct file *f)
{
	finish(f, record(f, 68, 0));
}

/* What came out. */
struct seen {
	struct event	ev[64];
	size_t		n;
	uint64_t	lost;
	char		*remarks;
	struct case_db	*db;
	uint64_t	ips[8];
	size_t		n_ips;
	char		*cite;
};

static void batch(void *priv, struct stream *s, const struct batch *b)
{
	struct seen *seen = priv;
	uint32_t i;

	for (i = 0; i < b->n && seen->n < ARRAY_SIZE(seen->ev); i++) {
		if (b->ev[i].ev == EVENT_TYPE_NONE && b->ev[i].kind == EV_TASK &&
		    b->ev[i].b[1] == TASK_SEEN)
			continue;
		seen->ev[seen->n++] = b->ev[i];
		if (b->ev[i].kind == EV_SAMPLE && !seen->n_ips)
			seen->n_ips = s->ops->stack(s->ops_priv, &b->ev[i], seen->ips, 8);
		if (b->ev[i].kind == EV_SAMPLE && !seen->cite)
			seen->cite = s->ops->cite_text(s->ops_priv, &b->ev[i]);
		seen->lost += b->ev[i].kind == EV_LOST ? b->ev[i].a[0] : 0;
	}
}

static const struct consumer capture = { .sync = true, .batch = batch };

static struct error *open_capture(struct parse_ctx *ctx, struct stream **ret,
				  const struct source_desc *desc, const struct stream_ops *ops,
				  void *ops_priv)
{
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &capture, ctx->open_arg);
}

static struct error *parse_bytes(struct seen *seen, const void *data, size_t size)
{
	struct member m = { .id = 1, .path = "t", .name = "t", .data = data, .size = size };
	struct parse_ctx ctx = { .m = &m, .side = "host", .open_stream = open_capture, .open_arg = seen };
	const struct parser *const *it;
	struct error *err = NULL;
	struct strtab messages;
	size_t i;

	memset(seen, 0, sizeof(*seen));
	assert_null(case_create(&seen->db, NULL));
	strtab_init(&messages, 256);
	ctx.db = seen->db;
	ctx.messages = &messages;
	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, "perf.data"))
			err = (*it)->parse(&ctx);
	seen->remarks = xstrdup("");
	for (i = 0; i < messages.n; i++) {
		char *more = xasprintf("%s%s\n", seen->remarks, messages.strings[i]);

		free(seen->remarks);
		seen->remarks = more;
	}
	strtab_deinit(&messages);
	return err;
}

static void parse_file(struct seen *seen, struct file *f)
{
	struct error *err;

	if (!((uint64_t *)(void *)(f->data + 48))[0])
		set64(f, 48, f->n - f->data_at);
	err = parse_bytes(seen, f->data, f->n);
	if (err)
		fail_msg("%s", err->what);
}

static void done(struct seen *seen)
{
	case_close(seen->db);
	free(seen->remarks);
	free(seen->cite);
}

static void test_order(void **state)
{
	static const uint64_t types[] = { USUAL };
	/* One round: CPU 0's run, then CPU 1's; equal times keep the file's order. */
	static const uint64_t want[] = { 10, 15, 20, 20, 25, 30, 40, 41 };
	static struct file f;
	struct seen seen;
	size_t i;

	(void)state;
	begin(&f, types, 1, 0);
	sample(&f, 100, 10, 1, 0);
	sample(&f, 100, 20, 2, 0);
	sample(&f, 100, 30, 3, 0);
	sample(&f, 100, 15, 4, 1);
	sample(&f, 100, 20, 5, 1);
	sample(&f, 100, 25, 6, 1);
	round_end(&f);
	sample(&f, 100, 41, 7, 0);
	sample(&f, 100, 40, 8, 1);	/* later than all of the round before: in time */
	round_end(&f);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, ARRAY_SIZE(want));
	for (i = 0; i < seen.n; i++)
		assert_int_equal(seen.ev[i].time, want[i]);
	assert_int_equal(seen.ev[2].tid, 2);
	assert_int_equal(seen.ev[3].tid, 5);
	assert_int_equal(seen.ev[1].cpu, 1);
	assert_string_equal(seen.remarks, "");
	assert_int_equal(case_int(seen.db, -1, "SELECT unordered FROM recording", ""), 0);
	done(&seen);
}

static void test_late_event(void **state)
{
	static const uint64_t types[] = { USUAL };
	static const uint64_t want[] = { 10, 20, 30, 60 };
	static struct file f;
	struct seen seen;
	size_t i;

	(void)state;
	/*
	 * A round later than it should be, but not later than the latest time of the round
	 * before the last: still in order.
	 */
	begin(&f, types, 1, 0);
	sample(&f, 100, 10, 1, 0);
	sample(&f, 100, 30, 1, 0);
	round_end(&f);
	sample(&f, 100, 20, 1, 1);
	sample(&f, 100, 60, 1, 1);
	round_end(&f);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, ARRAY_SIZE(want));
	for (i = 0; i < seen.n; i++)
		assert_int_equal(seen.ev[i].time, want[i]);
	done(&seen);
}

static void test_layouts(void **state)
{
	/* Everything up to RAW, READ in its group form; and a second event that has much less. */
	static const uint64_t types[] = {
		IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD | READ |
			CALLCHAIN | RAW,
		IDENTIFIER | TIME,
	};
	static struct file f;
	struct seen seen;
	size_t at;

	(void)state;
	begin(&f, types, 2, 8 | 4 | 1 | 2 | 16);	/* GROUP, ID, both times, LOST */
	at = record(&f, 9, 0);
	put(&f, 100, 8);
	put(&f, 0xabc, 8);		/* ip */
	put(&f, 5, 4);
	put(&f, 6, 4);
	put(&f, 1000, 8);		/* time */
	put(&f, 0xadd, 8);
	put(&f, 100, 8);		/* id */
	put(&f, 1, 8);			/* stream id */
	put(&f, 3, 8);			/* cpu */
	put(&f, 1, 8);			/* period */
	put(&f, 2, 8); /* two values in the group: nr, times, then value, id, lost each */
	put(&f, 1, 8);
	put(&f, 1, 8);
	for (int i = 0; i < 6; i++)
		put(&f, 7, 8);
	put(&f, 3, 8);			/* callchain */
	put(&f, (uint64_t)-128, 8);	/* PERF_CONTEXT_KERNEL */
	put(&f, 0x111, 8);
	put(&f, 0x222, 8);
	put(&f, 4, 4);			/* raw */
	put(&f, 0, 4);
	finish(&f, at);
	at = record(&f, 9, 0);
	put(&f, 101, 8);
	put(&f, 2000, 8);
	finish(&f, at);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.ev[0].time, 1000);
	assert_int_equal(seen.ev[0].tid, 6);
	assert_int_equal(seen.ev[0].cpu, 3);
	assert_int_equal(seen.ev[0].a[0], 0xabc);
	assert_int_equal(seen.n_ips, 2);
	assert_int_equal(seen.ips[0], 0x111);
	assert_int_equal(seen.ips[1], 0x222);
	assert_int_equal(seen.ev[1].time, 2000);
	assert_int_equal(seen.ev[1].tid, -1);
	assert_int_equal(seen.ev[1].cpu, EVENT_CPU_NONE);
	assert_int_equal(case_int(seen.db, -1, "SELECT count FROM event_count WHERE event='task-clock'", ""), 1);
	assert_non_null(strstr(seen.cite, "-6 [003] 0.000001: cpu-clock: ip=0xabc"));
	done(&seen);
}

static void test_no_time(void **state)
{
	static const uint64_t types[] = { IDENTIFIER | TID };
	static struct file f;
	struct seen seen;
	size_t i;

	(void)state;
	begin(&f, types, 1, 0);
	for (i = 0; i < 5; i++) {
		size_t at = record(&f, 9, 0);

		put(&f, 100, 8);
		put(&f, 1, 4);
		put(&f, 10 + i, 4);
		finish(&f, at);
	}
	parse_file(&seen, &f);
	assert_int_equal(seen.n, 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(seen.ev[i].tid, 10 + i);
	done(&seen);
}

static void comm(struct file *f, uint32_t pid, uint32_t tid, const char *name, uint16_t misc,
		 uint64_t time)
{
	size_t at = record(f, 3, misc);
	char text[16] = { 0 };

	strncpy(text, name, 15);
	put(f, pid, 4);
	put(f, tid, 4);
	for (size_t i = 0; i < 16; i++)
		put(f, (uint8_t)text[i], 1);
	trailer(f, at, time, 0);
}

static void test_own_records(void **state)
{
	static const uint64_t types[] = { USUAL };
	static struct file f;
	struct seen seen;
	uint64_t name[2];
	size_t at;

	(void)state;
	begin(&f, types, 1, 0);
	comm(&f, 7, 7, "qemu", 0, 0);
	sample(&f, 100, 30, 8, 0);
	at = record(&f, 7, 0);		/* FORK: pid, ppid, tid, ptid, time */
	put(&f, 7, 4);
	put(&f, 7, 4);
	put(&f, 8, 4);
	put(&f, 7, 4);
	put(&f, 10, 8);
	trailer(&f, at, 10, 0);
	comm(&f, 7, 8, "CPU 0/KVM", 1 << 13, 20);
	at = record(&f, 2, 0);		/* LOST: id, lost */
	put(&f, 100, 8);
	put(&f, 17, 8);
	trailer(&f, at, 25, 3);
	round_end(&f);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.ev[0].kind, EV_TASK);
	assert_int_equal(seen.ev[0].b[1], TASK_SYNTH);
	assert_int_equal(seen.ev[1].kind, EV_TASK_FORK);
	assert_int_equal(seen.ev[1].b[0], 8);
	assert_int_equal(seen.ev[1].b[1], 7);
	assert_int_equal(seen.ev[1].a[0], 7);
	assert_int_equal(seen.ev[2].kind, EV_TASK);
	assert_int_equal(seen.ev[2].b[1], TASK_EXEC);
	comm_words(name, "CPU 0/KVM", 9);
	assert_int_equal(seen.ev[2].a[0], name[0]);
	assert_int_equal(seen.ev[3].kind, EV_LOST);
	assert_int_equal(seen.ev[3].cpu, 3);
	assert_int_equal(seen.lost, 17);
	assert_non_null(strstr(seen.cite, "CPU 0/KVM-8"));
	assert_int_equal(case_int(seen.db, -1, "SELECT lost FROM source", ""), 17);
	done(&seen);
}

static void test_damage(void **state)
{
	static const uint64_t types[] = { USUAL };
	static struct file f;
	struct seen seen;
	size_t i, hole;

	(void)state;
	begin(&f, types, 1, 0);
	for (i = 0; i < 6; i++)
		sample(&f, 100, 10 + i, 1, 0);
	hole = f.n;
	for (i = 0; i < 12; i++)
		put(&f, i % 2 ? 0 : 0xffffffffffffffffull, 8);	/* of size 0 and of type -1 */
	for (i = 0; i < 6; i++)
		sample(&f, 100, 20 + i, 1, 0);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, 12);
	assert_int_equal(seen.ev[11].time, 25);
	{
		_cleanup_free_ char *want = xasprintf("damaged at byte %zu: 96 bytes could not be read\n", hole);

		assert_string_equal(seen.remarks, want);
	}
	done(&seen);
}

static void test_cut(void **state)
{
	static const uint64_t types[] = { USUAL };
	static struct file f;
	struct seen seen;
	size_t i, cut;

	(void)state;
	begin(&f, types, 1, 0);
	for (i = 0; i < 10; i++)
		sample(&f, 100, 10 + i, 1, 0);
	set64(&f, 48, f.n - f.data_at);
	for (cut = 0; cut < f.n; cut++) { /* anywhere: an error, or the samples that are whole */
		struct error *err = parse_bytes(&seen, f.data, cut);

		if (cut <= f.data_at)
			assert_non_null(err);
		else
			assert_int_equal(seen.n, (cut - f.data_at) / 56);
		assert_true(err || strstr(seen.remarks, "cut at byte"));
		error_free(err);
		done(&seen);
	}
	set64(&f, 48, 0);	/* as after SIGKILL */
	assert_null(parse_bytes(&seen, f.data, f.n));
	assert_int_equal(seen.n, 10);
	assert_non_null(strstr(seen.remarks, "recorder was killed"));
	done(&seen);
}

static void test_forms(void **state)
{
	uint8_t pipe_mode[32] = "PERFILE2\x10", swapped[104] = "2ELIFREP";
	struct { const uint8_t *data; size_t size; const char *says; } cases[] = {
		{ pipe_mode, sizeof(pipe_mode), "pipe mode" }, { swapped, sizeof(swapped), "damaged header" },
		{ pipe_mode, 8, "cut inside its header" },
	};
	struct seen seen;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error *err = parse_bytes(&seen, cases[i].data, cases[i].size);

		assert_non_null(err);
		assert_non_null(strstr(err->what, cases[i].says));
		error_free(err);
		done(&seen);
	}
}

/* Records that say nothing here, and AUX data, which may look like anything, cost nothing. */
static void test_skipped(void **state)
{
	static const uint16_t types[] = { 11, 12, 14, 15, 16, 17, 18, 19, 20, 21,
					  22, 72, 74, 75, 76, 77, 79, 82, 84 };
	const uint64_t usual[] = { USUAL, USUAL };
	struct seen seen;
	struct file f;
	size_t i, at;

	(void)state;
	begin(&f, usual, 2, 0);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		at = record(&f, types[i], 0);
		put(&f, i, 8);
		trailer(&f, at, 1000 + i, 0);
		sample(&f, 101, 2000 + i, 5, 0);
	}
	at = record(&f, 71, 0); /* AUXTRACE: size, offset, reference, idx, tid, cpu, reserved */
	put(&f, 2 * 56 + 3, 8);
	for (i = 0; i < 4; i++)
		put(&f, 0, 8);
	finish(&f, at);
	sample(&f, 101, 1, 6, 0);	/* in the AUX data */
	sample(&f, 101, 1, 6, 0);
	put(&f, 0, 3);
	at = record(&f, 13, 0);		/* LOST_SAMPLES */
	put(&f, 7, 8);
	trailer(&f, at, 3000, 0);
	sample(&f, 101, 4000, 7, 0);
	parse_file(&seen, &f);
	assert_int_equal(seen.n, ARRAY_SIZE(types) + 1);
	assert_int_equal(seen.ev[seen.n - 1].tid, 7);
	assert_string_equal(seen.remarks, "");
	assert_int_equal(case_int(seen.db, -1, "SELECT SUM(events) FROM loss", ""), 7);
	done(&seen);
}

/* Append what the encoder made of @n bytes as COMPRESSED records of at most @max bytes. */
static void pack(struct file *f, ZSTD_CCtx *z, const uint8_t *p, size_t n, size_t max)
{
	ZSTD_inBuffer in = { p, n, 0 };
	uint8_t buf[256];
	size_t left, at, i;

	do {
		ZSTD_outBuffer out = { buf, MIN(max, sizeof(buf)), 0 };

		left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush);
		assert_false(ZSTD_isError(left));
		at = record(f, 81, 0);
		for (i = 0; i < out.pos; i++)
			put(f, buf[i], 1);
		finish(f, at);
	} while (left);
}

/* Records cut at odd places by the compressor's, with rounds between and plain ones at both ends.
 */
static void test_compressed(void **state)
{
	const uint64_t usual[] = { USUAL };
	ZSTD_CCtx *z = ZSTD_createCCtx();
	static struct file f, plain;
	struct seen seen;
	size_t i, step;

	(void)state;
	for (step = 1; step < 400; step = step * 3 + 1) {
		begin(&plain, usual, 1, 0);
		for (i = 0; i < 20; i++)
			sample(&plain, 100, 1000 + 10 * i, 5, 0);
		begin(&f, usual, 1, 0);
		ZSTD_CCtx_reset(z, ZSTD_reset_session_only);
		for (i = plain.data_at; i < plain.n; i += step) {
			pack(&f, z, plain.data + i, MIN(step, plain.n - i), 13);
			if (i > plain.n / 2 && i < plain.n / 2 + 200)
				round_end(&f);
		}
		round_end(&f);
		parse_file(&seen, &f);
		assert_string_equal(seen.remarks, "");
		assert_int_equal(seen.n, 20);
		for (i = 0; i < 20; i++)
			assert_int_equal(seen.ev[i].time, 1000 + 10 * i);
		done(&seen);
	}
	ZSTD_freeCCtx(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	    cmocka_unit_test(test_late_event),
		cmocka_unit_test(test_layouts),	    cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_own_records), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_cut),	    cmocka_unit_test(test_forms),
		cmocka_unit_test(test_skipped),	    cmocka_unit_test(test_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
