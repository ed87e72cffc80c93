// SPDX-License-Identifier: GPL-2.0-or-later
/* tree.c - members of one recording kept until all are there; see tree.h. */
#include "tree.h"

#include "parser.h"
#include "spool.h"
#include "textfeed.h"

#define HEAD_MAX	(64u << 10)
#define MAX_PARTS	200000
#define ALIGN		16

struct kept {
	const struct parser *parser;
	struct member	m;		/* with strings of its own */
	size_t		root;		/* length of the tree's part of m.name */
	uint64_t	off;		/* in the blob */
	enum tree_role	role;
};

struct trees {
	struct spool	spool;
	struct blob	blob;		/* all bytes, one behind the other */
	struct kept	*kept;
	size_t		n, cap;
	bool		failed;		/* a write was cut short: offsets don't hold any more */
};

struct trees *trees_create(const char *temp_dir, uint64_t max_temp)
{
	struct trees *t = xcalloc(1, sizeof(*t));

	spool_init(&t->spool, temp_dir, max_temp);
	blob_begin(&t->blob, &t->spool);
	return t;
}

void trees_free(struct trees *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++) {
		free((char *)t->kept[i].m.path);
		free((char *)t->kept[i].m.name);
	}
	free(t->kept);
	blob_end(&t->blob);
	spool_deinit(&t->spool);
	free(t);
}

static const struct parser *claimed_by(const struct member *m, size_t *root, enum tree_role *role)
{
	struct sniff s = { .name = m->name, .head = m->data, .size = m->size };
	const struct parser *const *it;

	s.len = MIN(m->size, (uint64_t)HEAD_MAX);
	SET_FOREACH(parsers, it) {
		*role = (*it)->claim ? (*it)->claim(&s, root) : TREE_NONE;
		if (*role != TREE_NONE && *root < strlen(m->name))
			return *it;
	}
	return NULL;
}

struct error *trees_offer(struct trees *t, const struct member *m, bool *kept)
{
	static const uint8_t zeros[ALIGN];
	struct kept k = { .m = *m };
	struct error *err;

	*kept = false;
	k.parser = claimed_by(m, &k.root, &k.role);
	if (!k.parser || t->n >= MAX_PARTS)
		return NULL;
	k.off = t->blob.size;
	if (t->failed)
		return error_new(ERR_IO, "no temporary space for the recording that it is part of");
	err = blob_add(&t->blob, m->data, m->size);
	if (!err)
		err = blob_add(&t->blob, zeros, ALIGN - m->size % ALIGN);
	if (err) {
		t->failed = err->code == ERR_IO;
		return err;
	}
	k.m.path = xstrdup(m->path);
	k.m.name = xstrdup(m->name);
	k.m.data = NULL;
	GROW(t->kept, t->cap, t->n + 1);
	t->kept[t->n++] = k;
	*kept = true;
	return NULL;
}

/* Trees one after the other, names within them in order. */
static int by_tree(const void *x, const void *y)
{
	const struct kept *a = x, *b = y;
	int c = strcmp(a->parser->name, b->parser->name);

	if (!c && a->m.parent_id != b->m.parent_id)
		c = a->m.parent_id < b->m.parent_id ? -1 : 1;
	if (!c)
		c = strncmp(a->m.name, b->m.name, MIN(a->root, b->root));
	if (!c && a->root != b->root)
		c = a->root < b->root ? -1 : 1;
	if (!c)
		c = strcmp(a->m.name + a->root, b->m.name + b->root);
	return c ? c : a->m.id < b->m.id ? -1 : a->m.id > b->m.id;
}

static bool same_tree(const struct kept *a, const struct kept *b)
{
	return a->parser == b->parser && a->m.parent_id == b->m.parent_id && a->root == b->root &&
	       !strncmp(a->m.name, b->m.name, a->root);
}

struct tree_part *tree_find(const struct tree *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->parts[i].name, name))
			return &t->parts[i];
	return NULL;
}

/* The rows of the members around the head. */
static struct error *set_parts(const struct tree *t, struct parse_ctx *proto,
			       const struct tree_part *head)
{
	const struct parser *p = proto->parser;
	_cleanup_free_ char *of = xasprintf("part of the recording in %s", head->m.path);
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct tree_part *part = &t->parts[i];

		if (part != head)
			TRY(member_status(proto->db, &part->m, part->used ? p->name : NULL,
					  !part->used ? "ignored" : part->m.truncated ? "partly" : "read",
					  part->used ? of : "beside a recording, and not needed for it"));
	}
	return NULL;
}

static struct error *analyze_parts(const struct tree *t, const struct parser *p,
				   struct parse_ctx *proto, struct bundle *b)
{
	struct tree_part *head = NULL;
	size_t i;

	for (i = 0; i < t->n && !head; i++)
		if (t->parts[i].role == TREE_HEAD)
			head = &t->parts[i];
	if (head) {
		struct parse_ctx ctx = *proto;

		ctx.parser = p;
		head->used = true;
		TRY(analyze_tree(&ctx, t, &head->m));
		TRY(set_parts(t, &ctx, head));
	}
	for (i = 0; i < t->n; i++) {
		if (!head && p->orphan)
			TRY(member_status(proto->db, &t->parts[i].m, p->name, "failed", p->orphan));
		else if (!head)
			TRY(analyze_member(proto, &t->parts[i].m));
		TRY(bundle_report(b, &t->parts[i].m));
	}
	return NULL;
}

struct error *trees_finish(struct trees *t, struct parse_ctx *proto, struct bundle *b)
{
	struct error *err = NULL;
	const uint8_t *data;
	uint64_t size;
	size_t i, j, n;

	if (!t->n)
		return NULL;
	TRY(blob_map(&t->blob, &data, &size));
	qsort(t->kept, t->n, sizeof(*t->kept), by_tree);
	for (i = 0; i < t->n && !err; i += n) {
		struct tree tree = { 0 };

		for (n = 1; i + n < t->n && same_tree(&t->kept[i], &t->kept[i + n]); n++)
			;
		tree.parts = xcalloc(n, sizeof(*tree.parts));
		tree.n = n;
		for (j = 0; j < n; j++) {
			struct kept *k = &t->kept[i + j];

			k->m.data = data + k->off;
			k->m.spool = bundle_spool(b);
			tree.parts[j] = (struct tree_part){ .name = k->m.name + k->root,
							    .m = k->m,
							    .role = k->role };
		}
		err = analyze_parts(&tree, t->kept[i].parser, proto, b);
		free(tree.parts);
	}
	return err;
}
