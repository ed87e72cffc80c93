/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_pattern.h - the TEXT() column of a row in events.def made into printed forms.
 *
 * A pattern is the kernel's TP_printk() with the fields in braces; several, a line each, are tried
 * in order:
 *
 *	{name}		decimal		{name:x} hexadecimal	{name:n} either, as 0x tells
 *	{name:s}	a word		{name:t} text up to what follows, for display
 *	{name:r}	exit reason	{name:a,b,c} one of these words: its index
 *	{name:?words}	1 when the words stand further on, else 0
 *	{name:+a,b,c}	words joined by '|': bit 0, 1, 2
 *	~		what follows may stand further on
 *
 * A name of the row's columns fills its slot; any other is for display only.
 */
#ifndef KM_TRACE_PATTERN_H
#define KM_TRACE_PATTERN_H

#include "trace_forms.h"

#define PATTERN_OPS	24
#define PATTERN_NAMES	24

struct pattern {
	struct form	forms[FORMS_MAX];
	struct form_op	ops[PATTERN_OPS];
	const char	*names[PATTERN_NAMES];	/* lists of C_ENUM, C_FLAG, C_FLAGS */
	char		text[512];		/* the pattern, cut into strings */
};

/* pattern_compile() - the forms of @kind's pattern, which point into @p; false when it has none. */
bool pattern_compile(struct pattern *p, enum event_kind kind);

#endif
