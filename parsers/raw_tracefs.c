// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * raw_tracefs.c - copies of tracefs: per_cpu/cpuN/trace_pipe_raw (or snapshot_raw, or cpuN.raw
 * beside the rest) with events/SYSTEM/EVENT/format, events/header_page, saved_cmdlines,
 * saved_tgids, printk_formats, kallsyms, trace_clock and per_cpu/cpuN/stats, as far as they are
 * there; see ring.h.
 *
 * Pages do not tell their byte order: the one is taken in which more of them make sense. A copy
 * of a live buffer is no recording that ended: statistics are of another moment than the pages,
 * so only what the kernel dropped is taken from them. Positions count the CPUs' files one behind
 * the other, in the order of the CPUs.
 */
#include "ring.h"
#include "tree.h"

#define SCORE_PAGES	64

enum what {
	NOTHING, PAGES, SNAPSHOT, FORMAT, HEADER_PAGE, HEADER_EVENT, STATS, COMMS, TGIDS, PRINTK,
	SYMBOLS, CLOCK
};

/* Is @p "N" and then @rest? */
static bool number_then(const char *p, const char *rest, uint32_t *n)
{
	char *end;
	unsigned long v;

	if (*p < '0' || *p > '9')
		return false;
	v = strtoul(p, &end, 10);
	*n = (uint32_t)v;
	return v < RING_MAX_CPUS && !strcmp(end, rest);
}

/* What a file is by its path inside the recording's folder. */
static enum what what_is(const char *name, uint32_t *cpu)
{
	static const struct { const char *name; enum what what; } files[] = {
		{ "header_page", HEADER_PAGE }, { "events/header_page", HEADER_PAGE },
		{ "header_event", HEADER_EVENT }, { "events/header_event", HEADER_EVENT },
		{ "saved_cmdlines", COMMS }, { "saved_tgids", TGIDS }, { "printk_formats", PRINTK },
		{ "kallsyms", SYMBOLS }, { "trace_clock", CLOCK },
	};
	const char *slash;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(name, files[i].name))
			return files[i].what;
	if (!strncmp(name, "per_cpu/cpu", 11))
		return number_then(name + 11, "/trace_pipe_raw", cpu) ? PAGES :
		       number_then(name + 11, "/snapshot_raw", cpu) ? SNAPSHOT :
		       number_then(name + 11, "/stats", cpu) ? STATS : NOTHING;
	if (!strncmp(name, "cpu", 3))
		return number_then(name + 3, ".raw", cpu) ? PAGES :
		       number_then(name + 3, ".stats", cpu) ? STATS : NOTHING;
	if (!strncmp(name, "events/", 7)) {
		slash = strchr(name + 7, '/');
		slash = slash ? strchr(slash + 1, '/') : NULL;
		return slash && !strcmp(slash, "/format") ? FORMAT : NOTHING;
	}
	return NOTHING;
}

static bool page_makes_sense(const struct ring *r, const uint8_t *page, uint64_t avail)
{
	uint32_t end = ring_page_end(r, page, avail), at = r->data_at;
	struct ring_record rec;

	if (!end || end > avail || !ring_load64(page + r->stamp_at, r->swap))
		return false;
	while (at < end) {
		if (!ring_record_at(r, page, at, end, &rec))
			return false;
		at = rec.next;
	}
	return end > r->data_at;
}

/* The usual layouts of pages: long of 8 or 4 bytes, in this and the other byte order. */
static void usual_layout(struct ring *r, unsigned int i)
{
	r->swap = i & 1;
	r->big_endian = r->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	r->long_size = i & 2 ? 4 : 8;
	r->stamp_at = 0;
	r->commit_at = 8;
	r->data_at = i & 2 ? 12 : 16;
}

static bool holds_pages(const struct sniff *s)
{
	struct ring r = { .page_size = 4096 };
	unsigned int i;

	for (i = 0; i < 4 && s->len >= 64; i++) {
		usual_layout(&r, i);
		r.page_size = 4096;
		if (page_makes_sense(&r, s->head, MIN(s->len, (size_t)4096)))
			return true;
		r.page_size = 65536;	/* arm64, ppc64 */
		if (page_makes_sense(&r, s->head, s->len))
			return true;
	}
	return false;
}

/* The folder ends before the last "per_cpu/" or "events/", or before the file's own name. */
static enum tree_role claim(const struct sniff *s, size_t *root)
{
	static const char *const inside[] = { "per_cpu/cpu", "events/" };
	const char *base = strrchr(s->name, '/'), *p, *last = NULL;
	uint32_t cpu;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inside) && !last; i++)
		for (p = s->name; (p = strstr(p, inside[i])); p++)
			if (p == s->name || p[-1] == '/')
				last = p;
	if (!last)
		last = base ? base + 1 : s->name;
	*root = (size_t)(last - s->name);
	switch (what_is(last, &cpu)) {
	case NOTHING:
		return TREE_NONE;
	case PAGES:
	case SNAPSHOT:
		return holds_pages(s) ? TREE_HEAD : TREE_NONE;
	default:
		return TREE_PART;
	}
}

static void take_format(struct ring *r, const struct tree_part *p)
{
	const char *system = p->name + strlen("events/");
	_cleanup_free_ char *name = xstrndup(system, strcspn(system, "/"));

	ring_add_format(r, name, (const char *)p->m.data, p->m.size);
}

static void take_meta(struct ring *r, const struct tree_part *p, char **clock)
{
	const char *text = (const char *)p->m.data;
	uint32_t cpu;
	char line[32];

	switch (what_is(p->name, &cpu)) {
	case FORMAT:
		take_format(r, p);
		break;
	case COMMS:
		ring_add_cmdlines(r, text, p->m.size);
		break;
	case PRINTK:
		r->printk = (struct ring_text){ .s = text, .len = p->m.size };
		break;
	case SYMBOLS:
		r->kallsyms = (struct ring_text){ .s = text, .len = p->m.size };
		break;
	case STATS:
		snprintf(line, sizeof(line), "CPU: %" PRIu32 "\n", cpu);
		ring_add_stats(r, line, strlen(line));
		ring_add_stats(r, text, p->m.size);
		break;
	case CLOCK:
		free(*clock);
		*clock = ring_chosen_clock(text, p->m.size);
		break;
	default:
		break;
	}
}

/*
 * header_page where it is; else, and for the byte order, the layout in which most pages make
 * sense.
 */
static void find_layout(struct ring *r, const struct tree *t)
{
	const struct tree_part *header = NULL;
	unsigned int i, best = 0;
	size_t score[4] = { 0 }, j, k;
	uint32_t cpu;

	for (j = 0; j < t->n; j++)
		if (what_is(t->parts[j].name, &cpu) == HEADER_PAGE && !header)
			header = &t->parts[j];
	for (i = 0; i < 4; i++) {
		usual_layout(r, i);
		if (header && !ring_header_page(r, (const char *)header->m.data, header->m.size))
			header = NULL;
		if (header && r->long_size != (i & 2 ? 4 : 8))
			continue;
		for (j = 0; j < t->n; j++) {
			const struct tree_part *p = &t->parts[j];
			enum what what = what_is(p->name, &cpu);

			if (what != PAGES && what != SNAPSHOT)
				continue;
			for (k = 0; k < SCORE_PAGES && p->m.size / r->page_size > k; k++)
				score[i] += page_makes_sense(r, p->m.data + k * r->page_size,
							     r->page_size);
		}
		if (score[i] > score[best])
			best = i;
	}
	usual_layout(r, best);
	if (header)
		ring_header_page(r, (const char *)header->m.data, header->m.size);
	else
		parse_remark(r->ctx, true, "no events/header_page beside the pages: the usual layout is taken");
}

static int by_cpu(const void *x, const void *y)
{
	const struct ring_cpu *a = x, *b = y;

	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* The pages of one kind; false when there are none. */
static bool take_pages(struct ring *r, const struct tree *t, enum what what)
{
	uint64_t pos = 0;
	uint32_t cpu;
	size_t i;

	ring_clear_pages(r);
	for (i = 0; i < t->n; i++)
		if (what_is(t->parts[i].name, &cpu) == what)
			ring_add_pages(r, cpu, t->parts[i].m.data, t->parts[i].m.size, 0);
	if (!r->n_cpus)
		return false;
	qsort(r->cpus, r->n_cpus, sizeof(*r->cpus), by_cpu);
	for (i = 0; i < r->n_cpus; i++) {
		r->chunks[r->cpus[i].first].pos = pos;
		pos += r->chunks[r->cpus[i].first].size;
	}
	ring_index_pages(r);
	return true;
}

static struct error *read_pages(struct ring *r, enum what what, const char *clock)
{
	_cleanup_free_ char *path = xasprintf("%s%s", r->ctx->m->path, what == SNAPSHOT ? "#snapshot" : "");
	struct source_desc d = { .member_id = r->ctx->m->id, .format = "raw tracefs",
				 .path = path, .time_resolution_ns = 1, .side = r->ctx->side,
				 .cpus = (int)r->n_cpus };
	struct error *err, *closed;

	d.clock = ring_clock(clock);
	if (ring_has_system(r, "kvm") && (!d.side || !strcmp(d.side, "unknown")))
		d.side = "host";
	err = r->ctx->open_stream(r->ctx, &r->s, &d, &ring_ops, r);
	if (!err) {
		ring_run(r);
		err = ring_losses(r, "", false, r->s->source_id);
	}
	if (r->s) {
		closed = stream_close(r->s);
		r->s = NULL;
		if (!err)
			err = closed;
		else
			error_free(closed);
	}
	return err;
}

static struct error *parse(struct parse_ctx *ctx)
{
	const struct tree *t = ctx->tree;
	static const enum what kinds[] = { PAGES, SNAPSHOT };
	struct ring *r = xcalloc(1, sizeof(*r));
	_cleanup_free_ char *clock = NULL;
	struct error *err = NULL;
	uint32_t cpu;
	size_t i;

	ring_init(r, ctx);
	r->room = UINT64_MAX;	/* the files are what they are */
	find_layout(r, t);
	for (i = 0; i < t->n; i++) {
		t->parts[i].used = true;
		take_meta(r, &t->parts[i], &clock);
	}
	for (i = 0; i < t->n; i++)	/* they name tasks that saved_cmdlines made */
		if (what_is(t->parts[i].name, &cpu) == TGIDS)
			ring_add_tgids(r, (const char *)t->parts[i].m.data, t->parts[i].m.size);
	if (!r->n_formats)
		parse_remark(ctx, true, "no event formats (events/SYSTEM/EVENT/format) beside the pages: send "
			     "the whole tracefs, or `cat trace`");
	for (i = 0; i < ARRAY_SIZE(kinds) && !err && !stream_interrupted(); i++)
		if (take_pages(r, t, kinds[i]))
			err = read_pages(r, kinds[i], clock);
	ring_remarks(r, false);
	ring_deinit(r);
	free(r);
	return err;
}

static const struct parser raw_tracefs = {
	.name = "raw tracefs",
	.kind = PARSER_BINARY,
	.parse = parse,
	.claim = claim,
};
REGISTER(parsers, &raw_tracefs);
