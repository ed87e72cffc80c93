// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pipeline.c - the way of the data up to the case file: inputs, members, parsers, engines; see
 * command.h.
 */
#include "axis.h"
#include "command.h"
#include "diag.h"
#include "options.h"
#include "sides.h"
#include "snapshots.h"
#include "symbols.h"
#include "textfeed.h"

#include <fcntl.h>

struct run {
	const struct options *opt;
	struct parse_ctx proto;
	struct engine_options engine;
	struct bundle	*bundle;
	struct trees	*trees;
};

/* ---- an engine that goes with its stream ---- */

static struct error *owned_begin(void *priv, struct stream *s)
{
	return engine_consumer.begin ? engine_consumer.begin(priv, s) : NULL;
}

static void owned_before(void *priv, struct stream *s, const struct batch *b)
{
	engine_consumer.before(priv, s, b);
}

static void owned_batch(void *priv, struct stream *s, const struct batch *b)
{
	engine_consumer.batch(priv, s, b);
}

static struct error *owned_end(void *priv, struct stream *s)
{
	struct error *err = engine_consumer.end(priv, s);

	engine_destroy(priv);
	return err;
}

static const struct consumer owned_engine = {
	.begin	= owned_begin,
	.before	= owned_before,
	.batch	= owned_batch,
	.end	= owned_end,
};

static const struct consumer owned_engine_inline = {
	.begin	= owned_begin,
	.before	= owned_before,
	.batch	= owned_batch,
	.end	= owned_end,
	.sync	= true,
};

static struct error *open_engine_stream(struct parse_ctx *ctx, struct stream **ret,
					const struct source_desc *desc,
					const struct stream_ops *ops, void *ops_priv)
{
	const struct run *run = ctx->open_arg;
	struct engine *e = engine_create(ctx->db, &run->engine);

	return stream_open(ret, ctx->db, desc, ops, ops_priv,
			   run->opt->jobs == 1 ? &owned_engine_inline : &owned_engine, e);
}

struct opener {
	struct run	run;
	struct error *(*open)(struct parse_ctx *ctx, struct stream **ret,
			      const struct source_desc *desc, const struct stream_ops *ops,
			      void *ops_priv);
	void		*arg;
};

/* What parsers call: the command's stream, with the times and the side that all share. */
static struct error *open_any_stream(struct parse_ctx *ctx, struct stream **ret,
				     const struct source_desc *desc, const struct stream_ops *ops,
				     void *ops_priv)
{
	struct opener *o = ctx->open_arg;
	struct parse_ctx inner = *ctx;
	struct source_desc d = *desc;
	struct stream_time window;

	TRY(time_window_apply(&window, o->run.opt->time, desc));
	if (!d.side)
		d.side = ctx->side;
	inner.open_arg = o->arg;
	TRY(o->open(&inner, ret, &d, ops, ops_priv));
	(*ret)->window = window;
	return NULL;
}

/* ---- the walk ---- */

static struct error *visit(void *arg, struct member *m)
{
	struct opener *o = arg;
	uint64_t members, failed;
	bool kept;

	bundle_counts(o->run.bundle, &members, &failed);
	progress_path(m->path, members);
	TRY(trees_offer(o->run.trees, m, &kept));
	if (kept)
		return NULL;
	return analyze_member(&o->run.proto, m);
}

/* SQLite's own magic, and our application id at offset 68 (sqlite.org/fileformat2.html). */
static bool is_case_file(const char *path)
{
	_cleanup_close_ int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
	uint8_t h[100];

	if (fd < 0 || pread(fd, h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return false;
	return !memcmp(h, "SQLite format 3", 16) &&
	       ((uint32_t)h[68] << 24 | (uint32_t)h[69] << 16 | (uint32_t)h[70] << 8 | h[71]) ==
		       CASE_APPLICATION_ID;
}

/* Members out of which something was read; archives are only a way in, mails may be both. */
static int64_t members_read(struct case_db *db)
{
	return case_int(db, 0, "SELECT COUNT(*) FROM member WHERE status IN ('read', 'partly') AND "
			"(id IN (SELECT member_id FROM source) OR "
			"id NOT IN (SELECT parent_id FROM member WHERE parent_id IS NOT NULL))", "");
}

/*
 * Why nothing came out, where no line has said it yet: the member's own message, or where to look.
 */
static void say_nothing_read(struct case_db *db, const struct options *opt)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	int64_t n = case_int(db, 0, "SELECT COUNT(*) FROM member", "");

	if (opt->quiet)
		return;
	if (n != 1) {
		diag(NULL, "none of %" PRId64 " members could be analysed; `kvmortem info` says why for each", n);
		return;
	}
	err = case_query(db, &st, "SELECT path, message FROM member", "");
	if (!err && case_step(db, st, &err))
		diag((const char *)sqlite3_column_text(st, 0), "%s", sqlite3_column_text(st, 1) ?
		     (const char *)sqlite3_column_text(st, 1) : "nothing in it could be analysed");
	if (!err)
		case_done(st);
	error_free(err);
}

/* A named input of which nothing was read; with one input say_nothing_read() tells. */
static void say_ignored(struct case_db *db, const struct options *opt, const char *input)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	if (opt->quiet || opt->n_args < 2)
		return;
	err = case_query(db, &st, "SELECT message FROM member WHERE path = ? AND status = 'ignored' AND "
			 "parent_id IS NULL AND message IS NOT NULL LIMIT 1", "s", input);
	if (!err && case_step(db, st, &err))
		diag(input, "%s", (const char *)sqlite3_column_text(st, 0));
	if (!err)
		case_done(st);
	error_free(err);
}

static struct error *walk_all(struct opener *o, const struct options *opt, uint64_t *missing)
{
	size_t i;

	for (i = 0; i < opt->n_args && !stream_interrupted(); i++) {
		struct error *err;

		progress_path(opt->args[i], i);
		err = bundle_walk(o->run.bundle, opt->args[i], visit, o);

		if (err && err->code == ERR_INTERNAL)
			return err;
		if (!err) {
			say_ignored(o->run.proto.db, opt, opt->args[i]);
			continue;
		}
		++*missing;
		diag(opt->args[i], "%s", err->what);
		error_free(err);
	}
	return stream_interrupted() ? NULL
				    : trees_finish(o->run.trees, &o->run.proto, o->run.bundle);
}

struct error *run_inputs(const struct options *opt, struct case_db **ret,
			 struct error *(*open_stream)(struct parse_ctx *, struct stream **,
						      const struct source_desc *,
						      const struct stream_ops *, void *),
			 void *open_arg, int *status)
{
	struct bundle_limits limits = { .max_temp = opt->max_temp,
					.temp_dir = opt->temp_dir,
					.quiet = opt->quiet };
	struct opener o = { .run.opt = opt,
			    .open = open_stream ? open_stream : open_engine_stream };
	uint64_t missing = 0, members = 0, failed = 0;
	struct case_db *db = NULL;
	struct error *err;

	*status = EXIT_OK;
	*ret = NULL;
	if (!opt->n_args)
		return error_new(ERR_USAGE, "no input: name a file, a directory, an archive, or - for stdin (kvmortem --help)");
	if (opt->n_args == 1 && is_case_file(opt->args[0]))
		return case_open(ret, opt->args[0]);
	TRY(case_create(&db, NULL));
	o.run.engine.stall_threshold_ns =
		(uint64_t)(opt->stall_threshold_ms * (double)NSEC_PER_MSEC);
	o.run.proto =
		(struct parse_ctx){ .db = db, .open_stream = open_any_stream, .open_arg = &o };
	o.arg = open_stream ? open_arg : &o.run;
	err = symbols_open(db, &(const struct symbol_options){
			       .temp_dir = opt->temp_dir, .max_temp = opt->max_temp,
			       .guest_kallsyms = opt->guest_kallsyms,
			       .symfs = opt->symfs, .debug_dir = opt->debug_dir });
	if (!err)
		err = bundle_open(&o.run.bundle, db, &limits);
	if (!err) {
		o.run.trees = trees_create(opt->temp_dir, opt->max_temp);
		progress_start(opt->progress);
		err = walk_all(&o, opt, &missing);
		progress_stop();
		if (!err)
			err = sides_settle(db);
		if (!err)
			err = symbols_resolve(db);
		symbols_close(db);
		if (!err)
			err = snapshots_pair(db);
		if (!err)
			err = axis_relate(db);
		bundle_counts(o.run.bundle, &members, &failed);
		trees_free(o.run.trees);
		bundle_close(o.run.bundle);
	}
	if (err) {
		case_close(db);
		return err;
	}
	if (stream_interrupted()) {
		diag(NULL, "interrupted: this is of what had been read until then");
		*status = EXIT_INTERRUPTED;
	} else if (opt->strict && (missing || failed)) {
		*status = EXIT_FAILED;
	} else if (!members_read(db)) {
		*status = EXIT_NOTHING;
	}
	if (*status == EXIT_NOTHING && !missing && !failed)
		say_nothing_read(db, opt);
	*ret = db;
	return NULL;
}
