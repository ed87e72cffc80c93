// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_keys.c - how often an event came with one value of its key fields, per thread: first, last,
 * busiest 10 ms, and sum and extremes of its value. Which events, keys and values: events.def.
 *
 * Memory is fixed: MAX_KEYS keys, then a thread's new keys share one of its own per event, and when
 * even these are too many all threads' do. What is written is the commonest MAX_ROWS keys of an
 * event; the others are added up per thread.
 */
#include "engine.h"
#include "event_keys.h"

#define MAX_KEYS	65536
#define MAX_ALL		(2 * MAX_KEYS)	/* with those of the threads' other keys */
#define MAX_ROWS	1000		/* of an event; twice, the second for others */
#define MAX_CITED	100		/* rows of an event that have citations */
#define BIN_NS		10000000

struct keyed {
	uint64_t	k[2];
	uint32_t	task;	/* tid; from keys_flush() on the task's index; TASK_NONE */
	uint32_t	vcpu;	/* the guest's number or EVENT_U32_NONE */
	uint32_t	what;	/* kind, WHAT_HAS per key, WHAT_OTHERS */
	uint32_t	bin_n, busiest;
	uint64_t	bin;
	uint64_t	count, first, first_pos, last, last_pos, max_time, max_pos;
	double		sum;
	int64_t		min, max;
	uint64_t	values;
};

#define WHAT_HAS	(1u << 8)	/* the first key; twice that the second */
#define WHAT_OTHERS	(1u << 10)

static inline enum event_kind kind_of(const struct keyed *x)
{
	return (enum event_kind)(x->what & 0xff);
}

static inline bool has_key(const struct keyed *x, int i)
{
	return x->what & WHAT_HAS << i;
}

static inline bool is_others(const struct keyed *x)
{
	return x->what & WHAT_OTHERS;
}

/* Where an event has what its row asks for. */
struct place {
	uint8_t	at;		/* byte in the event */
	bool	on, wide, errors;	/* errors: only where negative, and then alone */
};

struct plan {
	struct place k[2], value, vcpu;
};

struct keys {
	struct keyed	*v;
	uint32_t	n;
	size_t		cap;
	uint32_t	*hash;		/* open addressing, index + 1 */
	uint32_t	hash_size;	/* power of two, or 0 */
	uint32_t	last[EV_NKINDS];	/* of each kind the entry counted last, index + 1 */
	struct plan	plans[EV_NKINDS];
};

static struct place place_of(uint8_t slot)
{
	struct place p = { .on = slot != KS_NONE, .wide = slot < KS_B0 };

	if (p.on)
		p.at = (uint8_t)(p.wide ? offsetof(struct event, a) + 8u * (slot - KS_A0) :
				 offsetof(struct event, b) + 4u * (slot - KS_B0));
	return p;
}

static void *keys_begin(struct engine *e)
{
	struct keys *s = xcalloc(1, sizeof(*s));
	int kind, i;

	(void)e;
	for (kind = 0; kind < EV_NKINDS; kind++) {
		const struct event_keys *row = event_keys_of((enum event_kind)kind);

		for (i = 0; i < 2; i++) {
			s->plans[kind].k[i] = place_of(row->k[i].slot);
			s->plans[kind].k[i].errors = row->k[i].how == KEY_ERRNO;
		}
		s->plans[kind].value = place_of(row->value);
		s->plans[kind].vcpu = place_of(row->vcpu);
	}
	return s;
}

/* The value at @p, 32 bits sign-extended; false where the event has none. */
static inline bool value_at(const struct event *ev, struct place p, int64_t *ret)
{
	const uint8_t *at = (const uint8_t *)ev + p.at;
	uint64_t wide;
	uint32_t narrow;

	if (!p.on)
		return false;
	if (p.wide) {
		memcpy(&wide, at, sizeof(wide));
		*ret = (int64_t)wide;
		return wide != EVENT_NONE;
	}
	memcpy(&narrow, at, sizeof(narrow));
	*ret = (int32_t)narrow;
	return narrow != EVENT_U32_NONE;
}

static inline bool same_key(const struct keyed *a, const struct keyed *b)
{
	return !((a->k[0] ^ b->k[0]) | (a->k[1] ^ b->k[1]) | (a->task ^ b->task) |
		 (a->vcpu ^ b->vcpu) | (a->what ^ b->what));
}

static uint32_t *slot_of(const struct keys *s, const struct keyed *x)
{
	uint64_t h = x->k[0] + ((uint64_t)x->what << 48);
	uint32_t mask = s->hash_size - 1, i;

	h *= 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29 ^ x->k[1]) * 0xc2b2ae3d27d4eb4fULL;
	h = (h ^ h >> 32 ^ ((uint64_t)x->task << 32 | x->vcpu)) * 0x9e3779b97f4a7c15ULL;
	for (i = (uint32_t)(h >> 32) & mask; s->hash[i]; i = (i + 1) & mask)
		if (same_key(&s->v[s->hash[i] - 1], x))
			break;
	return &s->hash[i];
}

static void rehash(struct keys *s)
{
	uint32_t i;

	s->hash_size = s->hash_size ? s->hash_size * 2 : 1024;
	free(s->hash);
	s->hash = xcalloc(s->hash_size, sizeof(*s->hash));
	for (i = 0; i < s->n; i++)
		*slot_of(s, &s->v[i]) = i + 1;
}

static struct keyed *add(struct keys *s, const struct keyed *x)
{
	struct keyed *e;

	GROW(s->v, s->cap, s->n + 1);
	e = &s->v[s->n++];
	*e = (struct keyed){
		.k = { x->k[0], x->k[1] },
		.task = x->task,
		.vcpu = x->vcpu,
		.what = x->what,
		.min = INT64_MAX,
		.max = INT64_MIN,
	};
	return e;
}

/* The entry of @x, or one for what has no room. */
static struct keyed *entry_of(struct keys *s, struct keyed *x)
{
	uint32_t *slot;

	if (unlikely(s->hash_size <= 2 * s->n && s->n < MAX_ALL))
		rehash(s);
	slot = slot_of(s, x);
	if (likely(*slot))
		return &s->v[*slot - 1];
	if (unlikely(s->n >= MAX_KEYS)) {
		x->what = kind_of(x) | WHAT_OTHERS;
		x->k[0] = x->k[1] = 0;
		x->vcpu = EVENT_U32_NONE;
		slot = slot_of(s, x);
		if (*slot)
			return &s->v[*slot - 1];
		if (s->n >= MAX_ALL - EV_NKINDS) {
			x->task = TASK_NONE;
			slot = slot_of(s, x);
			if (*slot)
				return &s->v[*slot - 1];
		}
	}
	add(s, x);
	*slot = s->n;
	return &s->v[s->n - 1];
}

/* Events of one kind often come with one key again and again. */
static struct keyed *entry_of_last(struct keys *s, struct keyed *x)
{
	const unsigned int kind = kind_of(x);
	uint32_t last = s->last[kind];
	struct keyed *k;

	if (likely(last && same_key(&s->v[last - 1], x)))
		return &s->v[last - 1];
	k = entry_of(s, x);
	s->last[kind] = (uint32_t)(k - s->v) + 1;
	return k;
}

static void add_value(struct keyed *x, int64_t v, const struct event *ev)
{
	x->values++;
	x->sum += (double)v;
	x->min = MIN(x->min, v);
	if (v > x->max) {
		x->max = v;
		x->max_time = ev->time;
		x->max_pos = ev->pos;
	}
}

static void keys_event(struct engine *e, void *state, const struct event *ev)
{
	const struct plan *plan = &((struct keys *)state)->plans[ev->kind];
	struct keyed x, *k;
	uint64_t bin = ev->time / BIN_NS;
	int64_t v;
	int i;

	(void)e;
	/* of @x only the key is used */
	x.k[0] = x.k[1] = 0;
	x.what = ev->kind;
	x.task = (uint32_t)ev->tid < TID_MAX ? (uint32_t)ev->tid : TASK_NONE;
	x.vcpu = value_at(ev, plan->vcpu, &v) ? (uint32_t)v : EVENT_U32_NONE;
	for (i = 0; i < 2; i++) {
		if (!value_at(ev, plan->k[i], &v))
			continue;
		if (unlikely(plan->k[i].errors)) {	/* the other key means nothing then */
			if (v >= 0)
				continue;
			x.k[0] = 0;
			x.what = ev->kind;
		}
		x.k[i] = (uint64_t)v;
		x.what |= WHAT_HAS << i;
	}
	k = entry_of_last(state, &x);
	if (!k->count++) {
		k->first = ev->time;
		k->first_pos = ev->pos;
	}
	k->last = ev->time;
	k->last_pos = ev->pos;
	if (k->bin != bin) {
		k->bin = bin;
		k->bin_n = 0;
	}
	if (++k->bin_n > k->busiest)
		k->busiest = k->bin_n;
	if (value_at(ev, plan->value, &v))
		add_value(k, v, ev);
}

/* Add @b to @a; they count different keys of one event. */
static void merge(struct keyed *a, const struct keyed *b)
{
	if (b->first < a->first) {
		a->first = b->first;
		a->first_pos = b->first_pos;
	}
	if (b->last > a->last) {
		a->last = b->last;
		a->last_pos = b->last_pos;
	}
	a->count += b->count;
	a->busiest = MAX(a->busiest, b->busiest);
	a->values += b->values;
	a->sum += b->sum;
	a->min = MIN(a->min, b->min);
	if (b->max > a->max) {
		a->max = b->max;
		a->max_time = b->max_time;
		a->max_pos = b->max_pos;
	}
}

static int by_count(const void *a, const void *b, void *arg)
{
	const struct keys *s = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct keyed *x = &s->v[i], *y = &s->v[k];

	if (kind_of(x) != kind_of(y))
		return (int)kind_of(x) - (int)kind_of(y);
	if (is_others(x) != is_others(y))
		return (int)is_others(x) - (int)is_others(y);
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (i > k) - (i < k);
}

static int by_task(const void *a, const void *b, void *arg)
{
	const struct keys *s = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct keyed *x = &s->v[i], *y = &s->v[k];

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (i > k) - (i < k);
}

/* The vCPU an event is about: its number in the thread's VM, or the only one; else the thread. */
static uint32_t vcpu_of(const struct engine *e, const struct keyed *x)
{
	const struct task *t = x->task != TASK_NONE ? &e->tasks[x->task] : NULL;
	uint32_t i, vm = t ? t->vm : VM_NONE;

	if (x->vcpu == EVENT_U32_NONE)
		return t ? t->vcpu : VCPU_NONE;
	if (vm == VM_NONE && e->n_vms == 1)
		vm = 0;
	for (i = 0; vm != VM_NONE && i < e->n_vcpus; i++)
		if (e->vcpus[i].vm == vm && e->vcpus[i].number == x->vcpu)
			return i;
	return VCPU_NONE;
}

/* One key and its value as text. */
static void put_key(struct engine *e, FILE *out, uint8_t how, const char *name, uint64_t v)
{
	fprintf(out, "%.*s=", (int)strcspn(name, "|="), name);
	switch ((enum key_how)how) {
	case KEY_STR:
		if (v < e->s->strings.n)
			fputs(strtab_str(&e->s->strings, (uint32_t)v), out);
		else
			fprintf(out, "0x%" PRIx64, v);
		break;
	case KEY_REASON:
		fputs(stream_reason_name(e->s, (uint32_t)v), out);
		break;
	case KEY_HEX:
		fprintf(out, "0x%" PRIx64, v);
		break;
	case KEY_ERRNO:
		fprintf(out, "%" PRId64, -(int64_t)v);
		break;
	case KEY_NONE:
	case KEY_DEC:
	default:
		fprintf(out, "%" PRId64, (int64_t)v);
	}
}

/* The text of the keys; numbers into @num, whose @has says which there are. */
static char *key_text(struct engine *e, const struct keyed *x, int64_t num[2], bool has[2])
{
	const struct event_keys *row = event_keys_of(kind_of(x));
	size_t size;
	char *text;
	FILE *out;
	int i;

	has[0] = has[1] = false;
	if (is_others(x))
		return xstrdup("others");
	out = open_memstream(&text, &size);
	for (i = 0; out && i < 2; i++) {
		uint8_t how = row->k[i].how;
		uint64_t v = x->k[i];

		if (how == KEY_HEX && row->k[i].slot >= KS_B0)	/* the sign means nothing */
			v = (uint32_t)v;
		if (!has_key(x, i))
			continue;
		if (i && has_key(x, 0))
			fputc(' ', out);
		put_key(e, out, how, row->k[i].name, v);
		has[i] = how != KEY_STR && how != KEY_REASON;
		num[i] = how == KEY_ERRNO ? -(int64_t)v : (int64_t)v;
	}
	if (!out || fclose(out))
		return xstrdup("");
	return text;
}

static struct error *write_row(struct engine *e, const struct keyed *x, bool cited)
{
	const struct task *t = x->task != TASK_NONE ? &e->tasks[x->task] : NULL;
	const char *names = event_keys_of(kind_of(x))->name;
	uint32_t v = vcpu_of(e, x), vm = v != VCPU_NONE ? e->vcpus[v].vm : t ? t->vm : VM_NONE;
	uint64_t times[] = { x->first, x->last, x->max_time };
	uint64_t pos[] = { x->first_pos, x->last_pos, x->max_pos };
	_cleanup_free_ char *event = xstrndup(names, strcspn(names, "|"));
	_cleanup_free_ char *cites = NULL;
	_cleanup_free_ char *text = NULL;
	int64_t num[2] = { 0 }, tid = t ? t->tid : 0;
	size_t n = x->count == 1 ? 1 : 2;
	bool has[2];
	char comm[24];

	text = key_text(e, x, num, has);
	if (n == 2 && x->values && x->max_pos != x->first_pos && x->max_pos != x->last_pos)
		n = 3;
	cites = cited ? engine_cites(e, times, pos, n) : xstrdup("[]");
	return case_insert(
		e->db, NULL,
		"INSERT INTO event_key(source_id, vm_id, vcpu_id, task_id, task, tid, event, key, k0, k1, count, first_ns,"
		" last_ns, busiest, value_sum, value_min, value_max, cites) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		"CASE WHEN ?15 THEN ?16 END, CASE WHEN ?15 THEN ?17 END, CASE WHEN ?15 THEN ?18 END, ?19)",
		"iIIIsIssIIiiiiidiis", e->s->source_id, vm != VM_NONE ? &e->vms[vm].row_id : NULL,
		v != VCPU_NONE ? &e->vcpus[v].row_id : NULL, t && t->row_id ? &t->row_id : NULL,
		t ? engine_comm(t, comm) : NULL, t ? &tid : NULL, event, text,
		has[0] ? &num[0] : NULL, has[1] ? &num[1] : NULL, (int64_t)x->count,
		(int64_t)x->first, (int64_t)x->last, (int64_t)x->busiest,
		(int64_t)(x->values != 0), x->sum, x->min, x->max, cites);
}

/* Rows of one event's @n keys, commonest first: as they are, then the rest by thread. */
static struct error *write_event(struct engine *e, struct keys *s, uint32_t *list, uint32_t n)
{
	uint32_t i, k, rows = 0;
	struct keyed last = { .task = TASK_NONE, .what = WHAT_OTHERS };

	for (i = 0; i < n && i < MAX_ROWS && !is_others(&s->v[list[i]]); i++)
		TRY(write_row(e, &s->v[list[i]], i < MAX_CITED));
	list += i;
	n -= i;
	if (n)
		qsort_r(list, n, sizeof(*list), by_task, s);
	for (i = 0; i < n; i = k) {
		struct keyed sum = s->v[list[i]];

		for (k = i + 1; k < n && s->v[list[k]].task == sum.task; k++)
			merge(&sum, &s->v[list[k]]);
		sum.what = kind_of(&sum) | WHAT_OTHERS;
		sum.vcpu = EVENT_U32_NONE;
		if (rows++ < MAX_ROWS) {
			TRY(write_row(e, &sum, rows <= MAX_CITED));
		} else if (last.count) {
			merge(&last, &sum);
		} else {
			last = sum;
			last.task = TASK_NONE;
		}
	}
	return last.count ? write_row(e, &last, true) : NULL;
}

static struct error *keys_flush(struct engine *e, void *state)
{
	struct keys *s = state;
	_cleanup_free_ uint32_t *list = xcalloc(s->n + 1, sizeof(*list));
	uint32_t i, k;

	for (i = 0; i < s->n; i++) {
		list[i] = i;
		if (s->v[i].task != TASK_NONE)
			s->v[i].task = engine_task(e, (int32_t)s->v[i].task);
	}
	if (s->n)
		qsort_r(list, s->n, sizeof(*list), by_count, s);
	for (i = 0; i < s->n; i = k) {
		for (k = i + 1; k < s->n && kind_of(&s->v[list[k]]) == kind_of(&s->v[list[i]]); k++)
			;
		TRY(write_event(e, s, list + i, k - i));
	}
	return NULL;
}

static void keys_destroy(void *state)
{
	struct keys *s = state;

	free(s->v);
	free(s->hash);
	free(s);
}

static const struct analysis keys_analysis = {
	.name = "keys",
	.priority = 72,
	.keyed = true,
	.early = true,
	.begin = keys_begin,
	.event = keys_event,
	.flush = keys_flush,
	.destroy = keys_destroy,
};
REGISTER(analyses, &keys_analysis);
