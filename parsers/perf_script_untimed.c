// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_script_untimed.c - the text of `perf script` without times (-F comm,tid,event,ip,sym; perf
 * before 3.3 by default), as it is fed to flame graph tools.
 *
 *   java 19983/19990 [002] 250000 cycles:
 *           ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])
 *           ffffffff810275f1 intel_pmu_enable_all ([kernel.kallsyms])
 *
 * Without times nothing can be put in order: it is a table of how often each event came with which
 * call chain, by thread. What stands on the event's own line (-F ip,sym without -g) is a chain of
 * one frame.
 */
#include "perf_script_line.h"
#include "perf_text_header.h"
#include "scan.h"
#include "strtab.h"

#define MAX_ROWS	50000		/* different chains, by event and thread */
#define MAX_BYTES	(32U << 20)	/* of their texts */
#define MAX_EVENTS	1000
#define MAX_CITED	500
#define CHAIN_TEXT	6000

struct untimed {
	struct perf_text_header head;
	int64_t		source_id;
	bool		pending;		/* an event's line was read, its chain may follow */
	char		key[CHAIN_TEXT];	/* "EVENT\nTID\nFRAME\nFRAME ...", top first */
	size_t		key_len, frames;
	struct strtab	rows, events;
	int64_t		*count, *event_count;	/* by row, by event */
	size_t		cap_count, cap_events, bytes;
	/* cite: of the pending one; cites: of the first of the first rows */
	int64_t		cite, cites[MAX_CITED];
	uint64_t	left_out;
};

static void add_frame(struct untimed *u, uint64_t ip, const char *name, size_t len)
{
	char hex[24];

	if (!len) {
		len = (size_t)snprintf(hex, sizeof(hex), "0x%" PRIx64, ip);
		name = hex;
	}
	if (u->frames >= STACK_MAX_FRAMES || u->key_len + len + 1 > sizeof(u->key))
		return;
	u->key[u->key_len++] = '\n';
	memcpy(u->key + u->key_len, name, len);
	u->key_len += len;
	u->frames++;
}

static void end_sample(struct untimed *u)
{
	uint32_t id;
	size_t n;

	if (!u->pending)
		return;
	u->pending = false;
	if (!u->frames)
		return;
	n = u->rows.n;
	if (u->bytes + u->key_len > MAX_BYTES)
		id = strtab_find(&u->rows, u->key, u->key_len);
	else
		id = strtab_id(&u->rows, u->key, u->key_len);
	if (id == STRTAB_NONE) {
		u->left_out++;
		return;
	}
	if (u->rows.n > n) {
		GROW(u->count, u->cap_count, u->rows.n);
		u->count[id] = 0;
		u->bytes += u->key_len;
		if (id < MAX_CITED)
			u->cites[id] = u->cite;
	}
	u->count[id]++;
}

static void begin_sample(struct untimed *u, const struct perf_script_line *l)
{
	size_t n = u->events.n;
	uint32_t id = strtab_id(&u->events, l->event, l->event_len);
	const char *sym;
	uint64_t ip;
	size_t len;

	end_sample(u);
	if (id == STRTAB_NONE) {
		u->left_out++;
		return;
	}
	if (u->events.n > n) {
		GROW(u->event_count, u->cap_events, u->events.n);
		u->event_count[id] = 0;
	}
	u->event_count[id]++;
	u->pending = true;
	u->frames = 0;
	u->key_len = (size_t)snprintf(u->key, sizeof(u->key), "%.*s\n%d", (int)l->event_len, l->event, l->tid);
	if (!l->system_len && l->text_len &&
	    perf_script_frame(l->text - 1, l->text_len + 1, &ip, &sym, &len))
		add_frame(u, ip, sym, len);
}

static enum line_result untimed_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct untimed *u = state;
	struct perf_script_line l;
	const char *name;
	uint64_t ip;
	size_t len;

	if (!ln->len)
		return LINE_SKIPPED;
	if (*ln->s == '#') {
		if (u->events.n)
			return LINE_SKIPPED;
		return perf_text_header_line(ctx, &u->head, ln) ? LINE_TAKEN : LINE_SKIPPED;
	}
	if (perf_script_frame(ln->s, ln->len, &ip, &name, &len)) {
		if (u->pending)
			add_frame(u, ip, name, len);
		return u->pending ? LINE_TAKEN : LINE_NOT_MINE;
	}
	if (!perf_script_split_untimed(ln->s, ln->len, &l)) {
		ctx->partly = true;
		return LINE_NOT_MINE;
	}
	begin_sample(u, &l);
	if (u->pending)
		u->cite = u->rows.n < MAX_CITED ? ctx_cite(ctx, ln, CASE_NO_TIME) : 0;
	return LINE_TAKEN;
}

static struct error *write_row(struct parse_ctx *ctx, struct untimed *u, uint32_t row,
			       struct strtab *chains, int64_t *ids)
{
	const char *key = strtab_str(&u->rows, row), *tid = strchr(key, '\n') + 1;
	const char *frames = strchr(tid, '\n') + 1;
	_cleanup_free_ char *event = xstrndup(key, (size_t)(tid - 1 - key));
	uint32_t id = strtab_id(chains, frames, strlen(frames));
	int64_t thread = strtol(tid, NULL, 10);

	if (!ids[id])
		TRY(case_stack(ctx->db, &ids[id], u->source_id, frames, "\n"));
	return case_insert(ctx->db, NULL,
			   "INSERT INTO stack_count(source_id, stack_id, event, tid, count, cite_id) VALUES(?,?,?,?,?,?)", "iisIiI",
			   u->source_id, ids[id], event, thread >= 0 ? &thread : NULL,
			   u->count[row],
			   row < MAX_CITED && u->cites[row] > 0 ? &u->cites[row] : NULL);
}

static struct error *write_table(struct parse_ctx *ctx, struct untimed *u)
{
	_cleanup_free_ int64_t *ids = xcalloc(u->rows.n + 1, sizeof(*ids));
	struct error *err = NULL;
	struct strtab chains;
	uint32_t i;

	TRY(perf_text_header_source(ctx, &u->head, &u->source_id, "perf script without times"));
	for (i = 0; i < u->events.n; i++)
		TRY(case_insert(ctx->db, NULL, "INSERT INTO event_count(source_id, event, count) VALUES(?,?,?)", "isi",
				u->source_id, strtab_str(&u->events, i), u->event_count[i]));
	strtab_init(&chains, 0);
	for (i = 0; i < u->rows.n && !err; i++)
		err = write_row(ctx, u, i, &chains, ids);
	strtab_deinit(&chains);
	return err;
}

static struct error *untimed_begin(struct parse_ctx *ctx __unused, void **state)
{
	struct untimed *u = xcalloc(1, sizeof(*u));

	strtab_init(&u->rows, MAX_ROWS);
	strtab_init(&u->events, MAX_EVENTS);
	perf_text_header_init(&u->head);
	*state = u;
	return NULL;
}

static struct error *untimed_end(struct parse_ctx *ctx, void *state)
{
	struct untimed *u = state;
	struct error *err;

	end_sample(u);
	err = write_table(ctx, u);
	if (u->left_out)
		parse_remark(ctx, true, "more different call chains than are kept: %" PRIu64 " samples are counted without theirs",
			     u->left_out);
	parse_remark(ctx, false, "samples without times: counted, but in no order (record the field with perf script -F +time)");
	perf_text_header_free(&u->head);
	strtab_deinit(&u->rows);
	strtab_deinit(&u->events);
	free(u->count);
	free(u->event_count);
	free(u);
	return err;
}

static int untimed_sniff(const struct sniff *sn)
{
	const char *next = (const char *)sn->head, *end = next + sn->len, *p, *name;
	unsigned int heads = 0, whose = 0, frames = 0, other = 0;
	struct perf_script_line l;
	uint64_t ip;
	size_t len, n;

	while (scan_lines(&next, end, &p, &n) && heads + frames + other < 300) {
		if (!n || *p == '#')
			continue;
		if (next == end && sn->size > sn->len)
			break;		/* cut by the sniffing limit */
		if (heads && perf_script_frame(p, n, &ip, &name, &len) && n > 12) {
			frames++;
		} else if (perf_script_split(p, n, &l) || !perf_script_split_untimed(p, n, &l)) {
			other++;
		} else {
			heads++;
			whose += l.tid >= 0;
		}
	}
	/* words with a colon are heads as well: only frames below them tell */
	if (!heads || !(frames || whose * 2 > heads) ||
	    other * 10 > heads + frames || (!frames && heads < 3))
		return 0;
	return frames >= heads / 2 || whose == heads ? 70 : 0;
}

static const struct parser perf_script_untimed = {
	.name		= "perf script without times",
	.kind		= PARSER_LINES,
	.priority	= 61,
	.sniff		= untimed_sniff,
	.begin		= untimed_begin,
	.line		= untimed_line,
	.end		= untimed_end,
};
REGISTER(parsers, &perf_script_untimed);
