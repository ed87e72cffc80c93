// SPDX-License-Identifier: GPL-2.0-or-later
/* spool.c - memory for small members, one unnamed file for large ones; see spool.h. */
#include "spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

void spool_init(struct spool *sp, const char *dir, uint64_t max)
{
	memset(sp, 0, sizeof(*sp));
	sp->dir = dir;
	sp->max = max;
	sp->fd = -1;
}

void spool_deinit(struct spool *sp)
{
	if (sp->fd >= 0)
		close(sp->fd);
	sp->fd = -1;
}

static int open_unnamed(const char *dir)
{
	_cleanup_free_ char *name = NULL;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* File systems without O_TMPFILE: a name for a moment. mkostemp() makes it 0600. */
	name = xasprintf("%s/kvmortem-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

static struct error *spool_open(struct spool *sp)
{
	const char *env = getenv("TMPDIR");
	const char *dirs[] = { sp->dir ? sp->dir : env && *env ? env : "/var/tmp", "/tmp" };
	size_t n = sp->dir || (env && *env) ? 1 : 2;
	struct statvfs vfs;
	size_t i;

	if (sp->fd >= 0)
		return NULL;
	for (i = 0; i < n && sp->fd < 0; i++)
		sp->fd = open_unnamed(dirs[i]);
	if (sp->fd < 0)
		return error_io("can't make a temporary file in %s (choose a directory with --temp-dir)", dirs[n - 1]);
	if (!sp->max && !fstatvfs(sp->fd, &vfs))
		sp->max = (uint64_t)vfs.f_bavail * vfs.f_frsize / 2;
	return NULL;
}

/*
 * "15 GiB" for messages: what is needed rounded up, what is allowed rounded down, so that the one
 * never reads as the other.
 */
static const char *human(char buf[32], uint64_t bytes, bool up)
{
	static const struct { uint64_t from; unsigned int shift; const char *unit; } units[] = {
		{ 10ULL << 30, 30, "GiB" }, { 1ULL << 20, 20, "MiB" }, { 1ULL << 10, 10, "KiB" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (bytes >= units[i].from) {
			uint64_t rest = bytes & ((1ULL << units[i].shift) - 1);

			snprintf(buf, 32, "%" PRIu64 " %s", (bytes >> units[i].shift) + (up && rest),
				 units[i].unit);
			return buf;
		}
	snprintf(buf, 32, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
	return buf;
}

static struct error *refuse(const struct spool *sp, uint64_t need, bool more)
{
	char a[32], b[32];

	return error_new(ERR_INPUT, "needs %s%s of temporary space, %s allowed (raise --max-temp, or choose another --temp-dir)",
			 more ? "more than " : "", human(a, need, true), human(b, sp->max, false));
}

void blob_begin(struct blob *b, struct spool *sp)
{
	memset(b, 0, sizeof(*b));
	b->sp = sp;
	b->mark = sp->used;
	b->map.slot = -1;
}

struct error *blob_expect(struct blob *b, uint64_t size)
{
	if (size <= SPOOL_MEMORY)
		return NULL;
	TRY(spool_open(b->sp));
	if (size > b->sp->max || b->mark > b->sp->max - size)
		return refuse(b->sp, size + MIN(b->mark, UINT64_MAX - size), false);
	return NULL;
}

static struct error *write_all(struct blob *b, const void *data, size_t len)
{
	struct spool *sp = b->sp;
	const uint8_t *p = data;

	if (len > sp->max || sp->used > sp->max - len)
		return refuse(sp, sp->used + len, true);
	while (len) {
		ssize_t n = pwrite(sp->fd, p, len, (off_t)sp->used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_io("can't write %" PRIu64 " bytes of temporary space (choose another --temp-dir)",
					sp->used + len);
		p += n;
		len -= (size_t)n;
		sp->used += (uint64_t)n;
	}
	return NULL;
}

struct error *blob_add(struct blob *b, const void *data, size_t len)
{
	if (!b->in_file && b->size + len > SPOOL_MEMORY) {
		TRY(spool_open(b->sp));
		TRY(write_all(b, b->mem, b->size));
		b->in_file = true;
		free(b->mem);
		b->mem = NULL;
	}
	if (b->in_file) {
		TRY(write_all(b, data, len));
	} else if (len) {
		GROW(b->mem, b->cap, b->size + len);
		memcpy(b->mem + b->size, data, len);
	}
	b->size += len;
	return NULL;
}

struct error *blob_map(struct blob *b, const uint8_t **data, uint64_t *size)
{
	if (b->in_file) {
		TRY(map_file(&b->map, b->sp->fd, b->mark, b->size));
		*data = b->map.data;
	} else {
		*data = b->mem ? b->mem : (const uint8_t *)"";
	}
	*size = b->size;
	return NULL;
}

void blob_end(struct blob *b)
{
	map_release(&b->map);
	free(b->mem);
	b->mem = NULL;
	if (b->sp->used > b->mark) {
		b->sp->used = b->mark;
		/*
		 * The space goes back to the disk; if it can't, it is overwritten by the next blob.
		 */
		if (ftruncate(b->sp->fd, (off_t)b->mark))
			errno = 0;
	}
}
