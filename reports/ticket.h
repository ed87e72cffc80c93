/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ticket.h - what stands in a report that is pasted into a tracker. */
#ifndef KM_TICKET_H
#define KM_TICKET_H

#include "doc.h"
#include "model.h"

/*
 * ticket_title() - one line fit for a ticket's subject, at most 240 bytes: the bug, how sure, since
 * and until when, or what held the vCPUs up most; malloc'd.
 */
struct error *ticket_title(struct report_ctx *ctx, char **ret);

/* ticket_diff_title(), ticket_diff_build() - the same for view `diff`. */
struct error *ticket_diff_title(struct report_ctx *ctx, char **ret);
struct error *ticket_diff_build(struct report_ctx *ctx, struct doc *d);

/*
 * ticket_build() - the whole ticket of `analyze` or `diff` into @d (empty). ERR_USAGE for other
 * views.
 */
struct error *ticket_build(struct report_ctx *ctx, struct doc *d);

#endif
