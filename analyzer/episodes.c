// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * episodes.c - stalls of several vCPUs of one VM at one time.
 *
 * Stalls of a VM that overlap in time, directly or through others, are one group; a group with two
 * or more vCPUs in it is an episode. Taken from the stalls that became rows (the longest 1000 and
 * the worst of each pattern).
 */
#include "stall_rows.h"

struct member {
	struct stall	*s;
	uint32_t	vm, vcpu;
};

static int by_vm_and_time(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->vm != y->vm)
		return x->vm < y->vm ? -1 : 1;
	if (x->s->start != y->s->start)
		return x->s->start < y->s->start ? -1 : 1;
	return (x->s->seq > y->s->seq) - (x->s->seq < y->s->seq);
}

static int by_vcpu(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

static struct error *write_group(struct engine *e, struct member *m, size_t n, uint64_t end)
{
	uint64_t start = m[0].s->start;
	size_t i, vcpus = 1;
	int64_t id;

	qsort(m, n, sizeof(*m), by_vcpu);
	for (i = 1; i < n; i++)
		vcpus += m[i].vcpu != m[i - 1].vcpu;
	if (vcpus < 2)
		return NULL;
	TRY(case_insert(
		e->db, &id,
		"INSERT INTO episode(source_id, vm_id, start_ns, end_ns, stalls, vcpus) VALUES(?,?,?,?,?,?)",
		"iiiiii", e->s->source_id, e->vms[m[0].vm].row_id, (int64_t)start, (int64_t)end,
		(int64_t)n, (int64_t)vcpus));
	for (i = 0; i < n; i++)
		TRY(case_insert(e->db, NULL, "UPDATE stall SET episode_id = ? WHERE id = ?", "ii",
				id, m[i].s->row_id));
	return NULL;
}

struct error *episodes_write(struct engine *e, struct stall **list, size_t n)
{
	_cleanup_free_ struct member *m = xcalloc(n + 1, sizeof(*m));
	size_t i, k = 0, first = 0;
	uint64_t end = 0;

	for (i = 0; i < n; i++) {
		const struct task *t = &e->tasks[list[i]->task];

		if (list[i]->kind != STALL_OPERATION && t->vm != VM_NONE && t->vcpu != VCPU_NONE)
			m[k++] = (struct member){ .s = list[i], .vm = t->vm, .vcpu = t->vcpu };
	}
	qsort(m, k, sizeof(*m), by_vm_and_time);
	for (i = 0; i < k; i++) {
		if (i > first && (m[i].vm != m[first].vm || m[i].s->start >= end)) {
			TRY(write_group(e, m + first, i - first, end));
			first = i;
			end = 0;
		}
		end = MAX(end, m[i].s->end);
	}
	return k > first ? write_group(e, m + first, k - first, end) : NULL;
}
