// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pick.c - which stalls `chain --stall N` and `chain --at TIME` mean.
 *
 * TIME is seconds on a source's own clock (12345.678), since its first event (+1.5), or a date (2024-01-04T10:33:10+01:00) for
 * sources with a wall clock or a known offset to it. It is looked up in every recording.
 */
#include <ctype.h>
#include <time.h>

#include "model.h"

enum at_kind { AT_CLOCK, AT_SINCE_FIRST, AT_WALL };

struct at {
	enum at_kind	kind;
	int64_t		ns;
};

/* Decimal seconds to ns, exact; *@s moves behind them. */
static bool parse_seconds(const char **s, int64_t *ns)
{
	const char *p = *s;
	int64_t sec = 0, frac = 0;
	int digits = 0;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++) {
		if (sec > INT64_MAX / 1000000000 / 10 - 1)
			return false;
		sec = sec * 10 + (*p - '0');
	}
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++)
			if (digits < 9) {
				frac = frac * 10 + (*p - '0');
				digits++;
			}
		for (; digits < 9; digits++)
			frac *= 10;
	}
	*ns = sec * 1000000000 + frac;
	*s = p;
	return true;
}

/* Z, +HH:MM, +HHMM or nothing (UTC) */
static bool parse_zone(const char *p, int64_t *offset)
{
	int h, m, n = 0, sign;

	*offset = 0;
	if (!*p || !strcmp(p, "Z") || !strcmp(p, "z"))
		return true;
	sign = *p == '+' ? 1 : *p == '-' ? -1 : 0;
	if (!sign)
		return false;
	if ((sscanf(p + 1, "%2d:%2d%n", &h, &m, &n) != 2 || p[1 + n]) && (sscanf(p + 1, "%2d%2d%n", &h, &m, &n) != 2 || p[1 + n]))
		return false;
	*offset = sign * (h * 3600LL + m * 60LL);
	return h >= 0 && h < 24 && m >= 0 && m < 60;
}

static bool parse_date(const char *s, int64_t *ns)
{
	struct tm tm = { 0 };
	const char *p = strptime(s, "%Y-%m-%d", &tm);
	int64_t frac = 0, offset, t;

	if (!p || (*p != 'T' && *p != ' '))
		return false;
	p = strptime(p + 1, "%H:%M:%S", &tm);
	if (!p)
		return false;
	if (*p == '.') {
		_cleanup_free_ char *zero = xasprintf("0%s", p);
		const char *q = zero;

		if (!parse_seconds(&q, &frac))
			return false;
		p += q - zero - 1;
	}
	if (!parse_zone(p, &offset))
		return false;
	t = (int64_t)timegm(&tm) - offset;
	if (t < 0 || t > INT64_MAX / 1000000000 - 1)
		return false;
	*ns = t * 1000000000 + frac;
	return true;
}

static struct error *parse_at(const char *text, struct at *at)
{
	const char *p = text;

	at->kind = AT_CLOCK;
	if (*p == '+') {
		at->kind = AT_SINCE_FIRST;
		p++;
	}
	if (parse_seconds(&p, &at->ns) && (!*p || !strcmp(p, "s")))
		return NULL;
	if (at->kind == AT_CLOCK && parse_date(text, &at->ns)) {
		at->kind = AT_WALL;
		return NULL;
	}
	return error_new(ERR_USAGE, "--at %s: not a time; give seconds (12345.678), seconds since the first event (+1.5) "
			 "or a date (2024-01-04T10:33:10+01:00)", text);
}

static struct error *add_row(void *arg, struct json_object *row)
{
	json_object_array_add(arg, json_object_get(row));
	return NULL;
}

/* Stalls that cover @t of @source; where there is none, what the vCPUs did then. */
static struct error *at_source(struct report_ctx *ctx, int64_t source, int64_t t, struct json_object *stalls,
			       struct json_object *slices)
{
	size_t before = json_object_array_length(stalls);
	char time_arg[24], id_arg[24];
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(ctx->db, &st, "SELECT id FROM stall s WHERE source_id = ? AND start_ns <= ?2 AND start_ns + duration_ns > ?2 AND "
		       "picked(vm_id, vcpu_id) ORDER BY duration_ns DESC, id", "ii", source, t));
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

static struct error *pick_at(struct report_ctx *ctx, const struct at *at, struct json_object *stalls, struct json_object *slices)
{
	struct error *err = NULL;
	bool inside = false;
	sqlite3_stmt *st;

	/* wall: the clock's offset is what to add to the source's time to get wall time */
	TRY(case_query(ctx->db, &st,
		       "SELECT s.id, s.first_ns, s.last_ns, s.clock = 'wall', (SELECT c.offset_ns FROM clock c WHERE c.source_id = s.id AND "
		       "c.relation LIKE '%wall%' AND c.offset_ns IS NOT NULL LIMIT 1) FROM source s "
		       "WHERE s.first_ns IS NOT NULL AND s.last_ns > s.first_ns ORDER BY s.id", ""));
	while (!err && case_step(ctx->db, st, &err)) {
		int64_t first = sqlite3_column_int64(st, 1), last = sqlite3_column_int64(st, 2), t = at->ns;

		if (at->kind == AT_SINCE_FIRST && __builtin_add_overflow(first, at->ns, &t))
			continue;
		if (at->kind == AT_WALL && !sqlite3_column_int(st, 3)) {
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
		return error_new(ERR_USAGE, "--at %s: no recording of the input covers that time; `info` shows their spans", ctx->opt->chain_at);
	return err;
}

struct error *model_pick_stalls(struct report_ctx *ctx, struct json_object **stalls, struct json_object **slices)
{
	_cleanup_json_ struct json_object *found = json_object_new_array();
	_cleanup_json_ struct json_object *states = json_object_new_array();
	char id[24];
	struct at at;

	*slices = NULL;
	if (ctx->opt->chain_at) {
		TRY(parse_at(ctx->opt->chain_at, &at));
		TRY(pick_at(ctx, &at, found, states));
		if (!json_object_array_length(found))
			*slices = json_object_get(states);
	} else if (ctx->opt->chain_stall > 0) {
		snprintf(id, sizeof(id), "%ld", ctx->opt->chain_stall);
		TRY(model_each(ctx, MODEL_STALL, id, NULL, add_row, found));
		if (!json_object_array_length(found))
			return error_new(ERR_USAGE, "--stall %s: no such stall; `stalls` lists them with their numbers", id);
	} else {
		TRY(model_each(ctx, MODEL_STALLS, "1", NULL, add_row, found));
	}
	*stalls = json_object_get(found);
	return NULL;
}
