// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_bundle.c - the bundle walker: archives, nested, compressed, damaged, out of memory; behind a
 * '|' the same bytes as they come out of a pipe; or files of a directory, each behind a line
 * "== NAME" ("== NAME -> TARGET": a symbolic link). Members of recordings in several parts are kept
 * and analysed together, as a run of the program does it.
 */
#include "bundle_int.h"
#include "lines.h"
#include "tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#define MAX_FILES	24
#define MAX_PIPE	60000	/* a pipe holds 64 KiB */

struct seen {
	struct trees	*trees;
	volatile uint8_t sum;
};

static struct error *touch(void *arg, struct member *m)
{
	struct seen *s = arg;
	bool kept;
	uint64_t i;

	for (i = 0; i < m->size; i++)
		s->sum ^= m->data[i];
	TRY(trees_offer(s->trees, m, &kept));
	return kept || m->size % 7 ? NULL : error_new(ERR_INPUT, "as if it were damaged");
}

static void from_pipe(struct bundle *b, struct seen *s, const uint8_t *data, size_t size)
{
	int fds[2];

	size = MIN(size, (size_t)MAX_PIPE);
	if (pipe(fds) || write(fds[1], data, size) != (ssize_t)size || dup2(fds[0], 0) < 0)
		abort();
	close(fds[0]);
	close(fds[1]);
	fuzz_must(bundle_walk(b, "-", touch, s));
	close(0);
}

/* A name without a way out of @dir; the directories in it are made. */
static char *safe_path(const char *dir, const uint8_t *name, size_t len)
{
	char *path = xasprintf("%s/%.*s", dir, (int)MIN(len, (size_t)200), (const char *)name);
	char *p = path + strlen(dir) + 1, *slash;

	if (!*p || *p == '/' || strstr(p, "..")) {
		free(path);
		return NULL;
	}
	for (slash = strchr(p, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void from_directory(struct bundle *b, struct seen *s, const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/fuzz-bundle-XXXXXX";
	const uint8_t *end = data + size;
	unsigned int n;

	if (!mkdtemp(dir))
		abort();
	for (n = 0; n < MAX_FILES && end - data > 3; n++) {
		const uint8_t *nl = memchr(data, '\n', (size_t)(end - data)), *next, *to;
		_cleanup_free_ char *path = NULL;
		size_t len;
		int fd;

		if (!nl)
			break;
		next = memmem(nl, (size_t)(end - nl), "\n== ", 4);
		to = memmem(data, (size_t)(nl - data), " -> ", 4);
		path = safe_path(dir, data + 3, (size_t)((to ? to : nl) - data - 3));
		if (path && to) {
			_cleanup_free_ char *target = NULL;

			target = xstrndup((const char *)to + 4, (size_t)(nl - to - 4));
			if (symlink(target, path))
				errno = 0;
		} else if (path) {
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
			len = next == nl ? 0 : (size_t)((next ? next : end) - nl - 1);
			if (fd >= 0 && write(fd, nl + 1, len) != (ssize_t)len)
				abort();
			if (fd >= 0)
				close(fd);
		}
		data = next ? next + 1 : end;
	}
	fuzz_must(bundle_walk(b, dir, touch, s));
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bundle_limits limits = { .max_temp = 16 << 20,
					      .temp_dir = "/tmp",
					      .max_depth = 3,
					      .max_members = 500,
					      .max_ratio = 20,
					      .ratio_floor = 4 << 20,
					      .quiet = true };
	const struct node n = { .path = "fuzz", .name = "fuzz" };
	struct parse_ctx proto = { .db = fuzz_db() };
	struct fuzz_kept kept = { .n = 0 };
	struct seen s = { .trees = trees_create("/tmp", limits.max_temp) };
	struct bundle *b;

	proto.open_stream = fuzz_open;
	proto.open_arg = &kept;
	fuzz_must(bundle_open(&b, proto.db, &limits));
	b->visit = touch;
	b->visit_arg = &s;
	if (size && data[0] == '|')
		from_pipe(b, &s, data + 1, size - 1);
	else if (size > 3 && !memcmp(data, "== ", 3))
		from_directory(b, &s, data, size);
	else	/* only "out of memory" and SQLite may fail the walk itself */
		fuzz_must(bundle_bytes(b, &n, data, size));
	fuzz_must(trees_finish(s.trees, &proto, b));
	bundle_close(b);
	trees_free(s.trees);
	return 0;
}
