/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sig_eval.h - evidence of one signature on one case, and the rules that make it a verdict. Private
 * to sig_eval.c and sig_verdict.c.
 */
#ifndef KM_SIG_EVAL_H
#define KM_SIG_EVAL_H

#include "sig.h"

struct ev_row {			/* one row of an item's query whose sentence could be filled */
	size_t	item;
	char	*says, *cites;	/* cites: JSON array of cite.id */
	int64_t	source, vm, vcpu, member;	/* 0: none */
	int64_t	from, to;	/* on the source's clock */
	bool	has_time;
	bool below; /* the mechanism is there, below the size that reports of the bug name */
};

struct item_state {		/* of an item, for the whole case */
	struct sig_view	view;
	char		*missing;	/* the need that nothing delivers */
	char		*error;
	bool		truncated;	/* there are more than SIG_MAX_ROWS rows */
};

struct sig_evaluation {
	struct case_db		*db;
	const struct signature	*sig;
	struct item_state	*states;
	struct ev_row		*rows;
	size_t			n_rows, cap_rows;
	uint64_t		steps;	/* SQLite's VM steps, of all items */
	struct sql_guard	*guard;	/* set on the connection */
	const struct sig_filled	*filled;	/* NULL: ask every item */
};

/* The tables of a case that have rows, less those that any recording fills. */
struct sig_filled {
	char	**names;
	size_t	n, cap;
};

/* sig_filled_read() - look once per case; end with sig_filled_clear(), also on an error. */
struct error *sig_filled_read(struct case_db *db, struct sig_filled *ret);
void sig_filled_clear(struct sig_filled *f);
/*
 * sig_names_filled() - does @sql mention one of them, by whatever word? When it does not, and
 * nothing delivers what the item needs, its SQL can tell nothing of the case.
 */
bool sig_names_filled(const struct sig_filled *f, const char *sql);

enum item_outcome { ITEM_NOT_VISIBLE, ITEM_NOT_SHOWN, ITEM_BELOW, ITEM_SHOWN, ITEM_ERROR };
enum verdict_level {
	VERDICT_MATCH,
	VERDICT_LIKELY,
	VERDICT_POSSIBLE,
	VERDICT_CANNOT_TELL,
	VERDICT_RULED_OUT
};

struct verdict {
	struct sig_evaluation	*e;
	int64_t			vm;		/* 0: the host */
	enum verdict_level	level;
	enum item_outcome	states[SIG_MAX_ITEMS];
	double			score;
	char			*because, *contradiction;
};

static inline bool row_of_subject(const struct ev_row *r, int64_t vm)
{
	return !r->vm || r->vm == vm;
}

const char *verdict_name(enum verdict_level level);
/* verdict_subjects() - the VMs that rows are about, or the host alone (0); malloc'd. */
size_t verdict_subjects(const struct sig_evaluation *e, int64_t **ret);
/* verdict_judge() - the verdict for one subject; *v's texts are malloc'd. */
void verdict_judge(struct sig_evaluation *e, int64_t vm, struct verdict *v);
/*
 * verdict_lookalikes() - what @v (match, likely or possible) may be mistaken for, and what decided:
 * a JSON array (malloc'd) of { id, title, verdict, because, tells_apart, decided_by: [ { signature,
 * item, role, outcome, says } ] }. @all: all verdicts of the case.
 */
char *verdict_lookalikes(const struct verdict *all, size_t n, const struct verdict *v);

#endif
