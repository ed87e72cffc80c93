// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unquote.c - physical lines and mail lines; see unquote.h. Quoted-printable is RFC 2045, section
 * 6.7.
 */
#include "unquote.h"

#include "textfeed.h"

void line_walk_init(struct line_walk *w, const uint8_t *data, uint64_t size)
{
	memset(w, 0, sizeof(*w));
	w->data = data;
	w->size = size;
	if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
		w->off = 3;
}

bool line_walk_next(struct line_walk *w, struct line *ln)
{
	const uint8_t *start = w->data + w->off, *nl;
	uint64_t left = w->size - w->off;
	size_t len;

	if (!left)
		return false;
	nl = memchr(start, '\n', left);
	len = nl ? (size_t)(nl - start) : left;
	w->open_end = !nl;
	ln->off = w->off;
	ln->no = ++w->no;
	ln->rejoined = false;
	w->off += len + (nl != NULL);
	if (len && start[len - 1] == '\r')
		len--;
	if (unlikely(len > LINE_MAX_BYTES)) {
		len = LINE_MAX_BYTES;
		w->cut++;
	}
	ln->s = (const char *)start;
	ln->len = len;
	return true;
}

void mail_walk_init(struct mail_walk *m, const uint8_t *data, uint64_t size)
{
	memset(m, 0, sizeof(*m));
	line_walk_init(&m->w, data, size);
}

unsigned int mail_unquote(const char **s, size_t *len)
{
	const char *p = *s, *end = p + *len;
	unsigned int depth = 0;

	while (p < end) {
		const char *q = p;

		if (depth && *q == ' ' && q + 1 < end && q[1] == '>')
			q++;
		if (*q != '>')
			break;
		p = q + 1;
		depth++;
	}
	if (depth && p < end && *p == ' ')
		p++;
	*len = (size_t)(end - p);
	*s = p;
	return depth;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

static void own_add(struct mail_line *l, const char *s, size_t len)
{
	GROW(l->own, l->cap, l->ln.len + len + 1);
	memcpy(l->own + l->ln.len, s, len);
	l->ln.len += len;
	l->ln.s = l->own;
}

/*
 * Decode one quoted-printable line onto @l; true when it ends in a soft break, and the next belongs
 * to it.
 */
static bool qp_add(struct mail_line *l, const char *s, size_t len)
{
	size_t i;

	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;	/* trailing blanks are no part of the text there */
	for (i = 0; i < len; i++) {
		char c = s[i];

		if (c == '=' && i + 1 == len)
			return true;
		if (c == '=' && i + 2 < len && hex_digit(s[i + 1]) >= 0 &&
		    hex_digit(s[i + 2]) >= 0) {
			c = (char)(hex_digit(s[i + 1]) * 16 + hex_digit(s[i + 2]));
			i += 2;
		}
		own_add(l, &c, 1);
	}
	return false;
}

static void read_qp(struct mail_walk *m, struct mail_line *l, const struct line *first)
{
	struct line ln = *first;
	bool more;

	l->ln.len = 0;
	own_add(l, "", 0);
	more = qp_add(l, ln.s, ln.len);
	while (more && l->ln.len < LINE_MAX_BYTES && line_walk_next(&m->w, &ln)) {
		l->ln.rejoined = true;
		more = qp_add(l, ln.s, ln.len);
	}
}

static bool begins(const struct line *ln, const char *what)
{
	size_t n = strlen(what);

	return ln->len >= n && !strncasecmp(ln->s, what, n);
}

static bool contains(const struct line *ln, const char *what)
{
	return memmem(ln->s, ln->len, what, strlen(what)) != NULL;
}

static void note_boundary(struct mail_walk *m, const struct line *ln)
{
	const char *p = memmem(ln->s, ln->len, "boundary=", 9), *end = ln->s + ln->len, *q;
	char *slot = m->boundary[m->n_boundaries % MAIL_BOUNDARIES];
	size_t n;

	if (!p)
		return;
	p += 9;
	if (p < end && *p == '"')
		p++;
	for (q = p; q < end && *q != '"' && *q != ';' && *q != ' '; )
		q++;
	n = (size_t)(q - p);
	if (n < 4 || n >= sizeof(m->boundary[0]))
		return;
	memcpy(slot, p, n);
	slot[n] = '\0';
	m->n_boundaries++;
}

static bool is_boundary(const struct mail_walk *m, const struct line *ln)
{
	unsigned int i;

	if (!begins(ln, "--"))
		return false;
	for (i = 0; i < MIN(m->n_boundaries, (unsigned int)MAIL_BOUNDARIES); i++) {
		size_t n = strlen(m->boundary[i]);

		if (ln->len >= n + 2 && !memcmp(ln->s + 2, m->boundary[i], n))
			return true;
	}
	return false;
}

/* Follow the headers that say how a body is encoded. */
static void follow_headers(struct mail_walk *m, const struct line *ln)
{
	if (m->qp && (is_boundary(m, ln) || begins(ln, "From ")))
		m->qp = m->qp_next = false;
	if (m->qp)
		return;
	if (begins(ln, "Content-Type:") || (ln->len && (*ln->s == ' ' || *ln->s == '\t')))
		note_boundary(m, ln);
	if (begins(ln, "Content-Transfer-Encoding:"))
		m->qp_next = contains(ln, "quoted-printable") || contains(ln, "Quoted-Printable") ||
			     contains(ln, "QUOTED-PRINTABLE");
	else if (!ln->len && m->qp_next) {
		m->qp = true;
		m->qp_next = false;
	}
}

/* Non-breaking spaces, and what is left of them when they were decoded wrongly, become blanks. */
static void plain_blanks(struct mail_line *l)
{
	static const struct { const char *s; size_t len; } odd[] = {
		{ "\xc2\xa0", 2 }, { "\xe2\x80\xaf", 3 }, { "\xef\xbf\xbd", 3 }, { "\xc3\xaf\xc2\xbf\xc2\xbd", 6 },
	};
	size_t i, k, o = 0, len = l->ln.len;
	const char *s = l->ln.s;

	for (i = 0; i < len && (unsigned char)s[i] < 0x80; )
		i++;
	if (i == len)
		return;
	if (s != l->own) {
		l->ln.len = 0;
		own_add(l, s, len);
	}
	s = l->own;
	for (i = 0; i < len; ) {
		for (k = 0; k < ARRAY_SIZE(odd); k++)
			if (len - i >= odd[k].len && !memcmp(s + i, odd[k].s, odd[k].len))
				break;
		if (k < ARRAY_SIZE(odd)) {
			l->own[o++] = ' ';
			i += odd[k].len;
		} else {
			l->own[o++] = s[i++];
		}
	}
	l->ln.len = o;
}

bool mail_walk_next(struct mail_walk *m, struct mail_line *out)
{
	struct line ln;

	if (!line_walk_next(&m->w, &ln))
		return false;
	out->ln = ln;
	if (m->qp || ln.len > 4)
		follow_headers(m, &ln);
	else if (!ln.len)
		follow_headers(m, &ln);
	if (m->qp)
		read_qp(m, out, &ln);
	plain_blanks(out);
	out->depth = mail_unquote(&out->ln.s, &out->ln.len);
	return true;
}

bool looks_like_mail(const uint8_t *data, uint64_t size)
{
	static const char *const headers[] = { "From:", "Subject:", "Message-ID:", "Received:", "Delivered-To:",
					       "Return-Path:", "In-Reply-To:" };
	unsigned int quoted = 0, headers_seen = 0, n;
	struct line_walk w;
	struct line ln;
	size_t i;

	line_walk_init(&w, data, MIN(size, (uint64_t)64 * 1024));
	for (n = 0; n < 400 && line_walk_next(&w, &ln); n++) {
		if (begins(&ln, "diff --git ") || (begins(&ln, "> ") && ++quoted >= 3))
			return true;
		for (i = 0; i < ARRAY_SIZE(headers); i++)
			headers_seen += begins(&ln, headers[i]);
		if (headers_seen >= 2 || (headers_seen && n < 5))
			return true;
	}
	return false;
}

static size_t put_utf8(char *out, uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

char *utf16_to_utf8(const uint8_t *data, uint64_t size, uint64_t *len)
{
	bool big;
	uint64_t i, o = 0;
	char *out;

	if (size < 2 ||
	    !((data[0] == 0xff && data[1] == 0xfe) || (data[0] == 0xfe && data[1] == 0xff)))
		return NULL;
	big = data[0] == 0xfe;
	out = xmalloc(size / 2 * 3 + 1); /* a unit becomes at most three bytes, a pair four */
	for (i = 2; i + 1 < size; i += 2) {
		uint32_t u = big ? (uint32_t)data[i] << 8 | data[i + 1]
				 : (uint32_t)data[i + 1] << 8 | data[i];

		if (u >= 0xd800 && u < 0xdc00 && i + 3 < size) {
			uint32_t v = big ? (uint32_t)data[i + 2] << 8 | data[i + 3] :
					   (uint32_t)data[i + 3] << 8 | data[i + 2];

			if (v >= 0xdc00 && v < 0xe000) {
				u = 0x10000 + ((u - 0xd800) << 10) + (v - 0xdc00);
				i += 2;
			}
		}
		if (u >= 0xd800 && u < 0xe000)
			u = 0xfffd;
		o += put_utf8(out + o, u);
	}
	*len = o;
	return out;
}
