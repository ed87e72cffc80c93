// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hist_spans.c - what tasks and CPUs are in by tracepoints that come in pairs: waits for locks,
 * direct reclaim, compaction, migration of pages, work of work queues (and who queued it),
 * interrupts and timers; see history.h.
 *
 * Source: include/trace/events/{lock,vmscan,compaction,migrate,mmap_lock,workqueue,irq,timer}.h.
 */
#include "history.h"

static const struct {
	uint8_t		begin, end;
	uint8_t		type;	/* HCTX_SPAN, HCTX_LOCK */
	uint8_t		span;
} spans[] = {
	{ EV_CONTENTION_BEGIN, EV_CONTENTION_END, HCTX_LOCK, 0 },
	{ EV_DIRECT_RECLAIM_BEGIN, EV_DIRECT_RECLAIM_END, HCTX_SPAN, HSPAN_RECLAIM },
	{ EV_MEMCG_RECLAIM_BEGIN, EV_MEMCG_RECLAIM_END, HCTX_SPAN, HSPAN_RECLAIM },
	{ EV_MEMCG_SOFT_RECLAIM_BEGIN, EV_MEMCG_SOFT_RECLAIM_END, HCTX_SPAN, HSPAN_RECLAIM },
	{ EV_NODE_RECLAIM_BEGIN, EV_NODE_RECLAIM_END, HCTX_SPAN, HSPAN_RECLAIM },
	{ EV_COMPACTION_BEGIN, EV_COMPACTION_END, HCTX_SPAN, HSPAN_COMPACTION },
	{ EV_MM_MIGRATE_PAGES_START, EV_MM_MIGRATE_PAGES, HCTX_SPAN, HSPAN_MIGRATION },
	{ EV_MMAP_LOCK_START_LOCKING, EV_MMAP_LOCK_ACQUIRE_RETURNED, HCTX_SPAN, HSPAN_MMAP_LOCK },
};

_Static_assert(ARRAY_SIZE(spans) <= 8, "a bit each in span_ends");

const uint8_t hist_span_kinds[] = {
	EV_CONTENTION_BEGIN, EV_CONTENTION_END, EV_DIRECT_RECLAIM_BEGIN, EV_DIRECT_RECLAIM_END,
	EV_MEMCG_RECLAIM_BEGIN, EV_MEMCG_RECLAIM_END, EV_MEMCG_SOFT_RECLAIM_BEGIN,
	EV_MEMCG_SOFT_RECLAIM_END, EV_NODE_RECLAIM_BEGIN, EV_NODE_RECLAIM_END, EV_COMPACTION_BEGIN,
	EV_COMPACTION_END, EV_MM_MIGRATE_PAGES_START, EV_MM_MIGRATE_PAGES,
	EV_MMAP_LOCK_START_LOCKING, EV_MMAP_LOCK_ACQUIRE_RETURNED, EV_HRTIMER_EXPIRE_ENTRY,
	EV_HRTIMER_EXPIRE_EXIT, EV_TIMER_EXPIRE_ENTRY, EV_TIMER_EXPIRE_EXIT, 0
};

/* Index of (@func, @by) in history.pairs; where there is no room more, of another one's: never. */
static bool pair_of(struct history *h, uint64_t func, uint32_t by, uint32_t *index)
{
	uint64_t hash = (func ^ (uint64_t)by << 40) * 0x9e3779b97f4a7c15ull;
	uint32_t i, at = (uint32_t)(hash >> 40);

	for (i = 0; i < 16; i++) {
		struct hist_pair *p = &h->pairs[(at + i) & (HIST_PAIRS - 1)];

		if (!p->func) {
			p->func = func;
			p->by = by;
		}
		if (p->func == func && p->by == by) {
			*index = (at + i) & (HIST_PAIRS - 1);
			return true;
		}
	}
	return false;
}

static struct hist_queued *queued_slot(struct history *h, uint64_t work)
{
	return &h->queued[(work * 0x9e3779b97f4a7c15ull) >> 54 & (HIST_QUEUED - 1)];
}

static bool in_irq(const struct history *h, const struct event *ev)
{
	if (ev->flags & EVF_KNOWN)
		return ev->flags & (EVF_HARDIRQ | EVF_SOFTIRQ | EVF_NMI);
	return hist_irq(h, ev->cpu) != 0;
}

static void on_work(struct history *h, uint32_t idx, const struct event *ev)
{
	struct hist_queued *q = queued_slot(h, ev->a[0]);
	uint64_t func = ev->a[1];
	struct hist_task *t;
	uint32_t index, n;

	if (ev->kind == EV_WQ_QUEUE) {
		q->work = ev->a[0];
		q->by = in_irq(h, ev) ? 0 : idx;
		return;
	}
	if (idx == TASK_NONE || task_is_idle(idx))
		return;
	t = hist_task(h, idx);
	if (ev->kind == EV_WQ_START) {
		if (func == EVENT_NONE || !func)
			return;
		if (!pair_of(h, func, q->work == ev->a[0] ? q->by : TASK_NONE, &index))
			return;
		if (q->work == ev->a[0])
			q->work = 0;
		hist_push(h, idx, HCTX(HCTX_WORK, index));
		return;
	}
	for (n = MIN((uint32_t)t->n_funcs, (uint32_t)HIST_FUNCS); n; n--)
		if (HCTX_TYPE(t->func[n - 1]) == HCTX_WORK) {
			if (!t->work || h->pairs[HCTX_VALUE(t->func[n - 1])].by != TASK_NONE)
				t->work = t->func[n - 1];
			hist_pop(h, idx, t->func[n - 1]);
			break;
		}
}

static void irq_push(struct hist_cpu *c, uint32_t ctx)
{
	if (c->n_irq < HIST_IRQS)
		c->irq[c->n_irq++] = ctx;
}

static void irq_pop(struct hist_cpu *c, enum hist_ctx_type type)
{
	unsigned int n = c->n_irq;

	while (n && HCTX_TYPE(c->irq[n - 1]) != type)
		n--;
	if (n)
		c->n_irq = (uint8_t)(n - 1);
}

uint32_t hist_irq(const struct history *h, uint16_t cpu)
{
	const struct hist_cpu *c = cpu < h->n_cpus ? &h->cpus[cpu] : NULL;

	return c && c->n_irq ? c->irq[c->n_irq - 1] : 0;
}

/* An interrupt whose end was never recorded so far is no stretch: it would go on for ever. */
static void irq_event(struct history *h, const struct event *ev, enum hist_ctx_type type,
		      bool begin, uint32_t value)
{
	struct hist_cpu *c = hist_cpu(h, ev->cpu);
	uint8_t bit = (uint8_t)(1u << (type - HCTX_IRQ));

	if (!c)
		return;
	if (begin && h->exits & bit)
		irq_push(c, HCTX(type, value));
	else if (!begin)
		irq_pop(c, type);
	if (!begin)
		h->exits |= bit;
}

static void timer_event(struct history *h, const struct event *ev, bool begin)
{
	uint32_t index = 0;

	if (begin && (ev->a[2] == EVENT_NONE || !ev->a[2] ||
		      !pair_of(h, ev->a[2], TASK_NONE, &index)))
		return;
	irq_event(h, ev, HCTX_TIMER, begin, index);
}

static void span_event(struct history *h, const struct event *ev)
{
	uint32_t idx = engine_task(h->e, ev->tid), n;
	struct hist_task *t;
	size_t i;

	/* function_graph's depths are those of all functions, and leave no room for spans */
	if (idx == TASK_NONE || task_is_idle(idx) ||
	    h->e->seen & (KIND(FUNC_ENTER) | KIND(FUNC_LEAF)))
		return;
	t = hist_task(h, idx);
	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		if (ev->kind == spans[i].begin) {
			/* without any end so far it may be a moment only, as with probes */
			if (!(h->span_ends & 1u << i) &&
			    h->span_begins[i]++ >= HIST_PROBE_TRIES) {
				h->span_begins[i] = HIST_PROBE_TRIES;
				return;
			}
			hist_push(h, idx, spans[i].type == HCTX_LOCK
						  ? HCTX(HCTX_LOCK, ev->b[0] & 0xff)
						  : HCTX(HCTX_SPAN, spans[i].span));
			return;
		}
		if (ev->kind != spans[i].end)
			continue;
		h->span_ends |= (uint8_t)(1u << i);
		for (n = MIN((uint32_t)t->n_funcs, (uint32_t)HIST_FUNCS); n; n--)
			if (HCTX_TYPE(t->func[n - 1]) == spans[i].type &&
			    (spans[i].type == HCTX_LOCK ||
			     HCTX_VALUE(t->func[n - 1]) == spans[i].span)) {
				hist_pop(h, idx, t->func[n - 1]);
				return;
			}
		return;
	}
}

bool hist_span_event(struct history *h, const struct event *ev)
{
	switch (ev->kind) {
	case EV_WQ_QUEUE:
	case EV_WQ_START:
	case EV_WQ_END:
		on_work(h, engine_task(h->e, ev->tid), ev);
		return true;
	case EV_IRQ_ENTRY:
	case EV_IRQ_EXIT:
		irq_event(h, ev, HCTX_IRQ, ev->kind == EV_IRQ_ENTRY, ev->b[0]);
		return true;
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		irq_event(h, ev, HCTX_SOFTIRQ, ev->kind == EV_SOFTIRQ_ENTRY, ev->b[0]);
		return true;
	case EV_HRTIMER_EXPIRE_ENTRY:
	case EV_TIMER_EXPIRE_ENTRY:
		timer_event(h, ev, true);
		return true;
	case EV_HRTIMER_EXPIRE_EXIT:
	case EV_TIMER_EXPIRE_EXIT:
		timer_event(h, ev, false);
		return true;
	default:
		if (ev->kind < EV_N_ENGINE)
			return false;
		span_event(h, ev);
		return true;
	}
}
