// SPDX-License-Identifier: GPL-2.0-or-later
/* log_journal.c - kernel messages of `journalctl -o json`; see log_journal.h. */
#include "log_journal.h"

#include <json-c/json.h>

#define MESSAGE_MAX	4096

bool log_is_journal(const struct line *ln)
{
	struct scan c = scan_line(ln);

	scan_blanks(&c);
	return scan_char(&c, '{') && scan_find(&c, "\"MESSAGE\"") && scan_find(&c, "_TIMESTAMP\"");
}

static const char *field(const struct json_object *o, const char *name)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, name, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

/* A string, or, where it is no UTF-8, an array of its bytes. */
static char *message_of(const struct json_object *o)
{
	const char *s = field(o, "MESSAGE");
	struct json_object *v;
	size_t n, i;
	char *text;

	if (s)
		return xstrndup(s, MESSAGE_MAX);
	if (!json_object_object_get_ex(o, "MESSAGE", &v) || !json_object_is_type(v, json_type_array))
		return NULL;
	n = MIN(json_object_array_length(v), (size_t)MESSAGE_MAX);
	text = xmalloc(n + 1);
	for (i = 0; i < n; i++) {
		int byte = json_object_get_int(json_object_array_get_idx(v, i));

		text[i] = byte > 0 && byte < 256 ? (char)byte : '?';
	}
	text[n] = '\0';
	return text;
}

static bool micros(const char *s, int64_t *ns)
{
	struct scan c = scan_mem(s ? s : "", s ? strlen(s) : 0);
	uint64_t us;

	if (!scan_u64(&c, &us) || !scan_at_end(&c) || us > INT64_MAX / 1000)
		return false;
	*ns = (int64_t)us * 1000;
	return true;
}

static bool take(const struct json_object *o, struct journal_entry *e)
{
	const char *transport = field(o, "_TRANSPORT"), *boot = field(o, "_BOOT_ID"), *ident = field(o, "SYSLOG_IDENTIFIER");
	int64_t ns;

	e->message = message_of(o);
	if (!e->message)
		return false;
	e->log.text = scan_mem(e->message, strlen(e->message));
	e->log.kernel = transport ? !strcmp(transport, "kernel") : ident && !strcmp(ident, "kernel");
	if (boot)
		snprintf(e->boot, sizeof(e->boot), "%s", boot);
	if (micros(field(o, "_SOURCE_MONOTONIC_TIMESTAMP"), &ns) || micros(field(o, "__MONOTONIC_TIMESTAMP"), &ns)) {
		e->log.stamp = STAMP_BOOT;
		e->log.time_ns = ns;
	} else if (micros(field(o, "__REALTIME_TIMESTAMP"), &ns)) {
		e->log.stamp = STAMP_ISO;
		e->log.time_ns = ns;
	}
	return true;
}

bool log_journal(const struct line *ln, struct journal_entry *e)
{
	struct json_tokener *tok;
	struct json_object *o;
	bool ok = false;

	memset(e, 0, sizeof(*e));
	e->log.time_ns = CASE_NO_TIME;
	if (!log_is_journal(ln) || ln->len > INT32_MAX)
		return false;
	tok = json_tokener_new_ex(8);
	if (!tok)
		return false;
	o = json_tokener_parse_ex(tok, ln->s, (int)ln->len);
	if (o && json_object_is_type(o, json_type_object))
		ok = take(o, e);
	json_object_put(o);
	json_tokener_free(tok);
	return ok;
}
