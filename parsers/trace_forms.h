/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_forms.h - printed forms of known events as tables (trace_forms.c), run by trace_fields.c.
 */
#ifndef KM_TRACE_FORMS_H
#define KM_TRACE_FORMS_H

#include "event.h"

enum form_slot { S_A0, S_A1, S_A2, S_A3, S_B0, S_B1, S_NONE };

enum form_conv {
	C_DEC,		/* signed decimal */
	C_HEX,		/* hex, 0x or not */
	C_NUM,		/* 0x: hex, else decimal */
	C_COMM,		/* up to the next op's literal; two slots from the one named */
	C_COMM_PID,	/* "comm:pid" up to " ["; comm to the slot named (or none), pid to slot2 */
	C_STATE,	/* task state letters as the kernel prints them */
	C_PSTATE,	/* as libtraceevent's sched_switch plugin prints them */
	C_REASON,	/* exit reason up to the next op's literal, or the end */
	C_ENUM,		/* one of names[]: its index */
	C_TEXT,		/* up to the next op's literal or the end; for display only */
	C_WORD,		/* up to a blank, comma or parenthesis: a string's id */
	C_FLAG,		/* 1 when names[0] stands further on; nothing is consumed */
	C_FLAGS,	/* names[] joined by '|': bit n for names[n] */
};

#define FORM_OPTIONAL	1	/* literal absent: go on with the next op */
#define FORM_SEARCH	2	/* the literal may stand further on */

/*
 * One step of a form: match the literal, then convert what follows. Steps whose literal is missing
 * make the form fail unless optional.
 */
struct form_op {
	const char	*lit;
	uint8_t		lit_len, conv, slot, slot2, flags;
	const char	*name;		/* kernel's field name, for display */
	const char	*name2;
	const char *const *names;	/* C_ENUM, NULL-terminated */
};

struct form {
	const struct form_op	*ops;
	size_t			n;
};

#define FORMS_MAX	6

/*
 * forms_of() - the printed forms of @kind, FORMS_MAX of them, unused ones with n == 0; NULL when
 * there are none.
 */
const struct form *forms_of(enum event_kind kind);

/* A field under the kernel's own name, from events.def. */
struct raw_field {
	uint8_t		slot, conv;	/* conv: enum raw_conv */
	bool		required;
	const char	*names;		/* "new|old", "alias=field:shift:bits" */
	uint64_t	dflt;
};
enum raw_conv {
	RAW_NUM, RAW_COMM, RAW_REASON, RAW_ARG, RAW_STATE, RAW_STR, RAW_BITS, RAW_SYM, RAW_FUNC
};

/* raw_fields_of() - the fields of @kind; *n 0 when it is none of the catalogue. */
const struct raw_field *raw_fields_of(enum event_kind kind, size_t *n);

/* pattern_of() - the text pattern of @kind's row in events.def (trace_pattern.h); NULL: none. */
const char *pattern_of(enum event_kind kind);

/* plugin_reason() - an SVM exit reason as libtraceevent's plugin spells it ("EXIT_NPF") in the kernel's spelling ("npf"); NULL when it is none. */
const char *plugin_reason(const char *name, size_t len);

#endif
