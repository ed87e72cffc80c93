// SPDX-License-Identifier: GPL-2.0-or-later
/* escape.c - escaping for terminals, and display width; see escape.h. */
#include "escape.h"

#include "utf8.h"

struct range {
	uint32_t first, last;
};

/*
 * Controls, format controls and separators. U+00AD (soft hyphen) is shown by terminals or not, so
 * it is escaped too.
 */
static const struct range hidden[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x00ad, 0x00ad },   { 0x061c, 0x061c },
	{ 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f },
	{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

/*
 * Combining marks (the blocks that consist of them, and the common ones of Indic and Arabic
 * scripts).
 */
static const struct range zero[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },   { 0x05bf, 0x05bf },
	{ 0x05c1, 0x05c2 }, { 0x05c4, 0x05c5 }, { 0x0610, 0x061a },   { 0x064b, 0x065f },
	{ 0x0670, 0x0670 }, { 0x06d6, 0x06dc }, { 0x0900, 0x0902 },   { 0x093c, 0x093c },
	{ 0x0941, 0x0948 }, { 0x094d, 0x094d }, { 0x0e31, 0x0e31 },   { 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },   { 0x20d0, 0x20ff },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },	  { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },	  { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },	  { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },	  { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },	  { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },	  { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },	  { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },	  { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },	  { 0x2e80, 0x303e },
	{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },	  { 0xa000, 0xa4cf },
	{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },	  { 0xfe10, 0xfe19 },
	{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },	  { 0x16fe0, 0x18aff },
	{ 0x1b000, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e },
	{ 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c },
	{ 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 },
	{ 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc },
	{ 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a },
	{ 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 },
	{ 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6d7 }, { 0x1f6dc, 0x1f6df },
	{ 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7eb }, { 0x1f7f0, 0x1f7f0 },
	{ 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static bool in_ranges(uint32_t cp, const struct range *r, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (cp > r[mid].last)
			low = mid + 1;
		else if (cp < r[mid].first)
			high = mid;
		else
			return true;
	}
	return false;
}

bool char_hidden(uint32_t cp)
{
	if (cp >= 0x20 && cp < 0x7f)
		return false;
	return in_ranges(cp, hidden, ARRAY_SIZE(hidden));
}

int char_width(uint32_t cp)
{
	if (cp < 0x300)
		return 1;
	if (in_ranges(cp, zero, ARRAY_SIZE(zero)))
		return 0;
	return in_ranges(cp, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

static char *put_hidden(char *p, uint32_t cp)
{
	static const char letter[] = {
		['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', [0x1b] = 'e'
	};

	if (cp < sizeof(letter) && letter[cp])
		return p + sprintf(p, "\\%c", letter[cp]);
	if (cp < 0x80)
		return p + sprintf(p, "\\x%02x", (unsigned int)cp);
	return p + sprintf(p, "\\u{%x}", (unsigned int)cp);
}

char *escape_terminal(const char *s, size_t len)
{
	/*
	 * the longest form of one input byte is \xNN; of longer characters \u{NNNNN}, 9 bytes from
	 * at least 2
	 */
	char *out = xmalloc(len * 5 + 1), *p = out;
	uint32_t cp;
	size_t n;

	for (; len; s += n, len -= n) {
		n = utf8_next(s, len, &cp);
		if (!n) {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
			n = 1;
		} else if (char_hidden(cp)) {
			p = put_hidden(p, cp);
		} else {
			memcpy(p, s, n);
			p += n;
		}
	}
	*p = '\0';
	return out;
}

char *escape_prose(const char *s)
{
	_cleanup_free_ char *flat = xmalloc(strlen(s) + 1);
	char *p = flat;

	for (; *s; s++) {
		if (*s != ' ' && *s != '\n' && *s != '\t' && *s != '\r')
			*p++ = *s;
		else if (p > flat && p[-1] != ' ')
			*p++ = ' ';
	}
	if (p > flat && p[-1] == ' ')
		p--;
	return escape_terminal(flat, (size_t)(p - flat));
}

size_t display_width(const char *s)
{
	size_t len = strlen(s), width = 0, n;
	uint32_t cp;

	for (; len; s += n, len -= n) {
		n = utf8_next(s, len, &cp);
		width += n ? (size_t)char_width(cp) : 1;
		n = n ? n : 1;
	}
	return width;
}

size_t display_cut(const char *s, size_t columns)
{
	size_t len = strlen(s), done = 0, width = 0, n;
	uint32_t cp;

	while (done < len) {
		size_t w = 1;

		n = utf8_next(s + done, len - done, &cp);
		if (n)
			w = (size_t)char_width(cp);
		else
			n = 1;
		if (width + w > columns)
			break;
		width += w;
		done += n;
	}
	return done;
}
