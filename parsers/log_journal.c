// SPDX-License-Identifier: GPL-2.0-or-later
/* log_journal.c - entries of the journal with all their fields; see log_journal.h. */
#include "log_journal.h"

#include <json-c/json.h>

#define OBJECT_MAX	(1u << 20)	/* bytes of one that goes over many lines */

void journal_begin(struct journal_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->log.time_ns = e->real_ns = e->mono_ns = e->source_ns = CASE_NO_TIME;
	e->transport = -1;
}

static void micros(struct scan c, int64_t *ns)
{
	uint64_t us;

	if (scan_u64(&c, &us) && scan_at_end(&c) && us <= INT64_MAX / 1000)
		*ns = (int64_t)us * 1000;
}

static void copy(char *to, size_t size, struct scan c)
{
	snprintf(to, size, "%.*s", (int)MIN(scan_left(&c), size - 1), c.p);
}

void journal_field(struct journal_entry *e, const char *name, size_t name_len, const char *value,
		   size_t len)
{
	struct scan v = scan_mem(value, len);

	if (span_is(name, name_len, "MESSAGE") && !e->message)
		e->message = xstrndup(value, MIN(len, (size_t)JOURNAL_MESSAGE_MAX));
	else if (span_is(name, name_len, "_BOOT_ID"))
		copy(e->boot, sizeof(e->boot), v);
	else if (span_is(name, name_len, "_HOSTNAME"))
		copy(e->host, sizeof(e->host), v);
	else if (span_is(name, name_len, "__REALTIME_TIMESTAMP"))
		micros(v, &e->real_ns);
	else if (span_is(name, name_len, "__MONOTONIC_TIMESTAMP"))
		micros(v, &e->mono_ns);
	else if (span_is(name, name_len, "_SOURCE_MONOTONIC_TIMESTAMP"))
		micros(v, &e->source_ns);
	else if (span_is(name, name_len, "_TRANSPORT"))
		e->transport = span_is(value, len, "kernel");
	else if (span_is(name, name_len, "SYSLOG_IDENTIFIER"))
		e->ident_kernel = span_is(value, len, "kernel");
}

bool journal_finish(struct journal_entry *e)
{
	if (!e->message)
		return false;
	e->log.text = scan_mem(e->message, strlen(e->message));
	e->log.kernel = e->transport >= 0 ? e->transport : e->ident_kernel;
	if (e->source_ns != CASE_NO_TIME || e->mono_ns != CASE_NO_TIME) {
		e->log.stamp = STAMP_BOOT;
		e->log.time_ns = e->source_ns != CASE_NO_TIME ? e->source_ns : e->mono_ns;
	} else if (e->real_ns != CASE_NO_TIME) {
		e->log.stamp = STAMP_ISO;
		e->log.time_ns = e->real_ns;
	}
	return true;
}

/* An object in one line; json-seq has a record separator before it, json-sse the word "data:". */
static struct scan object_of(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_char(&c, '\x1e');
	scan_lit(&c, "data:");
	scan_blanks(&c);
	return c;
}

bool log_is_journal(const struct line *ln)
{
	struct scan c = object_of(ln);

	return scan_char(&c, '{') && scan_find(&c, "\"MESSAGE\"") && scan_find(&c, "_TIMESTAMP\"");
}

/* A value that is no UTF-8 is an array of its bytes. */
static void bytes_field(struct journal_entry *e, const char *name, struct json_object *v)
{
	size_t n = MIN(json_object_array_length(v), (size_t)JOURNAL_MESSAGE_MAX), i;
	_cleanup_free_ char *text = xmalloc(n + 1);

	for (i = 0; i < n; i++) {
		int byte = json_object_get_int(json_object_array_get_idx(v, i));

		text[i] = byte > 0 && byte < 256 ? (char)byte : '?';
	}
	journal_field(e, name, strlen(name), text, n);
}

static bool take(struct scan c, struct journal_entry *e)
{
	struct json_tokener *tok;
	struct json_object *o;
	bool ok = false;

	journal_begin(e);
	if (scan_left(&c) > INT32_MAX)
		return false;
	tok = json_tokener_new_ex(8);
	if (!tok)
		return false;
	o = json_tokener_parse_ex(tok, c.p, (int)scan_left(&c));
	if (o && json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, name, v) {
			if (json_object_is_type(v, json_type_string))
				journal_field(e, name, strlen(name), json_object_get_string(v),
					      (size_t)json_object_get_string_len(v));
			else if (json_object_is_type(v, json_type_array))
				bytes_field(e, name, v);
		}
		ok = journal_finish(e);
	}
	json_object_put(o);
	json_tokener_free(tok);
	return ok;
}

bool log_journal(const struct line *ln, struct journal_entry *e)
{
	if (log_is_journal(ln))
		return take(object_of(ln), e);
	journal_begin(e);
	return false;
}

/* ---- objects over many lines ---- */

/* "NAME" : ... */
static bool is_field(struct scan c)
{
	scan_blanks(&c);
	if (!scan_char(&c, '"') || scan_at_end(&c) || is_digit(*c.p))
		return false;
	while (c.p < c.end && ((*c.p >= 'A' && *c.p <= 'Z') || is_digit(*c.p) || *c.p == '_'))
		c.p++;
	if (c.p[-1] == '"' || !scan_char(&c, '"'))
		return false;
	scan_blanks(&c);
	return scan_char(&c, ':');
}

/* A byte of a value that is no UTF-8, or the bracket behind the last. */
static bool is_element(struct scan c)
{
	uint64_t v;

	scan_blanks(&c);
	if (!scan_u64(&c, &v) && !scan_char(&c, ']') && !(scan_char(&c, '"') && scan_find(&c, "\"")))
		return false;
	return true;
}

static bool pretty_add(struct journal_pretty *p, const struct line *ln)
{
	if (p->len + ln->len + 1 > OBJECT_MAX)
		return false;
	GROW(p->buf, p->cap, p->len + ln->len + 1);
	memcpy(p->buf + p->len, ln->s, ln->len);
	p->len += ln->len;
	p->buf[p->len++] = '\n';
	return true;
}

enum journal_part journal_pretty(struct journal_pretty *p, const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_trim(&c);
	scan_blanks(&c);
	if (span_is(c.p, scan_left(&c), "{")) {
		p->open = true;
		p->len = 0;
		p->no = ln->no;
		p->off = ln->off;
		return pretty_add(p, ln) ? PRETTY_BEGIN : PRETTY_NOT;
	}
	if (!p->open)
		return PRETTY_NOT;
	if (scan_char(&c, '}') && (scan_at_end(&c) || span_is(c.p, scan_left(&c), ","))) {
		p->open = false;
		return p->len > 2 && pretty_add(p, ln) ? PRETTY_END : PRETTY_NOT;
	}
	if ((is_field(c) || is_element(c)) && pretty_add(p, ln)) {
		if (scan_lit(&c, "\"MESSAGE\"")) {
			p->no = ln->no;
			p->off = ln->off;
		}
		return PRETTY_INSIDE;
	}
	p->open = false;
	return PRETTY_NOT;
}

bool journal_pretty_take(struct journal_pretty *p, struct journal_entry *e)
{
	return take(scan_mem(p->buf, p->len), e);
}

bool journal_pretty_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len;
	struct journal_pretty p = { .open = false };
	bool stamp = false, ok = false;
	struct line ln = { .no = 0 };
	unsigned int n = 0;

	while (!ok && n < 200 && scan_lines(&next, end, &ln.s, &ln.len)) {
		struct scan c = scan_line(&ln);

		scan_blanks(&c);
		scan_trim(&c);
		if (scan_at_end(&c) || span_is(c.p, scan_left(&c), "["))
			continue;
		if (journal_pretty(&p, &ln) == PRETTY_NOT)
			break;
		n++;
		stamp |= starts_with(c.p, scan_left(&c), "\"__REALTIME_TIMESTAMP\"") ||
			 starts_with(c.p, scan_left(&c), "\"__MONOTONIC_TIMESTAMP\"");
		ok = stamp && n > 2;
	}
	free(p.buf);
	return ok;
}
