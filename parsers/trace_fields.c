// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_fields.c - the text of an event into its slots; see trace_fields.h. */
#include "trace_fields.h"

#include "trace_line.h"
#include "trace_pattern.h"
#include "trace_values.h"

#define TABLE_START	256
#define MAX_EVENTS	4096	/* names; a garbled text must not make more */

/* How an event's text is read. */
enum way {
	WAY_FORMS,
	WAY_USERSPACE_EXIT,
	WAY_RAW,
	WAY_PROBE,
	WAY_RETPROBE,
	WAY_SYSCALL_ENTER,
	WAY_SYSCALL_EXIT,
	WAY_NONE
};

struct text_event {
	char		*key;		/* "system:name" or "name" as in the text */
	size_t		key_len;
	uint64_t	a[4];		/* defaults of absent fields */
	uint32_t	b[2];
	uint16_t	ev;
	uint8_t		kind, way;
	uint8_t		form;		/* the one that fitted last */
	uint32_t	func;		/* probes, syscalls: string id of the last one */
	const struct form *forms;	/* FORMS_MAX; of trace_forms.c or of pattern */
	struct pattern	*pattern;
};

struct text_events {
	struct stream	*s;
	struct text_event **table;	/* open addressing; grows at half full */
	size_t		size, n;
	struct reasons	reasons;
};

struct text_events *text_events_new(struct stream *s)
{
	struct text_events *te = xcalloc(1, sizeof(*te));

	te->s = te->reasons.s = s;
	te->size = TABLE_START;
	te->table = xcalloc(te->size, sizeof(*te->table));
	return te;
}

void text_events_free(struct text_events *te)
{
	size_t i;

	if (!te)
		return;
	for (i = 0; i < te->size; i++) {
		if (!te->table[i])
			continue;
		free(te->table[i]->key);
		free(te->table[i]->pattern);
		free(te->table[i]);
	}
	free(te->table);
	free(te);
}

static struct text_event **slot_of(struct text_events *te, const char *key, size_t len)
{
	size_t i = text_hash(key, len) & (te->size - 1);

	while (te->table[i] &&
	       !(te->table[i]->key_len == len && !memcmp(te->table[i]->key, key, len)))
		i = (i + 1) & (te->size - 1);
	return &te->table[i];
}

static void grow(struct text_events *te)
{
	struct text_event **old = te->table;
	size_t n = te->size, i;

	te->size *= 2;
	te->table = xcalloc(te->size, sizeof(*te->table));
	for (i = 0; i < n; i++)
		if (old[i])
			*slot_of(te, old[i]->key, old[i]->key_len) = old[i];
	free(old);
}

static bool name_is(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(s, name, len);
}

static bool probe(struct strtab *strings, struct text_event *d, const char *p, const char *end,
		  struct event *ev)
{
	static const char *const root_names[] = { "si", "rsi", "root", "root_tdp", "arg2", "x1" };
	static const char *const weight_names[] = { "se", "old", "new", "vruntime" };
	struct probe_text t;
	const char *name, *text;
	size_t name_len, text_len, n = 0, i;
	uint64_t v;
	bool root_named = false;

	if (!probe_split(p, end, &t))
		return false;
	if (t.func && !name_is(t.func, t.func_len, strtab_str(strings, d->func)))
		d->func = strtab_id(strings, t.func, t.func_len);
	ev->b[0] = d->func;
	p = t.args;
	while (n < 16 && next_arg(&p, end, &name, &name_len, &v, &text, &text_len)) {
		if (d->kind == EV_PROBE_ROOT) {
			for (i = 0; i < ARRAY_SIZE(root_names); i++)
				if (name_is(name, name_len, root_names[i]))
					root_named = true, ev->a[0] = v;
			if (!root_named && n < 2)
				ev->a[0] = v;
		} else if (d->kind == EV_PROBE_REWEIGHT) {
			for (i = 0; i < ARRAY_SIZE(weight_names); i++)
				if (name_is(name, name_len, weight_names[i]))
					ev->a[i] = v;
		} else if (n < 4) {
			ev->a[n] = v;
		}
		n++;
	}
	return true;
}

/* "fd: 3, cmd: ae01, arg: 0)": hex without 0x; trace-cmd and perf print 0x. */
static bool syscall_enter(const char *p, const char *end, struct event *ev)
{
	size_t n;

	for (n = 0; n < 3; n++) {
		const char *colon = memmem(p, (size_t)(end - p), ": ", 2);

		if (!colon)
			break;
		p = colon + 2;
		read_hex(&p, end, &ev->a[n]);
	}
	return true;
}

bool text_event_decode(struct text_events *te, struct text_event *d, const char *s, size_t len,
		       struct event *ev)
{
	struct sink k = { .a = ev->a, .b = ev->b, .reasons = &te->reasons };
	const char *p = s, *end = s + len;
	const struct form *forms;
	bool ok = true;
	size_t i;

	ev->ev = d->ev;
	ev->kind = d->kind;
	memcpy(ev->a, d->a, sizeof(ev->a));
	memcpy(ev->b, d->b, sizeof(ev->b));
	skip_blanks(&p, end);
	switch (d->way) {
	case WAY_FORMS:
		forms = d->forms;
		if (likely(run_form(&k, &forms[d->form], p, end)))
			return true;
		for (i = 0, ok = false; i < FORMS_MAX && forms[i].n && !ok; i++) {
			if (i == d->form)
				continue;
			memcpy(ev->a, d->a, sizeof(ev->a));
			memcpy(ev->b, d->b, sizeof(ev->b));
			ok = run_form(&k, &forms[i], p, end);
			if (ok)
				d->form = (uint8_t)i;
		}
		break;
	case WAY_USERSPACE_EXIT:
		ok = userspace_exit(&k, p, end);
		break;
	case WAY_RAW:
		return raw_fields(&k, (enum event_kind)d->kind, p, end);
	case WAY_PROBE:
	case WAY_RETPROBE:
		ok = probe(&te->s->strings, d, p, end, ev);
		break;
	case WAY_SYSCALL_ENTER:
		ev->b[0] = d->func;
		ok = syscall_enter(p, end, ev);
		break;
	case WAY_SYSCALL_EXIT:
		ev->b[0] = d->func;
		ok = read_num(&p, end, &ev->a[0]);
		break;
	default:
		ev->b[0] = d->func;
		return true;
	}
	if (!ok && d->way <= WAY_USERSPACE_EXIT) {
		memcpy(ev->a, d->a, sizeof(ev->a));
		memcpy(ev->b, d->b, sizeof(ev->b));
		ok = raw_fields(&k, (enum event_kind)d->kind, p, end);
	}
	if (!ok)
		ev->kind = EV_OTHER;
	return ok;
}

static void set_defaults(struct text_event *d)
{
	struct sink k = { .a = d->a, .b = d->b };
	size_t n, i;
	const struct raw_field *f = raw_fields_of((enum event_kind)d->kind, &n);

	for (i = 0; i < n; i++)
		set_slot(&k, f[i].slot, f[i].dflt);
}

/* "sys_enter_ioctl" / "sys_exit_ioctl" and the raw ones are told by the name alone. */
static bool syscall_name(const char *name, size_t len, const char *prefix, const char **call,
			 size_t *call_len)
{
	size_t n = strlen(prefix);

	if (len <= n || memcmp(name, prefix, n))
		return false;
	*call = name + n;
	*call_len = len - n;
	return true;
}

/* How an event of d->kind is read; its forms. */
static enum way way_of(struct text_event *d)
{
	enum event_kind kind = (enum event_kind)d->kind;
	size_t n;

	if (kind == EV_KVM_USERSPACE_EXIT)
		return WAY_USERSPACE_EXIT;
	d->forms = forms_of(kind);
	if (!d->forms && pattern_of(kind)) {
		d->pattern = xmalloc(sizeof(*d->pattern));
		if (pattern_compile(d->pattern, kind))
			d->forms = d->pattern->forms;
	}
	if (d->forms)
		return WAY_FORMS;
	raw_fields_of(kind, &n);
	return n ? WAY_RAW : WAY_NONE;
}

static struct text_event *add_event(struct text_events *te, const char *key, size_t key_len,
				    const char *system, const char *name, enum event_kind kind,
				    enum way way, uint32_t func)
{
	struct text_event *d;

	if (te->n >= MAX_EVENTS) {	/* the last descriptor made stands for all that come now */
		static const char more[] = "(more event names)";

		d = *slot_of(te, more, strlen(more));
		if (d)
			return d;
		key = name = more;
		key_len = strlen(more);
		system = NULL;
		kind = EV_OTHER;
		way = WAY_NONE;
	}
	d = xcalloc(1, sizeof(*d));
	if ((te->n + 1) * 2 > te->size)
		grow(te);
	d->key = xstrndup(key, key_len);
	d->key_len = key_len;
	d->ev = stream_event_type(te->s, system, name, kind, COV_SEEN, COV_ALL, COV_SYSTEM);
	if (d->ev == EVENT_TYPE_NONE)
		d->ev = stream_event_type(te->s, NULL, te->s->types[0].name, EV_OTHER, COV_SEEN,
					  COV_ALL, COV_SYSTEM);
	d->kind = (uint8_t)(kind != EV_OTHER ? kind : te->s->types[d->ev].kind);
	d->func = func;
	if (te->s->types[d->ev].func == STRTAB_NONE && (way == WAY_PROBE || way == WAY_RETPROBE))
		te->s->types[d->ev].func = func;
	d->way = (uint8_t)way;
	if (way == WAY_FORMS)
		d->way = (uint8_t)way_of(d);
	set_defaults(d);
	*slot_of(te, key, key_len) = d;
	te->n++;
	return d;
}

/*
 * Function probed by an event called @name, where the text has only addresses: p_FUNC_0, r_FUNC,
 * FUNC__return ...
 */
static uint32_t func_of_name(struct text_events *te, const char *name, size_t len)
{
	size_t digits = 0;

	if (len > 2 && (name[0] == 'p' || name[0] == 'r') && name[1] == '_') {
		name += 2;
		len -= 2;
	}
	while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
		digits++;
	if (digits && digits < 4 && len > digits + 1 && name[len - 1 - digits] == '_')
		len -= digits + 1;
	if (len > strlen("__return") && !memcmp(name + len - strlen("__return"), "__return", strlen("__return")))
		len -= strlen("__return");
	return strtab_id(&te->s->strings, name, len);
}

static struct text_event *new_event(struct text_events *te, const char *key, size_t key_len,
				    const char *system, const char *name, size_t len,
				    const char *fields, size_t fields_len)
{
	_cleanup_free_ char *name_z = xstrndup(name, len);
	struct strtab *strings = &te->s->strings;
	enum event_kind kind = EV_OTHER;
	enum way way = WAY_FORMS;
	uint32_t func = STRTAB_NONE;
	const char *call, *p = fields;
	struct probe_text t;
	size_t call_len;

	skip_blanks(&p, fields + fields_len);
	if (syscall_name(name, len, "sys_enter_", &call, &call_len)) {
		kind = EV_SYSCALL_ENTER;
		way = WAY_SYSCALL_ENTER;
		func = strtab_id(strings, call, call_len);
	} else if (syscall_name(name, len, "sys_exit_", &call, &call_len)) {
		kind = EV_SYSCALL_EXIT;
		way = WAY_SYSCALL_EXIT;
		func = strtab_id(strings, call, call_len);
	} else if (name_is(name, len, "funcgraph_entry")) {
		kind = EV_FUNC_ENTER;
		way = WAY_NONE;
	} else if (name_is(name, len, "funcgraph_exit")) {
		kind = EV_FUNC_EXIT;
		way = WAY_NONE;
	} else if (probe_split(p, fields + fields_len, &t) && !(system && !strncmp(system, "raw_", 4))) {
		func = t.func ? strtab_id(strings, t.func, t.func_len)
			      : func_of_name(te, name, len);
		kind = t.ret ? EV_PROBE_RETURN : EV_PROBE_ENTER;
		way = t.ret ? WAY_RETPROBE : WAY_PROBE;
		if (!t.ret && !strcmp(strtab_str(strings, func), "hv_track_root_tdp"))
			kind = EV_PROBE_ROOT;
		if (!t.ret && !strcmp(strtab_str(strings, func), "reweight_entity"))
			kind = EV_PROBE_REWEIGHT;
	}
	return add_event(te, key, key_len, system, name_z, kind, way, func);
}

struct text_event *text_event(struct text_events *te, const char *system, size_t system_len,
			      const char *name, size_t len, const char *fields, size_t fields_len)
{
	_cleanup_free_ char *system_z = NULL;
	const char *key = name;
	size_t key_len = len;
	struct text_event *d;

	if (system && system + system_len + 1 == name) {
		key = system;		/* "system:name" stands together */
		key_len += system_len + 1;
	}
	d = *slot_of(te, key, key_len);
	if (likely(d))
		return d;
	if (system)
		system_z = xstrndup(system, system_len);
	return new_event(te, key, key_len, system_z, name, len, fields, fields_len);
}

struct text_event *text_event_special(struct text_events *te, const char *name,
				      enum event_kind kind)
{
	struct text_event *d = *slot_of(te, name, strlen(name));

	return d ? d : add_event(te, name, strlen(name), NULL, name, kind, WAY_NONE, STRTAB_NONE);
}

struct text_event *text_syscall(struct text_events *te, const char *rest, size_t len,
				const char **fields)
{
	const char *p = rest, *end = rest + len;
	_cleanup_free_ char *name = NULL;
	struct text_event *d;
	bool ret;

	if (!starts_with(rest, len, "sys_"))
		return NULL;
	while (p < end && ((*p >= 'a' && *p <= 'z') || *p == '_' || (*p >= '0' && *p <= '9')))
		p++;
	if (p == rest + 4 || p == end)
		return NULL;
	ret = starts_with(p, (size_t)(end - p), " -> 0x");
	if (!ret && *p != '(')
		return NULL;
	*fields = ret ? p + 4 : p + 1;
	d = *slot_of(te, rest, (size_t)(p + 1 - rest));		/* the key holds the ' ' or '(' */
	if (d)
		return d;
	name = xasprintf("sys_%s_%.*s", ret ? "exit" : "enter", (int)(p - rest - 4), rest + 4);
	return add_event(te, rest, (size_t)(p + 1 - rest), NULL, name,
			 ret ? EV_SYSCALL_EXIT : EV_SYSCALL_ENTER,
			 ret ? WAY_SYSCALL_EXIT : WAY_SYSCALL_ENTER,
			 strtab_id(&te->s->strings, rest + 4, (size_t)(p - rest - 4)));
}
