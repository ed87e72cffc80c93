// SPDX-License-Identifier: GPL-2.0-or-later
/* engine_rows.c - what the engine knows of tasks at the end: VMs, their rows, and citations; see
 * engine.h. */
#include "engine.h"

#define MAX_CITES	8

static uint32_t vm_new(struct engine *e, int32_t tgid, const char *name)
{
	struct vm *vm;

	GROW(e->vms, e->cap_vms, e->n_vms + 1);
	vm = &e->vms[e->n_vms];
	memset(vm, 0, sizeof(*vm));
	vm->tgid = tgid;
	snprintf(vm->name, sizeof(vm->name), "%s", name);
	return e->n_vms++;
}

static uint32_t vm_of_tgid(struct engine *e, int32_t tgid)
{
	char buf[24];
	const char *name = "VM";
	uint32_t i, leader;

	for (i = 0; i < e->n_vms; i++)
		if (e->vms[i].tgid == tgid)
			return i;
	leader = engine_task(e, tgid);
	if (leader != TASK_NONE && e->tasks[leader].comm[0])
		name = engine_comm(&e->tasks[leader], buf);
	return vm_new(e, tgid, name);
}

static int by_tid(const void *a, const void *b, void *arg)
{
	const struct engine *e = arg;
	int32_t x = e->tasks[e->vcpus[*(const uint32_t *)a].task].tid;
	int32_t y = e->tasks[e->vcpus[*(const uint32_t *)b].task].tid;

	return (x > y) - (x < y);
}

/*
 * vCPU threads without a known thread group, in order of tid: a VM numbers its vCPUs once each, so
 * a number that comes again begins another VM. This is a guess (task.inferred_vm), good enough to
 * tell siblings from strangers.
 */
static void group_by_number(struct engine *e, uint32_t *list, size_t n)
{
	uint32_t vm = VM_NONE;
	size_t i, k, first = 0;

	qsort_r(list, n, sizeof(*list), by_tid, e);
	for (i = 0; i < n; i++) {
		struct vcpu *v = &e->vcpus[list[i]];
		bool again = vm == VM_NONE || v->number == EVENT_U32_NONE;

		for (k = first; k < i && !again; k++)
			again = e->vcpus[list[k]].number == v->number;
		if (again) {
			char buf[24];
			const char *name = engine_comm(&e->tasks[v->task], buf);

			vm = vm_new(e, -1, comm_vcpu_number(name) >= 0 ? "VM" : name);
			first = i;
		}
		v->vm = vm;
		e->tasks[v->task].vm = vm;
		e->tasks[v->task].inferred_vm = true;
	}
}

void engine_finish_vms(struct engine *e)
{
	_cleanup_free_ uint32_t *loose = xcalloc(e->n_vcpus + 1, sizeof(*loose));
	uint32_t i, k, n_vms;
	size_t n = 0;

	for (i = 0; i < e->n_vcpus; i++) {
		struct vcpu *v = &e->vcpus[i];
		struct task *t = &e->tasks[v->task];

		if (t->tgid >= 0) {
			v->vm = vm_of_tgid(e, t->tgid);
			e->tasks[v->task].vm = v->vm;
		} else {
			loose[n++] = i;
		}
	}
	n_vms = e->n_vms;
	group_by_number(e, loose, n);
	for (i = 0; i < e->n_tasks && n_vms; i++) {
		struct task *t = &e->tasks[i];

		for (k = 0; t->tgid >= 0 && t->vm == VM_NONE && k < n_vms; k++)
			if (e->vms[k].tgid == t->tgid) {
				t->vm = k;
				if (t->role == ROLE_OTHER && t->tid == t->tgid)
					t->role = ROLE_VMM;
			}
	}
}

static struct error *write_vcpu(struct engine *e, struct vcpu *v)
{
	const struct task *t = &e->tasks[v->task];
	int64_t number = v->number;
	char buf[24];

	return case_insert(e->db, &v->row_id,
			   "INSERT INTO vcpu(source_id, vm_id, vcpu, task_id, tid, comm, first_ns, "
			   "last_ns, guest_ns, host_ns,"
			   " vmm_ns, halted_ns, waiting_ns, blocked_ns, unknown_ns, lost_ns)"
			   " VALUES(?,?,?,?,?,?,?,?,0,0,0,0,0,0,?,0)",
			   "iiIiisiii", e->s->source_id, e->vms[v->vm].row_id,
			   v->number == EVENT_U32_NONE ? NULL : &number, t->row_id, (int64_t)t->tid,
			   engine_comm(t, buf), (int64_t)t->first_ns, (int64_t)t->last_ns,
			   (int64_t)(t->last_ns - t->first_ns));
}

struct error *engine_write_tasks(struct engine *e)
{
	uint32_t i;

	for (i = 0; i < e->n_vms; i++) {
		int64_t tgid = e->vms[i].tgid;

		TRY(case_insert(e->db, &e->vms[i].row_id, "INSERT INTO vm(source_id, tgid, name) VALUES(?,?,?)", "iIs",
				e->s->source_id, tgid >= 0 ? &tgid : NULL, e->vms[i].name));
	}
	for (i = 0; i < e->n_tasks; i++) {
		struct task *t = &e->tasks[i];
		int64_t tgid = t->tgid;
		char buf[24];

		if (!t->events && t->state == SCHED_UNKNOWN)
			continue;
		if (t->state == SCHED_RUNNING && e->last_ns > t->since)
			t->oncpu_ns += e->last_ns - t->since;
		TRY(case_insert(e->db, &t->row_id,
				"INSERT INTO task(source_id, tid, tgid, comm, role, vm_id, "
				"first_ns, last_ns, oncpu_ns, events)"
				" VALUES(?,?,?,?,?,?,?,?,?,?)",
				"iiIssIiiii", e->s->source_id, (int64_t)t->tid,
				tgid >= 0 ? &tgid : NULL, engine_comm(t, buf), role_name(t->role),
				t->vm == VM_NONE ? NULL : &e->vms[t->vm].row_id,
				(int64_t)t->first_ns, (int64_t)t->last_ns, (int64_t)t->oncpu_ns,
				(int64_t)t->events));
	}
	for (i = 0; i < e->n_vcpus; i++)
		TRY(write_vcpu(e, &e->vcpus[i]));
	return NULL;
}

int64_t engine_cite(struct engine *e, const struct event *ev)
{
	return stream_cite(e->s, ev);
}

int64_t engine_cite_pos(struct engine *e, uint64_t time, uint64_t pos)
{
	struct event ev = {
		.time = time, .pos = pos, .cpu = EVENT_CPU_NONE, .tid = -1, .ev = EVENT_TYPE_NONE
	};

	return engine_cite(e, &ev);
}

char *engine_cites(struct engine *e, const uint64_t *times, const uint64_t *pos, size_t n)
{
	char *out = xmalloc(MAX_CITES * 22 + 3), *p = out;
	size_t i;

	*p++ = '[';
	for (i = 0; i < n && i < MAX_CITES; i++) {
		int64_t id = engine_cite_pos(e, times[i], pos[i]);

		if (id)
			p += sprintf(p, "%s%" PRId64, p == out + 1 ? "" : ",", id);
	}
	*p++ = ']';
	*p = '\0';
	return out;
}

bool engine_visible(const struct engine *e, enum event_kind kind)
{
	size_t i;

	for (i = 0; i < e->s->n_types; i++)
		if (e->s->types[i].kind == kind)
			return true;
	return false;
}

uint64_t engine_sampled(const struct engine *e)
{
	const uint64_t single = KIND(SAMPLE) | KIND(STACK) | KIND(OTHER) | KIND(SCHED_STAT_RUNTIME);
	uint64_t kinds = 0;
	size_t i;

	for (i = 0; i < e->s->n_types; i++)
		if (e->s->types[i].complete == COV_SAMPLED && e->s->types[i].count)
			kinds |= kind_bit(e->s->types[i].kind);
	return kinds & ~single;
}
