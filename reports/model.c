// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * model.c - the case file as JSON objects; see model.h.
 *
 * A row becomes an object; its columns' names say how:
 *   _NAME          not shown (the first column of a part with children must be such an id)
 *   a.b            member b of object a
 *   json:NAME      text that holds JSON (an array or object); null or broken text gives []
 *   cites:NAME     text with cite ids ([1,2], or 1): an array of resolved citations
 *   bool:NAME      0 or 1
 * A child's SQL is run for each row with the row's first column as ?1.
 */
#include "model.h"

#include "model_sql.h"

struct json_object *js_get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (o && json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &v);
	return v;
}

const char *js_str(struct json_object *o, const char *key)
{
	struct json_object *v = js_get(o, key);

	return v && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

int64_t js_int(struct json_object *o, const char *key)
{
	struct json_object *v = js_get(o, key);

	return v ? json_object_get_int64(v) : 0;
}

bool js_has(struct json_object *o, const char *key)
{
	return js_get(o, key) != NULL;
}

size_t js_len(struct json_object *o, const char *key)
{
	struct json_object *v = js_get(o, key);

	return v && json_object_is_type(v, json_type_array) ? json_object_array_length(v) : 0;
}

struct json_object *js_at(struct json_object *o, const char *key, size_t i)
{
	return i < js_len(o, key) ? json_object_array_get_idx(js_get(o, key), i) : NULL;
}

static struct json_object *text_object(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return json_object_new_string_len(s ? s : "", s ? sqlite3_column_bytes(st, i) : 0);
}

static struct json_object *real_object(double v)
{
	char buf[40];

	/* what JSON can't hold becomes null */
	if (!(v > -1e300 && v < 1e300))
		return NULL;
	snprintf(buf, sizeof(buf), "%.15g", v);
	return json_object_new_double_s(v, buf);
}

struct json_object *model_value(sqlite3_stmt *st, int i)
{
	switch (sqlite3_column_type(st, i)) {
	case SQLITE_INTEGER:
		return json_object_new_int64(sqlite3_column_int64(st, i));
	case SQLITE_FLOAT:
		return real_object(sqlite3_column_double(st, i));
	case SQLITE_NULL:
		return NULL;
	default:
		return text_object(st, i);
	}
}

static struct json_object *embedded_json(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);
	struct json_object *v = s && (*s == '[' || *s == '{') ? json_tokener_parse(s) : NULL;

	return v ? v : json_object_new_array();
}

static struct error *resolve_cites(struct case_db *db, const char *ids, struct json_object **ret)
{
	struct json_object *array = json_object_new_array();
	struct error *err = NULL;
	sqlite3_stmt *st;

	*ret = array;
	if (!ids || !*ids)
		return NULL;
	TRY(case_query(db, &st, MODEL_SQL_CITES, "s", ids));
	while (case_step(db, st, &err)) {
		struct json_object *c = json_object_new_object();

		json_object_object_add(c, "member", text_object(st, 0));
		if (sqlite3_column_type(st, 1) != SQLITE_NULL)
			json_object_object_add(c, "line", model_value(st, 1));
		if (sqlite3_column_type(st, 2) != SQLITE_NULL)
			json_object_object_add(c, "offset", model_value(st, 2));
		json_object_object_add(c, "time_ns", model_value(st, 3));
		json_object_object_add(c, "text", model_value(st, 4));
		json_object_array_add(array, c);
	}
	case_done(st);
	return err;
}

/* Put @v under "a.b" or "a". */
static void put_dotted(struct json_object *o, const char *name, struct json_object *v)
{
	const char *dot = strchr(name, '.');
	_cleanup_free_ char *outer = NULL;
	struct json_object *inner;

	if (!dot) {
		json_object_object_add(o, name, v);
		return;
	}
	outer = xstrndup(name, (size_t)(dot - name));
	inner = js_get(o, outer);
	if (!inner) {
		inner = json_object_new_object();
		json_object_object_add(o, outer, inner);
	}
	json_object_object_add(inner, dot + 1, v);
}

static struct error *put_column(struct case_db *db, struct json_object *o, sqlite3_stmt *st, int i)
{
	const char *name = sqlite3_column_name(st, i);
	struct json_object *v;

	if (!name || *name == '_')
		return NULL;
	if (!strncmp(name, "json:", 5)) {
		put_dotted(o, name + 5, embedded_json(st, i));
	} else if (!strncmp(name, "bool:", 5)) {
		put_dotted(o, name + 5, json_object_new_boolean(sqlite3_column_int(st, i)));
	} else if (!strncmp(name, "cites:", 6)) {
		TRY(resolve_cites(db, (const char *)sqlite3_column_text(st, i), &v));
		put_dotted(o, name + 6, v);
	} else {
		put_dotted(o, name, model_value(st, i));
	}
	return NULL;
}

static struct error *row_object(struct case_db *db, const struct model_part *part, sqlite3_stmt *st,
				struct json_object **ret);

static struct error *children(struct case_db *db, const struct model_part *child, int64_t id,
			      struct json_object **ret)
{
	struct json_object *array = json_object_new_array();
	struct error *err = NULL;
	sqlite3_stmt *st;

	*ret = array;
	TRY(case_query(db, &st, child->sql, "i", id));
	while (!err && case_step(db, st, &err)) {
		struct json_object *row;

		err = row_object(db, child, st, &row);
		json_object_array_add(array, row);
	}
	case_done(st);
	return err;
}

/* *@ret is an object also on error; the caller puts it */
static struct error *row_object(struct case_db *db, const struct model_part *part, sqlite3_stmt *st,
				struct json_object **ret)
{
	struct json_object *o = json_object_new_object();
	const struct model_part *child;
	int i;

	*ret = o;
	for (i = 0; i < sqlite3_column_count(st); i++)
		TRY(put_column(db, o, st, i));
	for (child = part->children; child && child->key; child++) {
		struct json_object *array = NULL;
		struct error *err = children(db, child, sqlite3_column_int64(st, 0), &array);

		json_object_object_add(o, child->key, array);
		TRY(err);
	}
	return NULL;
}

const char *model_key(enum model_section section)
{
	return model_sections[section].key;
}

struct error *model_each(struct report_ctx *ctx, enum model_section section, const char *arg1,
			 const char *arg2, model_fn fn, void *arg)
{
	const struct model_part *part = &model_sections[section];
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(ctx->db, &st, part->sql, "ss", arg1, arg2));
	while (!err && case_step(ctx->db, st, &err)) {
		struct json_object *row;

		err = row_object(ctx->db, part, st, &row);
		if (!err)
			err = fn(arg, row);
		json_object_put(row);
	}
	case_done(st);
	return err;
}

static struct error *collect(void *arg, struct json_object *row)
{
	json_object_array_add(arg, json_object_get(row));
	return NULL;
}

struct error *model_array(struct report_ctx *ctx, enum model_section section, const char *arg1,
			  const char *arg2, struct json_object **ret)
{
	struct json_object *array = json_object_new_array();
	struct error *err = model_each(ctx, section, arg1, arg2, collect, array);

	if (err)
		json_object_put(array);
	else
		*ret = array;
	return err;
}
