// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tp_decode.c - the flat decoder: a catalogue row (events.def) resolved against a format once,
 * then run per event without look-ups; see tp_format.h.
 */
#include "tp_format.h"

enum slot { A0, A1, A2, A3, B0, B1 };
enum conv { NUM, COMM, REASON, ARG, STATE, STR, BITS, SYM, FUNC };

struct row_field {
	uint8_t		slot, conv;
	bool		optional;
	const char	*names;
	uint64_t	dflt;
};

struct row {
	enum event_kind	kind;
	const char	*system, *names;
	size_t		n;
	const struct row_field *fields;
};

#define F(slot, conv, names)		{ slot, conv, false, names, 0 },
#define O(slot, conv, names, dflt)	{ slot, conv, true, names, (uint64_t)(dflt) },
#define EVENT(kind, system, name, ...)	\
	static const struct row_field fields_##kind[] = { __VA_ARGS__ };
#include "events.def"
#undef EVENT
#undef F
#undef O

static const struct row rows[] = {
#define EVENT(kind, system, name, ...)	\
	{ EV_##kind, system, name, ARRAY_SIZE(fields_##kind), fields_##kind },
#include "events.def"
#undef EVENT
};

/* Is @name one of the "a|b|c" in @names? */
static bool named(const char *names, const char *name)
{
	size_t len = strlen(name), n;

	for (; *names; names += n + (names[n] == '|')) {
		n = strcspn(names, "|");
		if (n == len && !memcmp(names, name, n))
			return true;
	}
	return false;
}

enum event_kind tp_kind(const struct tp_format *f)
{
	bool probe = !strcmp(f->system, "kprobes") || !strcmp(f->system, "fprobes") || !strncmp(f->system, "probe", 5);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (named(rows[i].system, f->system) && named(rows[i].names, f->name))
			return rows[i].kind;
	if (!strcmp(f->system, "syscalls")) {
		if (!strncmp(f->name, "sys_enter_", 10))
			return EV_SYSCALL_ENTER;
		if (!strncmp(f->name, "sys_exit_", 9))
			return EV_SYSCALL_EXIT;
	}
	if (probe && tp_field_find(f, "old|old_weight") && tp_field_find(f, "new|weight|new_weight") &&
	    tp_field_find(f, "vruntime"))
		return EV_PROBE_REWEIGHT;
	return EV_OTHER;
}

static uint8_t load_op(const struct tp_field *fl)
{
	switch (fl->elem) {
	case 1:
		return fl->is_signed ? TP_OP_S8 : TP_OP_U8;
	case 2:
		return fl->is_signed ? TP_OP_S16 : TP_OP_U16;
	case 4:
		return fl->is_signed ? TP_OP_S32 : TP_OP_U32;
	default:
		return TP_OP_U64;
	}
}

static inline uint64_t tp_load(uint8_t op, const uint8_t *p)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (op) {
	case TP_OP_U8:
		return *p;
	case TP_OP_S8:
		return (uint64_t)(int64_t)(int8_t)*p;
	case TP_OP_U16:
		memcpy(&u16, p, sizeof(u16));
		return u16;
	case TP_OP_S16:
		memcpy(&u16, p, sizeof(u16));
		return (uint64_t)(int64_t)(int16_t)u16;
	case TP_OP_U32:
		memcpy(&u32, p, sizeof(u32));
		return u32;
	case TP_OP_S32:
		memcpy(&u32, p, sizeof(u32));
		return (uint64_t)(int64_t)(int32_t)u32;
	default:
		memcpy(&u64, p, sizeof(u64));
		return u64;
	}
}

/*
 * Kernel task state bits to ours, by the letters of the format's own __print_flags list; the bit
 * after the highest listed one is TASK_REPORT_MAX (TASK_STATE_MAX before 4.14): a preempted
 * task, printed "R+".
 */
static void make_states(struct tp_decoder *d, const char *field)
{
	static const struct tp_symbol usual[] = {
		{ 0x01, (char *)"S" }, { 0x02, (char *)"D" }, { 0x04, (char *)"T" }, { 0x08, (char *)"t" },
		{ 0x10, (char *)"X" }, { 0x20, (char *)"Z" }, { 0x40, (char *)"P" }, { 0x80, (char *)"I" },
	};
	static const struct {
		char letter;
		uint16_t bit;
	} letters[] = {
		{ 'S', TSTATE_INTERRUPTIBLE },
		{ 'D', TSTATE_UNINTERRUPTIBLE },
		{ 'T', TSTATE_STOPPED },
		{ 't', TSTATE_TRACED },
		{ 'X', TSTATE_DEAD },
		{ 'x', TSTATE_DEAD },
		{ 'Z', TSTATE_ZOMBIE },
		{ 'P', TSTATE_PARKED },
		{ 'I', TSTATE_IDLE },
		{ 'N', TSTATE_IDLE },
		{ 'K', 0 },
		{ 'W', 0 },
		{ 'R', TSTATE_PREEMPTED },
		{ '+', TSTATE_PREEMPTED },
	};
	const struct tp_table *t = tp_table_of(d->format, field, true, 0);
	const struct tp_symbol *sym = t && t->n ? t->sym : usual;
	size_t n = t && t->n ? t->n : ARRAY_SIZE(usual), i, j, v;
	uint64_t top = 0;

	d->states = xcalloc(TP_STATES, sizeof(*d->states));
	for (i = 0; i < n; i++)
		top = MAX(top, sym[i].value);
	for (v = 1; v < TP_STATES; v++) {
		uint16_t out = 0;
		size_t known = 0;

		for (i = 0; i < n; i++) {
			if (!sym[i].value || (v & sym[i].value) != sym[i].value)
				continue;
			for (j = 0; j < ARRAY_SIZE(letters); j++)
				if (letters[j].letter == sym[i].name[0])
					break;
			out |= j < ARRAY_SIZE(letters) ? letters[j].bit : TSTATE_OTHER;
			known |= sym[i].value;
		}
		if (top && (v & (top << 1))) {
			out |= TSTATE_PREEMPTED;
			known |= top << 1;
		}
		d->states[v] = out || !(v & ~known) ? out : TSTATE_OTHER;
		if (!d->states[v])
			d->states[v] = TSTATE_OTHER;
	}
}

/*
 * Add the op for one row field. False: the format's field doesn't suit (missing, or of another
 * shape).
 */
static bool add_op(struct tp_decoder *d, const struct tp_field *fl, enum conv conv, uint8_t slot,
		   size_t index, size_t bits)
{
	struct tp_op op = { .slot = slot, .offset = (uint16_t)fl->offset, .field = fl };
	uint32_t end = fl->offset + fl->size;

	if (d->n_ops >= TP_MAX_OPS || end > UINT16_MAX)
		return false;
	switch (conv) {
	case COMM:
		if (fl->shape != TP_STRING && fl->shape != TP_DYN_STRING)
			return false;
		op.op = fl->shape == TP_STRING && fl->size >= 16 ? TP_OP_COMM : TP_OP_COMM_LOC;
		break;
	case STR:
		if (fl->shape != TP_STRING && fl->shape != TP_DYN_STRING)
			return false;
		op.op = TP_OP_STR;
		break;
	case ARG:
		if (fl->shape != TP_INTEGERS || index >= fl->size / fl->elem)
			return false;
		op.op = load_op(fl);
		op.offset = (uint16_t)(fl->offset + index * fl->elem);
		break;
	case BITS:
		if (fl->shape != TP_INTEGER || index > 63 || !bits || bits > 32)
			return false;
		op.op = TP_OP_BITS;
		op.load = load_op(fl);
		op.shift = (uint8_t)index;
		op.bits = (uint8_t)bits;
		break;
	default:
		if (fl->shape != TP_INTEGER)
			return false;
		op.load = load_op(fl);
		op.op = conv == STATE ? TP_OP_STATE :
			conv == REASON ? TP_OP_REASON :
			conv == SYM ? TP_OP_SYM : op.load;
	}
	op.dst = (uint8_t)(slot < B0 ? offsetof(struct event, a) + 8u * slot :
				       offsetof(struct event, b) + 4u * (slot - B0));
	if ((op.op == TP_OP_U32 || op.op == TP_OP_S32) && slot >= B0)
		op.op = TP_OP_COPY4;
	else if (op.op == TP_OP_U64 && slot < B0)
		op.op = TP_OP_COPY8;
	d->min_size = MAX(d->min_size, end);
	d->ops[d->n_ops++] = op;
	return true;
}

static void set_default(struct tp_decoder *d, uint8_t slot, uint64_t v)
{
	if (slot < B0)
		d->a[slot] = v;
	else
		d->b[slot - B0] = (uint32_t)v;
}

static bool compile_row(struct tp_decoder *d, const struct row *row, const char **missing)
{
	size_t i;

	for (i = 0; i < row->n; i++) {
		const struct row_field *rf = &row->fields[i];
		_cleanup_free_ char *names = xstrdup(rf->names);
		char *alias = strchr(names, '='), *colon = strchr(names, ':'), *more = NULL;
		const struct tp_field *fl;
		size_t index = 0, bits = 0;

		if (colon) {		/* "args:1", "e:16:1" */
			*colon = '\0';
			index = strtoul(colon + 1, &more, 10);
			bits = *more == ':' ? strtoul(more + 1, NULL, 10) : 0;
		}
		set_default(d, rf->slot, rf->dflt);
		fl = tp_field_find(d->format, alias ? alias + 1 : names);
		if (fl && add_op(d, fl, (enum conv)rf->conv, rf->slot, index, bits)) {
			if (rf->conv == STATE && !d->states)
				make_states(d, fl->name);
			if (rf->conv == REASON)
				d->reason = fl;
			continue;
		}
		if (!rf->optional) {
			*missing = rf->names;
			return false;
		}
	}
	d->isa = tp_field_find(d->format, "isa");
	if (d->isa && d->isa->shape == TP_INTEGER) {
		d->isa_load = load_op(d->isa);
		d->isa_at = d->isa->offset;
		d->isa_end = d->isa->offset + d->isa->size;
	}
	d->trap_class = tp_field_find(d->format, "esr_ec");
	return true;
}

/*
 * Arguments of a probe or system call by position: every integer field that isn't the tracer's
 * own.
 */
static void compile_positional(struct tp_decoder *d, uint8_t max)
{
	uint8_t slot = A0;
	size_t i;

	for (i = 0; i < d->format->n_fields && slot < max; i++) {
		const struct tp_field *fl = &d->format->fields[i];

		if (fl->common || !strncmp(fl->name, "__probe_", 8) || !strcmp(fl->name, "__syscall_nr") ||
		    !strcmp(fl->name, "nr"))
			continue;
		add_op(d, fl, NUM, slot, 0, 0);
		slot++;
	}
}

static const struct tp_field *root_field(const struct tp_format *f)
{
	const struct tp_field *fl = tp_field_find(f, "root|root_tdp|root_hpa|si|arg2"), *only = NULL;
	size_t i, n = 0;

	for (i = 0; i < f->n_fields && !fl; i++)
		if (!f->fields[i].common && strncmp(f->fields[i].name, "__probe_", 8)) {
			only = &f->fields[i];
			n++;
		}
	return fl ? fl : n == 1 ? only : NULL;
}

static bool compile_probe(struct tp_decoder *d, const char **missing)
{
	const struct tp_format *f = d->format;
	const struct tp_field *fl;
	size_t i;

	if (d->kind == EV_PROBE_ROOT) {
		fl = root_field(f);
		if (fl && add_op(d, fl, NUM, A0, 0, 0))
			return true;
		*missing = "root|si";
		return false;
	}
	if (d->kind == EV_PROBE_REWEIGHT) {
		static const char *const names[] = { "se|entity", "old|old_weight", "new|weight|new_weight", "vruntime" };

		for (i = 0; i < ARRAY_SIZE(names); i++) {
			fl = tp_field_find(f, names[i]);
			if (fl)
				add_op(d, fl, NUM, (uint8_t)i, 0, 0);
		}
		return true;
	}
	compile_positional(d, d->kind == EV_SYSCALL_ENTER ? A3 : B0);
	return true;
}

struct tp_decoder *tp_decoder_create(const struct tp_format *f, enum event_kind kind, uint32_t func,
				     const char **missing)
{
	struct tp_decoder *d = xcalloc(1, sizeof(*d));
	const struct tp_field *flags = tp_field_find(f, "common_flags");
	bool ok = true;
	size_t i;

	*missing = NULL;
	d->format = f;
	d->kind = kind;
	d->flags_offset = flags && flags->size == 1 ? flags->offset : UINT32_MAX;
	for (i = 0; i < ARRAY_SIZE(rows) && ok; i++)
		if (rows[i].kind == kind)
			ok = compile_row(d, &rows[i], missing);
	if (kind == EV_PROBE_ENTER || kind == EV_PROBE_RETURN || kind == EV_PROBE_ROOT ||
	    kind == EV_PROBE_REWEIGHT || kind == EV_SYSCALL_ENTER || kind == EV_SYSCALL_EXIT) {
		ok = compile_probe(d, missing);
		d->b[0] = func;
	}
	if (!ok) {
		d->kind = EV_OTHER;
		d->n_ops = 0;
		d->min_size = 0;
	}
	return d;
}

void tp_decoder_free(struct tp_decoder *d)
{
	if (!d)
		return;
	free(d->states);
	free(d);
}

/*
 * A comm's 16 bytes as two words, cleared behind its NUL: older kernels leave rests of earlier
 * names there.
 */
static inline void comm16(uint64_t w[2], const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = 0x0101010101010101ull, high = 0x8080808080808080ull;
	uint64_t zero;

	memcpy(w, p, 16);
	zero = (w[0] - ones) & ~w[0] & high;
	if (zero) {
		w[0] &= ((zero & -zero) >> 7) - 1;
		w[1] = 0;
		return;
	}
	w[1] &= 0x00ffffffffffffffull;
	zero = (w[1] - ones) & ~w[1] & high;
	w[1] &= ((zero & -zero) >> 7) - 1;
#else
	comm_words(w, (const char *)p, strnlen((const char *)p, 15));
#endif
}

/* Of architectures whose events don't say which it is, by the field that has the reason. */
static uint32_t isa_of(const struct tp_field *reason)
{
	return !strcmp(reason->name, "icptcode") ? 4 : !strcmp(reason->name, "scause") ? 5 : 0;
}

static const char *reason_name(const struct tp_decoder *d, uint64_t code, uint32_t isa,
			       uint64_t trap, bool has_trap)
{
	const struct tp_table *t =
		tp_table_of(d->format, d->reason->name, false, d->isa && isa == 2);
	const char *name;

	if (t && !t->n)
		t = NULL;
	if (!d->isa)
		isa = isa_of(d->reason);
	if (d->isa && isa == 1)
		code &= 0xffff;
	if (isa == 5 && code >> 63)	/* the highest bit of scause: an interrupt */
		return "IRQ";
	name = tp_symbol_name(t, code);
	if (has_trap && ((name && !strcmp(name, "TRAP")) || (!t && code == 2))) {
		name = tp_symbol_name(tp_table_of(d->format, "esr_ec", false, 0), trap);
		return name ? name : exit_reason_name(3, trap);
	}
	return name ? name : exit_reason_name(isa, code);
}

static uint32_t decode_reason(struct tp_decoder *d, struct stream *s, const uint8_t *raw,
			      size_t size, uint64_t code)
{
	uint64_t isa = 0, trap = 0, key = code;
	bool has_trap = false;
	size_t slot;

	if (likely(d->isa_end && d->isa_end <= size))
		isa = tp_load(d->isa_load, raw + d->isa_at);
	if (d->trap_class) {
		has_trap = tp_value(d->trap_class, raw, size, 0, &trap);
		key = code ^ trap << 32;
	}
	slot = (key ^ key >> 8 ^ key >> 32 ^ isa << 6) % TP_REASON_CACHE;
	if (unlikely(!d->cache[slot].used || d->cache[slot].code != key ||
		     d->cache[slot].isa != (uint32_t)isa)) {
		const char *name = reason_name(d, code, (uint32_t)isa, trap, has_trap);

		if (!name)
			name = "UNKNOWN";	/* as perf kvm stat calls it */
		d->cache[slot].code = key;
		d->cache[slot].isa = (uint32_t)isa;
		d->cache[slot].packed = stream_reason(s, name, strlen(name));
		d->cache[slot].used = true;
	}
	return d->cache[slot].packed;
}

/* The name of @code in the print format's symbols, else the number, as a string id. */
static uint32_t decode_sym(struct tp_decoder *d, struct stream *s, const struct tp_field *fl,
			   uint64_t code)
{
	size_t slot = (code ^ code >> 8 ^ (size_t)fl->offset << 4) % TP_REASON_CACHE;
	uint64_t key = code ^ (uint64_t)fl->offset << 48;

	if (unlikely(!d->cache[slot].used || d->cache[slot].code != key)) {
		const char *name = tp_symbol_name(tp_table_of(d->format, fl->name, false, 0), code);
		char buf[24];

		if (!name) {
			snprintf(buf, sizeof(buf), "%" PRId64, (int64_t)code);
			name = buf;
		}
		d->cache[slot].code = key;
		d->cache[slot].isa = 0;
		d->cache[slot].packed = strtab_id(&s->strings, name, strlen(name));
		d->cache[slot].used = true;
	}
	return d->cache[slot].packed;
}

static void decode_comm_loc(const struct tp_field *fl, const uint8_t *raw, size_t size,
			    uint64_t w[2])
{
	size_t len;
	const uint8_t *p = tp_bytes(fl, raw, size, &len);

	comm_words(w, p ? (const char *)p : "", p ? len : 0);
}

bool tp_decode(struct tp_decoder *d, struct stream *s, const uint8_t *raw, size_t size,
	       struct event *ev)
{
	const struct tp_op *op, *end = d->ops + d->n_ops;
	size_t len;

	memcpy(ev->a, d->a, sizeof(ev->a));
	memcpy(ev->b, d->b, sizeof(ev->b));
	ev->kind = (uint8_t)d->kind;
	ev->flags = d->flags_offset < size ? (raw[d->flags_offset] & 0x7f) | EVF_KNOWN : 0;
	if (unlikely(size < d->min_size)) {
		ev->kind = EV_OTHER;
		return false;
	}
	for (op = d->ops; op < end; op++) {
		const uint8_t *p = raw + op->offset;
		uint8_t *dst = (uint8_t *)ev + op->dst;
		uint32_t narrow;
		uint64_t v;

		switch (op->op) {
		case TP_OP_COPY4:
			memcpy(dst, p, 4);
			continue;
		case TP_OP_COPY8:
			memcpy(dst, p, 8);
			continue;
		case TP_OP_COMM:
			comm16(&ev->a[op->slot], p);
			continue;
		case TP_OP_COMM_LOC:
			decode_comm_loc(op->field, raw, size, &ev->a[op->slot]);
			continue;
		case TP_OP_STATE:
			v = tp_load(op->load, p);
			v = v < TP_STATES ? d->states[v] : TSTATE_OTHER;
			break;
		case TP_OP_REASON:
			v = decode_reason(d, s, raw, size, tp_load(op->load, p));
			break;
		case TP_OP_BITS:
			v = tp_load(op->load, p) >> op->shift & ((1ull << op->bits) - 1);
			break;
		case TP_OP_SYM:
			v = decode_sym(d, s, op->field, tp_load(op->load, p));
			break;
		case TP_OP_STR:
			p = tp_bytes(op->field, raw, size, &len);
			v = strtab_id(&s->strings, p ? (const char *)p : "", p ? len : 0);
			break;
		default:
			v = tp_load(op->op, p);
		}
		narrow = (uint32_t)v;
		if (op->slot < B0)
			memcpy(dst, &v, sizeof(v));
		else
			memcpy(dst, &narrow, sizeof(narrow));
	}
	return true;
}
