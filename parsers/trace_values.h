/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_values.h - values out of an event's text: by the tables of printed forms (trace_forms.h),
 * by "field=value", and the texts that no table describes. For trace_fields.c and trace_show.c.
 */
#ifndef KM_TRACE_VALUES_H
#define KM_TRACE_VALUES_H

#include "stream.h"
#include "trace_forms.h"

#define REASON_SLOTS	64

/* Exit reasons of a stream seen lately, by name. */
struct reasons {
	struct stream	*s;
	struct reason_slot {
		uint64_t	hash;
		char		name[40];
		uint8_t		len;
		uint32_t	packed;
	}		slots[REASON_SLOTS];
};

/* Where values go: into slots, and to be displayed where @emit is set. */
struct sink {
	uint64_t	*a;
	uint32_t	*b;
	struct reasons	*reasons;	/* NULL when only displaying */
	void		(*emit)(void *arg, const char *name, const struct field_value *v);
	void		*arg;
};

/* text_hash() - hash of a short name: its length, first, middle and last bytes. */
uint64_t text_hash(const char *s, size_t len) __attribute__((nonnull));

void set_slot(struct sink *k, unsigned int slot, uint64_t v);

/*
 * run_form() - read @p..@end by @f into k's slots; false when it does not fit (some slots may be
 * set).
 */
bool run_form(struct sink *k, const struct form *f, const char *p, const char *end)
	__attribute__((nonnull));
/* show_form() - the same with k->emit called for each field. */
bool show_form(struct sink *k, const struct form *f, const char *p, const char *end)
	__attribute__((nonnull));
/* raw_fields() - read "field=value" under the kernel's own names; false when a required one is missing. */
bool raw_fields(struct sink *k, enum event_kind kind, const char *s, const char *end);
/* userspace_exit() - the text of kvm_userspace_exit. */
bool userspace_exit(struct sink *k, const char *p, const char *end);

struct probe_text {
	const char	*func;		/* function probed; NULL where it is an address */
	size_t		func_len;
	const char	*args;
	bool		ret;
};

/* probe_split() - the parentheses of a probe's text; false when it is none. */
bool probe_split(const char *p, const char *end, struct probe_text *t);
/* next_arg() - the next " name=value"; *v is 0 where the value is no number. False at the end. */
bool next_arg(const char **p, const char *end, const char **name, size_t *name_len, uint64_t *v,
	      const char **text, size_t *text_len);

#endif
