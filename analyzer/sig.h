/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sig.h - a signature in memory: what sig_load.c reads, sig_eval.c judges, sig_lint.c checks and
 * record_next.c answers. Private to those files; the rest of the program sees signature.h.
 */
#ifndef KM_SIG_H
#define KM_SIG_H

#include "signature.h"

#define SIG_MAX_BYTES		(256 * 1024)
#define SIG_MAX_ITEMS		64
#define SIG_MAX_ROWS		2000	/* rows of one evidence query that are looked at */
#define SIG_MAX_SHOWN		8	/* rows of one item that become evidence of one subject */

enum sig_role { SIG_FOR, SIG_AGAINST, SIG_PRECONDITION };
enum sig_strength { SIG_SUPPORTING, SIG_STRONG, SIG_DECISIVE };

struct sig_item {
	char			*id;
	enum sig_role		role;
	enum sig_strength	strength;
	char			**needs;
	size_t			n_needs;
	char			*says, *sql;
	unsigned long		line;
};

struct sig_record {		/* what to record when something could not be seen */
	char		*command;
	char		*why;
	char		**items;	/* ids it would show; none: always */
	size_t		n_items;
	unsigned long	line;
};

struct sig_lookalike {	/* another signature that the same symptom or evidence may suggest */
	char		*id;
	char		*tells_apart;
	char		**by;	/* items of this signature that tell the two apart; may be none */
	size_t		n_by;
	unsigned long	line;
};

struct signature {
	char			*id, *title, *status, *symptom, *mechanism, *workaround, *advice;
	char			*file, *yaml;
	struct kernel_change	*introduced, *fixed;
	size_t			n_introduced, n_fixed;
	struct sig_item		*items;		/* preconditions, then for, then against */
	size_t			n_items;
	struct sig_record	*records;
	size_t			n_records;
	struct sig_lookalike	*lookalikes;
	size_t			n_lookalikes;
	char			**references;
	size_t			n_references;
	bool			embedded;	/* compiled in: not to be freed */
};

/* The signatures compiled in, as signatures/compile.c wrote them; ends with NULL. */
extern const struct signature *const embedded_catalogue[];

struct catalogue {
	const struct signature	**sigs;		/* sorted by id */
	size_t			n, cap;
};

const char *sig_role_name(enum sig_role role);
const char *sig_strength_name(enum sig_strength strength);

/*
 * sig_parse() - one YAML text. The first error ends it (ERR_USAGE, "FILE:LINE: what"). Unknown keys
 * are errors: a misspelt key would silently drop evidence.
 */
struct error *sig_parse(struct signature **ret, const char *file, const char *text, size_t len);
/* sig_load_file() - the same from a file. */
struct error *sig_load_file(struct signature **ret, const char *path);
void sig_free(struct signature *s);

/*
 * Needs: what an item must be able to see. NONE: nothing here could have shown it. PARTLY: it could
 * show up, but its absence proves nothing (sampled, filtered, lossy, only what occurred). FULLY:
 * absence proves absence, in the sources listed.
 */
enum sig_sight { SIGHT_NONE, SIGHT_PARTLY, SIGHT_FULLY };
struct sig_view {
	enum sig_sight	sight;
	bool any_source; /* the needs are about the host (facts, tables), not about one recording */
	int64_t		*sources;	/* FULLY: where absence counts */
	size_t		n, cap;
};

/*
 * need_known() - is this a need of the vocabulary (doc/signatures.md)? NULL, or what is wrong with
 * it (malloc'd).
 */
char *need_known(const char *need);
/*
 * need_is_trace() - true when what it names comes from a trace, a log or a measurement, false for
 * settings.
 */
bool need_is_trace(const char *need);
/*
 * needs_view() - judge all needs of an item on a case. @missing (malloc'd, may be NULL) names the
 * first that nothing delivers.
 */
struct error *needs_view(struct case_db *db, const struct sig_item *it, struct sig_view *ret,
			 char **missing);
/*
 * probe_function() - the function that a probe event of this (user-chosen) name is about:
 * "kprobes:p_FUNC_0" -> "FUNC". @buf gets it.
 */
void probe_function(const char *event, char *buf, size_t size);

/*
 * says_fill() - the sentence of one row. NULL when a placeholder's column is NULL (the row does not
 * count). Formats: {x}, {x:ms}, {x:us}, {x:s}, {x:dur} (x in ns, unit by size), {x:pct} (x is a
 * ratio), {x:int}, {x:num} (one decimal).
 */
char *says_fill(const char *says, sqlite3_stmt *st);
/*
 * says_check() - NULL, or what is wrong with the sentence for this statement's columns (malloc'd).
 */
char *says_check(const char *says, sqlite3_stmt *st);

/*
 * lint_sql() - "SQL that cannot lie" (design 6): calls @found for each finding. @db has the schema.
 */
void lint_sql(sqlite3 *db, const char *sql, void (*found)(void *arg, const char *what), void *arg);

/* What lint checks beside the SQL (sig_lint_around.c); each calls @found for each finding. */
typedef void (*lint_found)(void *arg, const char *what);
/* lint_changes() - commits and releases of `affects` have a form that can be compared. */
void lint_changes(const struct signature *s, lint_found found, void *arg);
/*
 * lint_cost() - no item exceeds the limit of VM steps where each table has some hundred rows. @db:
 * an empty case, filled here.
 */
void lint_cost(sqlite3 *db, const struct signature *s, lint_found found, void *arg);
/*
 * lint_fixtures() - where fixtures/ lies two folders above the file (the project's own catalogue):
 * a positive and a negative bundle, with their files, in fixtures/signatures/ID/expect.tsv.
 */
void lint_fixtures(const struct signature *s, lint_found found, void *arg);
/* lint_fixtures_dir() - that fixtures/ (malloc'd); NULL: none, a private catalogue. */
char *lint_fixtures_dir(const char *file);

/*
 * record_next() - the commands that would show what could not be seen, for one subject; JSON array
 * (malloc'd). @wanted: ids of items not visible.
 */
char *record_next(struct case_db *db, const struct signature *s, int64_t vm_id,
		  const char *const *wanted, size_t n_wanted);
/* record_shows() - would this command show one of the items @wanted? */
bool record_shows(const struct sig_record *r, const char *const *wanted, size_t n);
/* record_fill() - a command with its placeholders filled (malloc'd); @db may be NULL. */
char *record_fill(struct case_db *db, int64_t vm, const char *command);
/* record_pid() - thread group of a VM, or of the only VM (@vm 0); 0 where it isn't known. */
int64_t record_pid(struct case_db *db, int64_t vm);
/*
 * signatures_cost() - evaluate the signatures @ids (none: all) on a case and print a line each: id,
 * tab, SQLite VM steps of all its items; ordered by id.
 */
struct error *signatures_cost(struct case_db *db, const struct catalogue *c,
			      const char *const *ids, size_t n_ids, FILE *out);
/*
 * signature_draft() - print the skeleton of a signature @id for what stands out in a case.
 * ERR_INPUT where nothing does.
 */
struct error *signature_draft(struct case_db *db, const char *id, FILE *out);
/* sig_valid_id() - small letters, digits, '-'; begins with a letter. */
bool sig_valid_id(const char *id);
/*
 * record_script() - print a shell script that records what the signatures @ids (none: all) need;
 * with a case, what its verdicts could not see. ERR_USAGE when there is nothing to record.
 */
struct error *record_script(struct case_db *db, const struct catalogue *c, const char *const *ids,
			    size_t n_ids, FILE *out);

#endif
