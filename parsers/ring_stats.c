// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ring_stats.c - what the kernel counted of each CPU's ring buffer (tracefs per_cpu/cpuN/stats),
 * as rows of losses; see ring.h.
 */
#include "ring.h"

#define MAX_STATS	(1u << 20)	/* bytes of text */

struct cpu_stat {
	uint64_t	cpu, entries, overrun, commit, dropped;
	bool		any;
};

void ring_add_stats(struct ring *r, const char *text, size_t len)
{
	if (r->n_stats + len + 2 > MAX_STATS)
		return;
	r->stats = xrealloc(r->stats, r->n_stats + len + 2);
	memcpy(r->stats + r->n_stats, text, len);
	r->n_stats += len;
	r->stats[r->n_stats++] = '\n';
	r->stats[r->n_stats] = '\0';
}

static bool stat_value(const char *line, const char *key, uint64_t *v)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n))
		return false;
	*v = strtoull(line + n, NULL, 10);
	return true;
}

static struct error *one_cpu(struct ring *r, const struct cpu_stat *st, bool recorded,
			     int64_t source_id)
{
	struct case_db *db = r->ctx->db;
	uint64_t said = 0;
	size_t i;

	if (!st->any)
		return NULL;
	for (i = 0; i < r->n_cpus; i++)
		if (r->cpus[i].cpu == st->cpu)
			said = r->cpus[i].sum_lost;
	if (recorded && st->entries)
		TRY(case_loss(db, source_id, (int64_t)st->cpu, CASE_NO_TIME, (int64_t)st->entries,
			      "events left in the kernel's ring buffer when recording ended", 0));
	/* Else the page headers say so, with times. */
	if (recorded && st->overrun + st->commit > said)
		TRY(case_loss(db, source_id, (int64_t)st->cpu, CASE_NO_TIME,
			      (int64_t)(st->overrun + st->commit - said),
			      "events overwritten in the kernel's ring buffer, as counted at the end", 0));
	if (st->dropped)
		TRY(case_loss(db, source_id, (int64_t)st->cpu, CASE_NO_TIME, (int64_t)st->dropped,
			      "events dropped by the kernel's full ring buffer", 0));
	return NULL;
}

struct error *ring_losses(struct ring *r, const char *instance, bool recorded, int64_t source_id)
{
	const char *p = r->stats, *end = p ? p + r->n_stats : NULL;
	struct cpu_stat st = { 0 };
	bool mine = !*instance;
	uint64_t v;

	while (p && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;
		_cleanup_free_ char *line = xstrndup(p, MIN((size_t)(stop - p), (size_t)256));

		if (!strncmp(line, "Buffer: ", 8)) {
			TRY(one_cpu(r, &st, recorded, source_id));
			st.any = false;
			mine = !strcmp(line + 8, instance);
		} else if (mine && stat_value(line, "CPU: ", &v)) {
			TRY(one_cpu(r, &st, recorded, source_id));
			st = (struct cpu_stat){ .cpu = v, .any = v < RING_MAX_CPUS };
		} else if (stat_value(line, "entries: ", &v)) {
			st.entries = v;
		} else if (stat_value(line, "overrun: ", &v)) {
			st.overrun = v;
		} else if (stat_value(line, "commit overrun: ", &v)) {
			st.commit = v;
		} else if (stat_value(line, "dropped events: ", &v)) {
			st.dropped = v;
		}
		p = stop + 1;
	}
	return one_cpu(r, &st, recorded, source_id);
}
