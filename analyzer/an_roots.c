// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * an_roots.c - the MMU roots each vCPU goes through: loads (hv_track_root_tdp), how many different
 * ones, whether it comes back to them, what stands between an exit and its load, and guest pages
 * that fault again under other roots.
 *
 * A vCPU that alternates between two address spaces (guest and SMM) loads "the last but one" root
 * nearly always; one whose roots are thrown away never does. Freed pages are reused, so the same
 * address is not the same root: what counts is how many addresses there are and how the loads fall
 * on them.
 */
#include <json-c/json.h>

#include "bins.h"
#include "engine.h"
#include "utf8.h"

#define MAX_ROOTS	(1u << 16)	/* different roots told apart per vCPU */
#define MAX_PAGES	(1u << 16)	/* guest pages told apart per vCPU */
#define MAX_REASONS	128
#define MANY_ROOTS                                                                                 \
	10 /* a page that faulted under more than this many roots counts as re-faulted             \
	    */
#define CR0_WP		0x10000ULL

struct map_slot {
	uint64_t	key;		/* root address or page number; 0 is empty */
	uint32_t	count;		/* loads, or faults */
	uint32_t	roots;		/* pages: root changes between faults, plus one */
	uint64_t	root;		/* pages: root at the last fault */
};

struct map {
	struct map_slot	*slots;
	uint32_t	n, size, max;
};

struct vcpu_roots {
	uint64_t loads, last_but_one, smm, loads_after_smm, cr0_writes, cr0_toggles,
		loads_after_cr0;
	uint64_t	root, before;		/* last and last but one */
	uint64_t	cr0;
	bool		cr0_known, smm_since_entry, cr0_since_entry, load_open;
	uint64_t	from_ns, to_ns, exit_ns, exit_pos, load_ns;
	uint32_t	exit_reason;		/* EVENT_U32_NONE: no exit open */
	uint64_t	exit_to_load_ns, n_exit_to_load, load_to_entry_ns, n_load_to_entry;
	uint32_t	after[MAX_REASONS];
	struct map	roots, pages;
	uint64_t cite_ns[3],
		cite_pos[3]; /* an exit, the load of a root not seen before, the entry */
	int		cite_n;
};

struct roots {
	struct vcpu_roots **v;	/* by task index */
	size_t		n;
	struct bins	loads, fresh;	/* over time: loads, and those of a root not seen before */
};

static struct map_slot *map_get(struct map *m, uint64_t key)
{
	uint64_t i;

	if (m->n * 2 >= m->size) {
		struct map_slot *old = m->slots;
		uint32_t k, old_size = m->size;

		m->size = old_size ? old_size * 2 : 64;
		m->slots = xcalloc(m->size, sizeof(*m->slots));
		for (k = 0; k < old_size; k++) {
			if (!old[k].key)
				continue;
			for (i = (old[k].key * 0x9e3779b97f4a7c15ULL) >> 32;
			     m->slots[i & (m->size - 1)].key; i++)
				;
			m->slots[i & (m->size - 1)] = old[k];
		}
		free(old);
	}
	for (i = (key * 0x9e3779b97f4a7c15ULL) >> 32; m->slots[i & (m->size - 1)].key; i++)
		if (m->slots[i & (m->size - 1)].key == key)
			return &m->slots[i & (m->size - 1)];
	if (m->n >= m->max)
		return NULL;
	m->n++;
	m->slots[i & (m->size - 1)].key = key;
	return &m->slots[i & (m->size - 1)];
}

static struct vcpu_roots *roots_of(struct engine *e, struct roots *r, int32_t tid)
{
	uint32_t idx = engine_task(e, tid);

	if (idx == TASK_NONE || task_is_idle(idx))
		return NULL;
	GROW_ZERO(r->v, r->n, idx);
	if (!r->v[idx]) {
		r->v[idx] = xcalloc(1, sizeof(**r->v));
		r->v[idx]->roots.max = MAX_ROOTS;
		r->v[idx]->pages.max = MAX_PAGES;
		r->v[idx]->exit_reason = EVENT_U32_NONE;
	}
	return r->v[idx];
}

static void on_load(struct roots *r, struct vcpu_roots *v, const struct event *ev, uint64_t now)
{
	uint64_t root = ev->a[0];
	struct map_slot *slot = map_get(&v->roots, root ? root : 1);

	if (!v->loads++)
		v->from_ns = now;
	v->to_ns = now;
	bins_add(&r->loads, now);
	if (slot && !slot->count)
		bins_add(&r->fresh, now);
	if (v->loads > 2 && root == v->before)
		v->last_but_one++;
	v->before = v->root;
	v->root = root;
	v->loads_after_smm += v->smm_since_entry;
	v->loads_after_cr0 += v->cr0_since_entry;
	if (v->exit_reason != EVENT_U32_NONE) {
		v->exit_to_load_ns += now - v->exit_ns;
		v->n_exit_to_load++;
		v->after[MIN(EXIT_REASON_IDX(v->exit_reason), MAX_REASONS - 1u)]++;
	}
	if (slot && !slot->count++ && v->exit_reason != EVENT_U32_NONE && v->loads > 2 &&
	    v->cite_n < 2) {
		v->cite_ns[0] = v->exit_ns;
		v->cite_pos[0] = v->exit_pos;
		v->cite_ns[1] = ev->time;
		v->cite_pos[1] = ev->pos;
		v->cite_n = 2;
	} else if (!v->cite_n) {
		v->cite_ns[0] = ev->time;
		v->cite_pos[0] = ev->pos;
		v->cite_n = 1;
	}
	v->load_ns = now;
	v->load_open = true;
}

static void on_fault(struct vcpu_roots *v, const struct event *ev)
{
	struct map_slot *slot;

	if (!v->loads)
		return;
	slot = map_get(&v->pages, (ev->a[0] >> 12) + 1);
	if (!slot)
		return;
	slot->count++;
	if (slot->root != v->root) {
		slot->root = v->root;
		slot->roots++;
	}
}

static void roots_event(struct engine *e, void *state, const struct event *ev)
{
	struct vcpu_roots *v = roots_of(e, state, ev->tid);

	if (!v)
		return;
	switch (ev->kind) {
	case EV_PROBE_ROOT:
		on_load(state, v, ev, e->now);
		break;
	case EV_KVM_PAGE_FAULT:
		on_fault(v, ev);
		break;
	case EV_KVM_EXIT:
		v->exit_reason = ev->b[0];
		v->exit_ns = e->now;
		v->exit_pos = ev->pos;
		v->smm_since_entry = v->cr0_since_entry = false;
		break;
	case EV_KVM_ENTRY:
		if (v->load_open) {
			v->load_to_entry_ns += e->now - v->load_ns;
			v->n_load_to_entry++;
			v->load_open = false;
			if (v->cite_n == 2) {
				v->cite_ns[2] = ev->time;
				v->cite_pos[2] = ev->pos;
				v->cite_n = 3;
			}
		}
		v->smm_since_entry = v->cr0_since_entry = false;
		v->exit_reason = EVENT_U32_NONE;
		break;
	case EV_KVM_SMM:
	case EV_KVM_ENTER_SMM:
		v->smm++;
		v->smm_since_entry = true;
		break;
	case EV_KVM_CR:
		if (ev->b[0] != 0 || !ev->b[1])
			break;
		v->cr0_writes++;
		if (v->cr0_known && ((v->cr0 ^ ev->a[0]) & CR0_WP)) {
			v->cr0_toggles++;
			v->cr0_since_entry = true;
		}
		v->cr0 = ev->a[0];
		v->cr0_known = true;
		break;
	default:
		break;
	}
}

static void *roots_begin(struct engine *e)
{
	(void)e;
	return xcalloc(1, sizeof(struct roots));
}

/* JSON object: exit reason -> loads that followed it. */
static char *after_json(struct engine *e, const struct vcpu_roots *v)
{
	struct json_object *o = json_object_new_object();
	uint32_t i;
	char *out;

	for (i = 0; i < MAX_REASONS; i++) {
		if (v->after[i]) {
			_cleanup_free_ char *name = utf8_clean(stream_reason_name(e->s, i),
							       strlen(stream_reason_name(e->s, i)));

			json_object_object_add(o, name, json_object_new_int64(v->after[i]));
		}
	}
	out = xstrdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return out;
}

static struct error *write_roots(struct engine *e, uint32_t idx, const struct vcpu_roots *v)
{
	const struct task *t = &e->tasks[idx];
	_cleanup_free_ char *cites = engine_cites(e, v->cite_ns, v->cite_pos, (size_t)v->cite_n);
	_cleanup_free_ char *after = after_json(e, v);
	int64_t vm = t->vm != VM_NONE ? e->vms[t->vm].row_id : 0,
		vcpu = t->vcpu != VCPU_NONE ? e->vcpus[t->vcpu].row_id : 0;
	bool faults = engine_visible(e, EV_KVM_PAGE_FAULT), cr = engine_visible(e, EV_KVM_CR);
	bool smm = engine_visible(e, EV_KVM_SMM) || engine_visible(e, EV_KVM_ENTER_SMM);
	int64_t smm_n = (int64_t)v->smm, cr0 = (int64_t)v->cr0_writes, wp = (int64_t)v->cr0_toggles;
	int64_t after_smm = (int64_t)v->loads_after_smm, after_cr0 = (int64_t)v->loads_after_cr0;
	int64_t refaulted = 0, most = 0, top1 = 0, top2 = 0;
	int64_t to_load = v->n_exit_to_load ? (int64_t)(v->exit_to_load_ns / v->n_exit_to_load) : 0;
	int64_t to_entry =
		v->n_load_to_entry ? (int64_t)(v->load_to_entry_ns / v->n_load_to_entry) : 0;
	uint32_t i;

	for (i = 0; i < v->pages.size; i++) {
		if (v->pages.slots[i].roots <= MANY_ROOTS)
			continue;
		refaulted++;
		most = MAX(most, (int64_t)v->pages.slots[i].count);
	}
	for (i = 0; i < v->roots.size; i++) {
		int64_t n = v->roots.slots[i].count;

		if (n > top1) {
			top2 = top1;
			top1 = n;
		} else if (n > top2) {
			top2 = n;
		}
	}
	return case_insert(e->db, NULL,
			   "INSERT INTO root_stat(source_id, vm_id, vcpu_id, tid, from_ns, to_ns, "
			   "loads, unique_roots, last_but_one,"
			   " top1, top2, smm_transitions, cr0_writes, cr0_wp_toggles, "
			   "loads_after_smm, loads_after_cr0,"
			   " pages_refaulted, max_faults_per_page, exit_to_load_ns, "
			   "load_to_entry_ns, after_reasons, cites)"
			   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
			   "iIIiiiiiiiiIIIIIIIIIss", e->s->source_id, vm ? &vm : NULL,
			   vcpu ? &vcpu : NULL, (int64_t)t->tid, (int64_t)v->from_ns,
			   (int64_t)v->to_ns, (int64_t)v->loads, (int64_t)v->roots.n,
			   (int64_t)v->last_but_one, top1, top2, smm ? &smm_n : NULL,
			   cr ? &cr0 : NULL, cr ? &wp : NULL, smm ? &after_smm : NULL,
			   cr ? &after_cr0 : NULL, faults ? &refaulted : NULL,
			   faults ? &most : NULL, v->n_exit_to_load ? &to_load : NULL,
			   v->n_load_to_entry ? &to_entry : NULL, after, cites);
}

static struct error *roots_flush(struct engine *e, void *state)
{
	struct roots *r = state;
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->v[i] && r->v[i]->loads)
			TRY(write_roots(e, i, r->v[i]));
	TRY(bins_write(e->db, e->s->source_id, "root loads", &r->loads));
	return bins_write(e->db, e->s->source_id, "loads of a new root", &r->fresh);
}

static void roots_destroy(void *state)
{
	struct roots *r = state;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!r->v[i])
			continue;
		free(r->v[i]->roots.slots);
		free(r->v[i]->pages.slots);
		free(r->v[i]);
	}
	free(r->v);
	free(r);
}

static const struct analysis roots_analysis = {
	.name = "roots",
	.priority = 50,
	.pairs = true,
	.kinds = KIND(KVM_EXIT) | KIND(KVM_ENTRY) | KIND(KVM_PAGE_FAULT) | KIND(KVM_SMM) |
		 KIND(KVM_ENTER_SMM) | KIND(KVM_CR) | KIND(PROBE_ROOT),
	.begin = roots_begin,
	.event = roots_event,
	.flush = roots_flush,
	.destroy = roots_destroy,
};
REGISTER(analyses, &roots_analysis);
