// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_exits.c - time per VM exit reason, MMIO address, I/O port and MSR, as `perf kvm stat report`
 * counts.
 *
 * What perf does (tools/perf/builtin-kvm.c, arch/x86/util/kvm-stat.c), in own words. A thread
 * counts from its first kvm_entry on. Per thread and kind of table there is one open time stamp,
 * with or without a key:
 *
 *	vmexit	kvm_exit (keyed by reason) opens; kvm_entry closes
 *	mmio	kvm_exit opens without key, kvm_mmio of a write opens keyed;
 *		kvm_mmio of a read (keyed) and kvm_entry close
 *	ioport	kvm_pio (keyed) opens; kvm_entry closes
 *	msr	kvm_msr (keyed) opens; kvm_entry closes
 *
 * Opening again forgets what was open. A close where neither side has a key does nothing. Halts
 * are included. Rows are per vCPU; sums, counts and extremes of several merge, and mean and m2
 * (sum of squared differences from the mean, Welford's method as in tools/perf/util/stat.c) merge
 * by Chan's formula.
 *
 * Where we differ from perf 6.1 to 6.12, on purpose: its minimum for a single vCPU (--vcpu) is
 * always 0, since its per-vCPU statistics start zeroed; ours is the minimum. And a thread that
 * ends takes its open time stamps with it.
 */
#include "bins.h"
#include "engine.h"

#define MAX_STATS	65536
#define MAX_CITED	2000	/* keys other than exit reasons */
#define MAX_REASONS	128	/* that are counted over time */
#define MAX_SERIES	5	/* of these, the commonest that become series */

enum table { VMEXIT, MMIO, IOPORT, MSR, N_TABLES };
/* KVM_TRACE_MMIO_*, include/trace/events/kvm.h */
enum mmio_type { MMIO_READ = 1, MMIO_WRITE = 2 };

static const char *const table_names[N_TABLES] = { "vmexit", "mmio", "ioport", "msr" };

struct key {
	uint64_t	id;		/* reason index, address, port, MSR */
	uint32_t	info;		/* read or write */
	bool		other;		/* all keys beyond the limit */
};

struct open {
	uint64_t	start;		/* 0: none (as perf has it) */
	uint64_t	pos;
	struct key	key;
	bool		has_key;
};

struct thread {
	bool		known;		/* it entered a guest */
	uint32_t	number;		/* vCPU's, of its last entry; EVENT_U32_NONE unknown */
	uint8_t		begun;		/* bit per table: something is open there */
	struct open	open[N_TABLES];
};

struct stat {
	uint32_t	thread;		/* task index */
	uint32_t	number;
	uint8_t		table;
	struct key	key;
	uint64_t	n, total, min, max, max_start, max_pos;
	double		mean, m2;
};

struct exits {
	struct thread	*threads;
	size_t		n_threads, cap_threads;
	uint32_t	*slot;		/* task index -> thread + 1 */
	size_t		n_slots;
	struct stat	*stats;
	size_t		n_stats, cap_stats;
	uint32_t	*hash;		/* open addressing, stat + 1 */
	size_t		hash_size;	/* power of two, or 0 */
	struct bins	all;		/* exits over time */
	struct bins	*of_reason[MAX_REASONS];	/* made when the reason first comes */
	uint64_t	n_of_reason[MAX_REASONS];
};

static void *exits_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct exits));
}

static uint64_t hash_key(uint32_t thread, enum table table, const struct key *k)
{
	uint64_t h = (k->id ^ ((uint64_t)k->info << 57)) * 0x9e3779b97f4a7c15ULL;

	h ^= ((uint64_t)thread << 3 | table) * 0xc2b2ae3d27d4eb4fULL;
	return h ^ (h >> 31);
}

static bool stat_is(const struct stat *s, uint32_t thread, enum table table, const struct key *k)
{
	return s->thread == thread && s->table == table && s->key.id == k->id &&
	       s->key.info == k->info && s->key.other == k->other;
}

static size_t find_slot(const struct exits *x, uint32_t thread, enum table table,
			const struct key *k)
{
	size_t mask = x->hash_size - 1, i = hash_key(thread, table, k) & mask;

	while (x->hash[i] && !stat_is(&x->stats[x->hash[i] - 1], thread, table, k))
		i = (i + 1) & mask;
	return i;
}

static void rehash(struct exits *x)
{
	size_t i;

	x->hash_size = x->hash_size ? x->hash_size * 2 : 256;
	free(x->hash);
	x->hash = xcalloc(x->hash_size, sizeof(*x->hash));
	for (i = 0; i < x->n_stats; i++) {
		const struct stat *s = &x->stats[i];

		x->hash[find_slot(x, s->thread, s->table, &s->key)] = (uint32_t)i + 1;
	}
}

/*
 * The statistic of @k; beyond MAX_STATS of them a thread's new keys share one of its own per
 * table.
 */
static struct stat *stat_of(struct exits *x, uint32_t thread, enum table table, struct key k)
{
	struct stat *s;
	size_t i;

	if (unlikely(x->hash_size <= 2 * x->n_stats))
		rehash(x);
	i = find_slot(x, thread, table, &k);
	if (likely(x->hash[i]))
		return &x->stats[x->hash[i] - 1];
	if (x->n_stats >= MAX_STATS && !k.other) {
		k = (struct key){ .other = true };
		return stat_of(x, thread, table, k);
	}
	if (x->n_stats >= 2 * MAX_STATS)
		return NULL;
	GROW(x->stats, x->cap_stats, x->n_stats + 1);
	s = &x->stats[x->n_stats];
	memset(s, 0, sizeof(*s));
	s->thread = thread;
	s->table = (uint8_t)table;
	s->key = k;
	s->min = UINT64_MAX;
	x->hash[i] = (uint32_t)++x->n_stats;
	return s;
}

static void count(struct stat *s, uint64_t ns, const struct open *o)
{
	double delta = (double)ns - s->mean;

	s->n++;
	s->total += ns;
	s->mean += delta / (double)s->n;
	s->m2 += delta * ((double)ns - s->mean);
	if (ns < s->min)
		s->min = ns;
	if (ns > s->max || s->n == 1) {
		s->max = ns;
		s->max_start = o->start;
		s->max_pos = o->pos;
	}
}

static void open_at(struct thread *t, enum table table, const struct event *ev,
		    const struct key *key)
{
	struct open *o = &t->open[table];

	t->begun |= (uint8_t)(1u << table);
	o->start = ev->time;
	o->pos = ev->pos;
	o->has_key = key != NULL;
	if (key)
		o->key = *key;
}

static void close_at(struct exits *x, uint32_t task, struct thread *t, enum table table,
		     const struct event *ev, const struct key *key)
{
	struct open *o = &t->open[table];
	struct stat *s;

	if (!o->start || (!o->has_key && !key))
		return;
	if (ev->time >= o->start) {
		s = stat_of(x, task, table, o->has_key ? o->key : *key);
		if (likely(s != NULL)) {
			s->number = t->number;
			count(s, ev->time - o->start, o);
		}
	}
	t->begun &= (uint8_t)~(1u << table);
	o->start = 0;
	o->has_key = false;
}

static struct thread *thread_of(struct exits *x, uint32_t task, bool make)
{
	if (unlikely(task >= x->n_slots && !make))
		return NULL;
	GROW_ZERO(x->slot, x->n_slots, task);
	if (unlikely(!x->slot[task])) {
		if (!make)
			return NULL;
		GROW(x->threads, x->cap_threads, x->n_threads + 1);
		memset(&x->threads[x->n_threads], 0, sizeof(*x->threads));
		x->threads[x->n_threads].number = EVENT_U32_NONE;
		x->slot[task] = (uint32_t)++x->n_threads;
	}
	return &x->threads[x->slot[task] - 1];
}

static void exits_entry(struct exits *x, uint32_t task, const struct event *ev)
{
	struct thread *t = thread_of(x, task, true);
	unsigned int open;

	t->known = true;
	if (ev->b[0] != EVENT_U32_NONE)
		t->number = ev->b[0];
	for (open = t->begun; open; open &= open - 1)
		close_at(x, task, t, (enum table)__builtin_ctz(open), ev, NULL);
}

static void exits_end_of(struct engine *e, struct exits *x, int32_t tid)
{
	uint32_t task = engine_task(e, tid);
	struct thread *t = task == TASK_NONE ? NULL : thread_of(x, task, false);

	if (t) {
		memset(t, 0, sizeof(*t));
		t->number = EVENT_U32_NONE;
	}
}

/* Over time: all exits that the tables count, and those of each reason. */
static void over_time(struct exits *x, uint64_t reason, uint64_t now)
{
	bins_add(&x->all, now);
	if (unlikely(reason >= MAX_REASONS))
		return;
	if (unlikely(!x->of_reason[reason]))
		x->of_reason[reason] = xcalloc(1, sizeof(struct bins));
	bins_add(x->of_reason[reason], now);
	x->n_of_reason[reason]++;
}

static void exits_event(struct engine *e, void *state, const struct event *ev)
{
	struct exits *x = state;
	struct thread *t;
	uint32_t task;
	struct key key = { .id = ev->b[0] };

	if (ev->kind == EV_TASK_EXIT || ev->kind == EV_TASK_FORK) {
		exits_end_of(e, x, (int32_t)ev->b[0]);
		return;
	}
	task = engine_task(e, ev->tid);
	if (unlikely(task == TASK_NONE))
		return;
	if (ev->kind == EV_KVM_ENTRY) {
		exits_entry(x, task, ev);
		return;
	}
	t = thread_of(x, task, false);
	if (unlikely(!t || !t->known))
		return;
	switch (ev->kind) {
	case EV_KVM_EXIT:
		key.id = EXIT_REASON_IDX(ev->b[0]);
		over_time(x, key.id, ev->time);
		open_at(t, VMEXIT, ev, &key);
		open_at(t, MMIO, ev, NULL);
		break;
	case EV_KVM_MMIO:
		key.id = ev->a[0];
		key.info = ev->b[0];
		if (ev->b[0] == MMIO_WRITE)
			open_at(t, MMIO, ev, &key);
		else if (ev->b[0] == MMIO_READ)
			close_at(x, task, t, MMIO, ev, &key);
		break;
	case EV_KVM_PIO:
		key.info = ev->b[1] != 0;
		open_at(t, IOPORT, ev, &key);
		break;
	case EV_KVM_MSR:
		key.info = ev->b[1] != 0;
		open_at(t, MSR, ev, &key);
		break;
	default:
		break;
	}
}

/* What perf prints for the key. */
static const char *key_name(const struct engine *e, const struct stat *s, char *buf, size_t size)
{
	if (s->key.other) {
		snprintf(buf, size, "(others)");
		return buf;
	}
	switch ((enum table)s->table) {
	case MMIO:
		snprintf(buf, size, "%#" PRIx64 ":%s", s->key.id,
			 s->key.info == MMIO_WRITE ? "W" : "R");
		break;
	case IOPORT:
		snprintf(buf, size, "%#" PRIx64 ":%s", s->key.id, s->key.info ? "POUT" : "PIN");
		break;
	case MSR:
		snprintf(buf, size, "%#" PRIx64 ":%s", s->key.id, s->key.info ? "W" : "R");
		break;
	case VMEXIT:
	default:
		return stream_reason_name(e->s, (uint32_t)s->key.id);
	}
	return buf;
}

static struct error *write_series(struct engine *e, struct exits *x)
{
	size_t i, k, best;

	TRY(bins_write(e->db, e->s->source_id, "exits", &x->all));
	for (k = 0; k < MAX_SERIES; k++) {
		_cleanup_free_ char *name = NULL;

		for (i = 1, best = 0; i < MAX_REASONS; i++)
			if (x->n_of_reason[i] > x->n_of_reason[best])
				best = i;
		if (!x->n_of_reason[best])
			break;
		x->n_of_reason[best] = 0;
		name = xasprintf("exits: %s", stream_reason_name(e->s, (uint32_t)best));
		TRY(bins_write(e->db, e->s->source_id, name, x->of_reason[best]));
	}
	return NULL;
}

static struct error *exits_flush(struct engine *e, void *state)
{
	struct exits *x = state;
	char buf[40];
	size_t i, cited = 0;

	for (i = 0; i < x->n_stats; i++) {
		const struct stat *s = &x->stats[i];
		const struct task *t = &e->tasks[s->thread];
		const struct vcpu *v = t->vcpu == VCPU_NONE ? NULL : &e->vcpus[t->vcpu];
		bool want_cite = s->table == VMEXIT || cited++ < MAX_CITED;
		int64_t number = s->number,
			cite = want_cite ? engine_cite_pos(e, s->max_start, s->max_pos) : 0;
		const int64_t *vm = v && v->vm != VM_NONE ? &e->vms[v->vm].row_id : NULL;

		TRY(case_insert(
			e->db, NULL,
			"INSERT INTO exit_stat(source_id, event, vm_id, vcpu_id, vcpu, reason, count, total_ns, min_ns,"
			" max_ns, max_start_ns, mean, m2, cite_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			"isIIIsiiiiiddI", e->s->source_id, table_names[s->table], vm,
			v ? &v->row_id : NULL, s->number == EVENT_U32_NONE ? NULL : &number,
			key_name(e, s, buf, sizeof(buf)), (int64_t)s->n, (int64_t)s->total,
			(int64_t)s->min, (int64_t)s->max, (int64_t)s->max_start, s->mean, s->m2,
			cite ? &cite : NULL));
	}
	return write_series(e, x);
}

static void exits_destroy(void *state)
{
	struct exits *x = state;
	size_t i;

	for (i = 0; i < MAX_REASONS; i++)
		free(x->of_reason[i]);
	free(x->threads);
	free(x->slot);
	free(x->stats);
	free(x->hash);
	free(x);
}

static const struct analysis an_exits = {
	.name		= "exits",
	.priority	= 210,
	.kinds		= KIND(KVM_ENTRY) | KIND(KVM_EXIT) | KIND(KVM_MMIO) | KIND(KVM_PIO) |
			  KIND(KVM_MSR) | KIND(TASK_EXIT) | KIND(TASK_FORK),
	.begin		= exits_begin,
	.event		= exits_event,
	.flush		= exits_flush,
	.destroy	= exits_destroy,
};
REGISTER(analyses, &an_exits);
