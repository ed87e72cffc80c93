// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_order.c - perf.data's records in time order, without copying them; see perf_file.h.
 *
 * The recorder writes one CPU's buffer after the other, and a FINISHED_ROUND record when all
 * have had their turn: then everything not later than the latest time of the round before is
 * there (tools/perf/util/ordered-events.c). A CPU's part of a round is a run: a stretch of the
 * file whose times do not go back. Runs are merged by (time, file offset) with a heap of
 * cursors; a record is looked at when its turn comes.
 */
#include "perf_file.h"

#define MAX_RUNS	(1u << 18)	/* at once; 6 MiB */

static bool run_before(const struct perf_run *a, const struct perf_run *b)
{
	return a->time != b->time ? a->time < b->time : a->pos < b->pos;
}

static void sift_down(struct perf_file *pf, size_t i)
{
	uint32_t *heap = pf->heap, run = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= pf->heap_n)
			break;
		if (child + 1 < pf->heap_n &&
		    run_before(&pf->runs[heap[child + 1]], &pf->runs[heap[child]]))
			child++;
		if (!run_before(&pf->runs[heap[child]], &pf->runs[run]))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = run;
}

/* Go to the run's next record that has a time; false at its end. */
static bool advance(const struct perf_file *pf, struct perf_run *r)
{
	for (;;) {
		uint16_t size = rec_size(pf->data + r->pos);

		/*
		 * Sizes were checked on the way here, but the file may have changed under us
		 * since.
		 */
		if (size < 8 || size >= r->end - r->pos) {
			r->pos = r->end;
			return false;
		}
		r->pos += size;
		size = rec_size(pf->data + r->pos);
		if (size <= r->end - r->pos &&
		    perf_record_time(pf, pf->data + r->pos, size, &r->time))
			return true;
	}
}

/* Give out everything up to @limit, in order. What a run has left stays. */
static void merge(struct perf_file *pf, uint64_t limit)
{
	size_t i, kept = 0;

	GROW(pf->heap, pf->cap_heap, pf->n_runs);
	for (pf->heap_n = i = 0; i < pf->n_runs; i++)
		if (pf->runs[i].time <= limit)
			pf->heap[pf->heap_n++] = (uint32_t)i;
	for (i = pf->heap_n / 2; i-- > 0; )
		sift_down(pf, i);
	while (pf->heap_n && !stream_interrupted()) {
		struct perf_run *r = &pf->runs[pf->heap[0]];
		const struct perf_run *second = NULL;
		bool more;

		if (pf->heap_n > 1)
			second = &pf->runs[pf->heap[1]];
		if (pf->heap_n > 2 && run_before(&pf->runs[pf->heap[2]], second))
			second = &pf->runs[pf->heap[2]];
		do {
			perf_deliver(pf, r->pos, r->time);
			more = advance(pf, r);
		} while (more && r->time <= limit && (!second || run_before(r, second)));
		if (!more || r->time > limit)
			pf->heap[0] = pf->heap[--pf->heap_n];
		if (pf->heap_n)
			sift_down(pf, 0);
	}
	for (i = 0; i < pf->n_runs; i++)
		if (pf->runs[i].pos < pf->runs[i].end)
			pf->runs[kept++] = pf->runs[i];
	pf->n_runs = kept;
	pf->run_open = false;
}

void perf_queue(struct perf_file *pf, uint64_t time, uint64_t pos, uint64_t end)
{
	if (pf->run_open && time >= pf->tail_time) {
		pf->runs[pf->n_runs - 1].end = end;
	} else {
		if (unlikely(pf->n_runs >= MAX_RUNS)) {
			if (!pf->early_flush)
				parse_remark(pf->ctx, false, "too disordered around byte %" PRIu64
					     ": some events are analysed out of their time order", pos);
			pf->early_flush = true;
			perf_flush(pf);
		}
		GROW(pf->runs, pf->cap_runs, pf->n_runs + 1);
		pf->runs[pf->n_runs++] = (struct perf_run){ .pos = pos, .end = end, .time = time };
		pf->run_open = true;
	}
	pf->tail_time = time;
	if (time > pf->max_time)
		pf->max_time = time;
}

void perf_round(struct perf_file *pf)
{
	merge(pf, pf->next_flush);
	pf->next_flush = pf->max_time;
}

void perf_flush(struct perf_file *pf)
{
	merge(pf, UINT64_MAX);
	pf->next_flush = pf->max_time;
}
