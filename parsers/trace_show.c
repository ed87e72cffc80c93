// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_show.c - the fields of one event's text by name, without a stream; see trace_fields.h. */
#include "trace_fields.h"
#include "trace_line.h"
#include "trace_pattern.h"
#include "trace_values.h"

static enum event_kind kind_of_name(const char *name, size_t len)
{
	static const struct { enum event_kind kind; const char *names; } rows[] = {
#define EVENT(kind, system, names, ...)	{ EV_##kind, names },
#include "events.def"
#undef EVENT
	};
	const char *p, *bar;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (p = rows[i].names; p; p = bar ? bar + 1 : NULL) {
			bar = strchr(p, '|');
			if ((bar ? (size_t)(bar - p) : strlen(p)) == len && !memcmp(p, name, len))
				return rows[i].kind;
		}
	return EV_OTHER;
}

/* The whole text, where its fields do not tell all. */
static void emit_text(void (*emit)(void *arg, const char *name, const struct field_value *v),
		      void *arg, const char *s, size_t len)
{
	struct field_value f = { .type = FIELD_STR, .s = s, .len = len };

	emit(arg, "text", &f);
}

void text_event_fields(const char *name, size_t name_len, const char *fields, size_t len,
		       void (*emit)(void *arg, const char *name, const struct field_value *v),
		       void *arg)
{
	enum event_kind kind = kind_of_name(name, name_len);
	struct pattern pattern;
	const struct form *forms = forms_of(kind);
	const char *p = fields, *end = fields + len, *arg_name, *text;
	uint64_t a[4], v;
	uint32_t b[2];
	struct sink dry = { .a = a, .b = b };
	struct sink k = { .a = a, .b = b, .emit = emit, .arg = arg };
	struct field_value f = { .type = FIELD_STR };
	size_t arg_len, text_len, i;
	bool any = false;

	skip_blanks(&p, end);
	if (kind == EV_KVM_USERSPACE_EXIT && userspace_exit(&k, p, end))
		return;
	if (!forms && pattern_of(kind) && pattern_compile(&pattern, kind))
		forms = pattern.forms;
	for (i = 0; forms && i < FORMS_MAX && forms[i].n; i++)
		if (run_form(&dry, &forms[i], p, end)) {
			show_form(&k, &forms[i], p, end);
			if (forms == pattern.forms)	/* it may say more than its pattern */
				emit_text(emit, arg, fields, len);
			return;
		}
	if (p < end && *p == '(' && memchr(p, ')', (size_t)(end - p)))
		p = (const char *)memchr(p, ')', (size_t)(end - p)) + 1;
	while (next_arg(&p, end, &arg_name, &arg_len, &v, &text, &text_len)) {
		_cleanup_free_ char *key = NULL;
		const char *space = memrchr(arg_name, ' ', arg_len);
		const char *q = text;

		if (space) {
			arg_len -= (size_t)(space + 1 - arg_name);
			arg_name = space + 1;
		}
		key = xstrndup(arg_name, arg_len);
		f.type = FIELD_STR;
		if (text_len && read_num(&q, end, &v) && q == text + text_len)
			f.type = text_len > 2 && text[1] == 'x' ? FIELD_HEX : FIELD_INT;
		f.i = (int64_t)v;
		f.u = v;
		f.s = text;
		f.len = text_len;
		emit(arg, key, &f);
		any = true;
	}
	if (!any)
		emit_text(emit, arg, fields, len);
}

bool text_event_cut(const char *name, size_t name_len, const char *fields, size_t len)
{
	enum event_kind kind = kind_of_name(name, name_len);
	const struct form *forms = forms_of(kind);
	const char *p = fields, *end = fields + len;
	uint64_t a[4];
	uint32_t b[2];
	struct sink dry = { .a = a, .b = b };
	size_t i;

	if (kind == EV_OTHER || (!forms && kind != EV_KVM_USERSPACE_EXIT))
		return false;
	skip_blanks(&p, end);
	if (!forms)
		return !userspace_exit(&dry, p, end);
	for (i = 0; i < FORMS_MAX && forms[i].n; i++)
		if (run_form(&dry, &forms[i], p, end))
			return false;
	return true;
}
