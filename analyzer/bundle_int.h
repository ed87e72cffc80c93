/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle_int.h - shared between bundle.c (files, directories, rows), archive.c (what libarchive
 * reads) and mail.c.
 */
#ifndef KM_BUNDLE_INT_H
#define KM_BUNDLE_INT_H

#include "bundle.h"
#include "spool.h"

#define MEMBER_PATH_MAX		4096
#define DIRECTORY_DEPTH_MAX	64
#define BUNDLE_MAX_LINES	20 /* lines about members on stderr; all are in the case file */

struct bundle {
	struct case_db		*db;
	struct bundle_limits	lim;
	struct spool		spool;
	member_visit		visit;
	void			*visit_arg;
	uint64_t		members, failed;
	uint64_t		lines;		/* printed or held back */
	uint64_t grown, budget; /* bytes that came out of the outermost archive, and their limit */
	bool			full;		/* max_members reached: said once */
	bool			bomb;		/* budget exceeded: said once, the input is left */
};

/* What is known of some bytes before they are looked at. */
struct node {
	const char	*path;		/* as cited */
	const char	*name;		/* for recognition */
	int64_t		parent_id;	/* 0: none */
	unsigned int	depth;		/* archives around it */
	const char	*damage;	/* NULL, or what is missing of its bytes, as a remark */
};

/*
 * bundle_bytes() - an archive is walked, anything else visited. What is wrong ends in the member's
 * row.
 */
struct error *bundle_bytes(struct bundle *b, const struct node *n, const uint8_t *data,
			   uint64_t size);
/*
 * bundle_row() - a member row that is final already (ignored, failed, or an archive that is being
 * walked).
 */
struct error *bundle_row(struct bundle *b, int64_t *id, const struct node *n, const char *format,
			 int64_t size, const char *status, const char *message);
/* bundle_amend() - add a remark to a row; `read` becomes `partly`. */
struct error *bundle_amend(struct bundle *b, int64_t id, const char *path, const char *remark);

/*
 * archive_kind() - the archive or compression format @data begins with, as a word; NULL when none.
 */
const char *archive_kind(const uint8_t *data, uint64_t size);
/* archive_walk() - hand every member of the archive in @data to bundle_bytes(). */
struct error *archive_walk(struct bundle *b, const struct node *n, const uint8_t *data,
			   uint64_t size);

/*
 * bundle_budget() - a container of @size bytes is opened: the outermost one sets what all in it may
 * grow to.
 */
void bundle_budget(struct bundle *b, const struct node *n, uint64_t size);

/*
 * mail_has_parts() - a mail with something in base64. mail_parts() - hand these parts to
 * bundle_bytes().
 */
bool mail_has_parts(const uint8_t *data, uint64_t size);
struct error *mail_parts(struct bundle *b, const struct node *n, int64_t mail_id,
			 const uint8_t *data, uint64_t size);

#endif
