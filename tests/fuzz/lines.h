/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - a fuzz target for one text parser: the bytes go through its sniff, then line by line
 * through the parser as a whole member and once more as lines out of prose; at the end snapshots
 * are paired. An error other than "bad input" is a finding.
 */
#ifndef KM_FUZZ_LINES_H
#define KM_FUZZ_LINES_H

#include "snapshots.h"
#include "textfeed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_must(struct error *err)
{
	if (err && err->code == ERR_INTERNAL) {
		fprintf(stderr, "%s\n", err->what);
		abort();
	}
	error_free(err);
}

static inline void fuzz_sniff(const struct parser *p, const char *name, const uint8_t *data,
			      size_t size)
{
	struct sniff s = {
		.name = name, .head = data, .len = MIN(size, (size_t)65536), .size = size};

	if (p->sniff)
		p->sniff(&s);
}

/* The lines of @m to @p, with a state of its own. */
static inline void fuzz_feed(struct parse_ctx *ctx, const struct parser *p)
{
	const char *next = (const char *)ctx->m->data, *end = next + ctx->m->size, *nl;
	struct line ln = { .no = 0 };
	void *state = NULL;

	fuzz_must(p->begin(ctx, &state));
	while (next < end) {
		_cleanup_free_ char *copy = NULL;

		nl = memchr(next, '\n', (size_t)(end - next));
		ln.len = (size_t)((nl ? nl : end) - next);
		copy = malloc(ln.len ? ln.len : 1);	/* reads beyond the line are seen */
		memcpy(copy, next, ln.len);
		ln.s = copy;
		ln.off = (uint64_t)(next - (const char *)ctx->m->data);
		ln.no++;
		ln.rejoined = ln.no % 7 == 0;
		p->line(ctx, state, &ln);
		if (p->wants_more)
			p->wants_more(ln.s, ln.len);
		next = nl ? nl + 1 : end;
	}
	fuzz_must(p->end(ctx, state));
}

/* The tables that have had a row inserted, changed or deleted since they were emptied. */
struct fuzz_touched {
	const char	*name[128];
	size_t		n;
};

static inline void fuzz_touch(void *arg, int op, const char *schema, const char *table,
			      sqlite3_int64 row)
{
	struct fuzz_touched *t = arg;
	size_t i;

	(void)op;
	(void)schema;
	(void)row;
	for (i = 0; i < t->n; i++)
		if (!strcmp(t->name[i], table))
			return;
	if (t->n == ARRAY_SIZE(t->name))
		abort();
	t->name[t->n++] = xstrdup(table);
}

/*
 * One case file serves all runs, emptied where a run put something into it: both take longer than
 * most runs.
 */
static inline struct case_db *fuzz_db(void)
{
	static struct case_db *db;
	static struct fuzz_touched touched;
	size_t i;

	if (!db) {
		fuzz_must(case_create(&db, NULL));
		sqlite3_update_hook(db->db, fuzz_touch, &touched);
	}
	for (i = 0; i < touched.n; i++) {
		_cleanup_free_ char *clear = xasprintf("DELETE FROM \"%s\"", touched.name[i]);

		if (sqlite3_exec(db->db, clear, NULL, NULL, NULL) != SQLITE_OK)
			abort();
	}
	while (touched.n)
		free((char *)touched.name[--touched.n]);
	return db;
}

/* The stream of a parser of recordings: its ops are asked about the first events. */
struct fuzz_kept {
	struct consumer	consumer;
	struct event	ev[64];
	size_t		n;
};

static inline void fuzz_keep(void *priv, struct stream *s, const struct batch *b)
{
	struct fuzz_kept *k = priv;
	uint32_t i;

	(void)s;
	for (i = 0; i < b->n && k->n < ARRAY_SIZE(k->ev); i++)
		k->ev[k->n++] = b->ev[i];
}

static inline void fuzz_field(void *arg, const char *name, const struct field_value *v)
{
	*(size_t *)arg += strlen(name) + (v->type == FIELD_STR ? v->len : 0);
}

static inline struct error *fuzz_ask(void *priv, struct stream *s)
{
	struct fuzz_kept *k = priv;
	size_t i, sum = 0;

	for (i = 0; i < k->n; i++) {
		uint64_t pos = k->ev[i].pos, no;

		free(s->ops->cite_text(s->ops_priv, &k->ev[i]));
		s->ops->fields(s->ops_priv, &k->ev[i], fuzz_field, &sum);
		if (s->ops->lines_of)	/* recordings that are no text have none */
			s->ops->lines_of(s->ops_priv, &pos, &no, 1);
	}
	k->n = 0;
	return NULL;
}

static inline struct error *fuzz_open(struct parse_ctx *ctx, struct stream **ret,
				      const struct source_desc *desc, const struct stream_ops *ops,
				      void *priv)
{
	struct fuzz_kept *k = ctx->open_arg;

	k->consumer = (struct consumer){ .sync = true, .batch = fuzz_keep, .end = fuzz_ask };
	return stream_open(ret, ctx->db, desc, ops, priv, &k->consumer, k);
}

static inline int fuzz_parser(const char *format, const char *name, const uint8_t *data,
			      size_t size)
{
	struct strtab messages;
	_cleanup_free_ char *after = xasprintf("after/%s", name);
	_cleanup_free_ char *before = xasprintf("before/%s", name);
	struct member m = { .id = 1, .path = after, .name = name, .data = data, .size = size };
	struct fuzz_kept kept = { .n = 0 };
	struct parse_ctx ctx = { .m = &m, .side = "unknown", .snapshot = "after", .messages = &messages,
				 .open_stream = fuzz_open, .open_arg = &kept };
	const struct parser *const *it;

	int changes;

	ctx.db = fuzz_db();
	changes = sqlite3_total_changes(ctx.db->db);
	strtab_init(&messages, 256);
	SET_FOREACH(parsers, it) {
		if (strcmp((*it)->name, format))
			continue;
		ctx.parser = *it;
		fuzz_sniff(*it, name, data, size);
		if ((*it)->kind != PARSER_LINES) {
			struct sniff s = { name, data, MIN(size, (size_t)65536), size };

			if ((*it)->sniff(&s))
				fuzz_must((*it)->parse(&ctx));
			break;
		}
		fuzz_feed(&ctx, *it);
		ctx.embedded = true;
		ctx.snapshot = "before";
		m.path = before;
		fuzz_feed(&ctx, *it);
	}
	if (sqlite3_total_changes(ctx.db->db) != changes)
		fuzz_must(snapshots_pair(ctx.db));
	strtab_deinit(&messages);
	return 0;
}

/* Defines the target of the parser called @format. */
#define FUZZ_PARSER(format)								\
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)				\
{											\
	return fuzz_parser(format, "fuzz.txt", data, size);				\
}

/* The same for parsers that go by name: the first line is the member's name. */
#define FUZZ_NAMED(format)								\
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)				\
{											\
	const uint8_t *nl = memchr(data, '\n', MIN(size, (size_t)256));			\
	_cleanup_free_ char *name = NULL, *copy = NULL;					\
	size_t skip;									\
											\
	if (!nl)									\
		return 0;								\
	skip = (size_t)(nl + 1 - data);							\
	name = xstrndup((const char *)data, skip - 1);					\
	copy = malloc(size - skip ? size - skip : 1);					\
	memcpy(copy, data + skip, size - skip);						\
	return fuzz_parser(format, name, (const uint8_t *)copy, size - skip);		\
}

#endif
