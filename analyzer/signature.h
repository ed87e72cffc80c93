/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signature.h - known bugs: YAML files (doc/signatures.md), their evidence over the case file, and
 * verdicts (design §6).
 */
#ifndef KM_SIGNATURE_H
#define KM_SIGNATURE_H

#include "casefile.h"

struct signature;
struct catalogue;

/*
 * catalogue_load() - the embedded signatures and those of @dirs (a directory's id replaces an
 * embedded one of the same id).
 */
struct error *catalogue_load(struct catalogue **ret, const char *const *dirs, size_t n_dirs);
void catalogue_free(struct catalogue *c);
size_t catalogue_count(const struct catalogue *c);
const struct signature *catalogue_get(const struct catalogue *c, size_t i);	/* sorted by id */
const struct signature *catalogue_find(const struct catalogue *c, const char *id);
const char *signature_id(const struct signature *s);
const char *signature_title(const struct signature *s);
const char *signature_yaml(const struct signature *s);		/* the file's text */

/*
 * verdicts_compute() - evaluate every signature on @db and write tables verdict and evidence,
 * ordered by rank.
 */
struct error *verdicts_compute(struct case_db *db, const struct catalogue *c);
/*
 * verdicts_compute_some() - the same for the signatures @ids only (none: all); what look-alikes
 * outside of them come to is not said then.
 */
struct error *verdicts_compute_some(struct case_db *db, const struct catalogue *c,
				    const char *const *ids, size_t n_ids);

/*
 * signature_lint() - check one file; findings go to @out, one line each ("FILE: what"); returns
 * their number, -1 when the file can't be read.
 */
int signature_lint(const char *path, FILE *out);

/*
 * Kernel releases (`uname -r` and what distributions make of it). A range in `affects:` is judged
 * here, never by SQL string comparison: a distribution's release says little about which upstream
 * fixes it carries.
 */
#define KERNEL_SUB_UNKNOWN	(-1)
struct kernel_version {
	bool	known;
	int	v[3];		/* as printed: 6.1.0 of 6.1.0-50-amd64 */
	int	rc;		/* release candidate; 0 none */
	int	sub_min, sub_max;	/* the stable release it was built from lies within */
	char distro[16]; /* debian, ubuntu, el, pve, fedora, suse, wsl; empty: upstream or unknown
			  */
	int	distro_rel;	/* 9 of el9; -1 unknown */
	int	distro_build;	/* 444 of 5.14.0-444.el9, 50 of 6.1.0-50-amd64; -1 unknown */
	char	raw[80];
};

/* kernel_parse() - false when @release does not begin with a version; *kv is then all zero. */
bool kernel_parse(const char *release, struct kernel_version *kv);
/*
 * kernel_add_package() - narrow @kv by its distribution package's version, found anywhere in @text:
 * "Debian 6.1.176-1" (as in "Linux version ..."), or a bare "6.1.176-1". True when it told
 * something.
 */
bool kernel_add_package(struct kernel_version *kv, const char *text);
/*
 * kernel_cmp() - by printed version and rc (6.8-rc3 is before 6.8); distribution builds are not
 * compared.
 */
int kernel_cmp(const struct kernel_version *a, const struct kernel_version *b);

/* A commit in `affects:` and the releases that have it. */
struct kernel_change {
	char		*commit, *subject;
	char		*upstream;	/* first mainline release, "6.4"; NULL unknown */
	char **releases;		/* "6.1.50" (stable), "el9:5.14.0-444", "debian:6.1.90-1",
					   "ubuntu:5.15.0-100", "pve:6.5.11-8" */
	size_t		n_releases;
	bool		partial;	/* does not cure alone */
	bool		mitigation;	/* adds a switch; the kernel alone is not cured */
	bool		no_stable;	/* known not to have gone to stable trees */
	bool		unverified;
};

/* kernel_has_change(): 1 the release is known to carry it, 0 known not to, -1 unknown. */
int kernel_has_change(const struct kernel_version *kv, const struct kernel_change *ch);
/*
 * kernel_in_range(): 1 affected, 0 not, -1 unknown, by what introduced the bug and what cured it
 * (partial changes and mitigations do not). @why (may be NULL) gets the change that decided.
 */
int kernel_in_range(const struct kernel_version *kv, const struct kernel_change *introduced,
		    size_t n_introduced, const struct kernel_change *fixed, size_t n_fixed,
		    const struct kernel_change **why);

/*
 * SQL that cannot do harm: while a guard is set on a connection, statements may be prepared only if
 * they do nothing but read (no writes, PRAGMA, ATTACH, transactions, extension loading), and what
 * runs stops with SQLITE_INTERRUPT after @limit VM steps.
 */
#define SQL_STEP_LIMIT	20000000ULL
struct sql_guard {
	uint64_t	steps, limit;	/* steps are counted in thousands, rounded up */
	bool		exceeded;
	bool		refused;	/* the authorizer refused the last prepare */
	bool		on;
};
void sql_guard_set(sqlite3 *db, struct sql_guard *g, uint64_t limit);
void sql_guard_clear(sqlite3 *db);
/* sql_column() - the number of the column @name of the statement, or -1. */
int sql_column(sqlite3_stmt *st, const char *name);
/*
 * sql_guard_on() - start over with a guard that is set, sql_guard_off() - let anything pass until
 * then. Setting and clearing makes SQLite prepare every other statement of the connection anew.
 */
void sql_guard_on(struct sql_guard *g, uint64_t limit);
void sql_guard_off(struct sql_guard *g);
/*
 * sql_prepare_guarded() - exactly one SELECT; ERR_USAGE says what is wrong with it. Call with a
 * guard set.
 */
struct error *sql_prepare_guarded(sqlite3 *db, const char *sql, struct sql_guard *g,
				  sqlite3_stmt **ret);

#endif
