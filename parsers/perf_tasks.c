// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_tasks.c - comms and thread groups from the recorder's own records (COMM, FORK, EXIT) and
 * from samples; see perf_file.h. The history of comms serves citations: a record is shown with
 * the comm its task had then.
 */
#include "perf_file.h"

#define MAX_COMM_HISTORY	(1u << 20)

static size_t now_slot(const struct perf_file *pf, int32_t tid)
{
	return ((uint32_t)tid * 0x9e3779b1u) & (pf->now_size - 1);
}

static struct perf_comm *now_find(const struct perf_file *pf, int32_t tid)
{
	size_t i;

	if (!pf->now_size)
		return NULL;
	for (i = now_slot(pf, tid); pf->comm_now[i].pos; i = (i + 1) & (pf->now_size - 1))
		if (pf->comm_now[i].tid == tid)
			return &pf->comm_now[i];
	return NULL;
}

static void now_put(struct perf_file *pf, const struct perf_comm *c)
{
	size_t i;

	for (i = now_slot(pf, c->tid); pf->comm_now[i].pos && pf->comm_now[i].tid != c->tid; )
		i = (i + 1) & (pf->now_size - 1);
	pf->n_now += !pf->comm_now[i].pos;
	pf->comm_now[i] = *c;
}

/* Note that @tid is called @comm from (@time, @pos) on; @pos is never 0, the header lies there. */
static void set_comm(struct perf_file *pf, int32_t tid, uint32_t comm, uint64_t time, uint64_t pos)
{
	struct perf_comm c = { .tid = tid, .comm = comm, .time = time, .pos = pos };

	if (comm == STRTAB_NONE || pf->n_comms >= MAX_COMM_HISTORY)
		return;
	if (pf->n_now * 2 >= pf->now_size) {
		struct perf_comm *old = pf->comm_now;
		size_t n = pf->now_size, i;

		pf->now_size = n ? n * 2 : 1024;
		pf->comm_now = xcalloc(pf->now_size, sizeof(*pf->comm_now));
		pf->n_now = 0;
		for (i = 0; i < n; i++)
			if (old[i].pos)
				now_put(pf, &old[i]);
		free(old);
	}
	now_put(pf, &c);
	GROW(pf->comm_hist, pf->cap_comms, pf->n_comms + 1);
	pf->comm_hist[pf->n_comms++] = c;
	pf->comms_sorted = false;
}

static struct event *pseudo(struct perf_file *pf, enum event_kind kind, int32_t tid, uint64_t time,
			    uint64_t pos)
{
	struct event *ev = stream_next(pf->s);

	memset(ev, 0, sizeof(*ev));
	ev->time = time;
	ev->pos = pos;
	ev->cpu = EVENT_CPU_NONE;
	ev->tid = tid;
	ev->ev = EVENT_TYPE_NONE;
	ev->kind = (uint8_t)kind;
	return ev;
}

static void remember(struct perf_file *pf, int32_t tid, int32_t pid)
{
	size_t slot = (uint32_t)tid % PERF_TASK_CACHE;

	pf->seen[slot].tid = tid;
	pf->seen[slot].pid = pid;
	pf->seen[slot].used = true;
}

void perf_task_comm(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos)
{
	const bool exec = rec_misc(rec) & (1u << 13);
	const char *comm = (const char *)rec + 16;
	int32_t pid, tid;
	struct event *ev;
	size_t len;

	if (size < 17)
		return;
	pid = (int32_t)load32(rec + 8);
	tid = (int32_t)load32(rec + 12);
	len = strnlen(comm, MIN(size - 16, (size_t)15));
	ev = pseudo(pf, EV_TASK, tid, time, pos);
	comm_words(ev->a, comm, len);
	ev->b[0] = (uint32_t)pid;
	ev->b[1] = !time ? TASK_SYNTH : exec ? TASK_EXEC : TASK_COMM;
	stream_push(pf->s);
	remember(pf, tid, pid);
	if (exec)
		sym_maps_exec(pf->maps, pid);
	set_comm(pf, tid, strtab_id(&pf->comms, comm, len), time, pos);
}

void perf_task_fork(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos)
{
	int32_t pid, ppid, tid, ptid;
	const struct perf_comm *parent;
	struct event *ev;

	if (size < 32)
		return;
	pid = (int32_t)load32(rec + 8);
	ppid = (int32_t)load32(rec + 12);
	tid = (int32_t)load32(rec + 16);
	ptid = (int32_t)load32(rec + 20);
	ev = pseudo(pf, EV_TASK_FORK, time ? ptid : -1, time, pos);
	ev->b[0] = (uint32_t)tid;
	ev->b[1] = (uint32_t)ptid;
	ev->a[0] = (uint32_t)pid;
	ev->a[1] = (uint32_t)ppid;
	stream_push(pf->s);
	remember(pf, tid, pid);
	sym_maps_fork(pf->maps, pid, ppid);
	parent = now_find(pf, ptid);
	if (parent)
		set_comm(pf, tid, parent->comm, time, pos);
}

void perf_task_exit(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		    uint64_t pos)
{
	struct event *ev;
	int32_t tid;

	if (size < 32)
		return;
	tid = (int32_t)load32(rec + 16);
	ev = pseudo(pf, EV_TASK_EXIT, tid, time, pos);
	ev->b[0] = (uint32_t)tid;
	stream_push(pf->s);
}

void perf_task_seen(struct perf_file *pf, int32_t tid, int32_t pid, uint64_t time, uint64_t pos)
{
	const size_t slot = (uint32_t)tid % PERF_TASK_CACHE;
	struct event *ev;

	if (likely(pf->seen[slot].tid == tid && pf->seen[slot].pid == pid && pf->seen[slot].used))
		return;
	if (tid < 0 || pid < 0)
		return;
	remember(pf, tid, pid);
	ev = pseudo(pf, EV_TASK, tid, time, pos);
	ev->b[0] = (uint32_t)pid;
	ev->b[1] = TASK_SEEN;
	stream_push(pf->s);
}

static int by_tid_time(const void *x, const void *y)
{
	const struct perf_comm *a = x, *b = y;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

void perf_comm_at(struct perf_file *pf, int32_t tid, uint64_t time, uint64_t pos, char buf[24])
{
	const struct perf_comm key = { .tid = tid, .time = time, .pos = pos };
	size_t lo = 0, hi = pf->n_comms;

	if (!pf->comms_sorted && pf->n_comms)
		qsort(pf->comm_hist, pf->n_comms, sizeof(*pf->comm_hist), by_tid_time);
	pf->comms_sorted = true;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_tid_time(&pf->comm_hist[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && pf->comm_hist[lo - 1].tid == tid)
		snprintf(buf, 24, "%s", strtab_str(&pf->comms, pf->comm_hist[lo - 1].comm));
	else if (tid == 0)
		strcpy(buf, "swapper");
	else
		snprintf(buf, 24, ":%" PRId32, tid);
}
