// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_faults.c - guest page faults that KVM handled, per vCPU: how many, on how many pages, how
 * often on a page that had faulted before, by what access.
 *
 * From kvm_page_fault; where that is not recorded, from the exits that are nested page faults, of
 * which only AMD's tell the page (info2). Error codes are the EPT violation's exit qualification
 * (bits 0 to 2 read, write, fetch; 3 to 5 what the page allowed: Intel SDM, volume 3, table "Exit
 * Qualification for EPT Violations") or that of a page fault (bit 0 present, 1 write, 4 fetch), by
 * which exits the recording has.
 *
 * A vCPU's pages are kept in a table of its own, up to MAX_PAGES, and all of them in MAX_BYTES;
 * beyond that `pages` and `again` are lower bounds.
 */
#include "engine.h"

#define MAX_PAGES	65536		/* of a vCPU */
#define FIRST_SIZE	256		/* slots */
#define MAX_BYTES	(16u << 20)	/* of all vCPUs */
#define MAX_THREADS	16384
#define BIN_NS		10000000

/* What an error code says, in both readings. */
enum code {
	EPT_READ, EPT_WRITE, EPT_FETCH, EPT_PRESENT,
	PF_READ, PF_WRITE, PF_FETCH, PF_PRESENT, N_CODES
};

struct mark {
	uint64_t	time, pos;
};

struct faults {
	uint32_t	task;
	bool		capped;
	uint64_t	n, pages, again, codes[N_CODES];
	struct mark	first, last, bin, busiest_at;	/* bin: its first fault */
	uint64_t	bin_no, bin_n, busiest;
	uint64_t	*set;		/* page + 1, open addressing; 0 free */
	uint32_t	set_size;
};

struct state {
	struct faults	*v;
	size_t		n, cap;
	uint32_t	*slot;		/* task index -> v + 1 */
	size_t		n_slots;
	size_t		bytes;
	bool		by_event;	/* kvm_page_fault has come: exits do not count */
	bool		by_exit;
};

static void *faults_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct state));
}

static struct faults *faults_of(struct engine *e, struct state *s, int32_t tid)
{
	uint32_t task = engine_task(e, tid);

	if (task == TASK_NONE || task_is_idle(task))
		return NULL;
	GROW_ZERO(s->slot, s->n_slots, task);
	if (unlikely(!s->slot[task])) {
		if (s->n >= MAX_THREADS)
			return NULL;
		GROW(s->v, s->cap, s->n + 1);
		memset(&s->v[s->n], 0, sizeof(s->v[s->n]));
		s->v[s->n].task = task;
		s->slot[task] = (uint32_t)++s->n;
	}
	return &s->v[s->slot[task] - 1];
}

static uint64_t *place_of(const struct faults *f, uint64_t key)
{
	uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32);

	for (;; i++) {
		uint64_t *p = &f->set[i & (f->set_size - 1)];

		if (!*p || *p == key)
			return p;
	}
}

/* Room for one more page; false: there is none. */
static bool make_room(struct state *s, struct faults *f)
{
	uint32_t old_size = f->set_size, i;
	uint64_t *old = f->set;

	if (f->pages >= MAX_PAGES)
		return false;
	if (f->pages * 2 < f->set_size)
		return true;
	if (s->bytes + (old_size ? old_size : FIRST_SIZE) * sizeof(*old) > MAX_BYTES)
		return f->pages + 1 < f->set_size;
	f->set_size = old_size ? old_size * 2 : FIRST_SIZE;
	f->set = xcalloc(f->set_size, sizeof(*f->set));
	s->bytes += (f->set_size - old_size) * sizeof(*f->set);
	for (i = 0; i < old_size; i++)
		if (old[i])
			*place_of(f, old[i]) = old[i];
	free(old);
	return true;
}

static void add_page(struct state *s, struct faults *f, uint64_t gpa)
{
	uint64_t key = (gpa >> 12) + 1, *p;

	if (f->set_size && *(p = place_of(f, key))) {
		f->again++;
	} else if (!f->capped && make_room(s, f)) {
		*place_of(f, key) = key;
		f->pages++;
	} else {
		f->capped = true;
	}
}

static void add_code(struct faults *f, uint64_t code)
{
	f->codes[EPT_READ] += code & 1;
	f->codes[EPT_WRITE] += code >> 1 & 1;
	f->codes[EPT_FETCH] += code >> 2 & 1;
	f->codes[EPT_PRESENT] += (code & 0x38) != 0;
	f->codes[PF_PRESENT] += code & 1;
	f->codes[PF_WRITE] += code >> 1 & 1;
	f->codes[PF_FETCH] += code >> 4 & 1;
	f->codes[PF_READ] += !(code & 0x12);
}

static void add_fault(struct faults *f, const struct event *ev)
{
	struct mark now = { ev->time, ev->pos };
	uint64_t bin = ev->time / BIN_NS;

	if (!f->n++)
		f->first = now;
	f->last = now;
	if (f->bin_no != bin || !f->bin_n) {
		f->bin_no = bin;
		f->bin_n = 0;
		f->bin = now;
	}
	if (++f->bin_n > f->busiest) {
		f->busiest = f->bin_n;
		f->busiest_at = f->bin;
	}
}

/* The first kvm_page_fault: what exits said would count twice. */
static void forget_exits(struct state *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		uint32_t task = s->v[i].task;

		free(s->v[i].set);
		memset(&s->v[i], 0, sizeof(s->v[i]));
		s->v[i].task = task;
	}
	s->bytes = 0;
	s->by_exit = false;
}

static void faults_event(struct engine *e, void *state, const struct event *ev)
{
	struct state *s = state;
	bool is_exit = ev->kind == EV_KVM_EXIT;
	struct faults *f;

	if (is_exit && (s->by_event || EXIT_CLASS(ev->b[0]) != EXIT_NPF))
		return;
	if (!is_exit && unlikely(!s->by_event)) {
		forget_exits(s);
		s->by_event = true;
	}
	f = faults_of(e, s, ev->tid);
	if (unlikely(!f))
		return;
	s->by_exit |= is_exit;
	add_fault(f, ev);
	add_code(f, ev->a[1]);
	add_page(s, f, is_exit ? ev->a[2] : ev->a[0]);
}

static bool has_reason(const struct engine *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->s->n_reasons; i++)
		if (!strcmp(strtab_str(&e->s->strings, e->s->reasons[i].name), name))
			return true;
	return false;
}

static struct error *write_faults(struct engine *e, const struct state *s, const struct faults *f,
				  const uint64_t *codes)
{
	const struct task *t = &e->tasks[f->task];
	int64_t vm = t->vm != VM_NONE ? e->vms[t->vm].row_id : 0;
	int64_t vcpu = t->vcpu != VCPU_NONE ? e->vcpus[t->vcpu].row_id : 0;
	uint64_t times[] = { f->first.time, f->last.time, f->busiest_at.time };
	uint64_t pos[] = { f->first.pos, f->last.pos, f->busiest_at.pos };
	bool paged = !s->by_exit || has_reason(e, "npf");
	int64_t v[4] = { 0 }, pages = (int64_t)f->pages, again = (int64_t)f->again;
	bool third = f->busiest_at.pos != f->first.pos && f->busiest_at.pos != f->last.pos;
	size_t n = f->n == 1 ? 1 : third ? 3 : 2;
	_cleanup_free_ char *cites = engine_cites(e, times, pos, n);
	int i;

	for (i = 0; codes && i < 4; i++)
		v[i] = (int64_t)codes[i];
	return case_insert(
		e->db, NULL,
		"INSERT INTO fault_stat(source_id, vm_id, vcpu_id, tid, from_ns, to_ns, faults, pages, again, capped, reads,"
		" writes, fetches, present, busiest, busiest_ns, cites) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		"iIIiiiiIIiIIIIiis", e->s->source_id, vm ? &vm : NULL, vcpu ? &vcpu : NULL, (int64_t)t->tid,
		(int64_t)f->first.time, (int64_t)f->last.time, (int64_t)f->n, paged ? &pages : NULL,
		paged ? &again : NULL, (int64_t)(paged && f->capped), codes ? &v[0] : NULL,
		codes ? &v[1] : NULL, codes ? &v[2] : NULL, codes ? &v[3] : NULL,
		(int64_t)f->busiest,
		(int64_t)(f->busiest_at.time / BIN_NS * BIN_NS), cites);
}

static struct error *faults_flush(struct engine *e, void *state)
{
	const struct state *s = state;
	bool ept = has_reason(e, "EPT_VIOLATION");
	bool pf = has_reason(e, "npf") || has_reason(e, "EXCEPTION_NMI");
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct faults *f = &s->v[i];

		if (f->n)
			TRY(write_faults(e, s, f, ept ? &f->codes[EPT_READ] :
						  pf ? &f->codes[PF_READ] : NULL));
	}
	return NULL;
}

static void faults_destroy(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->v[i].set);
	free(s->v);
	free(s->slot);
	free(s);
}

static const struct analysis faults_analysis = {
	.name = "faults",
	.priority = 73,
	.kinds = KIND(KVM_PAGE_FAULT) | KIND(KVM_EXIT),
	.begin = faults_begin,
	.event = faults_event,
	.flush = faults_flush,
	.destroy = faults_destroy,
};
REGISTER(analyses, &faults_analysis);
