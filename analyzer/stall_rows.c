// SPDX-License-Identifier: GPL-2.0-or-later
/* stall_rows.c - stalls and their chains as rows; see stall_rows.h. */
#include "stall_rows.h"

#define CITE_CACHE	16384		/* a power of two; neighbours cite the same events */
#define CITED_LINKS                                                                                \
	6000 /* links that get citations, longest stalls first; all stalls have theirs */

static const char *const kind_names[] = {
	"exit", "vmm", "runq", "blocked", "late-wake", "retry-loop", "exit-storm", "operation",
};

struct writer {
	struct engine	*e;
	struct patterns	*p;
	struct stall	**list;		/* those that become rows, longest first */
	size_t		n;
	struct { uint64_t time, pos; int64_t id; } *cites;
	uint32_t	cited;
	int64_t		*pattern_rows;	/* by pattern index */
	int64_t		*worst_rows;
	uint8_t		*throttled;	/* by VM index: see chain_settle() */
};

static int64_t cite_of(struct writer *w, uint64_t time, uint64_t pos)
{
	uint32_t at = (uint32_t)((pos ^ time * 31) * 0x9e3779b1u) & (CITE_CACHE - 1);

	if (w->cites[at].id && w->cites[at].pos == pos && w->cites[at].time == time)
		return w->cites[at].id;
	w->cites[at].time = time;
	w->cites[at].pos = pos;
	w->cites[at].id = engine_cite_pos(w->e, time, pos);
	return w->cites[at].id;
}

static char *cites_json(struct writer *w, const uint64_t *times, const uint64_t *pos, size_t n)
{
	char buf[64] = "";
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		int64_t id = times[i] == TIME_NONE ? 0 : cite_of(w, times[i], pos[i]);

		if (id)
			len += (size_t)snprintf(buf + len, sizeof(buf) - len, "%s%" PRId64,
						len ? "," : "", id);
	}
	return len ? xasprintf("[%s]", buf) : NULL;
}

static char *stall_what(const struct engine *e, const struct stall *s)
{
	char ctx[100];

	if (s->kind != STALL_OPERATION)
		return chain_exit_name(e, &s->info);
	chain_ctx_name(e, s->ctx, ctx, sizeof(ctx));
	/* "in ioctl(KVM_CREATE_VM)" -> "KVM_CREATE_VM" */
	if (!strncmp(ctx, "in ioctl(", 9) && ctx[strlen(ctx) - 1] == ')') {
		ctx[strlen(ctx) - 1] = '\0';
		return xstrdup(ctx + 9);
	}
	return xstrdup(ctx + (strncmp(ctx, "in ", 3) ? 0 : 3));
}

static struct error *write_links(struct writer *w, const struct stall *s)
{
	int64_t ids[CHAIN_LINKS];
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		const struct link *l = &s->links[i];
		_cleanup_free_ char *what = chain_what(w->e, l), *cites = NULL;
		const struct task *t = l->task < w->e->n_tasks ? &w->e->tasks[l->task] : NULL;
		int64_t tid = t ? t->tid : 0, cpu = l->cpu, stack = 0;
		char comm[24];

		if (l->kind == LK_HOST || l->kind == LK_VMM)
			stack = stream_stack_row(w->e->s, l->host.stack);
		if (w->cited < CITED_LINKS && l->cite_time[0] != TIME_NONE) {
			cites = cites_json(w, l->cite_time, l->cite_pos, 2);
			w->cited++;
		}
		TRY(case_insert(
			w->e->db, &ids[i],
			"INSERT INTO chain_link(stall_id, parent_id, depth, seq, kind, start_ns, duration_ns, task, tid, cpu,"
			" what, inferred, cites, stack_id) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			"iIiisiisIIsisI", s->row_id, l->parent == LINK_ROOT ? NULL : &ids[l->parent],
			(int64_t)l->depth, (int64_t)i, link_kind_name((enum link_kind)l->kind),
			(int64_t)l->start, (int64_t)(l->end - l->start),
			t ? engine_comm(t, comm) : NULL, t ? &tid : NULL,
			l->cpu == EVENT_CPU_NONE ? NULL : &cpu, what,
			(int64_t)(l->flags & LF_INFERRED ? 1 : 0), cites, stack ? &stack : NULL));
	}
	return NULL;
}

static struct error *write_stall(struct writer *w, struct stall *s)
{
	struct engine *e = w->e;
	const struct task *t = &e->tasks[s->task];
	_cleanup_free_ char *cause = chain_cause(e, s->links, s->n), *what = stall_what(e, s),
			    *cites = NULL;
	uint64_t times[2] = { s->start, s->end_pos == s->pos ? TIME_NONE : s->end },
		 pos[2] = { s->pos, s->end_pos };
	char comm[24];

	cites = cites_json(w, times, pos, 2);
	TRY(case_insert(
		e->db, &s->row_id,
		"INSERT INTO stall(source_id, subject, vm_id, vcpu_id, task_id, task, tid, kind, start_ns, duration_ns,"
		" pattern_id, partial, cause, what, named_ns, cites) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		"isIIisisiiiissis", e->s->source_id,
		s->kind == STALL_OPERATION ? "operation" : "vcpu",
		t->vm == VM_NONE ? NULL : &e->vms[t->vm].row_id,
		t->vcpu == VCPU_NONE ? NULL : &e->vcpus[t->vcpu].row_id, t->row_id,
		engine_comm(t, comm), (int64_t)t->tid, kind_names[s->kind], (int64_t)s->start,
		(int64_t)(s->end - s->start), w->pattern_rows[s->pattern], (int64_t)s->partial,
		cause, what, (int64_t)s->named_ns, cites));
	if (!w->worst_rows[s->pattern])
		w->worst_rows[s->pattern] = s->row_id;
	return write_links(w, s);
}

static int longest_first(const void *a, const void *b)
{
	const struct stall *x = *(const struct stall *const *)a,
			   *y = *(const struct stall *const *)b;
	uint64_t lx = x->end - x->start, ly = y->end - y->start;

	if (lx != ly)
		return lx < ly ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static void select_stalls(struct writer *w, uint64_t threshold)
{
	struct patterns *p = w->p;
	size_t n = 0, k, i;

	w->list = xcalloc(p->n_heap + p->n + 1, sizeof(*w->list));
	for (i = 0; i < p->n_heap; i++)
		if (p->heap[i]->end - p->heap[i]->start >= threshold)
			w->list[n++] = p->heap[i];
	for (i = 0; i < p->n; i++)
		if (p->p[i].worst && p->p[i].worst->end - p->p[i].worst->start >= threshold)
			w->list[n++] = p->p[i].worst;
	qsort(w->list, n, sizeof(*w->list), longest_first);
	for (i = k = 0; i < n; i++)
		if (!k || w->list[k - 1] != w->list[i])
			w->list[k++] = w->list[i];
	w->n = k;
}

static struct error *read_throttles(struct writer *w)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t i;

	TRY(case_query(
		w->e->db, &st,
		"SELECT vm_id, min(inferred) FROM throttle WHERE source_id = ? GROUP BY vm_id", "i",
		w->e->s->source_id));
	while (case_step(w->e->db, st, &err))
		for (i = 0; i < w->e->n_vms; i++)
			if (w->e->vms[i].row_id == sqlite3_column_int64(st, 0))
				w->throttled[i] = sqlite3_column_int(st, 1) ? 1 : 2;
	case_done(st);
	return err;
}

static void settle(struct writer *w)
{
	struct patterns *p = w->p;
	size_t i;

	for (i = 0; i < w->n; i++) {
		struct stall *s = w->list[i];

		if (!s->throttled_ns)
			continue;
		chain_settle(w->e, s->links, s->n, w->throttled);
		s->named_ns = chain_named(s->links, s->n);
	}
	for (i = 0; i < p->n; i++) {
		const struct stall *s = p->p[i].worst;
		uint32_t vm = s ? w->e->tasks[s->task].vm : VM_NONE;
		unsigned int k;

		if (vm != VM_NONE && w->throttled[vm])
			continue;
		for (k = 0; k < p->n_classes; k++)
			p->p[i].by_class[k].named_ns -= p->p[i].by_class[k].throttled_ns;
	}
}

struct pattern_row {
	char		*shape;
	struct stall_count c;
	uint64_t	worst_ns;
	uint32_t	index;
	int64_t		id;
};

/* By shape, the longest worst case of a shape first. */
static int by_shape(const void *a, const void *b)
{
	const struct pattern_row *x = a, *y = b;
	int c = strcmp(x->shape, y->shape);

	if (c)
		return c;
	if (x->worst_ns != y->worst_ns)
		return x->worst_ns < y->worst_ns ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static int by_total(const void *a, const void *b)
{
	const struct pattern_row *const *x = a, *const *y = b;

	if ((*x)->c.ns != (*y)->c.ns)
		return (*x)->c.ns < (*y)->c.ns ? 1 : -1;
	return strcmp((*x)->shape, (*y)->shape);
}

static struct error *write_patterns(struct writer *w, unsigned int class)
{
	struct patterns *p = w->p;
	struct pattern_row *rows = xcalloc((size_t)p->n + 1, sizeof(*rows)),
			   **order = xcalloc((size_t)p->n + 1, sizeof(*order));
	struct error *err = NULL;
	uint32_t i, k, n = 0, n_order = 0;

	for (i = 0; i < p->n; i++) {
		struct pattern_row r = { .index = i };
		const struct stall *s = p->p[i].worst;
		char *what;

		for (k = class; k < p->n_classes; k++) {
			r.c.n += p->p[i].by_class[k].n;
			r.c.ns += p->p[i].by_class[k].ns;
		}
		if (!r.c.n || !s)
			continue;
		what = stall_what(w->e, s);
		r.shape = chain_shape(w->e, s->links, s->n, kind_names[s->kind], what);
		free(what);
		r.worst_ns = s->end - s->start;
		rows[n++] = r;
	}
	/*
	 * a task's name may have changed since its shape was hashed: what reads the same is the
	 * same
	 */
	qsort(rows, n, sizeof(*rows), by_shape);
	for (i = 0; i < n; i++) {
		if (n_order && !strcmp(order[n_order - 1]->shape, rows[i].shape)) {
			order[n_order - 1]->c.n += rows[i].c.n;
			order[n_order - 1]->c.ns += rows[i].c.ns;
		} else {
			order[n_order++] = &rows[i];
		}
	}
	qsort(order, n_order, sizeof(*order), by_total);
	for (i = 0; i < n_order && !err; i++)
		err = case_insert(
			w->e->db, &order[i]->id,
			"INSERT INTO pattern(source_id, shape, count, total_ns, worst_ns) VALUES(?,?,?,?,?)",
			"isiii", w->e->s->source_id, order[i]->shape, (int64_t)order[i]->c.n,
			(int64_t)order[i]->c.ns, (int64_t)order[i]->worst_ns);
	for (i = 0, k = 0; i < n; i++) {
		if (strcmp(rows[k].shape, rows[i].shape))
			k = i;
		w->pattern_rows[rows[i].index] = rows[k].id;
	}
	for (i = 0; i < n; i++)
		free(rows[i].shape);
	free(rows);
	free(order);
	return err;
}

static struct error *write_worst(struct writer *w)
{
	size_t i;

	/* the list is sorted, so the first stall of a pattern's row is its worst */
	for (i = w->n; i--; )
		TRY(case_insert(w->e->db, NULL,
				"UPDATE pattern SET worst_stall_id = ? WHERE id = ?", "ii",
				w->list[i]->row_id, w->pattern_rows[w->list[i]->pattern]));
	return NULL;
}

static struct error *write_totals(struct writer *w, unsigned int class, uint64_t threshold,
				  const struct stall_histogram *h, const struct stall_count *loops)
{
	const struct patterns *p = w->p;
	struct stall_count c = *loops;
	unsigned int i, k;

	for (i = 0; i < p->n; i++)
		for (k = class; k < p->n_classes; k++) {
			c.n += p->p[i].by_class[k].n;
			c.ns += p->p[i].by_class[k].ns;
			c.named_ns += p->p[i].by_class[k].named_ns;
			c.known_ns += p->p[i].by_class[k].known_ns;
		}
	TRY(case_insert(
		w->e->db, NULL,
		"INSERT INTO stall_total(source_id, stalls, stall_ns, named_ns, state_known_ns, threshold_ns)"
		" VALUES(?,?,?,?,?,?)",
		"iiiiii", w->e->s->source_id, (int64_t)c.n, (int64_t)c.ns, (int64_t)c.named_ns,
		(int64_t)c.known_ns, (int64_t)threshold));
	for (i = 0; i < STALL_HIST_BINS - 1; i++) {
		if (!h->count[i])
			continue;
		TRY(case_insert(
			w->e->db, NULL,
			"INSERT INTO histogram(source_id, name, subject_id, low_ns, high_ns, count)"
			" VALUES(?,'stall',NULL,?,?,?)",
			"iiii", w->e->s->source_id, (int64_t)(1ull << i),
			(int64_t)(i < 62 ? 1ull << (i + 1) : INT64_MAX), (int64_t)h->count[i]));
	}
	return NULL;
}

static struct error *write_all(struct writer *w, const struct stall_histogram *h)
{
	struct stall_count loops = { 0 };
	uint64_t threshold;
	unsigned int class = patterns_threshold(w->p, &threshold);
	size_t i;

	select_stalls(w, threshold);
	TRY(read_throttles(w));
	settle(w);
	TRY(write_patterns(w, class));
	for (i = 0; i < w->n; i++)
		TRY(write_stall(w, w->list[i]));
	TRY(write_worst(w));
	TRY(retry_stalls_write(w->e, threshold, &loops));
	TRY(storms_write(w->e, &loops));
	TRY(write_totals(w, class, threshold, h, &loops));
	return episodes_write(w->e, w->list, w->n);
}

struct error *stall_rows_write(struct engine *e, struct patterns *p,
			       const struct stall_histogram *h)
{
	struct writer w = { .e = e, .p = p };
	struct error *err;

	w.cites = xcalloc(CITE_CACHE, sizeof(*w.cites));
	w.pattern_rows = xcalloc((size_t)p->n + 1, sizeof(*w.pattern_rows));
	w.worst_rows = xcalloc((size_t)p->n + 1, sizeof(*w.worst_rows));
	w.throttled = xcalloc((size_t)e->n_vms + 1, sizeof(*w.throttled));
	err = write_all(&w, h);
	free(w.cites);
	free(w.pattern_rows);
	free(w.worst_rows);
	free(w.throttled);
	free(w.list);
	return err;
}
