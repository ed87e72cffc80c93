/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_journal.h - kernel messages of `journalctl -o json`: an object a line. Fields:
 * systemd.journal-fields(7).
 */
#ifndef KM_LOG_JOURNAL_H
#define KM_LOG_JOURNAL_H

#include "log_stamp.h"

struct journal_entry {
	struct log_entry log;		/* text points into message */
	char		*message;	/* the caller's to free */
	char		boot[33];	/* _BOOT_ID, or "" */
};

/* log_is_journal() - does the line look like an entry? Cheap. */
bool log_is_journal(const struct line *ln);
/*
 * log_journal() - take an entry apart; false when it is none. log.kernel is set for the kernel's
 * own messages, whose time is that of the kernel's log (_SOURCE_MONOTONIC_TIMESTAMP).
 */
bool log_journal(const struct line *ln, struct journal_entry *e);

#endif
