// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_perf_data.c - the perf.data parser over arbitrary bytes, with its views of the first events
 * of each batch and every 64th; where the bytes end in an 'R', now and then with the renderer,
 * which takes a process of its own.
 */
#include "render.h"

#include "parser.h"
#include "spool.h"

#define RUNS_PER_CASE	200
#define MAX_TEMP	(8u << 20)
#define FIRST		32	/* events of a batch that are looked at one by one */

static struct error *open_counting(struct parse_ctx *ctx, struct stream **ret,
				   const struct source_desc *desc, const struct stream_ops *ops,
				   void *ops_priv);

static void ignore(void *arg, const char *name, const struct field_value *v)
{
	size_t *sum = arg;

	*sum += strlen(name) + (v->type == FIELD_STR ? v->len : (size_t)v->u);
	if (v->type == FIELD_STR && v->len)
		*sum += (unsigned char)v->s[v->len - 1];
}

static void batch(void *priv, struct stream *s, const struct batch *b)
{
	uint64_t ips[STACK_MAX_FRAMES];
	size_t sum = 0;
	bool *render = priv;
	uint32_t i;

	if (*render)
		fuzz_render(s, b);
	*render = false;
	for (i = 0; i < b->n; i += i < FIRST ? 1 : 64) {
		if (b->ev[i].kind >= EV_NKINDS ||
		    (b->ev[i].ev != EVENT_TYPE_NONE && b->ev[i].ev >= s->n_types))
			abort();
		s->ops->fields(s->ops_priv, &b->ev[i], ignore, &sum);
		s->ops->stack(s->ops_priv, &b->ev[i], ips, STACK_MAX_FRAMES);
		free(s->ops->cite_text(s->ops_priv, &b->ev[i]));
	}
}

static const struct consumer looking = { .sync = true, .batch = batch };

static struct error *open_counting(struct parse_ctx *ctx, struct stream **ret,
				   const struct source_desc *desc, const struct stream_ops *ops,
				   void *ops_priv)
{
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &looking, ctx->open_arg);
}

static const struct parser *perf_parser(void)
{
	const struct parser *const *it;

	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, "perf.data"))
			return *it;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct case_db *db;
	static unsigned int runs;
	struct member m = { .id = 1, .path = "fuzz", .name = "fuzz", .data = data, .size = size };
	struct tree_part parts[2] = { { .name = "data", .role = TREE_HEAD }, { .name = "data.0", .role = TREE_PART } };
	const struct tree tree = { parts, 2 };
	struct spool spool;
	struct strtab messages;
	struct parse_ctx ctx = { .db = NULL, .m = &m, .side = "unknown", .open_stream = open_counting, .messages = &messages };

	bool render = fuzz_wants_render(data, size);

	ctx.open_arg = &render;
	if (runs++ % RUNS_PER_CASE == 0) {
		case_close(db);
		error_free(case_create(&db, NULL));
	}
	/* A directory's file of records: the second half, which only a head that says so makes use
	 * of. */
	parts[0].m = parts[1].m = m;
	parts[1].m.data += size / 2;
	parts[1].m.size -= size / 2;
	for (size_t i = 0; i < 2; i++) {
		struct sniff sn = { parts[i].name, parts[i].m.data,
				    MIN((size_t)parts[i].m.size, (size_t)65536), parts[i].m.size };
		size_t root;

		perf_parser()->claim(&sn, &root);
	}
	ctx.tree = &tree;
	spool_init(&spool, NULL, MAX_TEMP);
	m.spool = &spool;
	ctx.db = db;
	strtab_init(&messages, 256);
	error_free(perf_parser()->parse(&ctx));
	strtab_deinit(&messages);
	spool_deinit(&spool);
	return 0;
}
