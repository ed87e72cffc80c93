// SPDX-License-Identifier: GPL-2.0-or-later
/* utf8.c - UTF-8 validation and repair; see utf8.h. */
#include "utf8.h"

size_t utf8_next(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t c = len ? (uint8_t)*s : 0;
	size_t n, i;
	uint32_t v;

	if (!len)
		return 0;
	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	n = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
	if (!n || n > len)
		return 0;
	v = c & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if (((uint8_t)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((uint8_t)s[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*cp = v;
	return n;
}

bool utf8_valid(const char *s, size_t len)
{
	uint32_t cp;
	size_t n;

	while (len) {
		n = utf8_next(s, len, &cp);
		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

char *utf8_clean(const char *s, size_t len)
{
	char *out = xmalloc(len * 3 + 1), *p = out;
	uint32_t cp;
	size_t n;

	while (len) {
		n = utf8_next(s, len, &cp);
		if (n && cp) {
			memcpy(p, s, n);
			p += n;
		} else {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
			n = 1;
		}
		s += n;
		len -= n;
	}
	*p = '\0';
	return out;
}

size_t utf8_cut(const char *s, size_t max)
{
	size_t n = max;
	uint32_t cp;

	while (n && max - n < 4 && ((uint8_t)s[n - 1] & 0xc0) == 0x80)
		n--;
	/* @n is now behind a lead byte or an ASCII byte: keep it only with all that belongs to it
	 */
	if (n && utf8_next(s + n - 1, max - n + 1, &cp) == max - n + 1)
		return max;
	return n ? n - 1 : 0;
}
