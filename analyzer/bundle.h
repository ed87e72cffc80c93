/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bundle.h - from what the user named (files, directories, archives, stdin) to members with bytes.
 *
 * Every member reaches a parser as one contiguous read-only range of bytes: a mapping of the file
 * itself, or of the part of one unlinked private temporary file it was spooled to (out of pipes and
 * archives), or, when small, memory. Mappings are guarded: a file that shrinks under us reads as
 * zeros beyond its new end and the member is marked damaged; no SIGBUS. Members are read one after
 * another; a member's bytes go with member_put().
 */
#ifndef KM_BUNDLE_H
#define KM_BUNDLE_H

#include "error.h"

struct case_db;
struct spool;

struct bundle_limits {
	uint64_t max_temp; /* bytes in the spool file; 0: half of the free space of the temp dir */
	const char	*temp_dir;	/* NULL: $TMPDIR or /var/tmp or /tmp */
	unsigned int	max_depth;	/* archives in archives (default 5) */
	uint64_t	max_members;	/* default 200,000 */
	uint64_t max_ratio; /* an archive may grow to this many times its size plus ratio_floor
			       (default 1000) */
	uint64_t	ratio_floor;	/* bytes (default 1 GiB) */
	bool		quiet;		/* no lines about members on stderr */
};

struct member {
	int64_t		id;		/* row in table member */
	int64_t		parent_id;
	const char	*path;		/* as cited: "case.tar.xz:sos/proc/vmstat", or "-" */
	const char
		*name; /* path inside the outermost input; what path-based recognition looks at */
	const uint8_t	*data;
	uint64_t	size;
	struct spool	*spool;		/* temporary space for what a parser unpacks; NULL: none */
	bool truncated; /* its archive or file ended early: what there is, is given */
};

struct bundle;

struct error *bundle_open(struct bundle **ret, struct case_db *db,
			  const struct bundle_limits *limits);
void bundle_close(struct bundle *b);

/*
 * bundle_walk() - visit every member of @input (a path, or "-" for stdin): directories recursively
 * (sorted, links not followed, special files ignored with a message), archives and compressed files
 * opened, also nested. For each plain member @visit is called with its bytes; what it returns is
 * recorded as the member's message (status failed) and freed; NULL leaves the status as
 * member_status() set it. Things that can't be opened get a `member` row with status failed and one
 * line on stderr, and the walk goes on. Returns an error only if the input itself can't be opened
 * at all.
 */
typedef struct error *(*member_visit)(void *arg, struct member *m);
struct error *bundle_walk(struct bundle *b, const char *input, member_visit visit, void *arg);

/* member_status() - set the member's row: format (NULL keeps), status read|partly|ignored|failed,
 * message (NULL none). May be called more than once: the last wins. */
struct error *member_status(struct case_db *db, const struct member *m, const char *format,
			    const char *status, const char *message);

/* bundle_report() - say on stderr what the member's row says is wrong, and count it. After a visit
 * the walk does that itself. */
struct error *bundle_report(struct bundle *b, const struct member *m);
/* bundle_spool() - the temporary space that members' bytes are in. */
struct spool *bundle_spool(struct bundle *b);

/* bundle_counts() - inputs and members seen so far, and how many could not be opened (for the exit
 * status and --strict). */
void bundle_counts(const struct bundle *b, uint64_t *members, uint64_t *failed);

#endif
