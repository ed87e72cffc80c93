// SPDX-License-Identifier: GPL-2.0-or-later
/* html_out.c - safe markup: escaping, names, sections, tables; see html.h. */
#include "html.h"

#include <stdarg.h>

#include "escape.h"

#define TITLE_COLUMNS	256

void html_raw(struct html *h, const char *markup)
{
	fputs(markup, h->out);
}

void html_rawf(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(h->out, fmt, ap);
	va_end(ap);
}

/* @n bytes of @s, which passed escape_terminal() */
static void put_references(FILE *out, const char *s, size_t n)
{
	for (; n; n--, s++) {
		switch (*s) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: putc(*s, out);
		}
	}
}

void html_text(struct html *h, const char *s)
{
	_cleanup_free_ char *clean = escape_terminal(s, strlen(s));

	put_references(h->out, clean, strlen(clean));
}

void html_textf(struct html *h, const char *fmt, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	if (s)
		html_text(h, s);
}

void html_cut(struct html *h, const char *s, size_t columns)
{
	_cleanup_free_ char *clean = escape_prose(s);
	size_t cut = display_cut(clean, columns);

	if (clean[cut])
		cut = display_cut(clean, columns - 1);
	put_references(h->out, clean, cut);
	if (clean[cut])
		fputs("…", h->out);
}

static bool longer(const char *s, size_t columns)
{
	_cleanup_free_ char *clean = escape_prose(s);

	return clean[display_cut(clean, columns)] != '\0';
}

void html_name(struct html *h, const char *s, size_t columns)
{
	if (longer(s, columns)) {
		html_raw(h, "<bdi title=\"");
		html_cut(h, s, TITLE_COLUMNS);
		html_raw(h, "\">");
	} else {
		html_raw(h, "<bdi>");
	}
	html_cut(h, s, columns);
	html_raw(h, "</bdi>");
}

void html_says(struct html *h, const char *s)
{
	html_name(h, s, HTML_SAYS_COLUMNS);
}

void html_wbr(struct html *h, const char *s)
{
	_cleanup_free_ char *clean = escape_prose(s);
	const char *p = clean;
	size_t n;

	for (; *p; p += n) {
		n = strcspn(p, "/_:,.");
		n += p[n] != '\0';
		put_references(h->out, p, n);
		if (p[n])
			html_raw(h, "<wbr>");
	}
}

void html_section(struct html *h, const char *id, const char *heading)
{
	html_rawf(h, "\n<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">", id, id, id);
	html_text(h, heading);
	html_raw(h, "</h2>\n");
}

void html_section_end(struct html *h)
{
	html_raw(h, "</section>\n");
}

void html_table(struct html *h, const char *caption, const char *const *heads, size_t n)
{
	size_t i;

	html_raw(h, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
	html_text(h, caption);
	html_raw(h, "\">\n<table>\n<caption>");
	html_text(h, caption);
	html_raw(h, "</caption>\n<thead><tr>");
	for (i = 0; i < n; i++) {
		bool number = heads[i][0] == '>';

		html_raw(h, number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
		html_text(h, heads[i] + number);
		html_raw(h, "</th>");
	}
	html_raw(h, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct html *h)
{
	html_raw(h, "</tbody></table></div>\n");
}

void html_row(struct html *h)
{
	html_raw(h, "<tr>");
}

void html_row_end(struct html *h)
{
	html_raw(h, "</tr>\n");
}

static void cell(struct html *h, const char *open, const char *s, const char *close)
{
	html_raw(h, open);
	if (s && *s)
		html_name(h, s, 160);
	html_raw(h, close);
}

void html_head(struct html *h, const char *s)
{
	cell(h, "<th scope=\"row\">", s, "</th>");
}

void html_cell(struct html *h, const char *s)
{
	cell(h, "<td>", s, "</td>");
}

void html_num(struct html *h, const char *s)
{
	html_raw(h, "<td class=\"n\">");
	html_text(h, s ? s : "");
	html_raw(h, "</td>");
}

void html_share(struct html *h, int64_t part, int64_t whole)
{
	char buf[HUMAN_MAX];
	int width = whole > 0 ? (int)(100.0 * (double)part / (double)whole + 0.5) : 0;

	html_raw(h, "<td class=\"n share\">");
	if (width > 0)
		html_rawf(h, "<svg class=\"sharebar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
			  "<rect width=\"%d\" height=\"10\"/></svg>", width > 100 ? 100 : width);
	html_raw(h, "<span>");
	html_text(h, part ? human_share(buf, part, whole) : "–");
	html_raw(h, "</span></td>");
}

/* Blanks before a line, and what would be an empty item. */
static const char *lead(const char *line)
{
	while (*line == ' ')
		line++;
	return line;
}

struct error *html_lines(struct html *h, struct error *(*view)(struct text *t), bool skip_first,
			 const char *class)
{
	_cleanup_free_ char *lines = NULL;
	struct text t = h->text;
	size_t size = 0, n = 0, heading = 0;
	struct error *err;
	char *line, *rest;

	t.out = open_memstream(&lines, &size);
	if (!t.out)
		return error_io("report");
	t.width = t.prose = 100000;
	err = view(&t);
	fclose(t.out);
	for (line = strtok_r(lines, "\n", &rest); !err && line; line = strtok_r(NULL, "\n", &rest)) {
		if (!*lead(line) || (skip_first && !heading++))
			continue;
		if (!n++)
			html_rawf(h, "<ul class=\"%s\">\n", class);
		html_raw(h, "<li>");
		html_says(h, lead(line));
		html_raw(h, "</li>\n");
	}
	if (n)
		html_raw(h, "</ul>\n");
	return err;
}
