// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pick.c - which stalls `chain --stall N` and `chain --at TIME` mean.
 *
 * TIME is seconds on a source's own clock (12345.678), since its first event (+1.5), or a date
 * (2024-01-04T10:33:10+01:00) for sources with a wall clock or a known offset to it. It is looked
 * up in every recording.
 */
#include "model.h"
#include "options.h"

static struct error *add_row(void *arg, struct json_object *row)
{
	json_object_array_add(arg, json_object_get(row));
	return NULL;
}

/* Stalls that cover @t of @source; where there is none, what the vCPUs did then. */
static struct error *at_source(struct report_ctx *ctx, int64_t source, int64_t t,
			       struct json_object *stalls, struct json_object *slices)
{
	size_t before = json_object_array_length(stalls);
	char time_arg[24], id_arg[24];
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(
		ctx->db, &st,
		"SELECT id FROM stall s WHERE source_id = ? AND start_ns <= ?2 AND start_ns + duration_ns > ?2 AND "
		"picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id",
		"ii", source, t));
	while (!err && case_step(ctx->db, st, &err)) {
		snprintf(id_arg, sizeof(id_arg), "%lld", (long long)sqlite3_column_int64(st, 0));
		err = model_each(ctx, MODEL_STALL, id_arg, NULL, add_row, stalls);
	}
	case_done(st);
	if (err || json_object_array_length(stalls) > before)
		return err;
	snprintf(time_arg, sizeof(time_arg), "%" PRId64, t);
	snprintf(id_arg, sizeof(id_arg), "%" PRId64, source);
	return model_each(ctx, MODEL_SLICES_AT, time_arg, id_arg, add_row, slices);
}

static struct error *pick_at(struct report_ctx *ctx, const struct time_spec *at,
			     struct json_object *stalls, struct json_object *slices)
{
	struct error *err = NULL;
	bool inside = false;
	sqlite3_stmt *st;

	/* wall: the clock's offset is what to add to the source's time to get wall time */
	TRY(case_query(
		ctx->db, &st,
		"SELECT s.id, s.first_ns, s.last_ns, s.clock = 'wall', coalesce(s.clock_offset_ns, (SELECT c.offset_ns FROM clock c "
		"WHERE c.source_id = s.id AND c.relation LIKE '%wall%' AND c.offset_ns IS NOT NULL LIMIT 1)) FROM source s "
		"WHERE s.first_ns IS NOT NULL AND s.last_ns > s.first_ns ORDER BY s.id",
		""));
	while (!err && case_step(ctx->db, st, &err)) {
		int64_t first = sqlite3_column_int64(st, 1), last = sqlite3_column_int64(st, 2),
			t = at->ns;

		if (at->kind == TIME_SPEC_RELATIVE && __builtin_add_overflow(first, at->ns, &t))
			continue;
		if (at->kind == TIME_SPEC_WALL && !sqlite3_column_int(st, 3)) {
			if (sqlite3_column_type(st, 4) == SQLITE_NULL ||
			    __builtin_sub_overflow(at->ns, sqlite3_column_int64(st, 4), &t))
				continue;
		}
		if (t < first || t > last)
			continue;
		inside = true;
		err = at_source(ctx, sqlite3_column_int64(st, 0), t, stalls, slices);
	}
	case_done(st);
	if (!err && !inside)
		return error_new(
			ERR_USAGE,
			"--at %s: no recording of the input covers that time; `info` shows their spans",
			ctx->opt->chain_at);
	return err;
}

struct error *model_pick_stalls(struct report_ctx *ctx, struct json_object **stalls,
				struct json_object **slices)
{
	_cleanup_json_ struct json_object *found = json_object_new_array();
	_cleanup_json_ struct json_object *states = json_object_new_array();
	char id[24];
	struct time_spec at;

	*slices = NULL;
	if (ctx->opt->chain_at) {
		TRY(time_spec_parse(&at, ctx->opt->chain_at, strlen(ctx->opt->chain_at)));
		TRY(pick_at(ctx, &at, found, states));
		if (!json_object_array_length(found))
			*slices = json_object_get(states);
	} else if (ctx->opt->chain_stall > 0) {
		snprintf(id, sizeof(id), "%ld", ctx->opt->chain_stall);
		TRY(model_each(ctx, MODEL_STALL, id, NULL, add_row, found));
		if (!json_object_array_length(found))
			return error_new(
				ERR_USAGE,
				"--stall %s: no such stall; `stalls` lists them with their numbers",
				id);
	} else {
		TRY(model_each(ctx, MODEL_STALLS, "1", NULL, add_row, found));
	}
	*stalls = json_object_get(found);
	return NULL;
}
