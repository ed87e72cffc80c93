/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.h - UTF-8 as RFC 3629 has it: what leaves kvmortem is valid UTF-8, whatever came in. */
#ifndef KM_UTF8_H
#define KM_UTF8_H

#include "base.h"

/* utf8_next() - decode one code point of the @len bytes at @s: returns its length (1..4), or 0 when
 * the bytes are no valid UTF-8. */
size_t utf8_next(const char *s, size_t len, uint32_t *cp);
bool utf8_valid(const char *s, size_t len);
/* utf8_clean() - copy with every invalid byte (and NUL) replaced by U+FFFD; malloc'd,
 * NUL-terminated. */
char *utf8_clean(const char *s, size_t len);
/* utf8_cut() - largest length <= @max that does not cut a code point of @s (which has at least @max
 * bytes). */
size_t utf8_cut(const char *s, size_t max);

#endif
