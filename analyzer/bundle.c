// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bundle.c - inputs, directories and member rows; see bundle.h. Archives are archive.c's, temporary
 * space spool.c's.
 */
#include "bundle_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "casefile.h"
#include "diag.h"
#include "stream.h"

static struct error *walk_dir(struct bundle *b, int dfd, const char *path, unsigned int depth);

struct error *bundle_open(struct bundle **ret, struct case_db *db,
			  const struct bundle_limits *limits)
{
	struct bundle *b = xcalloc(1, sizeof(*b));

	b->db = db;
	if (limits)
		b->lim = *limits;
	if (!b->lim.max_depth)
		b->lim.max_depth = 5;
	if (!b->lim.max_members)
		b->lim.max_members = 200000;
	if (!b->lim.max_ratio)
		b->lim.max_ratio = 1000;
	if (!b->lim.ratio_floor)
		b->lim.ratio_floor = 1ULL << 30;
	spool_init(&b->spool, b->lim.temp_dir, b->lim.max_temp);
	*ret = b;
	return NULL;
}

void bundle_close(struct bundle *b)
{
	if (!b)
		return;
	if (b->lines > BUNDLE_MAX_LINES && !b->lim.quiet)
		diag(NULL, "%" PRIu64 " more lines like these; `kvmortem info` lists all members",
		     b->lines - BUNDLE_MAX_LINES);
	spool_deinit(&b->spool);
	free(b);
}

void bundle_counts(const struct bundle *b, uint64_t *members, uint64_t *failed)
{
	*members = b->members;
	*failed = b->failed;
}

static void say(struct bundle *b, const char *path, const char *message)
{
	if (b->lines++ < BUNDLE_MAX_LINES && !b->lim.quiet)
		diag(path, "%s", message);
}

void bundle_budget(struct bundle *b, const struct node *n, uint64_t size)
{
	if (n->depth)
		return;
	b->grown = 0;
	b->bomb = false;
	b->budget = size > (UINT64_MAX - b->lim.ratio_floor) / b->lim.max_ratio ? UINT64_MAX :
		size * b->lim.max_ratio + b->lim.ratio_floor;
}

struct error *bundle_row(struct bundle *b, int64_t *id, const struct node *n, const char *format,
			 int64_t size, const char *status, const char *message)
{
	const int64_t *parent = n->parent_id ? &n->parent_id : NULL;

	if (b->members >= b->lim.max_members && !b->full) {
		b->full = true;
		message = "too many members: the rest of the input is not read";
		status = "failed";
	}
	b->members++;
	if (!strcmp(status, "failed")) {
		b->failed++;
		say(b, n->path, message ? message : "can't be read");
	}
	return case_insert(b->db, id, "INSERT INTO member(parent_id, path, format, bytes, status, message) VALUES(?,?,?,?,?,?)",
			   "IssIss", parent, n->path, format, size < 0 ? NULL : &size, status, message);
}

struct error *member_status(struct case_db *db, const struct member *m, const char *format,
			    const char *status, const char *message)
{
	return case_insert(db, NULL,
			   "UPDATE member SET format = COALESCE(?, format), status = ?, message = ? WHERE id = ?",
			   "sssi", format, status, message, m->id);
}

struct error *bundle_amend(struct bundle *b, int64_t id, const char *path, const char *remark)
{
	say(b, path, remark);
	return case_insert(b->db, NULL, "UPDATE member SET status = CASE status WHEN 'read' THEN 'partly' ELSE status END, "
			   "message = COALESCE(message || '; ', '') || ? WHERE id = ?", "si", remark, id);
}

struct spool *bundle_spool(struct bundle *b)
{
	return &b->spool;
}

/* Say what the visit left in the row, where that is a fault. */
struct error *bundle_report(struct bundle *b, const struct member *m)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(b->db, &st, "SELECT status, message FROM member WHERE id = ?", "i", m->id));
	if (case_step(b->db, st, &err)) {
		const char *status = (const char *)sqlite3_column_text(st, 0);
		const char *message = (const char *)sqlite3_column_text(st, 1);
		bool failed = status && !strcmp(status, "failed");

		b->failed += failed;
		if (failed || (status && !strcmp(status, "partly") && message))
			say(b, m->path, message ? message : "can't be read");
	}
	case_done(st);
	return err;
}

/*
 * Hand plain bytes to the visitor. @map, where given, tells whether they vanished while they were
 * read.
 */
static struct error *visit(struct bundle *b, const struct node *n, const uint8_t *data,
			   uint64_t size, const struct mapping *map)
{
	struct member m = { .path = n->path,
			    .name = n->name,
			    .parent_id = n->parent_id,
			    .data = data,
			    .size = size,
			    .spool = &b->spool,
			    .truncated = n->damage != NULL };
	struct error *err, *e;

	if (!size && !n->damage)
		return bundle_row(b, NULL, n, NULL, 0, "ignored", "empty");
	TRY(bundle_row(b, &m.id, n, NULL, (int64_t)size, "ignored", NULL));
	if (b->full)
		return NULL;
	err = b->visit(b->visit_arg, &m);
	if (err && err->code == ERR_INTERNAL)
		return err;
	if (err) {
		e = member_status(b->db, &m, NULL, "failed", err->what);
		error_free(err);
		TRY(e);
	}
	TRY(bundle_report(b, &m));
	if (n->damage)
		TRY(bundle_amend(b, m.id, n->path, n->damage));
	if (map && map_damaged(map))
		TRY(bundle_amend(b, m.id, n->path, "the file shrank, or its disk failed, while it was read: zeros beyond"));
	if (mail_has_parts(data, size)) {
		bundle_budget(b, n, size);
		return mail_parts(b, n, m.id, data, size);
	}
	return NULL;
}

struct error *bundle_bytes(struct bundle *b, const struct node *n, const uint8_t *data,
			   uint64_t size)
{
	if (b->full)
		return NULL;
	if (archive_kind(data, size))
		return archive_walk(b, n, data, size);
	return visit(b, n, data, size, NULL);
}

static struct error *failed_row(struct bundle *b, const struct node *n, struct error *err)
{
	struct error *e;

	if (err->code == ERR_INTERNAL)
		return err;
	e = bundle_row(b, NULL, n, NULL, -1, "failed", err->what);
	error_free(err);
	return e;
}

/* A pipe, or a file whose size nobody knows (procfs): read to its end first. */
static struct error *take_pipe(struct bundle *b, int fd, const struct node *n)
{
	_cleanup_free_ uint8_t *buf = xmalloc(1 << 16);
	struct error *err = NULL;
	struct node cut = *n;
	const uint8_t *data;
	struct blob blob;
	uint64_t size;
	ssize_t got;

	blob_begin(&blob, &b->spool);
	for (;;) {
		got = read(fd, buf, 1 << 16);
		if (got < 0 && errno == EINTR && !stream_interrupted())
			continue;
		if (got < 0 && errno != EINTR)
			err = error_io("can't read");
		if (got > 0)
			err = blob_add(&blob, buf, (size_t)got);
		if (got <= 0 || err || stream_interrupted())
			break;
	}
	if (!err)
		err = blob_map(&blob, &data, &size);
	if (stream_interrupted())
		cut.damage = "interrupted: what had come until then is read";
	err = err ? failed_row(b, n, err) : bundle_bytes(b, &cut, data, size);
	blob_end(&blob);
	return err;
}

static struct error *take_file(struct bundle *b, int fd, const struct stat *st,
			       const struct node *n)
{
	struct mapping map;
	struct error *err;
	off_t at = lseek(fd, 0, SEEK_CUR);
	uint64_t off = at > 0 ? (uint64_t)at : 0;

	if (b->full)
		return NULL;
	if ((uint64_t)st->st_size <= off)
		return take_pipe(b, fd, n);
	err = map_file(&map, fd, off, (uint64_t)st->st_size - off);
	if (err)
		return failed_row(b, n, err);
	if (archive_kind(map.data, map.size))
		err = archive_walk(b, n, map.data, map.size);
	else
		err = visit(b, n, map.data, map.size, &map);
	map_release(&map);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *list_dir(struct bundle *b, int dfd, char ***ret, size_t *n)
{
	int fd = openat(dfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char **names = NULL;
	struct dirent *de;
	size_t cap = 0;

	*n = 0;
	*ret = NULL;
	if (!dir) {
		struct error *err = error_io("can't list the directory");

		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((de = readdir(dir)) && *n <= b->lim.max_members) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		GROW(names, cap, *n + 1);
		names[(*n)++] = xstrdup(de->d_name);
	}
	closedir(dir);
	if (*n)
		qsort(names, *n, sizeof(*names), by_name);
	*ret = names;
	return NULL;
}

static const char *special_word(mode_t mode)
{
	return S_ISLNK(mode) ? "a symbolic link: not followed" : S_ISFIFO(mode) ? "a fifo: not read" :
	       S_ISSOCK(mode) ? "a socket: not read" : "a device: not read";
}

static struct error *take_dirent(struct bundle *b, int dfd, const char *entry, const struct node *n,
				 unsigned int depth)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (strlen(n->path) > MEMBER_PATH_MAX)
		return bundle_row(b, NULL, n, NULL, -1, "failed", "its path is longer than 4096 bytes: not read");
	if (fstatat(dfd, entry, &st, AT_SYMLINK_NOFOLLOW))
		return failed_row(b, n, error_io("can't look at it"));
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return bundle_row(b, NULL, n, NULL, -1, "ignored", special_word(st.st_mode));
	fd = openat(dfd, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return failed_row(b, n, error_io("can't open"));
	if (S_ISDIR(st.st_mode)) {
		if (depth >= DIRECTORY_DEPTH_MAX)
			return bundle_row(b, NULL, n, NULL, -1, "failed", "directories nested deeper than 64: not read");
		return walk_dir(b, fd, n->path, depth + 1);
	}
	if (!S_ISREG(st.st_mode))
		return bundle_row(b, NULL, n, NULL, -1, "ignored", special_word(st.st_mode));
	return take_file(b, fd, &st, n);
}

static struct error *walk_dir(struct bundle *b, int dfd, const char *path, unsigned int depth)
{
	const char *slash = *path && path[strlen(path) - 1] == '/' ? "" : "/";
	struct node n = { .path = path, .name = path };
	struct error *err;
	char **names;
	size_t count, i;

	err = list_dir(b, dfd, &names, &count);
	if (err)
		return failed_row(b, &n, err);
	for (i = 0; i < count; i++) {
		_cleanup_free_ char *child = xasprintf("%s%s%s", path, slash, names[i]);

		if (!err && !b->full && !stream_interrupted()) {
			n.path = n.name = child;
			err = take_dirent(b, dfd, names[i], &n, depth);
		}
		free(names[i]);
	}
	free(names);
	return err;
}

struct error *bundle_walk(struct bundle *b, const char *input, member_visit visit_fn, void *arg)
{
	struct node n = { .path = input, .name = input };
	bool from_stdin = !strcmp(input, "-");
	_cleanup_close_ int fd = -1;
	struct stat st;

	b->visit = visit_fn;
	b->visit_arg = arg;
	fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			: open(input, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return error_io("can't open");
	if (S_ISDIR(st.st_mode))
		return walk_dir(b, fd, input, 0);
	if (S_ISREG(st.st_mode))
		return take_file(b, fd, &st, &n);
	if (!from_stdin && !S_ISFIFO(st.st_mode))
		return error_new(ERR_IO, "is a device: name a file, a directory, or - for stdin");
	return take_pipe(b, fd, &n);
}
