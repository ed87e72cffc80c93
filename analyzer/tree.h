/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - recordings that lie in several members: a perf.data directory, a raw tracefs tree.
 *
 * The bundle gives its members one by one, in any order and from any kind of container. Those
 * that a parser claims are copied into temporary space of their own while the walk goes on; after
 * it, each tree goes to its parser as a whole: parse() gets the head as ctx->m and the tree as
 * ctx->tree. A tree without a head is no recording: its members are looked at as any other.
 */
#ifndef KM_TREE_H
#define KM_TREE_H

#include "bundle.h"

struct parse_ctx;
struct parser;

enum tree_role {
	TREE_NONE,		/* not part of a tree of this parser */
	TREE_PART,		/* part of one, when it has a head */
	TREE_HEAD		/* what a tree must have; the first one by name is ctx->m */
};

/* A member of a tree, ordered by name within it. */
struct tree_part {
	const char	*name;		/* below the tree's root: "data.0", "per_cpu/cpu0/trace_pipe_raw" */
	struct member	m;
	enum tree_role	role;
	bool		used;		/* set by the parser: the recording is made of it too */
};

struct tree {
	struct tree_part *parts;
	size_t		n;
};

/* tree_find() - the part called @name below the root; NULL when there is none. */
struct tree_part *tree_find(const struct tree *t, const char *name);

struct trees;

/* trees_create() - @temp_dir and @max_temp as in struct bundle_limits. */
struct trees *trees_create(const char *temp_dir, uint64_t max_temp);
void trees_free(struct trees *t);
/*
 * trees_offer() - keep @m when a parser claims it as part of a tree (*@kept); its bytes may go
 * then. ERR_INPUT when the temporary space does not suffice.
 */
struct error *trees_offer(struct trees *t, const struct member *m, bool *kept);
/*
 * trees_finish() - after the last member: analyse what was kept. Members' rows get their status;
 * @b says what is wrong with them. Called once.
 */
struct error *trees_finish(struct trees *t, struct parse_ctx *proto, struct bundle *b);

#endif
