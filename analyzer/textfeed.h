/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textfeed.h - lines out of text members.
 *
 * textfeed_whole() gives all lines of a member to one LINES parser. textfeed_mixed() is for mails,
 * bug comments and concatenated dumps: it strips quoting ("> "), common indentation, CR,
 * non-breaking spaces, undoes quoted-printable soft breaks where the mail declares them, rejoins
 * records that a mailer wrapped where that is certain, splits "== path" / "==> path <==" sections
 * (each is then recognised like a member of that name), and offers each line to the embeddable
 * LINES parsers by priority; the first that takes it keeps a state of its own. A line that was
 * already taken at a lower quoting depth is not taken again when quoted.
 */
#ifndef KM_TEXTFEED_H
#define KM_TEXTFEED_H

#include "parser.h"

#define LINE_MAX_BYTES	(64 * 1024)	/* longer lines are cut, with a remark */

struct error *textfeed_whole(struct parse_ctx *ctx, const struct parser *p);
/* textfeed_mixed() - *taken counts lines some parser took. */
struct error *textfeed_mixed(struct parse_ctx *ctx, uint64_t *taken);

/* analyze_member() - recognise a member's format (sniff of all parsers, path tail), parse it, set
 * its status. The bundle's visitor. */
struct error *analyze_member(struct parse_ctx *proto, struct member *m);
/* analyze_tree() - the same for a recording in several members, by proto->parser; @head is of @t.
 */
struct error *analyze_tree(struct parse_ctx *proto, const struct tree *t, struct member *head);

#endif
