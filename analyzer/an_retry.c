// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_retry.c - vCPUs that take the same nested page fault again and again at one rip and one guest
 * page: the guest makes no progress, KVM does not map the page. MMIO emulation, exits to user space
 * and any other exit in between end a run.
 */
#include "engine.h"
#include "topn.h"

#define MIN_COUNT	16	/* shorter runs are what a few concurrent zaps make */
#define MAX_ROWS	200

struct loop {
	uint64_t	count;		/* rank: first member */
	uint64_t	rip, gpa, start, end, pos, invalidations;
	uint32_t	reason, task;
};

struct vcpu_loop {
	struct loop	cur;
	bool		open;		/* cur.count >= 1 */
	bool		faulted;	/* gpa of this round is known */
};

struct retry {
	struct vcpu_loop *v;	/* by task index */
	size_t		n;
	uint64_t	invalidations;
	struct topn	top;
};

static void *retry_begin(struct engine *e)
{
	struct retry *r = xcalloc(1, sizeof(*r));

	(void)e;
	topn_init(&r->top, sizeof(struct loop), MAX_ROWS);
	return r;
}

static void end_run(struct retry *r, struct vcpu_loop *v)
{
	if (v->open && v->cur.count >= MIN_COUNT) {
		v->cur.invalidations = r->invalidations - v->cur.invalidations;
		topn_add(&r->top, &v->cur);
	}
	v->open = false;
}

static struct vcpu_loop *loop_of(struct engine *e, struct retry *r, int32_t tid, uint32_t *idx)
{
	*idx = engine_task(e, tid);
	if (*idx == TASK_NONE || task_is_idle(*idx))
		return NULL;
	GROW_ZERO(r->v, r->n, *idx);
	return &r->v[*idx];
}

static void on_exit_event(struct engine *e, struct retry *r, struct vcpu_loop *v, uint32_t idx,
			  const struct event *ev)
{
	if (EXIT_CLASS(ev->b[0]) != EXIT_NPF) {
		/* an interrupt taken in between is no progress of the guest */
		if (EXIT_CLASS(ev->b[0]) != EXIT_INTR)
			end_run(r, v);
		return;
	}
	if (v->open && v->cur.rip == ev->a[0]) {
		v->cur.count++;
		v->cur.end = e->now;
		v->faulted = false;
		return;
	}
	end_run(r, v);
	v->cur = (struct loop){ .count = 1,
				.rip = ev->a[0],
				.start = e->now,
				.end = e->now,
				.pos = ev->pos,
				.reason = ev->b[0],
				.task = idx,
				.invalidations = r->invalidations };
	v->open = true;
	v->faulted = false;
}

static void retry_event(struct engine *e, void *state, const struct event *ev)
{
	struct retry *r = state;
	struct vcpu_loop *v;
	uint32_t idx;

	if (ev->kind == EV_KVM_UNMAP_HVA) {
		r->invalidations++;
		return;
	}
	v = loop_of(e, r, ev->tid, &idx);
	if (!v)
		return;
	switch (ev->kind) {
	case EV_KVM_EXIT:
		on_exit_event(e, r, v, idx, ev);
		break;
	case EV_KVM_PAGE_FAULT:
		if (!v->open || v->faulted)
			break;
		v->faulted = true;
		if (v->cur.count == 1) {
			v->cur.gpa = ev->a[0];
		} else if (v->cur.gpa != ev->a[0]) {
			/* another page: progress; this round begins a run of its own */
			v->cur.count--;
			end_run(r, v);
			v->cur.count = 1;
			v->cur.gpa = ev->a[0];
			v->cur.start = v->cur.end = e->now;
			v->cur.pos = ev->pos;
			v->cur.invalidations = r->invalidations;
			v->open = true;
		}
		break;
	default: /* MMIO emulated, or user space asked: this round is no retry, those before it were
		  */
		v->cur.count -= v->open;
		end_run(r, v);
		break;
	}
}

static void retry_lost(struct engine *e, void *state, uint16_t cpu)
{
	struct retry *r = state;
	size_t i;

	(void)e;
	(void)cpu;
	for (i = 0; i < r->n; i++)
		end_run(r, &r->v[i]);
}

static int earlier_first(const void *a, const void *b)
{
	const struct loop *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct error *retry_flush(struct engine *e, void *state)
{
	struct retry *r = state;
	bool visible = engine_visible(e, EV_KVM_UNMAP_HVA),
	     faults = engine_visible(e, EV_KVM_PAGE_FAULT);
	size_t i;

	retry_lost(e, r, EVENT_CPU_NONE);
	topn_sort(&r->top, earlier_first);
	for (i = 0; i < r->top.n; i++) {
		const struct loop *l = (const struct loop *)r->top.recs + i;
		const struct task *t = &e->tasks[l->task];
		int64_t vm = t->vm != VM_NONE ? e->vms[t->vm].row_id : 0;
		int64_t vcpu = t->vcpu != VCPU_NONE ? e->vcpus[t->vcpu].row_id : 0;
		int64_t inval = (int64_t)l->invalidations,
			cite = engine_cite_pos(e, l->start, l->pos);
		char gpa[24];

		snprintf(gpa, sizeof(gpa), "0x%" PRIx64, l->gpa);
		TRY(case_insert(
			e->db, NULL,
			"INSERT INTO retry_loop(source_id, vm_id, vcpu_id, tid, reason, rip, gpa, "
			"count, start_ns,"
			" duration_ns, invalidations, cite_id) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
			"iIIisxsiiiII", e->s->source_id, vm ? &vm : NULL, vcpu ? &vcpu : NULL,
			(int64_t)t->tid, stream_reason_name(e->s, l->reason), l->rip,
			faults ? gpa : NULL, (int64_t)l->count, (int64_t)l->start,
			(int64_t)(l->end - l->start), visible ? &inval : NULL,
			cite ? &cite : NULL));
	}
	return NULL;
}

static void retry_destroy(void *state)
{
	struct retry *r = state;

	topn_deinit(&r->top);
	free(r->v);
	free(r);
}

static const struct analysis retry_analysis = {
	.name = "retry",
	.priority = 55,
	.pairs = true,
	.kinds = KIND(KVM_EXIT) | KIND(KVM_PAGE_FAULT) | KIND(KVM_MMIO) | KIND(KVM_FAST_MMIO) |
		 KIND(KVM_USERSPACE_EXIT) | KIND(KVM_UNMAP_HVA),
	.begin = retry_begin,
	.event = retry_event,
	.lost = retry_lost,
	.flush = retry_flush,
	.destroy = retry_destroy,
};
REGISTER(analyses, &retry_analysis);
