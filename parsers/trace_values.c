// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_values.c - values out of an event's text by its printed form; see trace_values.h. */
#include "trace_values.h"

#include "trace_line.h"

#define COMM_WITHIN	16	/* a comm has at most 15 bytes */
#define WORD_MAX	80	/* of a string that is kept */

uint64_t text_hash(const char *s, size_t len)
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

void set_slot(struct sink *k, unsigned int slot, uint64_t v)
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

static void show(struct sink *k, const char *name, enum field_type type, uint64_t v, const char *s,
		 size_t len)
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

static __attribute__((nonnull)) uint32_t reason_of(struct reasons *all, const char *s, size_t len)
{
	uint64_t h = text_hash(s, len);
	struct reason_slot *r = &all->slots[h % REASON_SLOTS];
	const char *kernel;

	if (likely(r->hash == h && r->len == len && !memcmp(r->name, s, MIN(len, sizeof(r->name)))))
		return r->packed;
	kernel = plugin_reason(s, len);
	if (len >= sizeof(r->name))
		return kernel ? stream_reason(all->s, kernel, strlen(kernel))
			      : stream_reason(all->s, s, len);
	r->hash = h;
	r->len = (uint8_t)len;
	memcpy(r->name, s, len);
	r->packed = kernel ? stream_reason(all->s, kernel, strlen(kernel))
			   : stream_reason(all->s, s, len);
	return r->packed;
}

/* The end of a word. */
static const char *word_end(const char *p, const char *end)
{
	while (p < end && *p != ' ' && *p != ',' && *p != ')' && *p != '\t')
		p++;
	return p;
}

/* The string id of a word, where there is a table to keep it. */
static void set_word(struct sink *k, unsigned int slot, const char *s, size_t len)
{
	if (k->reasons)
		set_slot(k, slot,
			 strtab_id(&k->reasons->s->strings, s, MIN(len, (size_t)WORD_MAX)));
}

/* Words joined by '|' as bits; unknown ones and a number (0x0) add nothing. */
static uint64_t flag_words(const char *const *names, const char *s, const char *end)
{
	uint64_t bits = 0;
	size_t n, i;

	for (; s < end; s += n + 1) {
		const char *bar = memchr(s, '|', (size_t)(end - s));

		n = (size_t)((bar ? bar : end) - s);
		for (i = 0; names[i]; i++)
			if (strlen(names[i]) == n && !memcmp(names[i], s, n))
				bits |= 1ull << i;
	}
	return bits;
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

/*
 * Where the next op's literal stands: the last place within a comm's length, else the first at all;
 * @end when the op is the last.
 */
static const char *text_end(const struct form *f, size_t i, const char *p, const char *end,
			    bool comm)
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

static inline __attribute__((always_inline)) bool convert(struct sink *k, const struct form *f,
							  size_t i, const char **p, const char *end)
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
	case C_WORD:
		to = word_end(*p, end);
		if (to == *p)
			return false;
		set_word(k, op->slot, *p, (size_t)(to - *p));
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(to - *p));
		*p = to;
		return true;
	case C_FLAG:
		v = memmem(*p, (size_t)(end - *p), op->names[0], strlen(op->names[0])) != NULL;
		set_slot(k, op->slot, v);
		show(k, op->name, FIELD_UINT, v, NULL, 0);
		return true;
	case C_FLAGS:
		to = word_end(*p, end);
		v = flag_words(op->names, *p, to);
		set_slot(k, op->slot, v);
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(to - *p));
		*p = to;
		return true;
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
		else if (op->conv == C_REASON && k->reasons)
			set_slot(k, op->slot, reason_of(k->reasons, *p, (size_t)(to - *p)));
		show(k, op->name, FIELD_STR, 0, *p, (size_t)(to - *p));
		*p = to;
		return true;
	}
}

static inline __attribute__((always_inline, nonnull)) bool
form_steps(struct sink *k, const struct form *f, const char *p, const char *end)
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
bool run_form(struct sink *k, const struct form *f, const char *p, const char *end)
{
	struct sink quiet = { .a = k->a, .b = k->b, .reasons = k->reasons };

	return form_steps(&quiet, f, p, end);
}

bool show_form(struct sink *k, const struct form *f, const char *p, const char *end)
{
	return form_steps(k, f, p, end);
}

/* The value of "name=" in the text; NULL when there is none. */
static const char *raw_value(const char *s, const char *end, const char *name, size_t len)
{
	const char *p = s;

	while ((p = memmem(p, (size_t)(end - p), name, len))) {
		if ((p == s || p[-1] == ' ' || p[-1] == '\t' || p[-1] == ',') && p + len < end &&
		    p[len] == '=')
			return p + len + 1;
		p++;
	}
	return NULL;
}

static const char *raw_field_value(const char *s, const char *end, const char *names)
{
	const char *alias = strchr(names, '=');

	if (alias) {		/* "alias=field:shift:bits" */
		names = alias + 1;
		return raw_value(s, end, names, strcspn(names, ":"));
	}
	if (strchr(names, ':'))	/* "args:0" */
		return raw_value(s, end, names, strcspn(names, ":"));
	while (names) {
		const char *bar = strchr(names, '|');
		const char *v = raw_value(s, end, names,
					  bar ? (size_t)(bar - names) : strlen(names));

		if (v)
			return v;
		names = bar ? bar + 1 : NULL;
	}
	return NULL;
}

/* The bits of @v that "alias=field:shift:bits" names. */
static uint64_t bits_of(const char *names, uint64_t v)
{
	const char *colon = strchr(names, ':'), *more = colon ? strchr(colon + 1, ':') : NULL;
	unsigned long shift = colon ? strtoul(colon + 1, NULL, 10) : 0;
	unsigned long bits = more ? strtoul(more + 1, NULL, 10) : 0;

	return shift < 64 && bits && bits < 64 ? v >> shift & ((1ull << bits) - 1) : v;
}

/*
 * "ARRAY[0b, 00, ...]": word @index of the array at @v, as libtraceevent prints the bytes of an
 * array of longs (24 bytes: 32-bit ones). The bytes stand as they lay in memory; of which order
 * that is, is told by where small values and addresses have their zeros.
 */
static bool array_word(const char *v, const char *end, unsigned long index, uint64_t *ret)
{
	uint8_t bytes[48];
	size_t n = 0, word, i, little = 0, big = 0;
	uint64_t b;

	if (!starts_with(v, (size_t)(end - v), "ARRAY["))
		return false;
	for (v += 6; n < sizeof(bytes) && read_hex(&v, end, &b) && b < 256; n++) {
		bytes[n] = (uint8_t)b;
		if (!starts_with(v, (size_t)(end - v), ", "))
			break;
		v += 2;
	}
	n++;
	if (n != 48 && n != 24)
		return false;
	word = n / 6;
	for (i = 0; i < n; i += word) {
		little += bytes[i] && !bytes[i + word - 1];
		big += !bytes[i] && bytes[i + word - 1];
	}
	*ret = 0;
	for (i = 0; i < word; i++)
		*ret = *ret << 8 | bytes[index * word + (big > little ? i : word - 1 - i)];
	return true;
}

bool raw_fields(struct sink *k, enum event_kind kind, const char *s, const char *end)
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

				while (*to == ' ' && w < end &&
				       ((*w >= 'a' && *w <= 'z') || *w == '_'))
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
			if (name && k->reasons)
				set_slot(k, f[i].slot,
					 stream_reason(k->reasons->s, name, strlen(name)));
			break;
		case RAW_ARG:
			isa = strchr(f[i].names, ':');
			if (isa && array_word(v, end, strtoul(isa + 1, NULL, 10), &num))
				set_slot(k, f[i].slot, num);
			break;
		case RAW_STR:
		case RAW_SYM:
		case RAW_FUNC:
			set_word(k, f[i].slot, v, (size_t)(to - v));
			break;
		case RAW_BITS:
			if (read_num(&v, end, &num))
				set_slot(k, f[i].slot, bits_of(f[i].names, num));
			break;
		default:
			if (read_num(&v, end, &num))
				set_slot(k, f[i].slot, num);
			else if (f[i].required)
				return false;
		}
	}
	return n != 0;
}

/* kvm_userspace_exit: "reason KVM_EXIT_IO (2)"; for errno < 0 "reason restart (4)" or "reason error (N)". */
bool userspace_exit(struct sink *k, const char *p, const char *end)
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

/*
 * "(func+0x0/0x70 [mod]) args" and "(ret_ip+0x../0x.. <- func) args" as the kernel prints them; where addresses stand in
 * the parentheses, libtraceevent's order is "(func <- ret_ip)". (kernel: print_kprobe_event(), print_kretprobe_event())
 */
bool probe_split(const char *p, const char *end, struct probe_text *t)
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
bool next_arg(const char **p, const char *end, const char **name, size_t *name_len, uint64_t *v,
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
