// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_records.c - the records of a perf.data, in file order and then, in time order, as events;
 * see perf_file.h.
 */
#include "perf_file.h"

#define MAX_DAMAGES	1000		/* places after which reading stops */
#define RESYNC_CHAIN	4		/* plausible records in a row that end a search */
#define PRESCAN_RECORDS	65536

/*
 * What a switch -e, --filter etc. of the recorder's command line means for its events'
 * completeness.
 */
static bool has_arg(const struct perf_file *pf, const char *arg)
{
	size_t len = strlen(arg);
	const char *p = pf->cmdline;

	while (p && (p = strstr(p, arg))) {
		bool start = p == pf->cmdline || p[-1] == ' ';

		if (start && (!p[len] || p[len] == ' ' || p[len] == '='))
			return true;
		p += len;
	}
	return false;
}

static enum cov_scope scope_of(const struct perf_file *pf)
{
	bool cpus = has_arg(pf, "-C") || has_arg(pf, "--cpu");

	if (pf->thread_map == 0)
		return COV_TASKS;
	if (pf->mapped_cpus && pf->cpus_online > 0 && pf->mapped_cpus < (uint64_t)pf->cpus_online)
		return COV_CPUS;
	if (cpus)
		return COV_CPUS;
	if (pf->thread_map == 1)
		return COV_SYSTEM;
	return has_arg(pf, "-a") || has_arg(pf, "--all-cpus") ? COV_SYSTEM : COV_TASKS;
}

static enum cov_complete complete_of(const struct perf_file *pf, const struct perf_attr *a)
{
	if (a->flags & PA_FREQ || a->period > 1)
		return COV_SAMPLED;
	if (has_arg(pf, "--filter") || has_arg(pf, "--exclude-perf"))
		return COV_FILTERED;
	/*
	 * Tracepoints fire in the host's kernel: of the exclude_ bits only exclude_kernel keeps
	 * them out (perf_tp_event_match()).
	 */
	return a->flags & PA_EXCLUDE_KERNEL ? COV_FILTERED : COV_ALL;
}

/*
 * The event type of a tracepoint whose format is known: usually "system:name", with modifiers
 * where the recorder had some.
 */
static uint16_t tracepoint_type(struct perf_file *pf, struct perf_attr *a, enum cov_scope scope)
{
	const struct tp_format *f = a->format;
	_cleanup_free_ char *full = xasprintf("%s:%s", f->system, f->name);
	_cleanup_free_ char *name = xstrdup(a->name ? a->name : full);
	char *colon = strchr(name, ':');

	if (colon)
		*colon = '\0';
	return stream_event_type(pf->s, colon ? name : NULL, colon ? colon + 1 : name, tp_kind(f),
				 COV_LISTED, a->complete, scope);
}

static uint32_t func_of(struct perf_file *pf, const struct perf_attr *a, enum event_kind kind)
{
	const char *name = a->format->name;

	if (kind == EV_SYSCALL_ENTER)
		name += strlen("sys_enter_");
	else if (kind == EV_SYSCALL_EXIT)
		name += strlen("sys_exit_");
	else
		return pf->s->types[a->ev].func;
	return strtab_id(&pf->s->strings, name, strlen(name));
}

static void bind_attr(struct perf_file *pf, struct perf_attr *a)
{
	_cleanup_free_ char *label = a->name ? xstrdup(a->name) : perf_attr_label(a);
	enum cov_scope scope = scope_of(pf);
	const char *missing;

	a->bound = true;
	a->complete = complete_of(pf, a);
	if (a->type == PT_TRACEPOINT)
		a->format = perf_format(pf, a->config);
	if (!a->format) {
		a->ev = stream_event_type(pf->s, NULL, label,
					  a->type == PT_TRACEPOINT ? EV_OTHER : EV_SAMPLE,
					  COV_LISTED, a->complete, scope);
		if (a->type == PT_TRACEPOINT && a->ev != EVENT_TYPE_NONE)
			pf->s->types[a->ev].kind = EV_OTHER;
		return;
	}
	a->ev = tracepoint_type(pf, a, scope);
	if (a->ev == EVENT_TYPE_NONE)
		return;
	a->dec = tp_decoder_create(a->format, pf->s->types[a->ev].kind,
				   func_of(pf, a, pf->s->types[a->ev].kind), &missing);
	if (missing) {
		pf->s->types[a->ev].kind = EV_OTHER;
		parse_remark(pf->ctx, true, "%s:%s has no field %s: it is only counted", a->format->system, a->format->name,
			     missing);
	}
}

void perf_bind(struct perf_file *pf)
{
	size_t i;

	/* The recorder's own carrier of task records (a "dummy") counts only if it samples. */
	for (i = 0; i < pf->n_attrs; i++)
		if (pf->attrs[i].type != PT_SOFTWARE || pf->attrs[i].config != 9)
			bind_attr(pf, &pf->attrs[i]);
}

static inline bool wanted(uint32_t type)
{
	return type == PERF_SAMPLE || type == PERF_COMM || type == PERF_FORK || type == PERF_EXIT ||
	       type == PERF_LOST || type == PERF_MMAP || type == PERF_MMAP2 ||
	       type == PERF_KSYMBOL;
}

bool perf_record_time(const struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t *time)
{
	const uint32_t type = rec_type(rec);
	const struct perf_attr *a;

	if (likely(type == PERF_SAMPLE && pf->time_at != PERF_NONE)) {
		if (pf->time_at + 8u > size)
			return false;
		*time = load64(rec + pf->time_at);
		return *time && *time <= PERF_MAX_TIME;
	}
	if (!wanted(type))
		return false;
	a = perf_attr_of(pf, rec, size);
	if (!a)
		return false;
	if (type == PERF_SAMPLE) {
		if (a->time == PERF_NONE || a->time + 8u > size)
			return false;
		*time = load64(rec + a->time);
	} else if (a->t_time && size >= 8u + a->trailer) {
		*time = load64(rec + size - a->t_time);
	} else if ((type == PERF_FORK || type == PERF_EXIT) && size >= 32) {
		*time = load64(rec + 24);
	} else {
		return false;
	}
	return *time && *time <= PERF_MAX_TIME;
}

/* A sample that isn't a tracepoint's: where it was, and how it got there. */
static void plain_sample(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
			 size_t size, struct event *ev)
{
	struct perf_sample ps;

	memset(ev->a, 0, sizeof(ev->a));
	ev->kind = EV_SAMPLE;
	ev->flags = 0;
	ev->a[0] = a->ip != PERF_NONE ? load64(rec + a->ip) : 0;
	ev->b[0] = EVENT_U32_NONE;
	ev->b[1] = 0;
	if (!(a->sample_type & PS_CALLCHAIN))
		return;
	if (!perf_sample_parse(a, rec, size, &ps)) {
		pf->bad_samples++;
		return;
	}
	ev->b[0] = perf_chain(pf, a, rec, &ps);
	pf->chains_left_out += ev->b[0] == EVENT_U32_NONE && ps.n_callchain > 1;
}

static void tracepoint(struct perf_file *pf, struct perf_attr *a, const uint8_t *rec, size_t size,
		       struct event *ev)
{
	size_t at = a->raw_size_at, len;
	struct perf_sample ps;

	if (likely(at != PERF_NONE)) {
		if (likely(at + 4 <= size && (len = load32(rec + at)) <= size - at - 4)) {
			if (unlikely(!tp_decode(a->dec, pf->s, rec + at + 4, len, ev)))
				pf->short_raw++;
			return;
		}
	} else if (a->sample_type & PS_RAW && perf_sample_parse(a, rec, size, &ps)) {
		if (unlikely(!tp_decode(a->dec, pf->s, rec + ps.raw, ps.raw_size, ev)))
			pf->short_raw++;
		return;
	}
	pf->bad_samples += !!(a->sample_type & PS_RAW);
	memset(ev->a, 0, sizeof(ev->a));
	memset(ev->b, 0, sizeof(ev->b));
	ev->kind = EV_OTHER;
	ev->flags = 0;
}

static void sample(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time,
		   uint64_t pos)
{
	struct perf_attr *a = perf_attr_of(pf, rec, size);
	struct event *ev, of;
	int32_t tid = -1;

	if (unlikely(!a)) {
		pf->unknown_ids++;
		return;
	}
	if (unlikely(!a->bound))
		bind_attr(pf, a);
	if (unlikely(a->ev == EVENT_TYPE_NONE || a->fixed > size)) {
		pf->bad_samples++;
		return;
	}
	if (unlikely(!time && a->time != PERF_NONE && load64(rec + a->time))) {
		pf->bad_times++;	/* perf_record_time() refused it */
		return;
	}
	if (likely(a->tid != PERF_NONE)) {
		tid = (int32_t)load32(rec + a->tid + 4);
		perf_task_seen(pf, tid, (int32_t)load32(rec + a->tid), time, pos);
	}
	ev = stream_next(pf->s);
	ev->time = time;
	ev->pos = pos;
	ev->tid = tid;
	ev->cpu = EVENT_CPU_NONE;
	if (a->cpu != PERF_NONE && load32(rec + a->cpu) < EVENT_CPU_NONE)
		ev->cpu = (uint16_t)load32(rec + a->cpu);
	ev->ev = a->ev;
	if (likely(a->dec)) {
		tracepoint(pf, a, rec, size, ev);
	} else if (a->type == PT_TRACEPOINT) {
		memset(ev->a, 0, sizeof(ev->a));
		memset(ev->b, 0, sizeof(ev->b));
		ev->kind = EV_OTHER;
		ev->flags = 0;
		pf->unformatted++;
	} else {
		plain_sample(pf, a, rec, size, ev);
	}
	of = *ev;
	stream_push(pf->s);
	if (unlikely(a->sample_type & PS_CALLCHAIN) && a->type == PT_TRACEPOINT)
		perf_push_chain(pf, a, rec, size, &of);
}

/*
 * PERF_RECORD_LOST: u64 id, u64 lost. The kernel writes it when it next finds room, so all of it
 * lies before.
 */
static void lost(struct perf_file *pf, const uint8_t *rec, size_t size, uint64_t time, uint64_t pos)
{
	const struct perf_attr *a = perf_attr_of(pf, rec, size);
	struct event *ev;

	if (size < 24)
		return;
	ev = stream_next(pf->s);
	memset(ev, 0, sizeof(*ev));
	ev->time = time;
	ev->pos = pos;
	ev->cpu = EVENT_CPU_NONE;
	if (a && a->t_cpu && size >= 24u + a->trailer &&
	    load32(rec + size - a->t_cpu) < EVENT_CPU_NONE)
		ev->cpu = (uint16_t)load32(rec + size - a->t_cpu);
	ev->tid = -1;
	ev->ev = EVENT_TYPE_NONE;
	ev->kind = EV_LOST;
	ev->a[0] = load64(rec + 16);
	pf->lost += ev->a[0];
	stream_push(pf->s);
}

void perf_deliver(struct perf_file *pf, uint64_t pos, uint64_t time)
{
	const uint8_t *rec = pf->data + pos;
	const size_t size = rec_size(rec);

	if (unlikely(size < 8 || size > pf->size - pos))
		return;
	switch (rec_type(rec)) {
	case PERF_SAMPLE:
		sample(pf, rec, size, time, pos);
		break;
	case PERF_COMM:
		perf_task_comm(pf, rec, size, time, pos);
		break;
	case PERF_FORK:
		perf_task_fork(pf, rec, size, time, pos);
		break;
	case PERF_EXIT:
		perf_task_exit(pf, rec, size, time, pos);
		break;
	case PERF_LOST:
		lost(pf, rec, size, time, pos);
		break;
	case PERF_MMAP:
	case PERF_MMAP2:
	case PERF_KSYMBOL:
		perf_map_record(pf, rec, size);
		break;
	}
}

/* Records that are taken where they stand, not in time order. */
static void take_now(struct perf_file *pf, uint32_t type, const uint8_t *rec, size_t size)
{
	switch (type) {
	case PERF_FINISHED_ROUND:
		perf_round(pf);
		break;
	case PERF_LOST_SAMPLES:
		if (size >= 16)
			pf->lost_samples += load64(rec + 8);
		break;
	case PERF_COMPRESSED:
	case PERF_COMPRESSED2:
		pf->compressed++;
		break;
	case PERF_BUILD_ID:
		perf_add_build_id(pf, rec, size, rec_misc(rec));
		break;
	}
}

static bool plausible(const struct perf_file *pf, uint64_t at, uint64_t end)
{
	const uint8_t *rec = pf->data + at;
	uint32_t type;
	uint16_t size;

	if (end - at < 8)
		return false;
	type = rec_type(rec);
	size = rec_size(rec);
	if (size < 8 || size > end - at || !type || type >= PERF_RECORD_MAX)
		return false;
	return type >= PERF_KERNEL_MAX || !(size & 7);
}

/*
 * The next place from @at on where a few plausible records follow each other; @end when there is
 * none.
 */
static uint64_t resync(const struct perf_file *pf, uint64_t at, uint64_t end)
{
	for (; end - at >= 8; at += MIN((uint64_t)8, end - at)) {
		uint64_t p = at;
		int n;

		for (n = 0; n < RESYNC_CHAIN && p < end; n++) {
			const uint8_t *rec = pf->data + p;

			if (!plausible(pf, p, end) || (rec_size(rec) & 7) ||
			    (rec_type(rec) > 22 && rec_type(rec) < PERF_ATTR) ||
			    rec_type(rec) > PERF_COMPRESSED2)
				break;
			if (rec_type(rec) == PERF_SAMPLE && !perf_attr_of(pf, rec, rec_size(rec)))
				break;
			p += rec_size(rec);
		}
		if (n == RESYNC_CHAIN || (n && p == end))
			return at;
	}
	return end;
}

/* Note damage at @at; returns where to go on. */
static uint64_t damage(struct perf_file *pf, uint64_t at, uint64_t end)
{
	uint64_t next = pf->damaged < MAX_DAMAGES ? resync(pf, at + 8, end) : end;

	if (!pf->damaged++)
		pf->damaged_at = at;
	pf->damaged_bytes += next - at;
	pf->run_open = false;
	return next;
}

void perf_walk(struct perf_file *pf, uint64_t start, uint64_t end)
{
	uint64_t at = start, n = 0;

	while (at < end) {
		const uint8_t *rec = pf->data + at;
		uint64_t size, time, extra;
		uint32_t type;

		if (unlikely(!plausible(pf, at, end))) {
			if (end - at < 8) {
				pf->damaged_at = pf->damaged++ ? pf->damaged_at : at;
				pf->damaged_bytes += end - at;
				break;
			}
			at = damage(pf, at, end);
			continue;
		}
		type = rec_type(rec);
		size = rec_size(rec);
		if (perf_record_time(pf, rec, size, &time))
			perf_queue(pf, time, at, at + size);
		else if (wanted(type))
			perf_deliver(pf, at, 0);
		else
			take_now(pf, type, rec, size);
		extra = perf_extra(pf, type, rec, size, end - at - size);
		if (unlikely(extra))
			pf->run_open = false;
		if (unlikely(pf->pipe && !pf->flat && at >= pf->meta_end && perf_is_meta(type)))
			perf_meta(pf, type, rec, size, extra);
		at += size + extra;
		if (unlikely(!(n++ & 0xffff)) && stream_interrupted())
			break;
	}
	perf_flush(pf);
}

void perf_sums(struct perf_file *pf)
{
	struct parse_ctx *ctx = pf->ctx;
	int64_t member_id;
	uint64_t at;

	perf_place_of(pf, pf->damaged_at, &member_id, &at);
	if (pf->damaged > 1)
		parse_remark(ctx, true, "damaged in %" PRIu64 " places, first at byte %" PRIu64 ": %" PRIu64
			     " bytes could not be read", pf->damaged, at, pf->damaged_bytes);
	else if (pf->damaged && pf->damaged_at + pf->damaged_bytes == pf->size)
		parse_remark(ctx, true, "cut inside a record at byte %" PRIu64 ": the last %" PRIu64 " bytes could not be read",
			     at, pf->damaged_bytes);
	else if (pf->damaged)
		parse_remark(ctx, true, "damaged at byte %" PRIu64 ": %" PRIu64 " bytes could not be read", at, pf->damaged_bytes);
	if (pf->compressed)
		parse_remark(ctx, true, "compressed records among plain samples could not be read: %" PRIu64, pf->compressed);
	if (pf->unknown_ids)
		parse_remark(ctx, true, "samples of events that the header doesn't list: %" PRIu64, pf->unknown_ids);
	if (pf->bad_samples)
		parse_remark(ctx, true, "samples too short for their event's layout: %" PRIu64, pf->bad_samples);
	if (pf->bad_times)
		parse_remark(ctx, true, "samples left out for impossible times: %" PRIu64, pf->bad_times);
	if (pf->short_raw)
		parse_remark(ctx, true, "tracepoint records shorter than their format says: %" PRIu64, pf->short_raw);
	if (pf->unformatted)
		parse_remark(ctx, true, "tracepoint samples without their format (%" PRIu64 ") are counted as tracepoint:ID, with "
			     "time, CPU and task only", pf->unformatted);
}

void perf_prescan(struct perf_file *pf, uint64_t start, uint64_t end)
{
	uint8_t cpus[8192] = { 0 };
	uint64_t at = start;
	int n;

	pf->thread_map = -1;
	for (n = 0; n < PRESCAN_RECORDS && at < end && plausible(pf, at, end); n++) {
		const uint8_t *rec = pf->data + at;
		const uint16_t size = rec_size(rec);
		uint64_t i, nr = size >= 16 ? load64(rec + 8) : 0;

		if (rec_type(rec) == PERF_SAMPLE)
			break;
		if (rec_type(rec) == PERF_THREAD_MAP && size >= 24 && nr)
			pf->thread_map =
				load64(rec + 16) == UINT64_MAX || load32(rec + 16) == UINT32_MAX;
		for (i = 0; rec_type(rec) == PERF_ID_INDEX && i < nr && 16 + 32 * (i + 1) <= size;
		     i++) {
			uint64_t cpu = load64(rec + 16 + 32 * i + 16),
				 tid = load64(rec + 16 + 32 * i + 24);

			if (pf->thread_map < 0)
				pf->thread_map = tid == UINT64_MAX;
			if (cpu < sizeof(cpus) * 8 && !(cpus[cpu / 8] >> (cpu % 8) & 1)) {
				cpus[cpu / 8] |= (uint8_t)(1u << (cpu % 8));
				pf->mapped_cpus++;
			}
		}
		at += size + perf_extra(pf, rec_type(rec), rec, size, end - at - size);
	}
}
