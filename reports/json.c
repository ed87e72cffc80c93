// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json.c - the JSON report (design §9, doc/json.md).
 *
 * Objects are made by the model one at a time and printed at once, one a line, so that memory does
 * not grow with the case. What is printed is valid UTF-8 and pure of characters a terminal would
 * act on: invalid bytes become U+FFFD, and hidden characters (also those that JSON allows raw) are
 * written as \uNNNN.
 */
#include "escape.h"
#include "model.h"
#include "query.h"
#include "questions.h"
#include "utf8.h"

struct list {
	struct report_ctx *ctx;
	bool		any;
};

static void put_hidden(FILE *out, uint32_t cp)
{
	if (cp >= 0x10000) {
		cp -= 0x10000;
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
	} else {
		fprintf(out, "\\u%04x", cp);
	}
}

/*
 * json-c has escaped what JSON asks for; in its output all other special characters stand inside
 * strings.
 */
static void put_clean(FILE *out, const char *s, size_t len)
{
	const char *from = s;
	uint32_t cp;
	size_t n;

	while (len) {
		n = utf8_next(s, len, &cp);
		if (n && !char_hidden(cp)) {
			s += n;
			len -= n;
			continue;
		}
		fwrite(from, 1, (size_t)(s - from), out);
		if (n)
			put_hidden(out, cp);
		else
			fputs("\xef\xbf\xbd", out);
		n = n ? n : 1;
		s += n;
		len -= n;
		from = s;
	}
	fwrite(from, 1, (size_t)(s - from), out);
}

static void put_object(FILE *out, struct json_object *o)
{
	size_t len;
	const char *s = json_object_to_json_string_length(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	put_clean(out, s, len);
}

static struct error *put_row(void *arg, struct json_object *row)
{
	struct list *l = arg;

	fputs(l->any ? ",\n  " : "\n  ", l->ctx->out);
	l->any = true;
	put_object(l->ctx->out, row);
	return NULL;
}

static struct error *put_section(struct report_ctx *ctx, enum model_section section,
				 const char *arg1, const char *arg2)
{
	struct list l = { .ctx = ctx };

	fprintf(ctx->out, ",\n\"%s\": [", model_key(section));
	TRY(model_each(ctx, section, arg1, arg2, put_row, &l));
	fputs(l.any ? "\n ]" : "]", ctx->out);
	return NULL;
}

static struct error *put_single(void *arg, struct json_object *row)
{
	struct report_ctx *ctx = arg;

	put_object(ctx->out, row);
	return NULL;
}

static struct error *put_totals(struct report_ctx *ctx)
{
	fprintf(ctx->out, ",\n\"%s\": ", model_key(MODEL_TOTALS));
	return model_each(ctx, MODEL_TOTALS, NULL, NULL, put_single, ctx);
}

static struct error *json_analyze(struct report_ctx *ctx)
{
	static const enum model_section parts[] = {
		MODEL_MEMBERS,	   MODEL_SOURCES,    MODEL_COVERAGE,  MODEL_VERDICTS,
		MODEL_VMS,	   MODEL_STALLS,     MODEL_PATTERNS,  MODEL_LOSSES,
		MODEL_EPISODES,	   MODEL_RUNQ_WAITS, MODEL_THROTTLES, MODEL_ROOTS,
		MODEL_RETRY_LOOPS, MODEL_PING_GAPS,  MODEL_LOG_LINES, MODEL_TIES,
		MODEL_FACTS,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(put_section(ctx, parts[i], NULL, NULL));
	return put_totals(ctx);
}

static struct error *put_array(struct report_ctx *ctx, const char *key, struct json_object *array)
{
	struct list l = { .ctx = ctx };
	size_t i;

	fprintf(ctx->out, ",\n\"%s\": [", key);
	for (i = 0; i < json_object_array_length(array); i++)
		TRY(put_row(&l, json_object_array_get_idx(array, i)));
	fputs(l.any ? "\n ]" : "]", ctx->out);
	return NULL;
}

static struct error *json_info(struct report_ctx *ctx)
{
	_cleanup_json_ struct json_object *questions = NULL;

	TRY(put_section(ctx, MODEL_MEMBERS, NULL, NULL));
	TRY(put_section(ctx, MODEL_SOURCES_COUNTED, NULL, NULL));
	TRY(put_section(ctx, MODEL_COVERAGE, NULL, NULL));
	TRY(put_section(ctx, MODEL_LOSSES, NULL, NULL));
	TRY(put_section(ctx, MODEL_FACTS, NULL, NULL));
	TRY(questions_array(ctx, &questions));
	return put_array(ctx, "questions", questions);
}

static struct error *json_exits(struct report_ctx *ctx)
{
	const char *by = ctx->opt->exits_by ? ctx->opt->exits_by : "all";

	return put_section(ctx, MODEL_EXITS,
			   ctx->opt->exits_event ? ctx->opt->exits_event : "vmexit", by);
}

static struct error *json_latency(struct report_ctx *ctx)
{
	return put_section(ctx, MODEL_LATENCY, NULL, NULL);
}

static struct error *json_stalls(struct report_ctx *ctx)
{
	TRY(put_section(ctx, MODEL_STALLS, NULL, NULL));
	TRY(put_section(ctx, MODEL_PATTERNS, NULL, NULL));
	return put_totals(ctx);
}

static struct error *json_chain(struct report_ctx *ctx)
{
	_cleanup_json_ struct json_object *stalls = NULL, *slices = NULL;

	TRY(model_pick_stalls(ctx, &stalls, &slices));
	TRY(put_array(ctx, "stalls", stalls));
	TRY(put_section(ctx, MODEL_PATTERNS, NULL, NULL));
	return slices ? put_array(ctx, "slices", slices) : NULL;
}

/* All rows of @st as objects, "rows": [...]. */
static struct error *put_query_rows(struct report_ctx *ctx, sqlite3_stmt *st)
{
	struct list l = { .ctx = ctx };
	_cleanup_json_ struct json_object *names = query_columns(st);
	struct error *err = NULL;
	int i;

	fputs(",\n\"rows\": [", ctx->out);
	while (query_step(ctx->db, st, &err)) {
		struct json_object *row = json_object_new_object();

		for (i = 0; i < sqlite3_column_count(st); i++)
			json_object_object_add(
				row,
				json_object_get_string(json_object_array_get_idx(names, (size_t)i)),
				query_value(st, i));
		put_row(&l, row);
		json_object_put(row);
	}
	fputs(l.any ? "\n ]" : "]", ctx->out);
	return err;
}

static struct error *json_query(struct report_ctx *ctx)
{
	sqlite3_stmt *st = ctx->view_arg;
	_cleanup_json_ struct json_object *names = query_columns(st);

	fputs(",\n\"columns\": ", ctx->out);
	put_object(ctx->out, names);
	return put_query_rows(ctx, st);
}

static struct error *json_diff(struct report_ctx *ctx)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(ctx->db, &st, "SELECT section, name, coalesce(good, good_num) AS good, coalesce(bad, bad_num) AS bad, unit, effect "
		       "FROM difference ORDER BY section, effect DESC, name", ""));
	err = put_query_rows(ctx, st);
	case_done(st);
	return err;
}

static const struct {
	const char	*view;
	struct error	*(*render)(struct report_ctx *ctx);
} views[] = {
	{ "analyze", json_analyze }, { "info", json_info },	{ "exits", json_exits },
	{ "latency", json_latency }, { "stalls", json_stalls }, { "chain", json_chain },
	{ "query", json_query },     { "diff", json_diff },
};

static struct error *json_render(struct report_ctx *ctx)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++) {
		if (strcmp(views[i].view, ctx->view))
			continue;
		fputs("{\"schema\": 1", ctx->out);
		TRY(views[i].render(ctx));
		fputs("\n}\n", ctx->out);
		return NULL;
	}
	return error_new(ERR_USAGE, "format json has no view for '%s'", ctx->view);
}

static const struct report json_report = {
	.format = "json",
	.ending = ".json",
	.render = json_render,
};
REGISTER(reports, &json_report);
