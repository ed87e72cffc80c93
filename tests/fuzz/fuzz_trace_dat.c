// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_trace_dat.c - the trace.dat parser over arbitrary bytes, with its views of the first events
 * of each batch and every 16th, now and then with the renderer (render.h); where the bytes are no
 * trace.dat, as a CPU's raw pages beside a format (which begins at the last "name:" in them), or as
 * the files of a tree, each behind a line "== NAME".
 */
#include "render.h"

#include "parser.h"
#include "tree.h"

#define RUNS_PER_CASE	200
#define FIRST		32	/* events of a batch that are looked at one by one */

static void ignore(void *arg, const char *name, const struct field_value *v)
{
	size_t *sum = arg;

	*sum += strlen(name);
	*sum += v->type == FIELD_STR || v->type == FIELD_ARRAY ? v->len : (size_t)v->u;
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
	for (i = 0; i < b->n; i++) {
		if (b->ev[i].kind >= EV_NKINDS ||
		    (b->ev[i].ev != EVENT_TYPE_NONE && b->ev[i].ev >= s->n_types))
			abort();
		if ((i >= FIRST && i % 16) || !s->ops->stack)	/* text has none */
			continue;
		s->ops->fields(s->ops_priv, &b->ev[i], ignore, &sum);
		s->ops->stack(s->ops_priv, &b->ev[i], ips, STACK_MAX_FRAMES);
		free(s->ops->cite_text(s->ops_priv, &b->ev[i]));
	}
}

static const struct consumer looking = { .sync = true, .batch = batch };

static struct error *open_looking(struct parse_ctx *ctx, struct stream **ret,
				  const struct source_desc *desc, const struct stream_ops *ops,
				  void *ops_priv)
{
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &looking, ctx->open_arg);
}

static const struct parser *find_parser(const char *name)
{
	const struct parser *const *it;

	SET_FOREACH(parsers, it)
		if (!strcmp((*it)->name, name))
			return *it;
	abort();
}

static struct error *raw_pages(struct parse_ctx *ctx, const uint8_t *data, size_t size)
{
	struct tree_part parts[2] = {
		{ .name = "per_cpu/cpu0/trace_pipe_raw", .m = { .id = 1, .path = "f", .name = "f", .data = data,
								.size = size } },
		{ .name = "events/sched/sched_switch/format", .m = { .id = 2, .path = "g", .name = "g" } },
	};
	struct tree t = { parts, 1 };
	size_t i;

	for (i = size; i-- > 0 && t.n == 1; ) {
		if (size - i >= 5 && !memcmp(data + i, "name:", 5)) {
			parts[1].m.data = data + i;
			parts[1].m.size = size - i;
			parts[0].m.size = i;
			t.n = 2;
		}
	}
	ctx->tree = &t;
	ctx->m = &parts[0].m;
	return find_parser("raw tracefs")->parse(ctx);
}

#define MAX_PARTS	16

/* Each file goes through claim() as the bundle's walk would do it. */
static struct error *tree_parts(struct parse_ctx *ctx, const uint8_t *data, size_t size)
{
	const struct parser *p = find_parser("raw tracefs");
	struct tree_part parts[MAX_PARTS];
	char names[MAX_PARTS][100];
	struct tree t = { parts, 0 };
	const uint8_t *end = data + size;
	bool head = false;

	while (end - data > 3 && t.n < MAX_PARTS) {
		const uint8_t *nl = memchr(data, '\n', (size_t)(end - data)), *next;
		char *name = names[t.n];
		struct tree_part *q = &parts[t.n];
		struct sniff sn;
		enum tree_role role;
		size_t root = 0, len;

		if (!nl)
			break;
		len = MIN((size_t)(nl - data - 3), sizeof(names[0]) - 1);
		memcpy(name, data + 3, len);
		name[len] = '\0';
		next = memmem(nl, (size_t)(end - nl), "\n== ", 4);
		*q = (struct tree_part){
			.m = { .id = (int64_t)t.n + 1, .path = name, .name = name }
		};
		q->m.data = next == nl ? nl : nl + 1;
		q->m.size = (size_t)((next ? next : end) - q->m.data);
		sn = (struct sniff){ name, q->m.data, MIN((size_t)q->m.size, (size_t)65536),
				     q->m.size };
		role = p->claim(&sn, &root);
		q->name = name + MIN(root, len);
		q->role = role;
		if (role == TREE_HEAD && !head)
			ctx->m = &q->m;
		head |= role == TREE_HEAD;
		t.n += role != TREE_NONE;
		data = next ? next + 1 : end;
	}
	if (!head)
		return NULL;
	ctx->tree = &t;
	return p->parse(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct case_db *db;
	static unsigned int runs;
	struct member m = { .id = 1, .path = "fuzz", .name = "fuzz", .data = data, .size = size };
	struct strtab messages;
	struct parse_ctx ctx = { .m = &m, .side = "unknown", .open_stream = open_looking, .messages = &messages };

	bool render = fuzz_wants_render(data, size);

	ctx.open_arg = &render;
	if (runs++ % RUNS_PER_CASE == 0) {
		case_close(db);
		error_free(case_create(&db, NULL));
	}
	ctx.db = db;
	strtab_init(&messages, 256);
	if (size > 3 && !memcmp(data, "\x17\x08\x44", 3))
		error_free(find_parser("trace.dat")->parse(&ctx));
	else if (size > 3 && !memcmp(data, "== ", 3))
		error_free(tree_parts(&ctx, data, size));
	else
		error_free(raw_pages(&ctx, data, size));
	strtab_deinit(&messages);
	return 0;
}
