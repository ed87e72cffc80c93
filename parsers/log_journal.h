/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_journal.h - entries of the journal with all their fields: `journalctl -o json` (an object a
 * line; also json-seq and json-sse), `-o json-pretty` (an object over many lines, also as jq prints
 * it) and `-o export` (journal_export.c). Fields: systemd.journal-fields(7).
 */
#ifndef KM_LOG_JOURNAL_H
#define KM_LOG_JOURNAL_H

#include "log_stamp.h"

#define JOURNAL_MESSAGE_MAX	4096	/* bytes of a message that are kept */

struct journal_entry {
	struct log_entry log;		/* text points into message; may have several lines */
	char		*message;	/* the caller's to free; NULL: none yet */
	char		boot[33];	/* _BOOT_ID, or "" */
	char		host[65];	/* _HOSTNAME, or "" */
	/* in ns, CASE_NO_TIME where not given; the journal's own two are of one moment */
	int64_t		real_ns;	/* __REALTIME_TIMESTAMP: when the journal got it */
	int64_t		mono_ns;	/* __MONOTONIC_TIMESTAMP: the same moment */
	int64_t		source_ns;	/* _SOURCE_MONOTONIC_TIMESTAMP: when the kernel logged it */
	int		transport;	/* _TRANSPORT: -1 not given, 1 kernel, 0 another */
	bool		ident_kernel;	/* SYSLOG_IDENTIFIER is kernel */
};

/* journal_begin() - an entry without fields. */
void journal_begin(struct journal_entry *e);
/* journal_field() - take field @name of an entry; other fields than those above are passed over. */
void journal_field(struct journal_entry *e, const char *name, size_t name_len, const char *value,
		   size_t len);
/*
 * journal_finish() - after the last field: fill e->log. log.kernel is set for the kernel's own
 * messages, whose time is that of the kernel's log. False when the entry has no message.
 */
bool journal_finish(struct journal_entry *e);

/* log_is_journal() - does the line look like an entry in JSON? Cheap. */
bool log_is_journal(const struct line *ln);
/* log_journal() - take an entry in one line apart; false when it is none. */
bool log_journal(const struct line *ln, struct journal_entry *e);

/* An object that goes over many lines. All zero at first. */
struct journal_pretty {
	bool		open;
	char		*buf;
	size_t		len, cap;
	uint64_t	no, off;	/* of the message's line */
};

enum journal_part { PRETTY_NOT, PRETTY_BEGIN, PRETTY_INSIDE, PRETTY_END };

/*
 * journal_pretty() - the next line: PRETTY_BEGIN a lone brace (which may be anything),
 * PRETTY_INSIDE a field, PRETTY_END the object's end (take it with journal_pretty_take()),
 * PRETTY_NOT anything else, which ends an unfinished object.
 */
enum journal_part journal_pretty(struct journal_pretty *p, const struct line *ln);
/* journal_pretty_take() - the object just ended; false when it is no entry. */
bool journal_pretty_take(struct journal_pretty *p, struct journal_entry *e);
/* journal_pretty_sniff() - does a member begin with such an object? */
bool journal_pretty_sniff(const struct sniff *s);

#endif
