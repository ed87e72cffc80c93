// SPDX-License-Identifier: GPL-2.0-or-later
/* sections.c - files pasted into a text; see sections.h. */
#include "sections.h"

#define PATH_LEN_MAX	255

enum style { STYLE_NONE, STYLE_EQUALS, STYLE_TAIL, STYLE_CAT, STYLE_GREP, STYLE_COMMAND };

/* Commands whose output is known only as a whole. */
static const char *const commands[] = { "lscpu", "sysctl", "kvm_stat" };

struct head {
	enum style	style;
	const char	*path;
	size_t		path_len;
	const char	*value;		/* STYLE_GREP */
	size_t		value_len;
	size_t		prompt_len;	/* STYLE_CAT: bytes up to and with "# " or "$ " */
};

static bool path_char(char c)
{
	return (unsigned char)c > ' ' && c != '"' && c != '\'' && c != '|' && c != ';' &&
	       c != '<' && c != '>' && c != '*';
}

/* The word at @s, up to a blank or the end; 0 when it can't be a path. */
static size_t path_word(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && path_char(s[n]))
		n++;
	if (n < len && s[n] != ' ' && s[n] != '\t')
		return 0;
	return n <= PATH_LEN_MAX ? n : 0;
}

static bool rest_blank(const char *s, size_t len)
{
	while (len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	return !len;
}

static bool head_equals(const char *s, size_t len, struct head *h)
{
	if (len < 4 || memcmp(s, "== ", 3))
		return false;
	h->path = s + 3;
	h->path_len = path_word(s + 3, len - 3);
	h->style = STYLE_EQUALS;
	s += 3 + h->path_len;
	len -= 3 + h->path_len;
	return h->path_len && (rest_blank(s, len) || (len >= 3 && !memcmp(s, " ==", 3)));
}

static bool head_tail(const char *s, size_t len, struct head *h)
{
	while (len && s[len - 1] == ' ')
		len--;
	if (len < 9 || memcmp(s, "==> ", 4) || memcmp(s + len - 4, " <==", 4))
		return false;
	h->path = s + 4;
	h->path_len = path_word(s + 4, len - 8);
	h->style = STYLE_TAIL;
	return h->path_len == len - 8;
}

static bool head_cat(const char *s, size_t len, struct head *h)
{
	const char *p = NULL;
	size_t at;

	if (len > 400)
		return false;
	for (at = 0; at + 6 < len && at < 64 && !p; at++)
		if ((s[at] == '#' || s[at] == '$') && !memcmp(s + at + 1, " cat ", 5))
			p = s + at + 6;
	if (!p)
		return false;
	h->prompt_len = (size_t)(p - s) - 4;
	h->path = p;
	h->path_len = path_word(p, len - (size_t)(p - s));
	h->style = STYLE_CAT;
	return h->path_len && rest_blank(p + h->path_len, len - (size_t)(p - s) - h->path_len);
}

/* "# lscpu", as pvereport heads its parts, or behind a prompt. */
static bool head_command(const char *s, size_t len, struct head *h)
{
	size_t at, i, n;

	if (len > 200)
		return false;
	for (at = 0; at + 2 < len && at < 64; at++) {
		if ((s[at] != '#' && s[at] != '$') || s[at + 1] != ' ')
			continue;
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			n = strlen(commands[i]);
			if (len - at - 2 < n || memcmp(s + at + 2, commands[i], n) ||
			    (len - at - 2 > n && s[at + 2 + n] != ' '))
				continue;
			h->path = s + at + 2;
			h->path_len = n;
			h->prompt_len = at + 2;
			h->style = STYLE_COMMAND;
			return true;
		}
	}
	return false;
}

static bool head_grep(const char *s, size_t len, struct head *h)
{
	const char *colon;

	if (len < 8 || (memcmp(s, "/sys/", 5) && memcmp(s, "/proc/", 6)))
		return false;
	colon = memchr(s, ':', MIN(len, (size_t)PATH_LEN_MAX));
	if (!colon || path_word(s, (size_t)(colon - s)) != (size_t)(colon - s))
		return false;
	h->path = s;
	h->path_len = (size_t)(colon - s);
	h->value = colon + 1;
	h->value_len = len - h->path_len - 1;
	h->style = STYLE_GREP;
	return h->value_len > 0;
}

static enum style parse_head(const struct line *ln, struct head *h)
{
	const char *s = ln->s;
	size_t len = ln->len;

	memset(h, 0, sizeof(*h));
	while (len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	if (head_equals(s, len, h) || head_tail(s, len, h) || head_cat(s, len, h) ||
	    head_command(s, len, h) || head_grep(s, len, h))
		return h->style;
	return STYLE_NONE;
}

bool section_head(const struct line *ln)
{
	struct head h;

	if (ln->len < 4)
		return false;
	return parse_head(ln, &h) != STYLE_NONE;
}

static void add_line(struct section *sec, const char *s, size_t len)
{
	GROW(sec->text, sec->cap, sec->text_len + len + 2);
	memcpy(sec->text + sec->text_len, s, len);
	sec->text_len += len;
	sec->text[sec->text_len++] = '\n';
	sec->text[sec->text_len] = '\0';
	sec->lines++;
}

/* Does @l end the section that @h began? */
static bool ends(const struct head *h, const struct mail_line *head, const struct mail_line *l)
{
	struct head other;
	enum style style;

	if (l->depth != head->depth)
		return true;
	style = parse_head(&l->ln, &other);
	switch (h->style) {
	case STYLE_COMMAND:
		return style == STYLE_CAT ||
		       (l->ln.len > h->prompt_len && !memcmp(l->ln.s, head->ln.s, h->prompt_len)) ||
		       (l->ln.len >= 5 && !memcmp(l->ln.s, "==== ", 5));
	case STYLE_CAT:
		/* each processor is a paragraph */
		if (h->path_len >= 7 && !memcmp(h->path + h->path_len - 7, "cpuinfo", 7))
			return l->ln.len && !memchr(l->ln.s, ':', l->ln.len);
		return !l->ln.len || style == STYLE_CAT ||
		       (l->ln.len >= h->prompt_len && h->prompt_len > 2 &&
			!memcmp(l->ln.s, head->ln.s, h->prompt_len));
	case STYLE_GREP:
		return style != STYLE_GREP || other.path_len != h->path_len ||
		       memcmp(other.path, h->path, h->path_len);
	default:
		return style == h->style;
	}
}

bool section_read(struct section *sec, const struct mail_line *head, const struct mail_walk *walk)
{
	struct mail_line l = { .own = NULL };
	struct head h, other;

	memset(sec, 0, sizeof(*sec));
	if (parse_head(&head->ln, &h) == STYLE_NONE)
		return false;
	sec->name = xstrndup(h.path, h.path_len);
	sec->named = h.style != STYLE_GREP;
	sec->first_line = head->ln.no + (h.style != STYLE_GREP);
	sec->after = *walk;
	if (h.style == STYLE_GREP)
		add_line(sec, h.value, h.value_len);
	for (;;) {
		struct mail_walk next = sec->after;

		if (!mail_walk_next(&next, &l) || ends(&h, head, &l))
			break;
		if (sec->text_len + l.ln.len + 1 > SECTION_MAX) {
			free(l.own);
			section_free(sec);
			return false;
		}
		if (h.style == STYLE_GREP && parse_head(&l.ln, &other) == STYLE_GREP)
			add_line(sec, other.value, other.value_len);
		else
			add_line(sec, l.ln.s, l.ln.len);
		sec->after = next;
	}
	free(l.own);
	return true;
}

void section_free(struct section *sec)
{
	free(sec->name);
	free(sec->text);
	memset(sec, 0, sizeof(*sec));
}
