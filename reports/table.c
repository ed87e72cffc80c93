// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - aligned columns; see table.h. */
#include "table.h"

#include <stdarg.h>

#include "escape.h"

#define GAP	2	/* blanks between columns */

struct table {
	const struct table_column *columns;
	size_t		n_columns;
	char		**cells;
	size_t		n_cells, cap_cells;
	size_t		*widths;
	bool		*shown;
};

struct table *table_create(const struct table_column *columns, size_t n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->n_columns = n;
	t->widths = xcalloc(n, sizeof(*t->widths));
	t->shown = xcalloc(n, sizeof(*t->shown));
	return t;
}

void table_free(struct table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->widths);
	free(t->shown);
	free(t);
}

void table_cell(struct table *t, const char *text)
{
	GROW(t->cells, t->cap_cells, t->n_cells + 1);
	t->cells[t->n_cells++] = escape_terminal(text ? text : "", text ? strlen(text) : 0);
}

void table_cellf(struct table *t, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	table_cell(t, text);
}

size_t table_rows(const struct table *t)
{
	return t->n_columns ? t->n_cells / t->n_columns : 0;
}

static size_t total_width(const struct table *t)
{
	size_t sum = 0, i;

	for (i = 0; i < t->n_columns; i++)
		if (t->shown[i])
			sum += t->widths[i] + (sum ? GAP : 0);
	return sum;
}

static void measure(struct table *t)
{
	size_t rows = table_rows(t), c, r;

	for (c = 0; c < t->n_columns; c++) {
		size_t widest = 0;

		for (r = 0; r < rows; r++)
			widest = MAX(widest, display_width(t->cells[r * t->n_columns + c]));
		t->shown[c] = widest || !(t->columns[c].flags & TABLE_HIDE_EMPTY);
		t->widths[c] = MAX(widest, display_width(t->columns[c].head));
	}
}

/* Narrow the widest column that may be cut, one column at a time; true when the table fits. */
static bool narrow(struct table *t, size_t width)
{
	size_t over = total_width(t), c, widest;

	for (; over > width; over--) {
		widest = t->n_columns;
		for (c = 0; c < t->n_columns; c++)
			if (t->shown[c] && (t->columns[c].flags & TABLE_CUT) &&
			    t->widths[c] > TABLE_CUT_MIN &&
			    (widest == t->n_columns || t->widths[c] > t->widths[widest]))
				widest = c;
		if (widest == t->n_columns)
			return false;
		t->widths[widest]--;
	}
	return true;
}

static void fit(struct table *t, size_t width)
{
	size_t c;

	measure(t);
	/*
	 * Wide text columns take part with at most half of the line before optional columns must
	 * go.
	 */
	for (c = t->n_columns; c > 0 && total_width(t) > width; c--) {
		size_t spare = 0, i;

		for (i = 0; i < t->n_columns; i++)
			if (t->shown[i] && (t->columns[i].flags & TABLE_CUT) &&
			    t->widths[i] > 2 * TABLE_CUT_MIN)
				spare += t->widths[i] - 2 * TABLE_CUT_MIN;
		if (total_width(t) - spare <= width)
			break;
		if (t->columns[c - 1].flags & TABLE_OPTIONAL)
			t->shown[c - 1] = false;
	}
	narrow(t, width);
}

static void put_blanks(FILE *out, size_t n)
{
	if (n)
		fprintf(out, "%*s", (int)n, "");
}

static void put_cell(FILE *out, const char *text, size_t width, bool right, bool last)
{
	size_t w = display_width(text);

	if (w > width) {
		_cleanup_free_ char *kept = xstrndup(text, display_cut(text, width - 1));

		w = display_width(kept) + 1;
		fprintf(out, "%s…", kept);
		if (!last)
			put_blanks(out, width - w);
		return;
	}
	if (right)
		put_blanks(out, width - w);
	fputs(text, out);
	if (!right && !last)
		put_blanks(out, width - w);
}

static void put_row(const struct table *t, FILE *out, size_t row, bool head)
{
	size_t c, last = 0;
	bool first = true;

	for (c = 0; c < t->n_columns; c++)
		if (t->shown[c] && (head || t->cells[row * t->n_columns + c][0]))
			last = c;
	for (c = 0; c <= last && c < t->n_columns; c++) {
		const char *text = head ? t->columns[c].head : t->cells[row * t->n_columns + c];

		if (!t->shown[c])
			continue;
		if (!head && row && (t->columns[c].flags & TABLE_HIDE_SAME) && c < last &&
		    !strcmp(text, t->cells[(row - 1) * t->n_columns + c]))
			text = "";
		if (!first)
			put_blanks(out, GAP);
		first = false;
		put_cell(out, text, t->widths[c], t->columns[c].flags & TABLE_RIGHT, c == last);
	}
}

void table_print(struct table *t, FILE *out, int indent, int width, const char *on, const char *off)
{
	size_t rows = table_rows(t), r;

	fit(t, width > indent ? (size_t)(width - indent) : 1);
	put_blanks(out, (size_t)indent);
	fputs(on, out);
	put_row(t, out, 0, true);
	fputs(off, out);
	fputc('\n', out);
	for (r = 0; r < rows; r++) {
		put_blanks(out, (size_t)indent);
		put_row(t, out, r, false);
		fputc('\n', out);
	}
}
