// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshots.c - differences between snapshots of the same file; see snapshots.h. */
#include "snapshots.h"

#include <ctype.h>
#include <math.h>

#include "casefile.h"
#include "strtab.h"

#define MAX_ITEMS	200000

static const struct { const char *word; unsigned int rank; } labels[] = {
	{ "start", 1 }, { "begin", 1 }, { "pre", 2 }, { "before", 2 }, { "during", 3 }, { "mid", 3 }, { "after", 4 },
	{ "post", 4 }, { "end", 5 }, { "t", 0 },
};

/* A row of some table that has a snapshot. */
struct item {
	uint32_t	what;		/* of the file's path without label, and the key */
	uint64_t	rank;
	int64_t		id;		/* row, also the order of reading */
	int64_t		source_id, cite;
	char		*label, *key, *side;
	double		num;
	int64_t		v[4];		/* cgroup: what group_values[] names; INT64_MIN unknown */
	int64_t		period_ns;
};

static const char *const group_values[4] = { "nr_periods", "nr_throttled", "throttled_ns", "usage_ns" };

struct items {
	struct item	*v;
	size_t		n, cap;
	struct strtab	what;
};

/* A label's place in time: the word's meaning, then its number. False when @s is no label. */
static bool label_rank(const char *s, size_t len, uint64_t *rank)
{
	size_t digits = 0, i;
	uint64_t number = 0;

	while (digits < len && digits < 9 && isdigit((unsigned char)s[len - 1 - digits]))
		digits++;
	for (i = len - digits; i < len; i++)
		number = number * 10 + (uint64_t)(s[i] - '0');
	len -= digits;
	if (!len) {
		*rank = number;
		return digits > 0;
	}
	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		if (strlen(labels[i].word) == len && !strncasecmp(labels[i].word, s, len) &&
		    (len > 1 || digits)) {
			*rank = labels[i].rank * 10000000000ULL + number;
			return true;
		}
	}
	return false;
}

/* Where @label stands in the file's name: its offset in @path, or -1. */
static long label_at(const char *path, const char *label)
{
	const char *end = strchrnul(path, '#'), *p;
	size_t n = strlen(label);

	for (p = end; p > path && *p != '/'; p--)
		if ((size_t)(end - p) >= n && !strncasecmp(p, label, n) && strchr("-_.", p[-1]))
			return p - path;
	return -1;
}

/* Is this what is taken again and again, under a number: kvm_stat-1, debug-2? */
static bool numbered_stem(const char *s, size_t len)
{
	static const char *const stems[] = { "kvm", "debug", "debugfs", "snapshot", "snap", "sample", "round", "proc", "sys" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stems); i++)
		if (strlen(stems[i]) == len && !strncasecmp(stems[i], s, len))
			return true;
	return false;
}

/* The label behind a directory's own name: kvm-before, debug.2. NULL where there is none. */
static const char *dir_label(const char *p, size_t n, uint64_t *rank)
{
	const char *at = p + n;

	while (at > p && !strchr("-_.", at[-1]))
		at--;
	if (at == p || at == p + n || !label_rank(at, (size_t)(p + n - at), rank))
		return NULL;
	return !isdigit((unsigned char)*at) || numbered_stem(p, (size_t)(at - 1 - p)) ? at : NULL;
}

/* A directory that is called by a label: before/vmstat; or that has one: kvm-2/exits. */
static bool label_dir(const char *path, size_t *at, size_t *len)
{
	const char *p = path, *end = strchrnul(path, '#'), *label;
	uint64_t rank;
	bool found = false;

	while (p < end) {
		size_t n = strcspn(p, "/#");

		if (p + n < end && !isdigit((unsigned char)*p) && label_rank(p, n, &rank)) {
			*at = (size_t)(p - path);
			*len = n;
			found = true;
		} else if (p + n < end && !isdigit((unsigned char)*p) &&
			   (label = dir_label(p, n, &rank))) {
			*at = (size_t)(label - path);
			*len = (size_t)(p + n - label);
			found = true;
		}
		p += n;
		p += *p == '/';
	}
	return found;
}

/* Fill what, label and rank of @it; false when the row is no snapshot. */
static bool place(struct items *all, struct item *it, const char *path, const char *snapshot,
		  const char *key)
{
	_cleanup_free_ char *what = NULL;
	size_t at = 0, len = 0;
	long in_name;

	if (snapshot && (in_name = label_at(path, snapshot)) >= 0 &&
	    label_rank(snapshot, strlen(snapshot), &it->rank)) {
		at = (size_t)in_name;
		len = strlen(snapshot);
		it->label = xstrdup(snapshot);
	} else if (label_dir(path, &at, &len)) {
		label_rank(path + at, len, &it->rank);
		it->label = xstrndup(path + at, len);
	} else if (strchr(path, '#')) {
		it->rank = (uint64_t)it->id;	/* the same heading twice in one text */
		at = len = 0;
	} else {
		at = len = 0;
	}
	what = xasprintf("%.*s\n%s\n%s", (int)at, path, path + at + len, key);
	it->what = strtab_id(&all->what, what, strlen(what));
	return it->what != STRTAB_NONE;
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void items_deinit(struct items *all)
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		free(all->v[i].label);
		free(all->v[i].key);
		free(all->v[i].side);
	}
	free(all->v);
	strtab_deinit(&all->what);
}

static struct item *items_add(struct items *all)
{
	struct item *it;

	if (all->n >= MAX_ITEMS)
		return NULL;
	GROW(all->v, all->cap, all->n + 1);
	it = &all->v[all->n++];
	memset(it, 0, sizeof(*it));
	return it;
}

static const char *text(sqlite3_stmt *st, int col)
{
	const char *s = (const char *)sqlite3_column_text(st, col);

	return s ? s : "";
}

/* Are @a and @b neighbours in time of one file? Two readings under the same label are not. */
static bool is_pair(const struct item *a, const struct item *b)
{
	if (a->what != b->what || a->rank == b->rank || a->source_id == b->source_id)
		return false;
	return a->label || (!b->label && a->rank && b->rank);
}

static void pair_name(const struct item *a, const struct item *b, char *buf, size_t size)
{
	snprintf(buf, size, "%s..%s", a->label ? a->label : "first", b->label ? b->label : "next");
}

static void cite_pair(const struct item *a, const struct item *b, char *buf, size_t size)
{
	if (a->cite > 0 && b->cite > 0)
		snprintf(buf, size, "[%" PRId64 ",%" PRId64 "]", a->cite, b->cite);
	else
		snprintf(buf, size, "[]");
}

static struct error *delta_fact(struct case_db *db, const struct item *a, const struct item *b,
				const char *key, double delta)
{
	_cleanup_free_ char *name = xasprintf("%s.delta", key);
	char value[40], snapshot[64], cites[64];

	if (fabs(delta) < 9e15 && delta == trunc(delta))
		snprintf(value, sizeof(value), "%" PRId64, (int64_t)delta);
	else
		snprintf(value, sizeof(value), "%.3f", delta);
	pair_name(a, b, snapshot, sizeof(snapshot));
	cite_pair(a, b, cites, sizeof(cites));
	return case_insert(db, NULL, "INSERT INTO fact(source_id, side, key, value, num, snapshot, cite_id, cites) VALUES(?,?,?,?,?,?,?,?)",
			   "isssdsIs", b->source_id, b->side ? b->side : "unknown", name, value, delta, snapshot,
			   b->cite > 0 ? &b->cite : NULL, cites);
}

/* Counters only grow; sizes and states may shrink. */
static bool is_gauge(const char *key)
{
	return !strncmp(key, "ksm.", 4) || (!strncmp(key, "kvmstat.", 8) && (strstr(key, "nx_lpage_splits") || strstr(key, ".pages_"))) || !strncmp(key, "meminfo.", 8) || !strcmp(key, "vmstat.nr_free_pages");
}

static struct error *read_facts(struct case_db *db, struct items *all)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(db, &st, "SELECT f.id, f.key, f.num, f.snapshot, f.side, f.source_id, f.cite_id, s.path FROM fact f"
		       " JOIN source s ON s.id = f.source_id WHERE f.num IS NOT NULL AND s.path IS NOT NULL AND (f.key GLOB 'vmstat.*' OR"
		       " f.key GLOB 'ksm.*' OR f.key GLOB 'meminfo.*' OR f.key = 'proc.uptime_s' OR f.key GLOB 'kvmstat.*' OR"
		       " f.key GLOB '*irq.*' OR f.key GLOB '*.total_us' OR f.key GLOB 'schedstat.cpu.*' OR f.key GLOB 'stat.*' OR"
		       " f.key GLOB 'task.*' OR f.key GLOB 'sched.cpu.*.nr_switches') AND f.key NOT GLOB '*.per_s' AND f.key NOT GLOB '*.max*' AND f.key NOT GLOB '*.delta' AND f.key NOT IN"
		       " ('stat.procs_running', 'stat.procs_blocked', 'stat.btime') AND f.key NOT GLOB 'task.*.processor' AND"
		       " f.key NOT GLOB 'task.*.threads' AND f.key NOT GLOB 'task.*.rt_priority' AND f.key NOT GLOB 'task.*.tgid'"
		       " AND f.key NOT GLOB '*.tsc-offset' ORDER BY f.id", ""));
	while (case_step(db, st, &err)) {
		struct item *it = items_add(all);

		if (!it)
			break;
		it->id = sqlite3_column_int64(st, 0);
		it->key = xstrdup(text(st, 1));
		it->num = sqlite3_column_double(st, 2);
		it->side = xstrdup(text(st, 4));
		it->source_id = sqlite3_column_int64(st, 5);
		it->cite = sqlite3_column_int64(st, 6);
		if (!place(all, it, text(st, 7), (const char *)sqlite3_column_text(st, 3), it->key))
			break;
	}
	case_done(st);
	return err;
}

static struct error *pair_facts(struct case_db *db)
{
	struct items all = { 0 };
	struct error *err;
	size_t i;

	strtab_init(&all.what, MAX_ITEMS);
	err = read_facts(db, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_place);
	for (i = 1; i < all.n && !err; i++) {
		const struct item *a = &all.v[i - 1], *b = &all.v[i];

		if (is_pair(a, b) && (b->num >= a->num || is_gauge(b->key)))
			err = delta_fact(db, a, b, b->key, b->num - a->num);
	}
	items_deinit(&all);
	return err;
}

static int64_t column_or_unknown(sqlite3_stmt *st, int col)
{
	return sqlite3_column_type(st, col) == SQLITE_NULL ? INT64_MIN
							   : sqlite3_column_int64(st, col);
}

static struct error *read_groups(struct case_db *db, struct items *all)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	int i;

	TRY(case_query(db, &st, "SELECT c.id, c.path, c.snapshot, c.source_id, c.cite_id, s.path, s.side, c.period_ns, c.nr_periods,"
		       " c.nr_throttled, c.throttled_ns, c.usage_ns FROM cgroup c JOIN source s ON s.id = c.source_id"
		       " WHERE c.nr_periods IS NOT NULL AND s.path IS NOT NULL ORDER BY c.id", ""));
	while (case_step(db, st, &err)) {
		struct item *it = items_add(all);

		if (!it)
			break;
		it->id = sqlite3_column_int64(st, 0);
		it->key = xstrdup(text(st, 1));
		it->source_id = sqlite3_column_int64(st, 3);
		it->cite = sqlite3_column_int64(st, 4);
		it->side = xstrdup(text(st, 6));
		it->period_ns = sqlite3_column_int64(st, 7);
		for (i = 0; i < 4; i++)
			it->v[i] = column_or_unknown(st, 8 + i);
		if (!place(all, it, text(st, 5), (const char *)sqlite3_column_text(st, 2), it->key))
			break;
	}
	case_done(st);
	return err;
}

static struct error *throttle_row(struct case_db *db, const struct item *it, int64_t n,
				  const int64_t *throttled_ns, const char *cites)
{
	return case_insert(db, NULL,
			   "INSERT INTO throttle(source_id, cgroup, inferred, origin, count, period_ns, throttled_ns, cites)"
			   " VALUES(?,?,0,'cpu.stat',?,?,?,?)", "isiIIs", it->source_id, it->key, n,
			   it->period_ns > 0 ? &it->period_ns : NULL, throttled_ns, cites);
}

static struct error *pair_group(struct case_db *db, const struct item *a, const struct item *b)
{
	int64_t delta[4];
	char cites[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(group_values); i++) {
		_cleanup_free_ char *key = xasprintf("cgroup.%s.%s", b->key, group_values[i]);

		delta[i] = -1;
		if (a->v[i] < 0 || b->v[i] < a->v[i])
			continue;
		delta[i] = b->v[i] - a->v[i];
		TRY(delta_fact(db, a, b, key, (double)delta[i]));
	}
	if (delta[1] <= 0)
		return NULL;
	cite_pair(a, b, cites, sizeof(cites));
	return throttle_row(db, b, delta[1], delta[2] >= 0 ? &delta[2] : NULL, cites);
}

static struct error *total_row(struct case_db *db, const struct item *it)
{
	char cites[32] = "[]";

	if (it->v[1] <= 0)
		return NULL;
	if (it->cite > 0)
		snprintf(cites, sizeof(cites), "[%" PRId64 "]", it->cite);
	return throttle_row(db, it, it->v[1], it->v[2] >= 0 ? &it->v[2] : NULL, cites);
}

static struct error *pair_groups(struct case_db *db)
{
	struct items all = { 0 };
	struct error *err;
	bool paired = false;
	size_t i;

	strtab_init(&all.what, MAX_ITEMS);
	err = read_groups(db, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_place);
	for (i = 0; i < all.n && !err; i++) {
		const struct item *b = &all.v[i];
		bool next = i + 1 < all.n && is_pair(b, &all.v[i + 1]);

		if (i && is_pair(&all.v[i - 1], b)) {
			err = pair_group(db, &all.v[i - 1], b);
			paired = true;
		} else {
			paired = false;
		}
		if (!paired && !next && !err)
			err = total_row(db, b);
	}
	items_deinit(&all);
	return err;
}

struct error *snapshots_pair(struct case_db *db)
{
	TRY(pair_facts(db));
	return pair_groups(db);
}
