/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - aligned columns by display width.
 *
 * Cells are escaped for terminals as they are added. A table that is wider than the line first
 * narrows the columns that may be cut (their text then ends in "…"), then leaves out optional
 * columns, last one first.
 */
#ifndef KM_TABLE_H
#define KM_TABLE_H

#include "base.h"

enum table_flags {
	TABLE_LEFT	= 0,
	TABLE_RIGHT	= 1,	/* right-aligned: numbers */
	TABLE_CUT	= 2,	/* may be narrowed, down to TABLE_CUT_MIN columns */
	TABLE_OPTIONAL	= 4,	/* may be left out where the table does not fit */
	TABLE_HIDE_SAME	= 8,	/* a cell equal to the one above is left blank */
	TABLE_HIDE_EMPTY = 16,	/* the column is left out when all its cells are empty */
};

#define TABLE_CUT_MIN	12

struct table_column {
	const char	*head;
	unsigned int	flags;
};

struct table;

struct table *table_create(const struct table_column *columns, size_t n);
void table_free(struct table *t);
/* table_cell() - the next cell, row by row. @text NULL is empty. */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...) __printf_like(2, 3);
size_t table_rows(const struct table *t);
/*
 * table_print() - print with @indent columns before each line, within @width columns; the head line
 * between @on and @off.
 */
void table_print(struct table *t, FILE *out, int indent, int width, const char *on,
		 const char *off);

static inline void cleanup_table(struct table **t)
{
	table_free(*t);
}
#define _cleanup_table_		__attribute__((cleanup(cleanup_table)))

#endif
