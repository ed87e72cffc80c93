// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_syscalls.c - system calls with their durations: totals per call into syscall_stat, the longest
 * of each and every KVM ioctl but KVM_RUN among the longest into span (origin syscall). Calls are
 * paired per thread; a loss drops open ones.
 */
#include "engine.h"
#include "topn.h"

#define MAX_KEYS	1024
#define MAX_PER_KEY	16
#define LONG_NS		(1 * NSEC_PER_MSEC)
#define NR_IOCTL	16		/* x86-64 */
#define KVM_IOC_TYPE	0xae
#define KVM_RUN_NR	0x80
#define KEY_KVM		0x10000000u /* key: KEY_KVM | _IOC_NR, KEY_NAMED | string id, or a number */
#define KEY_NAMED	0x20000000u

struct kept {
	uint64_t	duration, start, pos, off_ns;
	int64_t		ret;
	uint32_t	task;
	uint16_t	cpu;
	bool		off_known;
};

struct key_stat {
	uint32_t	key;
	bool		used;
	uint64_t	count, errors, total, min, max;
	struct topn	top;
};

struct open_call {
	uint64_t	start, pos, off_start;
	uint64_t	off_ns, out_ns;		/* off-CPU clock of the task */
	uint32_t	key;
	bool		open, off_known;
};

struct syscalls {
	struct open_call *by_task;
	size_t		n_tasks;
	struct key_stat	keys[MAX_KEYS];
};

static const char *const syscall_names[] = {
#define SYSCALL(nr, name)	[nr] = #name,
#include "syscalls_x86_64.def"
#undef SYSCALL
};

static const char *const kvm_names[256] = {
#define KVM_IOCTL(nr, name)	[nr] = #name,
#include "kvm_ioctls.def"
#undef KVM_IOCTL
};

static void *syscalls_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct syscalls));
}

static struct open_call *call_of(struct engine *e, struct syscalls *s, int32_t tid, uint32_t *idx)
{
	*idx = engine_task(e, tid);
	if (*idx == TASK_NONE || task_is_idle(*idx))
		return NULL;
	GROW_ZERO(s->by_task, s->n_tasks, *idx);
	return &s->by_task[*idx];
}

static struct key_stat *stat_of(struct syscalls *s, uint32_t key)
{
	uint32_t i, h = key * 2654435761u >> 22;

	for (i = 0; i < MAX_KEYS; i++) {
		struct key_stat *k = &s->keys[(h + i) % MAX_KEYS];

		if (!k->used) {
			k->used = true;
			k->key = key;
			k->min = UINT64_MAX;
			topn_init(&k->top, sizeof(struct kept), MAX_PER_KEY);
			return k;
		}
		if (k->key == key)
			return k;
	}
	return NULL;
}

/* Requests of one ioctl on /dev/kvm and its children are told apart; all other calls go by number
 * or name. */
static uint32_t key_of(const struct event *ev)
{
	bool named = ev->kind == EV_SYSCALL_ENTER;
	uint64_t request = ev->a[1];

	if ((named || ev->b[0] == NR_IOCTL) && (request >> 8 & 0xff) == KVM_IOC_TYPE &&
	    !(request >> 32))
		return KEY_KVM | (request & 0xff);
	return named ? KEY_NAMED | (ev->b[0] & 0xfffffff) : ev->b[0] & 0xfffffff;
}

static void on_return(struct engine *e, struct syscalls *s, struct open_call *c, uint32_t task,
		      const struct event *ev)
{
	uint64_t duration = e->now - c->start;
	struct key_stat *k;
	int64_t ret = (int64_t)ev->a[0];

	c->open = false;
	k = stat_of(s, c->key);
	if (!k)
		return;
	k->count++;
	k->errors += ret < 0 && ret > -4096;
	k->total += duration;
	k->min = MIN(k->min, duration);
	k->max = MAX(k->max, duration);
	if (c->key == (KEY_KVM | KVM_RUN_NR) || (!(c->key & KEY_KVM) && duration < LONG_NS))
		return;
	if (topn_wants(&k->top, duration)) {
		struct kept kept = { .duration = duration,
				     .start = c->start,
				     .pos = c->pos,
				     .ret = ret,
				     .task = task,
				     .off_ns = c->off_ns - c->off_start,
				     .cpu = ev->cpu,
				     .off_known = c->off_known };

		topn_add(&k->top, &kept);
	}
}

static void on_switch(struct engine *e, struct syscalls *s, const struct event *ev)
{
	struct open_call *c;
	uint32_t idx;

	c = call_of(e, s, (int32_t)ev->a[2], &idx);
	if (c) {
		c->out_ns = e->now;
		c->off_known = true;
	}
	c = call_of(e, s, (int32_t)ev->b[0], &idx);
	if (c && c->out_ns) {
		c->off_ns += e->now - c->out_ns;
		c->out_ns = 0;
	}
}

static void syscalls_event(struct engine *e, void *state, const struct event *ev)
{
	struct syscalls *s = state;
	struct open_call *c;
	uint32_t idx;

	if (ev->kind == EV_SCHED_SWITCH) {
		on_switch(e, s, ev);
		return;
	}
	c = call_of(e, s, ev->tid, &idx);
	if (!c)
		return;
	if (ev->kind == EV_SYS_ENTER || ev->kind == EV_SYSCALL_ENTER) {
		c->open = true;
		c->start = e->now;
		c->pos = ev->pos;
		c->off_start = c->off_ns;
		c->key = key_of(ev);
	} else if (c->open) {
		on_return(e, s, c, idx, ev);
	}
}

static void syscalls_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct syscalls *s = state;
	size_t i;

	(void)e;
	(void)cpu;
	for (i = 0; i < s->n_tasks; i++) {
		s->by_task[i].open = false;
		s->by_task[i].out_ns = 0;
	}
}

static const char *key_name(const struct engine *e, uint32_t key, char *buf, size_t size)
{
	if (key & KEY_KVM) {
		if (kvm_names[key & 0xff])
			snprintf(buf, size, "ioctl:%s", kvm_names[key & 0xff]);
		else
			snprintf(buf, size, "ioctl:KVM 0x%02x", key & 0xff);
	} else if (key & KEY_NAMED) {
		snprintf(buf, size, "%s", strtab_str(&e->s->strings, key & 0xfffffff));
	} else if (key < ARRAY_SIZE(syscall_names) && syscall_names[key] &&
		   (!e->s->desc.arch || !strcmp(e->s->desc.arch, "x86_64"))) {
		snprintf(buf, size, "%s", syscall_names[key]);
	} else {
		snprintf(buf, size, "syscall %u", key);
	}
	return buf;
}

static struct error *write_kept(struct engine *e, const char *name, const struct kept *k)
{
	const struct task *t = &e->tasks[k->task];
	struct event ev = {
		.time = k->start, .pos = k->pos, .cpu = k->cpu, .tid = t->tid, .ev = EVENT_TYPE_NONE
	};
	int64_t vm = t->vm != VM_NONE ? e->vms[t->vm].row_id : 0, off = (int64_t)k->off_ns,
		cite = engine_cite(e, &ev);
	int64_t cpu = k->cpu;
	char comm[24], result[32];

	snprintf(result, sizeof(result), "%" PRId64, k->ret);
	return case_insert(e->db, NULL,
			   "INSERT INTO span(source_id, func, origin, vm_id, task_id, task, tid, "
			   "cpu, start_ns, duration_ns,"
			   " time_resolution_ns, offcpu_ns, result, cite_id) "
			   "VALUES(?,?,'syscall',?,?,?,?,?,?,?,?,?,?,?)",
			   "isIisiIiiiIsI", e->s->source_id, name, vm ? &vm : NULL, t->row_id,
			   engine_comm(t, comm), (int64_t)t->tid,
			   k->cpu != EVENT_CPU_NONE ? &cpu : NULL, (int64_t)k->start,
			   (int64_t)k->duration, (int64_t)MAX(e->s->desc.time_resolution_ns, 1u),
			   k->off_known ? &off : NULL, result, cite ? &cite : NULL);
}

static int earlier_first(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct error *syscalls_flush(struct engine *e, void *state)
{
	struct syscalls *s = state;
	char name[64];
	size_t i, j;

	for (i = 0; i < MAX_KEYS; i++) {
		struct key_stat *k = &s->keys[i];

		if (!k->used || !k->count)
			continue;
		key_name(e, k->key, name, sizeof(name));
		TRY(case_insert(e->db, NULL,
				"INSERT INTO syscall_stat(source_id, name, count, errors, "
				"total_ns, min_ns, max_ns)"
				" VALUES(?,?,?,?,?,?,?)",
				"isiiiii", e->s->source_id, name, (int64_t)k->count,
				(int64_t)k->errors, (int64_t)k->total, (int64_t)k->min,
				(int64_t)k->max));
		topn_sort(&k->top, earlier_first);
		for (j = 0; j < k->top.n; j++)
			TRY(write_kept(e, name, (const struct kept *)k->top.recs + j));
	}
	return NULL;
}

static void syscalls_destroy(void *state)
{
	struct syscalls *s = state;
	size_t i;

	for (i = 0; i < MAX_KEYS; i++)
		topn_deinit(&s->keys[i].top);
	free(s->by_task);
	free(s);
}

static const struct analysis syscalls_analysis = {
	.name = "syscalls",
	.priority = 65,
	.pairs = true,
	.kinds = KIND(SYS_ENTER) | KIND(SYS_EXIT) | KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT) |
		 KIND(SCHED_SWITCH),
	.begin = syscalls_begin,
	.event = syscalls_event,
	.lost = syscalls_lost,
	.flush = syscalls_flush,
	.destroy = syscalls_destroy,
};
REGISTER(analyses, &syscalls_analysis);
