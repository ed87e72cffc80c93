// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - the text report: layout and names; see text.h. */
#include "text.h"

#include <stdarg.h>

#include "escape.h"

#define PROSE_MAX	110
#define PROSE_BYTES 1500 /* a paragraph made from a case's strings is cut here unless -v is given  \
			  */
#define NAME_MAX_COLS	32

static const struct text_view text_views[] = {
	{ "analyze", text_analyze }, { "info", text_info },	{ "exits", text_exits },
	{ "latency", text_latency }, { "stalls", text_stalls }, { "chain", text_chain },
	{ "query", text_query },     { "diff", text_diff },
};

static void put_blanks(FILE *out, int n)
{
	if (n > 0)
		fprintf(out, "%*s", n, "");
}

/* Is the word at @s a unit, which stays with the number before it ("20.0 ms,")? */
static bool is_unit(const char *s)
{
	static const char *const units[] = { "ns", "us", "ms", "s",  "min", "h",
					     "d",  "%",	 "B",  "kB", "MB",  "GB" };
	size_t len = strcspn(s, " "), i;

	while (len && strchr(".,;:)]", s[len - 1]))
		len--;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (len == strlen(units[i]) && !strncmp(s, units[i], len))
			return true;
	return false;
}

/* Bytes of the next word: up to a blank where a line may be broken. */
static size_t word_length(const char *s)
{
	size_t len = strcspn(s, " ");

	while (len && s[len] == ' ' && s[len - 1] >= '0' && s[len - 1] <= '9' &&
	       is_unit(s + len + 1))
		len += 1 + strcspn(s + len + 1, " ");
	return len;
}

/* A no-break space held the word together; it is printed as a plain one. */
static void put_word(FILE *out, const char *word)
{
	const char *p;

	for (; (p = strstr(word, "\xc2\xa0")); word = p + 2)
		fprintf(out, "%.*s ", (int)(p - word), word);
	fputs(word, out);
}

/* Print @s from column @col on, broken at blanks; lines after the first begin at @hang. */
static void wrap(struct text *t, int col, int hang, const char *s)
{
	bool start = true;

	while (*s) {
		size_t len = word_length(s);
		_cleanup_free_ char *word = xstrndup(s, len);
		int w = (int)display_width(word);

		if (!start && col + 1 + w > t->prose) {
			fputc('\n', t->out);
			put_blanks(t->out, hang);
			col = hang;
			start = true;
		}
		if (!start)
			fputc(' ', t->out);
		put_word(t->out, word);
		col += w + !start;
		start = false;
		s += len + strspn(s + len, " ");
	}
	fputc('\n', t->out);
}

static char *prose(struct text *t, const char *fmt, va_list ap)
{
	char *raw, *clean;

	if (vasprintf(&raw, fmt, ap) < 0)
		return xstrdup("");
	clean = escape_prose(raw);
	free(raw);
	if (!t->verbose && strlen(clean) > PROSE_BYTES) {
		size_t cut = display_cut(clean, PROSE_BYTES);

		raw = xasprintf("%.*s…", (int)MIN(cut, strlen(clean)), clean);
		free(clean);
		clean = raw;
	}
	return clean;
}

void text_heading(struct text *t, const char *fmt, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = prose(t, fmt, ap);
	va_end(ap);
	fprintf(t->out, "\n%s%s%s\n", t->bold, s, t->off);
}

void text_para(struct text *t, int indent, int hang, const char *fmt, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = prose(t, fmt, ap);
	va_end(ap);
	put_blanks(t->out, indent);
	wrap(t, indent, hang, s);
}

void text_item(struct text *t, int indent, int hang, const char *style, const char *label,
	       const char *fmt, ...)
{
	_cleanup_free_ char *s = NULL, *clean = escape_terminal(label, strlen(label));
	int col = indent + (int)display_width(clean);
	va_list ap;

	va_start(ap, fmt);
	s = prose(t, fmt, ap);
	va_end(ap);
	put_blanks(t->out, indent);
	if (*clean)
		fprintf(t->out, "%s%s%s", style, clean, *style ? t->off : "");
	put_blanks(t->out, MAX(hang - col, 1));
	wrap(t, MAX(hang, col + 1), hang, s);
}

void text_verbatim(struct text *t, int indent, const char *prefix, const char *s)
{
	_cleanup_free_ char *clean = escape_terminal(s, strlen(s));

	put_blanks(t->out, indent);
	fprintf(t->out, "%s%s\n", prefix, clean);
}

void text_table(struct text *t, struct table *table, int indent)
{
	table_print(table, t->out, indent, t->width, t->dim, t->off);
}

void text_join(char **to, const char *sep, const char *fmt, ...)
{
	char *more, *both;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&more, fmt, ap) < 0)
		more = xstrdup("");
	va_end(ap);
	if (!*to) {
		*to = more;
		return;
	}
	both = xasprintf("%s%s%s", *to, sep, more);
	free(more);
	free(*to);
	*to = both;
}

static struct json_object *find_vm(struct text *t, int64_t id)
{
	size_t i;

	for (i = 0; i < json_object_array_length(t->vms); i++)
		if (js_int(json_object_array_get_idx(t->vms, i), "id") == id)
			return json_object_array_get_idx(t->vms, i);
	return NULL;
}

static struct json_object *find_vcpu(struct text *t, int64_t id)
{
	size_t i, j;

	for (i = 0; i < json_object_array_length(t->vms); i++) {
		struct json_object *vm = json_object_array_get_idx(t->vms, i);

		for (j = 0; j < js_len(vm, "vcpus"); j++)
			if (js_int(js_at(vm, "vcpus", j), "id") == id)
				return js_at(vm, "vcpus", j);
	}
	return NULL;
}

static int name_bytes(const char *s)
{
	return (int)display_cut(s, NAME_MAX_COLS);
}

char *text_vm(struct text *t, int64_t vm)
{
	struct json_object *o = find_vm(t, vm);
	const char *name = js_str(o, "name");
	char *s = NULL;

	if (*name)
		text_join(&s, "", "%.*s", name_bytes(name), name);
	if (js_int(o, "tgid") > 0)
		text_join(&s, ", ", "tgid %" PRId64, js_int(o, "tgid"));
	if (s) {
		char *whole = xasprintf("VM %" PRId64 " (%s)", vm, s);

		free(s);
		return whole;
	}
	return xasprintf("VM %" PRId64, vm);
}

char *text_vcpu(struct text *t, int64_t vcpu)
{
	struct json_object *o = find_vcpu(t, vcpu);

	if (js_has(o, "vcpu"))
		return xasprintf("vCPU %" PRId64, js_int(o, "vcpu"));
	if (js_has(o, "tid"))
		return xasprintf("the vCPU of thread %" PRId64, js_int(o, "tid"));
	return xasprintf("vCPU #%" PRId64, vcpu);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

char *text_vcpus(struct text *t, struct json_object *ids, int64_t vm)
{
	size_t n = ids && json_object_is_type(ids, json_type_array) ? json_object_array_length(ids)
								    : 0,
	       known = 0, i, k;
	_cleanup_free_ int64_t *numbers = xcalloc(n + 1, sizeof(*numbers));
	char *s = NULL, *whole;

	for (i = 0; i < n; i++) {
		struct json_object *o =
			find_vcpu(t, json_object_get_int64(json_object_array_get_idx(ids, i)));

		if (js_has(o, "vcpu"))
			numbers[known++] = js_int(o, "vcpu");
	}
	if (!known)
		return NULL;
	if (known > 2 && known == js_len(find_vm(t, vm), "vcpus"))
		return xasprintf("all %zu vCPUs", known);
	qsort(numbers, known, sizeof(*numbers), by_number);
	/* one VM of several recordings has each vCPU more than once */
	for (i = k = 0; i < known; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[k++] = numbers[i];
	known = k;
	for (i = 0; i < known; i = k) {
		for (k = i + 1; k < known && numbers[k] <= numbers[k - 1] + 1; k++)
			;
		if (numbers[k - 1] > numbers[i] + 1)
			text_join(&s, ", ", "%" PRId64 "-%" PRId64, numbers[i], numbers[k - 1]);
		else
			for (; i < k; i++)
				if (!i || numbers[i] != numbers[i - 1])
					text_join(&s, ", ", "%" PRId64, numbers[i]);
	}
	whole = xasprintf("vCPU%s %s", known > 1 ? "s" : "", s);
	free(s);
	return whole;
}

const char *text_path(struct text *t, const char *path)
{
	size_t n = t->prefix ? strlen(t->prefix) : 0;

	return n && !strncmp(path, t->prefix, n) && path[n] ? path + n : path;
}

const char *text_source(struct text *t, int64_t source)
{
	size_t i;

	for (i = 0; i < json_object_array_length(t->sources); i++) {
		struct json_object *o = json_object_array_get_idx(t->sources, i);

		if (js_int(o, "id") == source)
			return text_path(t, js_str(o, "path"));
	}
	return "";
}

char *text_task(const char *task, struct json_object *o, const char *tid_key)
{
	if (!*task && !js_has(o, tid_key))
		return xstrdup("?");
	if (!js_has(o, tid_key))
		return xasprintf("%.*s", name_bytes(task), task);
	return xasprintf("%.*s:%" PRId64, name_bytes(task), task, js_int(o, tid_key));
}

/* A wall clock's date is said once: @day is that of the citation before. */
static const char *time_of_day(char buf[HUMAN_MAX], int64_t ns, char day[12])
{
	size_t len = sizeof("2024-01-04 ") - 1;

	human_time(buf, ns);
	if (strlen(buf) < len || buf[4] != '-')
		return buf;
	if (!strncmp(buf, day, len))
		return buf + len;
	memcpy(day, buf, len);
	return buf;
}

char *text_places(struct text *t, struct json_object *array, size_t max, const char *member)
{
	size_t n = array && json_object_is_type(array, json_type_array)
			   ? json_object_array_length(array)
			   : 0,
	       i;
	char *s = NULL;

	for (i = 0; i < n && i < max; i++) {
		struct json_object *c = json_object_array_get_idx(array, i);

		if (strcmp(text_path(t, js_str(c, "member")), member)) {
			free(s);
			return text_cites(t, array, max);
		}
		if (js_has(c, "line"))
			text_join(&s, ", ", "line\xc2\xa0%" PRId64, js_int(c, "line"));
		else if (js_has(c, "offset"))
			text_join(&s, ", ", "@%" PRId64, js_int(c, "offset"));
	}
	return s;
}

char *text_cites(struct text *t, struct json_object *array, size_t max)
{
	size_t n = array && json_object_is_type(array, json_type_array)
			   ? json_object_array_length(array)
			   : 0,
	       i;
	char time[HUMAN_MAX], day[12] = "", *s = NULL;
	const char *last = NULL;

	for (i = 0; i < n && i < max; i++) {
		struct json_object *c = json_object_array_get_idx(array, i);
		const char *member = text_path(t, js_str(c, "member"));
		bool same = last && !strcmp(last, member);

		if (js_has(c, "line"))
			text_join(&s, ", ", "%s:%" PRId64, same ? "" : member, js_int(c, "line"));
		else if (js_has(c, "offset"))
			text_join(&s, ", ", "%s@%" PRId64, same ? "" : member, js_int(c, "offset"));
		else if (!same)
			text_join(&s, ", ", "%s", member);
		else
			continue;
		last = member;
		if (js_has(c, "time_ns"))
			text_join(&s, "", " (%s)", time_of_day(time, js_int(c, "time_ns"), day));
	}
	if (s && n > max)
		text_join(&s, "", " and %zu more", n - max);
	return s;
}

/*
 * What all files of the case have in front of their names: the archive's or the directory's. Naming
 * it once makes citations readable. Containers themselves do not count.
 */
static struct error *common_prefix(struct text *t)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t n = 0;

	TRY(case_query(
		t->ctx->db, &st,
		"SELECT path FROM member m WHERE NOT EXISTS (SELECT 1 FROM member k WHERE k.parent_id = m.id)",
		""));
	while (case_step(t->ctx->db, st, &err)) {
		const char *path = (const char *)sqlite3_column_text(st, 0);
		size_t i;

		if (!t->prefix) {
			t->prefix = xstrdup(path ? path : "");
			n = strlen(t->prefix);
		}
		for (i = 0; path && i < n && path[i] == t->prefix[i]; i++)
			;
		n = i;
	}
	case_done(st);
	while (n && t->prefix[n - 1] != '/' && t->prefix[n - 1] != ':')
		n--;
	if (t->prefix)
		t->prefix[n] = '\0';
	return err;
}

/*
 * A file of several sections has a source for each: it counts once, and not where it is a recording
 * too.
 */
bool text_first_of_path(struct text *t, size_t n)
{
	const char *path = js_str(json_object_array_get_idx(t->sources, n), "path");
	size_t i;

	for (i = 0; i < json_object_array_length(t->sources); i++) {
		struct json_object *s = json_object_array_get_idx(t->sources, i);

		if (i != n && !strcmp(js_str(s, "path"), path) && (i < n || js_int(s, "events")))
			return false;
	}
	return true;
}

struct error *text_open(struct text *t, struct report_ctx *ctx)
{
	size_t i;

	*t = (struct text){
		.ctx = ctx,
		.out = ctx->out,
		.width = ctx->width,
		.prose = ctx->width < PROSE_MAX ? ctx->width : PROSE_MAX,
		.verbose = ctx->opt->verbose > 0,
		.bold = "", .dim = "", .red = "", .yellow = "", .cyan = "", .green = "", .off = "",
	};
	if (!strcmp(ctx->view, "query"))
		return NULL;
	TRY(common_prefix(t));
	TRY(model_array(t->ctx, MODEL_VMS, NULL, NULL, &t->vms));
	TRY(model_array(t->ctx, MODEL_SOURCES, NULL, NULL, &t->sources));
	for (i = 0; i < json_object_array_length(t->sources); i++) {
		t->recordings += js_int(json_object_array_get_idx(t->sources, i), "events") > 0;
		t->paths += text_first_of_path(t, i);
	}
	return NULL;
}

void text_close(struct text *t)
{
	free(t->prefix);
	json_object_put(t->vms);
	json_object_put(t->sources);
}

static struct error *text_render(struct report_ctx *ctx)
{
	struct error *err;
	struct text t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(text_views); i++)
		if (!strcmp(text_views[i].name, ctx->view))
			break;
	if (i == ARRAY_SIZE(text_views))
		return error_new(ERR_USAGE, "format text has no view for '%s'", ctx->view);
	err = text_open(&t, ctx);
	if (ctx->color) {
		t.bold = "\033[1m";
		t.dim = "\033[2m";
		t.red = "\033[1;31m";
		t.yellow = "\033[1;33m";
		t.cyan = "\033[1;36m";
		t.green = "\033[32m";
		t.off = "\033[0m";
	}
	if (!err)
		err = text_views[i].render(&t);
	text_close(&t);
	/* cppcheck-suppress returnDanglingLifetime ; no error points into it */
	return err;
}

static const struct report text_report = {
	.format = "text",
	.ending = ".txt",
	.render = text_render,
};
REGISTER(reports, &text_report);
