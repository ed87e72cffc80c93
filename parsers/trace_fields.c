// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_fields.c - the text of an event into its slots; see trace_fields.h. */
#include "trace_fields.h"

#include "trace_forms.h"
#include "trace_line.h"

#define COMM_WITHIN	16	/* a comm has at most 15 bytes */
#define REASON_SLOTS	64
#define TABLE_START	256
#define MAX_EVENTS	4096	/* names; a garbled text must not make more */

/* How an event's text is read. */
enum way { WAY_FORMS, WAY_USERSPACE_EXIT, WAY_PROBE, WAY_RETPROBE, WAY_SYSCALL_ENTER, WAY_SYSCALL_EXIT, WAY_NONE };

struct text_event {
	char		*key;		/* "system:name" or "name" as in the text */
	size_t		key_len;
	uint64_t	a[4];		/* defaults of absent fields */
	uint32_t	b[2];
	uint16_t	ev;
	uint8_t		kind, way;
	uint8_t		form;		/* the one that fitted last */
	uint32_t	func;		/* probes, syscalls: string id of the last line's (or only) function */
};

struct reason_slot {
	uint64_t	hash;
	char		name[40];
	uint8_t		len;
	uint32_t	packed;
};

struct text_events {
	struct stream	*s;
	struct text_event **table;	/* open addressing; grows at half full */
	size_t		size, n;
	struct reason_slot reasons[REASON_SLOTS];
};

/* What decoding and displaying share: where converted values go. */
struct sink {
	uint64_t	*a;
	uint32_t	*b;
	struct text_events *te;		/* NULL when only displaying */
	void		(*emit)(void *arg, const char *name, const struct field_value *v);
	void		*arg;
};

static uint64_t hash_name(const char *s, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15ULL, w = 0, v = 0;

	if (len >= 8) {
		memcpy(&w, s, 8);
		memcpy(&v, s + len - 8, 8);
		if (len > 16) {
			uint64_t m;

			memcpy(&m, s + len / 2 - 4, 8);
			v ^= m * 0xff51afd7ed558ccdULL;
		}
	} else {
		memcpy(&w, s, len);
	}
	h = (h ^ w) * 0xff51afd7ed558ccdULL;
	h = (h ^ (h >> 32) ^ v) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ (h >> 29);
}

struct text_events *text_events_new(struct stream *s)
{
	struct text_events *te = xcalloc(1, sizeof(*te));

	te->s = s;
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
		free(te->table[i]);
	}
	free(te->table);
	free(te);
}

static struct text_event **slot_of(struct text_events *te, const char *key, size_t len)
{
	size_t i = hash_name(key, len) & (te->size - 1);

	while (te->table[i] && !(te->table[i]->key_len == len && !memcmp(te->table[i]->key, key, len)))
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

static void set_slot(struct sink *k, unsigned int slot, uint64_t v)
{
	if (slot <= S_A3)
		k->a[slot] = v;
	else if (slot <= S_B1)
		k->b[slot - S_B0] = (uint32_t)v;
}

static void set_comm(struct sink *k, unsigned int slot, const char *s, size_t len)
{
	if (slot <= S_A2)
		comm_words(&k->a[slot], s, len);
}

static void show(struct sink *k, const char *name, enum field_type type, uint64_t v, const char *s, size_t len)
{
	struct field_value f = { .type = type, .i = (int64_t)v, .u = v, .s = s, .len = len };

	if (k->emit && name)
		k->emit(k->arg, name, &f);
}

/* "R+", "S", "D|K" as the kernel prints them; letters that are no state of their own (K, W, N) add nothing to others. */
static uint64_t kernel_state(const char *s, size_t len)
{
	uint64_t bits = 0;
	bool known = false;
	size_t i;

	for (i = 0; i < len; i++) {
		switch (s[i]) {
		case 'R':
			known = true;
			break;
		case '+':
			bits |= TSTATE_PREEMPTED;
			break;
		case 'S':
			bits |= TSTATE_INTERRUPTIBLE;
			break;
		case 'D':
			bits |= TSTATE_UNINTERRUPTIBLE;
			break;
		case 'T':
			bits |= TSTATE_STOPPED;
			break;
		case 't':
			bits |= TSTATE_TRACED;
			break;
		case 'X':
		case 'x':
			bits |= TSTATE_DEAD;
			break;
		case 'Z':
			bits |= TSTATE_ZOMBIE;
			break;
		case 'P':
			bits |= TSTATE_PARKED;
			break;
		case 'I':
			bits |= TSTATE_IDLE;
			break;
		default:
			break;
		}
	}
	return bits || known ? bits : TSTATE_OTHER;
}

/* libtraceevent's letters go by bit: "SDTtXZxW", later "SDTtXZPI". */
static uint64_t plugin_state(const char *s, size_t len)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == 'x')
			bits |= TSTATE_PARKED;
		else if (s[i] == 'W')
			bits |= TSTATE_IDLE;
		else if (s[i] != '|')
			bits |= kernel_state(s + i, 1);
	}
	return bits;
}

static uint32_t reason_of(struct text_events *te, const char *s, size_t len)
{
	uint64_t h = hash_name(s, len);
	struct reason_slot *r = &te->reasons[h % REASON_SLOTS];
	const char *kernel;

	if (likely(r->hash == h && r->len == len && !memcmp(r->name, s, MIN(len, sizeof(r->name)))))
		return r->packed;
	kernel = plugin_reason(s, len);
	if (len >= sizeof(r->name))
		return kernel ? stream_reason(te->s, kernel, strlen(kernel)) : stream_reason(te->s, s, len);
	r->hash = h;
	r->len = (uint8_t)len;
	memcpy(r->name, s, len);
	r->packed = kernel ? stream_reason(te->s, kernel, strlen(kernel)) : stream_reason(te->s, s, len);
	return r->packed;
}

/* memcmp() of a few bytes, inline: literals are short. */
static inline bool same(const char *a, const char *b, size_t n)
{
	uint64_t x, y;
	uint32_t v, w;

	for (; n >= 8; n -= 8, a += 8, b += 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
	}
	if (n >= 4) {
		memcpy(&v, a, 4);
		memcpy(&w, b, 4);
		if (v != w)
			return false;
		n -= 4;
		a += 4;
		b += 4;
	}
	for (; n; n--)
		if (*a++ != *b++)
			return false;
	return true;
}

static inline bool lit_at(const struct form_op *op, const char *p, const char *end)
{
	return (size_t)(end - p) >= op->lit_len && same(p, op->lit, op->lit_len);
}

/* The first place of the op's literal at or behind @p; NULL when there is none. */
static const char *lit_find(const struct form_op *op, const char *p, const char *end)
{
	if (!op->lit_len)
		return p;
	for (; p < end && (p = memchr(p, *op->lit, (size_t)(end - p))); p++)
		if (lit_at(op, p, end))
			return p;
	return NULL;
}

/* Where the next op's literal stands: the last place within a comm's length, else the first at all; @end when the op is the last. */
static const char *text_end(const struct form *f, size_t i, const char *p, const char *end, bool comm)
{
	const struct form_op *next = i + 1 < f->n ? &f->ops[i + 1] : NULL;
	const char *q;

	if (!next)
		return end;
	if (comm) {
		for (q = p + MIN(end - p, (ptrdiff_t)COMM_WITHIN); q >= p; q--)
			if (q < end && *q == *next->lit && lit_at(next, q, end))
				return q;
	}
	q = lit_find(next, p, end);
	return q ? q : next->flags & FORM_OPTIONAL ? end : NULL;
}

/* "comm:pid" that ends before " [". */
static bool comm_pid(struct sink *k, const struct form_op *op, const char **p, const char *end)
{
	const char *q = *p, *limit = q + MIN(end - q, (ptrdiff_t)(COMM_WITHIN + 12)), *colon;
	int64_t pid;

	for (; q + 1 < limit; q++) {
		if (q[0] != ' ' || q[1] != '[')
			continue;
		for (colon = q; colon > *p && colon[-1] >= '0' && colon[-1] <= '9'; colon--)
			;
		if (colon == q || colon == *p || *--colon != ':')
			continue;
		set_comm(k, op->slot, *p, (size_t)(colon - *p));
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(colon - *p));
		*p = colon + 1;
		if (!read_dec(p, end, &pid))
			return false;
		set_slot(k, op->slot2, (uint64_t)pid);
		show(k, op->name2, FIELD_INT, (uint64_t)pid, NULL, 0);
		return true;
	}
	return false;
}

static inline __attribute__((always_inline)) bool convert(struct sink *k, const struct form *f, size_t i, const char **p, const char *end)
{
	const struct form_op *op = &f->ops[i];
	const char *to;
	uint64_t v = 0;
	int64_t n;
	size_t e;

	switch (op->conv) {
	case C_DEC:
		if (!read_dec(p, end, &n))
			return false;
		set_slot(k, op->slot, (uint64_t)n);
		show(k, op->name, FIELD_INT, (uint64_t)n, NULL, 0);
		return true;
	case C_HEX:
	case C_NUM:
		if (!(op->conv == C_HEX ? read_hex(p, end, &v) : read_num(p, end, &v)))
			return false;
		set_slot(k, op->slot, v);
		show(k, op->name, op->conv == C_HEX ? FIELD_HEX : FIELD_INT, v, NULL, 0);
		return true;
	case C_COMM_PID:
		return comm_pid(k, op, p, end);
	case C_STATE:
	case C_PSTATE:
		for (to = *p; to < end && *to != ' '; to++)
			;
		if (to == *p)
			return false;
		set_slot(k, op->slot, op->conv == C_STATE ? kernel_state(*p, (size_t)(to - *p)) :
			 plugin_state(*p, (size_t)(to - *p)));
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(to - *p));
		*p = to;
		return true;
	case C_ENUM:
		for (e = 0; op->names[e]; e++) {
			if (!starts_with(*p, (size_t)(end - *p), op->names[e]))
				continue;
			set_slot(k, op->slot, e);
			show(k, op->name, FIELD_UINT, e, NULL, 0);
			*p += strlen(op->names[e]);
			return true;
		}
		return false;
	case C_TEXT:
		if (!op->name)
			return true;
		/* fall through */
	default:
		to = text_end(f, i, *p, end, op->conv == C_COMM);
		if (!to)
			return false;
		if (op->conv == C_COMM)
			set_comm(k, op->slot, *p, (size_t)(to - *p));
		else if (op->conv == C_REASON && k->te)
			set_slot(k, op->slot, reason_of(k->te, *p, (size_t)(to - *p)));
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(to - *p));
		*p = to;
		return true;
	}
}

static inline __attribute__((always_inline)) bool form_steps(struct sink *k, const struct form *f, const char *p,
							    const char *end)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct form_op *op = &f->ops[i];

		if (!lit_at(op, p, end)) {
			const char *q = op->flags & FORM_SEARCH ? lit_find(op, p, end) : NULL;

			if (!q) {
				if (op->flags & FORM_OPTIONAL)
					continue;
				return false;
			}
			p = q;
		}
		p += op->lit_len;
		if (!convert(k, f, i, &p, end))
			return false;
	}
	return true;
}

/* The same code twice: what decodes need not ask at each step whether to display. */
static bool run_form(struct sink *k, const struct form *f, const char *p, const char *end)
{
	struct sink quiet = { .a = k->a, .b = k->b, .te = k->te };

	return form_steps(&quiet, f, p, end);
}

static bool show_form(struct sink *k, const struct form *f, const char *p, const char *end)
{
	return form_steps(k, f, p, end);
}

/* The value of "name=" in the text; NULL when there is none. */
static const char *raw_value(const char *s, const char *end, const char *name, size_t len)
{
	const char *p = s;

	while ((p = memmem(p, (size_t)(end - p), name, len))) {
		if ((p == s || p[-1] == ' ' || p[-1] == '\t' || p[-1] == ',') && p + len < end && p[len] == '=')
			return p + len + 1;
		p++;
	}
	return NULL;
}

static const char *raw_field_value(const char *s, const char *end, const char *names)
{
	while (names) {
		const char *bar = strchr(names, '|');
		const char *v = raw_value(s, end, names, bar ? (size_t)(bar - names) : strlen(names));

		if (v)
			return v;
		names = bar ? bar + 1 : NULL;
	}
	return NULL;
}

static bool raw_fields(struct sink *k, enum event_kind kind, const char *s, const char *end)
{
	size_t n, i;
	const struct raw_field *f = raw_fields_of(kind, &n);

	for (i = 0; i < n; i++) {
		const char *v = raw_field_value(s, end, f[i].names), *to, *isa, *name;
		uint64_t num = 0, isa_num = 0;

		if (!v) {
			if (f[i].required)
				return false;
			continue;
		}
		for (to = v; to < end && *to != ' ' && *to != ','; to++)
			;
		switch (f[i].conv) {
		case RAW_COMM:
			/* up to the next "word=" */
			for (to = v; to < end; to++) {
				const char *w = to + 1;

				while (*to == ' ' && w < end && ((*w >= 'a' && *w <= 'z') || *w == '_'))
					w++;
				if (*to == ' ' && w < end && *w == '=' && w > to + 1)
					break;
			}
			set_comm(k, f[i].slot, v, (size_t)(to - v));
			break;
		case RAW_REASON:
			isa = raw_value(s, end, "isa", 3);
			if (!read_num(&v, end, &num))
				return false;
			if (isa)
				read_num(&isa, end, &isa_num);
			name = exit_reason_name(isa_num ? (unsigned int)isa_num : 1, num & 0xffff);
			if (isa_num == 2)
				name = exit_reason_name(2, num);
			if (name && k->te)
				set_slot(k, f[i].slot, stream_reason(k->te->s, name, strlen(name)));
			break;
		case RAW_ARG:
			break;
		default:
			if (!read_num(&v, end, &num))
				return false;
			set_slot(k, f[i].slot, num);
		}
	}
	return n != 0;
}

/* kvm_userspace_exit: "reason KVM_EXIT_IO (2)"; for errno < 0 "reason restart (4)" or "reason error (N)". */
static bool userspace_exit(struct sink *k, const char *p, const char *end)
{
	const char *open = memrchr(p, '(', (size_t)(end - p)), *name = p;
	int64_t n;

	if (!starts_with(p, (size_t)(end - p), "reason ") || !open || open < p + 8)
		return false;
	name += 7;
	p = open + 1;
	if (!read_dec(&p, end, &n))
		return false;
	if (starts_with(name, (size_t)(end - name), "restart ") || starts_with(name, (size_t)(end - name), "error ")) {
		set_slot(k, S_B0, EVENT_U32_NONE);
		set_slot(k, S_B1, (uint64_t)-n);
		show(k, "errno", FIELD_INT, (uint64_t)-n, NULL, 0);
	} else {
		set_slot(k, S_B0, (uint64_t)n);
		show(k, "reason", FIELD_INT, (uint64_t)n, NULL, 0);
	}
	return true;
}

/* Is @s all of hex digits, as an unresolved address is? */
static bool is_address(const char *s, size_t len)
{
	size_t i;

	if (starts_with(s, len, "0x")) {
		s += 2;
		len -= 2;
	}
	for (i = 0; i < len; i++)
		if (!strchr("0123456789abcdef", s[i]))
			return false;
	return len >= 8;
}

struct probe_text {
	const char	*func;		/* function probed; NULL where it is an address */
	size_t		func_len;
	const char	*args;
	bool		ret;
};

/*
 * "(func+0x0/0x70 [mod]) args" and "(ret_ip+0x../0x.. <- func) args" as the kernel prints them; where addresses stand in
 * the parentheses, libtraceevent's order is "(func <- ret_ip)". (kernel: print_kprobe_event(), print_kretprobe_event())
 */
static bool probe_split(const char *p, const char *end, struct probe_text *t)
{
	const char *close, *arrow, *f, *to;

	t->ret = starts_with(p, (size_t)(end - p), "__probe_func=");
	if (t->ret || starts_with(p, (size_t)(end - p), "__probe_ip=")) {	/* trace-cmd report -R */
		f = t->ret ? memmem(p, (size_t)(end - p), " __probe_ret_ip=", 16) : p;
		t->func = NULL;
		t->func_len = 0;
		t->args = f ? memchr(f + 1, ' ', (size_t)(end - f - 1)) : NULL;
		if (!t->args)
			t->args = end;
		return true;
	}
	if (p == end || *p != '(' || !(close = memchr(p, ')', (size_t)(end - p))) || close == p + 1)
		return false;
	f = p + 1;
	arrow = memmem(f, (size_t)(close - f), " <- ", 4);
	t->ret = arrow != NULL;
	if (arrow)
		f = arrow + 4;
	for (to = f; to < close && *to != '+' && *to != ' '; to++)
		;
	if (to == f)
		return false;
	t->func = is_address(f, (size_t)(to - f)) ? NULL : f;
	t->func_len = (size_t)(to - f);
	t->args = close + 1;
	return true;
}

/* The next " name=value"; false at the end. */
static bool next_arg(const char **p, const char *end, const char **name, size_t *name_len, uint64_t *v,
		     const char **text, size_t *text_len)
{
	const char *eq, *s;

	skip_blanks(p, end);
	eq = memchr(*p, '=', (size_t)(end - *p));
	if (!eq)
		return false;
	*name = *p;
	*name_len = (size_t)(eq - *p);
	s = eq + 1;
	*v = 0;
	if (s < end && *s == '"') {
		const char *q = memchr(s + 1, '"', (size_t)(end - s - 1));

		q = q ? q + 1 : end;
		*text = s;
		*text_len = (size_t)(q - s);
		*p = q;
		return true;
	}
	*text = s;
	read_num(&s, end, v);
	while (s < end && *s != ' ')
		s++;
	*text_len = (size_t)(s - *text);
	*p = s;
	return true;
}

static bool name_is(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(s, name, len);
}

static bool probe(struct sink *k, struct text_event *d, const char *p, const char *end, struct event *ev)
{
	static const char *const root_names[] = { "si", "rsi", "root", "root_tdp", "arg2", "x1" };
	static const char *const weight_names[] = { "se", "old", "new", "vruntime" };
	struct strtab *strings = &k->te->s->strings;
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

bool text_event_decode(struct text_events *te, struct text_event *d, const char *s, size_t len, struct event *ev)
{
	struct sink k = { .a = ev->a, .b = ev->b, .te = te };
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
		forms = forms_of((enum event_kind)d->kind);
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
	case WAY_PROBE:
	case WAY_RETPROBE:
		ok = probe(&k, d, p, end, ev);
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
static bool syscall_name(const char *name, size_t len, const char *prefix, const char **call, size_t *call_len)
{
	size_t n = strlen(prefix);

	if (len <= n || memcmp(name, prefix, n))
		return false;
	*call = name + n;
	*call_len = len - n;
	return true;
}

static struct text_event *add_event(struct text_events *te, const char *key, size_t key_len, const char *system,
				    const char *name, enum event_kind kind, enum way way, uint32_t func)
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
		d->ev = stream_event_type(te->s, NULL, te->s->types[0].name, EV_OTHER, COV_SEEN, COV_ALL, COV_SYSTEM);
	d->kind = (uint8_t)(kind != EV_OTHER ? kind : te->s->types[d->ev].kind);
	d->func = func;
	if (te->s->types[d->ev].func == STRTAB_NONE && (way == WAY_PROBE || way == WAY_RETPROBE))
		te->s->types[d->ev].func = func;
	d->way = (uint8_t)way;
	if (way == WAY_FORMS)
		d->way = d->kind == EV_KVM_USERSPACE_EXIT ? WAY_USERSPACE_EXIT :
			 forms_of((enum event_kind)d->kind) ? WAY_FORMS : WAY_NONE;
	set_defaults(d);
	*slot_of(te, key, key_len) = d;
	te->n++;
	return d;
}

/* Function probed by an event called @name, where the text has only addresses: p_FUNC_0, r_FUNC, FUNC__return ... */
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

static struct text_event *new_event(struct text_events *te, const char *key, size_t key_len, const char *system,
				    const char *name, size_t len, const char *fields, size_t fields_len)
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
		func = t.func ? strtab_id(strings, t.func, t.func_len) : func_of_name(te, name, len);
		kind = t.ret ? EV_PROBE_RETURN : EV_PROBE_ENTER;
		way = t.ret ? WAY_RETPROBE : WAY_PROBE;
		if (!t.ret && !strcmp(strtab_str(strings, func), "hv_track_root_tdp"))
			kind = EV_PROBE_ROOT;
		if (!t.ret && !strcmp(strtab_str(strings, func), "reweight_entity"))
			kind = EV_PROBE_REWEIGHT;
	}
	return add_event(te, key, key_len, system, name_z, kind, way, func);
}

struct text_event *text_event(struct text_events *te, const char *system, size_t system_len, const char *name,
			      size_t len, const char *fields, size_t fields_len)
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

struct text_event *text_event_special(struct text_events *te, const char *name, enum event_kind kind)
{
	struct text_event *d = *slot_of(te, name, strlen(name));

	return d ? d : add_event(te, name, strlen(name), NULL, name, kind, WAY_NONE, STRTAB_NONE);
}

struct text_event *text_syscall(struct text_events *te, const char *rest, size_t len, const char **fields)
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
	return add_event(te, rest, (size_t)(p + 1 - rest), NULL, name, ret ? EV_SYSCALL_EXIT : EV_SYSCALL_ENTER,
			 ret ? WAY_SYSCALL_EXIT : WAY_SYSCALL_ENTER,
			 strtab_id(&te->s->strings, rest + 4, (size_t)(p - rest - 4)));
}

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

void text_event_fields(const char *name, size_t name_len, const char *fields, size_t len,
		       void (*emit)(void *arg, const char *name, const struct field_value *v), void *arg)
{
	enum event_kind kind = kind_of_name(name, name_len);
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
	for (i = 0; forms && i < FORMS_MAX && forms[i].n; i++)
		if (run_form(&dry, &forms[i], p, end)) {
			show_form(&k, &forms[i], p, end);
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
	if (!any) {
		f.type = FIELD_STR;
		f.s = fields;
		f.len = len;
		emit(arg, "text", &f);
	}
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
