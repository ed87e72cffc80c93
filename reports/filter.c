// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - --vm and --vcpu as SQL functions; see filter.h. */
#include "filter.h"

#include <math.h>

struct filter {
	bool	vm, vcpu;		/* asked for */
	int64_t	*vms, *vcpus;		/* ids that answer */
	size_t	n_vms, cap_vms, n_vcpus, cap_vcpus;
};

static void filter_free(void *p)
{
	struct filter *f = p;

	free(f->vms);
	free(f->vcpus);
	free(f);
}

static bool has(const int64_t *ids, size_t n, sqlite3_value *v)
{
	size_t i;

	if (sqlite3_value_type(v) == SQLITE_NULL)
		return false;
	for (i = 0; i < n; i++)
		if (ids[i] == sqlite3_value_int64(v))
			return true;
	return false;
}

static void picked_vm(sqlite3_context *ctx, int argc __unused, sqlite3_value **argv)
{
	const struct filter *f = sqlite3_user_data(ctx);

	sqlite3_result_int(ctx, !f->vm || has(f->vms, f->n_vms, argv[0]));
}

static void picked(sqlite3_context *ctx, int argc __unused, sqlite3_value **argv)
{
	const struct filter *f = sqlite3_user_data(ctx);

	if (f->vcpu)
		sqlite3_result_int(ctx, has(f->vcpus, f->n_vcpus, argv[1]));
	else
		sqlite3_result_int(ctx, !f->vm || has(f->vms, f->n_vms, argv[0]));
}

/* tools/perf/util/stat.c: stddev_stats() is that of the mean, sqrt(M2 / (n - 1) / n) */
static void rel_stddev(sqlite3_context *ctx, int argc __unused, sqlite3_value **argv)
{
	double n = sqlite3_value_double(argv[0]), mean = sqlite3_value_double(argv[1]);
	double m2 = sqlite3_value_double(argv[2]), pct = 0;

	if (sqlite3_value_type(argv[1]) == SQLITE_NULL ||
	    sqlite3_value_type(argv[2]) == SQLITE_NULL)
		return;
	if (n >= 2 && mean > 0 && m2 > 0)
		pct = 100.0 * sqrt(m2 / (n - 1) / n) / mean;
	sqlite3_result_double(ctx, pct);
}

static struct error *add_ids(struct case_db *db, int64_t **ids, size_t *n, size_t *cap,
			     const char *sql, const char *text, int64_t vm_given)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(db, &st, sql, "si", text, vm_given));
	while (case_step(db, st, &err)) {
		GROW(*ids, *cap, *n + 1);
		(*ids)[(*n)++] = sqlite3_column_int64(st, 0);
	}
	case_done(st);
	return err;
}

/* "--vm X: ..." with what there is instead; at most eight are named */
static struct error *none_such(struct case_db *db, const char *option, const char *text,
			       const char *sql)
{
	_cleanup_free_ char *list = NULL;
	struct error *err = NULL;
	sqlite3_stmt *st;
	int n = 0;

	TRY(case_query(db, &st, sql, ""));
	while (case_step(db, st, &err)) {
		char *longer;

		if (++n > 8)
			continue;
		longer = xasprintf("%s%s%s", list ? list : "", list ? ", " : "",
				   (const char *)sqlite3_column_text(st, 0));
		free(list);
		list = longer;
	}
	case_done(st);
	if (err)
		return err;
	if (!n)
		return error_new(ERR_USAGE, "%s %s: nothing in the input shows a VM", option, text);
	return error_new(ERR_USAGE, "%s %s: no such one here; there are %s%s", option, text, list,
			 n > 8 ? " ..." : "");
}

static struct error *fill(struct case_db *db, struct filter *f, const struct options *opt)
{
	if (opt->vm) {
		f->vm = true;
		TRY(add_ids(
			db, &f->vms, &f->n_vms, &f->cap_vms,
			"SELECT id FROM vm WHERE CAST(id AS TEXT) = ?1 OR CAST(tgid AS TEXT) = ?1 OR name = ?1 "
			"ORDER BY id, ?2",
			opt->vm, 0));
		if (!f->n_vms)
			return none_such(
				db, "--vm", opt->vm,
				"SELECT id || ' (' || coalesce(name, 'unnamed') || coalesce(', tgid ' || tgid, '') || ')' "
				"FROM vm ORDER BY id");
	}
	if (opt->vcpu) {
		f->vcpu = true;
		TRY(add_ids(
			db, &f->vcpus, &f->n_vcpus, &f->cap_vcpus,
			"SELECT id FROM vcpu WHERE (CAST(vcpu AS TEXT) = ?1 OR CAST(tid AS TEXT) = ?1) AND "
			"(?2 = 0 OR picked_vm(vm_id)) ORDER BY id",
			opt->vcpu, opt->vm ? 1 : 0));
		if (!f->n_vcpus)
			return none_such(
				db, "--vcpu", opt->vcpu,
				"SELECT coalesce(vcpu, '?') || ' (tid ' || coalesce(tid, '?') || ', VM ' || vm_id || ')' "
				"FROM vcpu WHERE picked_vm(vm_id) ORDER BY vm_id, vcpu, id");
		/* what belongs to a VM as a whole is shown for the VMs of these vCPUs */
		if (!opt->vm) {
			f->vm = true;
			TRY(add_ids(
				db, &f->vms, &f->n_vms, &f->cap_vms,
				"SELECT DISTINCT vm_id FROM vcpu WHERE CAST(vcpu AS TEXT) = ?1 OR CAST(tid AS TEXT) = ?1 "
				"ORDER BY vm_id, ?2",
				opt->vcpu, 0));
		}
	}
	return NULL;
}

struct error *filter_install(struct case_db *db, const struct options *opt)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	struct filter *f = xcalloc(1, sizeof(*f));

	/*
	 * picked_vm() frees the filter, as the last of the functions on one connection to be
	 * replaced or dropped
	 */
	if (sqlite3_create_function_v2(db->db, "picked", 2, flags, f, picked, NULL, NULL, NULL) !=
		    SQLITE_OK ||
	    sqlite3_create_function_v2(db->db, "rel_stddev", 3, flags | SQLITE_DETERMINISTIC, NULL,
				       rel_stddev, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_create_function_v2(db->db, "picked_vm", 1, flags, f, picked_vm, NULL, NULL,
				       filter_free) != SQLITE_OK)
		return error_new(ERR_INTERNAL, "case file: %s", sqlite3_errmsg(db->db));
	return fill(db, f, opt);
}
