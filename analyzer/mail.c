// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mail.c - attachments of mails (eml, mbox): every base64 part becomes a member below the mail.
 *
 * A part begins with headers (RFC 2045: Content-Transfer-Encoding, Content-Type,
 * Content-Disposition), a blank line and its body. Bodies in other encodings are text, and are read
 * where they stand by the mail's own text feeding.
 */
#include "bundle_int.h"

#include "stream.h"
#include "unquote.h"

#define NAME_MAX_LEN	200

struct part {
	char		name[NAME_MAX_LEN + 1];
	bool		base64;		/* its headers said so */
};

static bool begins(const struct line *ln, const char *what)
{
	size_t n = strlen(what);

	return ln->len >= n && !strncasecmp(ln->s, what, n);
}

static bool contains(const struct line *ln, const char *what)
{
	size_t n = strlen(what), i;

	for (i = 0; i + n <= ln->len; i++)
		if (!strncasecmp(ln->s + i, what, n))
			return true;
	return false;
}

/* name="x" or filename="x", the quotes being optional. The last path component is kept. */
static void note_name(struct part *part, const struct line *ln)
{
	const char *p = memmem(ln->s, ln->len, "name=", 5), *end = ln->s + ln->len, *q, *slash;
	bool quoted;

	if (!p)
		return;
	p += 5;
	quoted = p < end && *p == '"';
	p += quoted;
	for (q = p; q < end && (quoted ? *q != '"' : *q != ';' && *q != ' '); )
		q++;
	slash = memrchr(p, '/', (size_t)(q - p));
	if (slash)
		p = slash + 1;
	if (q > p && q - p <= NAME_MAX_LEN) {
		memcpy(part->name, p, (size_t)(q - p));
		part->name[q - p] = '\0';
	}
}

static int digit64(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'	      ? 62
	       : c == '/'	      ? 63
				      : -1;
}

/*
 * Decode a line onto @blob. *bits and *n carry digits over from line to line. False when it is no
 * base64.
 */
static bool decode_line(const struct line *ln, uint32_t *bits, unsigned int *n, uint8_t *out,
			size_t *len)
{
	size_t i, o = 0;

	for (i = 0; i < ln->len; i++) {
		int v = digit64(ln->s[i]);

		if (v < 0 && (ln->s[i] == '=' || ln->s[i] == ' '))
			continue;
		if (v < 0)
			return false;
		*bits = *bits << 6 | (uint32_t)v;
		if (++*n % 4 == 0) {
			out[o++] = (uint8_t)(*bits >> 16);
			out[o++] = (uint8_t)(*bits >> 8);
			out[o++] = (uint8_t)*bits;
		}
	}
	*len = o;
	return true;
}

/* Digits that do not fill a group of four: the last one or two bytes. */
static size_t decode_rest(uint32_t bits, unsigned int n, uint8_t out[2])
{
	if (n % 4 == 2) {
		out[0] = (uint8_t)(bits >> 4);
		return 1;
	}
	if (n % 4 == 3) {
		out[0] = (uint8_t)(bits >> 10);
		out[1] = (uint8_t)(bits >> 2);
		return 2;
	}
	return 0;
}

static struct error *decode_body(struct line_walk *w, struct blob *blob)
{
	_cleanup_free_ uint8_t *out = NULL;
	size_t cap = 0, len;
	unsigned int n = 0;
	uint32_t bits = 0;
	uint8_t rest[2];

	for (;;) {
		struct line_walk next = *w;
		struct line ln;

		if (!line_walk_next(&next, &ln) || !ln.len || stream_interrupted())
			break;
		GROW(out, cap, ln.len + 4);
		if (!decode_line(&ln, &bits, &n, out, &len))
			break;
		TRY(blob_add(blob, out, len));
		*w = next;
	}
	return blob_add(blob, rest, decode_rest(bits, n, rest));
}

static struct error *take_part(struct bundle *b, const struct node *mail, int64_t mail_id,
			       const struct part *part, unsigned int no, struct line_walk *w)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	struct node n = { .parent_id = mail_id, .depth = mail->depth + 1 };
	struct error *err;
	const uint8_t *data;
	struct blob blob;
	uint64_t size;

	name = *part->name ? xstrdup(part->name) : xasprintf("part-%u.txt", no);
	path = xasprintf("%.*s:%s", 2 * MEMBER_PATH_MAX, mail->path, name);
	n.path = path;
	n.name = name;
	blob_begin(&blob, &b->spool);
	err = decode_body(w, &blob);
	if (!err)
		err = blob_map(&blob, &data, &size);
	if (!err) {
		err = bundle_bytes(b, &n, data, size);
	} else if (err->code != ERR_INTERNAL) {
		struct error *e = bundle_row(b, NULL, &n, NULL, (int64_t)blob.size, "failed", err->what);

		error_free(err);
		err = e;
	}
	blob_end(&blob);
	return err;
}

bool mail_has_parts(const uint8_t *data, uint64_t size)
{
	return looks_like_mail(data, size) && memmem(data, size, "base64", 6);
}

struct error *mail_parts(struct bundle *b, const struct node *n, int64_t mail_id,
			 const uint8_t *data, uint64_t size)
{
	struct part part = { .base64 = false };
	unsigned int no = 0;
	struct line_walk w;
	struct line ln;

	if (n->depth >= b->lim.max_depth)
		return bundle_amend(b, mail_id, n->path, "nested too deep: its attachments are not read");
	line_walk_init(&w, data, size);
	while (line_walk_next(&w, &ln) && !b->full && !b->bomb && !stream_interrupted()) {
		if (begins(&ln, "--")) {
			part = (struct part){ .base64 = false };
		} else if (begins(&ln, "Content-Transfer-Encoding:")) {
			part.base64 = contains(&ln, "base64");
		} else if (begins(&ln, "Content-") || (ln.len && (*ln.s == ' ' || *ln.s == '\t'))) {
			note_name(&part, &ln);
		} else if (!ln.len) {
			if (part.base64)
				TRY(take_part(b, n, mail_id, &part, ++no, &w));
			part = (struct part){ .base64 = false };
		}
	}
	return NULL;
}
