// SPDX-License-Identifier: GPL-2.0-or-later
/* title.c - `-f title`: one line for a ticket's subject. */
#include "ticket.h"

static struct error *title_render(struct report_ctx *ctx)
{
	_cleanup_free_ char *title = NULL;

	if (!strcmp(ctx->view, "diff"))
		TRY(ticket_diff_title(ctx, &title));
	else if (!strcmp(ctx->view, "analyze"))
		TRY(ticket_title(ctx, &title));
	else
		return error_new(ERR_USAGE, "-f title is made by `analyze` and `diff` only");
	fprintf(ctx->out, "%s\n", title);
	return NULL;
}

static const struct report title_report = {
	.format = "title",
	.render = title_render,
};
REGISTER(reports, &title_report);
