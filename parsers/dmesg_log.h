/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dmesg_log.h - the reader of kernel logs (dmesg.c) for forms that are no lines: it is given the
 * journal's entries one by one.
 */
#ifndef KM_DMESG_LOG_H
#define KM_DMESG_LOG_H

#include "log_journal.h"

struct dmesg_state;

/* dmesg_log_begin() - a reader without a source yet; end it with dmesg_log_end(). */
struct dmesg_state *dmesg_log_begin(struct parse_ctx *ctx);
/*
 * dmesg_log_entry() - an entry that journal_finish() made, which stays the caller's; @no is the
 * line of its message.
 */
void dmesg_log_entry(struct parse_ctx *ctx, struct dmesg_state *st, const struct journal_entry *j,
		     uint64_t no);
/* dmesg_log_end() - write what is left, and free it. */
struct error *dmesg_log_end(struct parse_ctx *ctx, struct dmesg_state *st);

#endif
