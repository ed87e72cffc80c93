/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_stamp.h - the forms in which kernel log lines come, taken apart:
 *
 *	[   12.345678] text		dmesg, serial console; with caller id [    T1], level <6>
 *					or the columns of dmesg -x
 *	[Mon Nov 30 18:02:20 2026] text	dmesg -T
 *	2026-11-30T18:02:20,123456+00:00 text	dmesg --time-format iso; with host, journalctl
 *	Jan 04 10:33:10 host kernel: text	syslog, journalctl
 *	Thu 2024-01-04 10:33:10 UTC host kernel: text	journalctl -o short-full
 *	1704364390.123456 host kernel: text	journalctl -o short-unix
 *	[   12.345678] host kernel: text	journalctl -o short-monotonic
 *
 * Names of days and months may be in another language (log_stamp.c).
 */
#ifndef KM_LOG_STAMP_H
#define KM_LOG_STAMP_H

#include "scan.h"

enum stamp { STAMP_NONE, STAMP_BOOT, STAMP_ISO, STAMP_LOCAL, STAMP_SYSLOG };

struct log_entry {
	enum stamp	stamp;
	int64_t		time_ns;	/* CASE_NO_TIME */
	bool		kernel;		/* the line says that the kernel wrote it */
	struct scan	text;
};

/* log_split() - take a line apart; without a stamp the whole line is the text. Never fails. */
void log_split(const struct line *ln, struct log_entry *e);

#endif
