/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * escape.h - making strings out of a bundle fit to be shown, and how many columns they take.
 *
 * Names, messages and citations come from untrusted input: a task may call itself "\e[2J" or put a
 * right-to-left override into its name. What goes to a terminal passes escape_terminal() or
 * escape_prose() first.
 */
#ifndef KM_ESCAPE_H
#define KM_ESCAPE_H

#include "base.h"

/*
 * char_hidden() - is @cp something that a terminal would act on or that hides text: C0 and C1
 * controls, DEL, bidirectional overrides and isolates, zero-width characters, line and paragraph
 * separators, tags (Unicode general categories Cc, Cf, Zl, Zp, as far as they matter to a reader).
 */
bool char_hidden(uint32_t cp);

/*
 * char_width() - terminal columns of @cp: 0 combining, 2 East Asian wide and emoji (UAX #11, W and
 * F), else 1.
 */
int char_width(uint32_t cp);

/*
 * escape_terminal() - a copy of the @len bytes at @s that is safe on a terminal: hidden characters
 * become \n, \t, \e, \xNN or \u{NNNN}, invalid UTF-8 becomes U+FFFD. malloc'd.
 */
char *escape_terminal(const char *s, size_t len);

/*
 * escape_prose() - the same for running text whose line breaks mean nothing: blanks and line ends
 * become one blank. malloc'd.
 */
char *escape_prose(const char *s);

/* display_width() - terminal columns of @s, which must be escaped already. */
size_t display_width(const char *s);

/*
 * display_cut() - bytes of @s that fit into @columns columns (never cuts a character or its
 * combining marks).
 */
size_t display_cut(const char *s, size_t columns);

#endif
