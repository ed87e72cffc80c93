/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_rows.h - the rows of `diff` (analyzer/diff.h) with their values as words, for all reports.
 */
#ifndef KM_DIFF_ROWS_H
#define KM_DIFF_ROWS_H

#include "human.h"
#include "model.h"

struct diff_row {
	const char *section; /* its heading; the same pointer for all rows of one section */
	char		*name, *good, *bad, *change;
	double		effect;
};

struct diff_rows {
	struct diff_row	*r;
	size_t		n, cap;
	size_t		left_out;	/* rows that differ too little, unless verbose */
};

/*
 * diff_rows_load() - by section, within it the largest effect first; without -v at most
 * @max rows a section, and only what differs noticeably. diff_rows_free() in any case.
 */
struct error *diff_rows_load(struct report_ctx *ctx, size_t max, struct diff_rows *rows);
void diff_rows_free(struct diff_rows *rows);

/* diff_headline() - one sentence: the verdict that differs, else what makes up most; malloc'd. */
char *diff_headline(const struct diff_rows *rows);

#endif
