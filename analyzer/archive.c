// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * archive.c - archives and compressed files, read by libarchive from memory; see bundle_int.h.
 *
 * Nothing is unpacked under its own name: paths are labels here. Formats and filters are enabled
 * one by one: libarchive's "all" would take text for an mtree or uuencoded archive and run external
 * programs for lzop, lrzip and grzip.
 */
#include "bundle_int.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include "stream.h"

struct archive_magic {
	const char	*kind;
	uint16_t	off;
	uint8_t		len;
	const char	*magic;
};

/* Each format's own specification; file(1) lists them too. */
static const struct archive_magic magics[] = {
	{ "gzip", 0, 3, "\x1f\x8b\x08" },
	{ "bzip2", 0, 3, "BZh" },
	{ "xz", 0, 6, "\xfd" "7zXZ\0" },
	{ "zstd", 0, 4, "\x28\xb5\x2f\xfd" },
	{ "lz4", 0, 4, "\x04\x22\x4d\x18" },
	{ "lzip", 0, 4, "LZIP" },
	{ "lzma", 0, 5, "\x5d\0\0\x80\0" },
	{ "compress", 0, 2, "\x1f\x9d" },
	{ "zip", 0, 4, "PK\x03\x04" },
	{ "zip", 0, 4, "PK\x05\x06" },
	{ "7-Zip", 0, 6, "7z\xbc\xaf\x27\x1c" },
	{ "RAR", 0, 6, "Rar!\x1a\x07" },
	{ "cpio", 0, 6, "070701" },
	{ "cpio", 0, 6, "070702" },
	{ "cpio", 0, 6, "070707" },
	{ "cpio", 0, 2, "\xc7\x71" },
	{ "ar", 0, 8, "!<arch>\n" },
	{ "cab", 0, 4, "MSCF" },
	{ "xar", 0, 4, "xar!" },
	{ "rpm", 0, 4, "\xed\xab\xee\xdb" },
	{ "ISO 9660", 0x8001, 5, "CD001" },
};

/* Packers libarchive would have to run a program for. */
static const struct archive_magic refused[] = {
	{ "lzop", 0, 4, "\x89LZO" },
	{ "lrzip", 0, 4, "LRZI" },
	{ "grzip", 0, 4, "GRZi" },
};

static bool has_magic(const struct archive_magic *m, const uint8_t *data, uint64_t size)
{
	return size >= (uint64_t)m->off + m->len && !memcmp(data + m->off, m->magic, m->len);
}

/* A tar header carries the sum of its own bytes (POSIX ustar); old ones have no magic at all. */
static bool is_tar(const uint8_t *h, uint64_t size)
{
	unsigned long want = 0;
	long sum = 0;
	size_t i;

	if (size < 512 || !h[0])
		return false;
	for (i = 148; i < 156 && h[i] == ' '; i++)
		;
	for (; i < 156 && h[i] >= '0' && h[i] <= '7'; i++)
		want = want * 8 + (h[i] - '0');
	for (i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : h[i];
	return want && want == (unsigned long)sum;
}

const char *archive_kind(const uint8_t *data, uint64_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(magics); i++)
		if (has_magic(&magics[i], data, size))
			return magics[i].kind;
	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (has_magic(&refused[i], data, size))
			return refused[i].kind;
	return is_tar(data, size) ? "tar" : NULL;
}

static bool is_refused(const uint8_t *data, uint64_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (has_magic(&refused[i], data, size))
			return true;
	return false;
}

static struct archive *reader_new(void)
{
	struct archive *a = archive_read_new();

	if (!a)
		return NULL;
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_lzma(a);
	archive_read_support_filter_lzip(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_filter_compress(a);
	archive_read_support_filter_rpm(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	archive_read_support_format_7zip(a);
	archive_read_support_format_cpio(a);
	archive_read_support_format_rar(a);
	archive_read_support_format_rar5(a);
	archive_read_support_format_ar(a);
	archive_read_support_format_cab(a);
	archive_read_support_format_xar(a);
	archive_read_support_format_iso9660(a);
	archive_read_support_format_empty(a);
	archive_read_support_format_raw(a);
	return a;
}

static const char *reason(struct archive *a)
{
	const char *s = archive_error_string(a);

	return s && *s ? s : "unreadable";
}

/* "zip", "tar (xz)": for the member's format column. */
static char *format_name(struct archive *a, const char *kind)
{
	const char *filter = archive_filter_count(a) > 1 ? archive_filter_name(a, 0) : NULL;
	const char *format;

	switch (archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) {
	case ARCHIVE_FORMAT_TAR:
		format = "tar";
		break;
	case ARCHIVE_FORMAT_ZIP:
		format = "zip";
		break;
	case ARCHIVE_FORMAT_CPIO:
		format = "cpio";
		break;
	default:
		format = filter ? "archive" : kind;
		break;
	}
	return filter ? xasprintf("%s (%s)", format, filter) : xstrdup(format);
}

/* Account for @n bytes more out of the outermost archive. */
static struct error *grow(struct bundle *b, size_t n)
{
	b->grown += n;
	if (b->grown <= b->budget)
		return NULL;
	b->bomb = true;
	return error_new(ERR_INPUT, "grows to more than %" PRIu64 " times its size when unpacked: left here "
			 "(unpack it yourself if it is meant to)", b->lim.max_ratio);
}

/* A hole in a sparse member reads as zeros, and counts. */
static struct error *add_hole(struct bundle *b, struct blob *blob, uint64_t to)
{
	static const uint8_t zeros[64 * 1024];

	while (blob->size < to) {
		size_t n = MIN((uint64_t)sizeof(zeros), to - blob->size);

		TRY(grow(b, n));
		TRY(blob_add(blob, zeros, n));
		if (stream_interrupted())
			break;
	}
	return NULL;
}

/*
 * Read the entry's bytes into @blob. What ends it early is either a limit (returned) or damage, of
 * which *damage gets a description; what came before is kept.
 */
static struct error *read_entry(struct bundle *b, struct archive *a, struct blob *blob,
				char **damage)
{
	unsigned int retries = 0;
	const void *block;
	la_int64_t off;
	size_t n;

	for (;;) {
		int r;

		off = 0;
		r = archive_read_data_block(a, &block, &n, &off);

		if (r == ARCHIVE_EOF)
			return off > 0 ? add_hole(b, blob, (uint64_t)off) : NULL;
		if (r == ARCHIVE_RETRY && ++retries < 1000)
			continue;
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
			*damage = xasprintf("its archive is damaged or cut: %s; the first %" PRIu64 " bytes are read",
					    reason(a), blob->size);
			return NULL;
		}
		if (off > 0)
			TRY(add_hole(b, blob, (uint64_t)off));
		TRY(grow(b, n));
		TRY(blob_add(blob, block, n));
		if (stream_interrupted()) {
			*damage = xasprintf("interrupted: the first %" PRIu64 " bytes are read", blob->size);
			return NULL;
		}
	}
}

static struct error *visit_entry(struct bundle *b, struct archive *a, struct archive_entry *entry,
				 const struct node *n)
{
	_cleanup_free_ char *damage = NULL;
	struct error *err = NULL;
	struct node inner = *n;
	const uint8_t *data;
	struct blob blob;
	uint64_t size;

	blob_begin(&blob, &b->spool);
	if (entry && archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0)
		err = blob_expect(&blob, (uint64_t)archive_entry_size(entry));
	if (!err)
		err = read_entry(b, a, &blob, &damage);
	if (!err)
		err = blob_map(&blob, &data, &size);
	if (err && err->code != ERR_INTERNAL) {
		struct error *e = bundle_row(b, NULL, n, NULL, (int64_t)blob.size, "failed", err->what);

		error_free(err);
		err = e;
	} else if (!err) {
		inner.damage = damage;
		err = bundle_bytes(b, &inner, data, size);
	}
	blob_end(&blob);
	return err;
}

/* Name without the ending of its compression: "trace.txt.xz" is recognised as "trace.txt". */
static char *without_ending(const char *name)
{
	static const char *const endings[] = { ".gz", ".bz2", ".xz", ".zst", ".zstd", ".lz4", ".lz", ".lzma", ".Z" };
	size_t len = strlen(name), i;

	for (i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t elen = strlen(endings[i]);

		if (len > elen && !strcasecmp(name + len - elen, endings[i]) &&
		    name[len - elen - 1] != '/')
			return xstrndup(name, len - elen);
	}
	return xstrdup(name);
}

static const char *type_word(mode_t type)
{
	switch (type) {
	case AE_IFLNK:
		return "a symbolic link: not followed";
	case AE_IFIFO:
		return "a fifo: nothing to read";
	case AE_IFCHR:
	case AE_IFBLK:
		return "a device: not read";
	case AE_IFSOCK:
		return "a socket: nothing to read";
	default:
		return "not a file";
	}
}

static const char *entry_path(struct archive_entry *entry, char buf[32], uint64_t no)
{
	const char *p = archive_entry_pathname(entry);

	if (!p)
		p = archive_entry_pathname_utf8(entry);
	if (!p) {
		snprintf(buf, 32, "member-%" PRIu64, no);
		p = buf;
	}
	while (p[0] == '.' && p[1] == '/')
		p += 2;
	return p;
}

static struct error *take_entry(struct bundle *b, struct archive *a, struct archive_entry *entry,
				const struct node *n, int64_t id, uint64_t no)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	char fallback[32];
	const char *inner = entry_path(entry, fallback, no);
	mode_t type = archive_entry_filetype(entry);
	bool too_long = strlen(inner) > MEMBER_PATH_MAX || strlen(n->path) > 2 * MEMBER_PATH_MAX;
	struct node child = { .parent_id = id, .depth = n->depth + 1 };

	if (type == AE_IFDIR)
		return NULL;
	path = xasprintf("%s:%.*s", n->path, too_long ? 100 : MEMBER_PATH_MAX, inner);
	name = n->depth ? xasprintf("%s/%.*s", n->name, MEMBER_PATH_MAX, inner) : xstrdup(inner);
	child.path = path;
	child.name = name;
	if (too_long)
		return bundle_row(b, NULL, &child, NULL, -1, "failed", "its path is longer than 4096 bytes: not read");
	if (archive_entry_hardlink(entry))
		return bundle_row(b, NULL, &child, NULL, 0, "ignored", "a hard link to another member");
	if (type && type != AE_IFREG)
		return bundle_row(b, NULL, &child, NULL, -1, "ignored", type_word(type));
	if (archive_entry_is_encrypted(entry))
		return bundle_row(b, NULL, &child, NULL, -1, "failed", "is encrypted: pack it without a password");
	return visit_entry(b, a, entry, &child);
}

/* All members after the first header, which is in @entry. */
static struct error *walk_entries(struct bundle *b, struct archive *a, struct archive_entry *entry,
				  const struct node *n, int64_t id)
{
	uint64_t no = 0, retries = 0;
	int r;

	for (;;) {
		TRY(take_entry(b, a, entry, n, id, ++no));
		if (b->bomb || b->full || stream_interrupted())
			return NULL;
		do
			r = archive_read_next_header(a, &entry);
		while (r == ARCHIVE_RETRY && ++retries < 1000);
		if (r == ARCHIVE_EOF)
			return NULL;
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
			_cleanup_free_ char *msg = xasprintf("damaged or cut after %" PRIu64 " members: %s", no, reason(a));

			return bundle_amend(b, id, n->path, msg);
		}
	}
}

static struct error *open_and_walk(struct bundle *b, struct archive *a, const struct node *n,
				   const char *kind, const uint8_t *data, uint64_t size)
{
	_cleanup_free_ char *format = NULL, *msg = NULL;
	struct archive_entry *entry = NULL;
	int64_t id;
	int r;

	r = archive_read_open_memory(a, data, size);
	if (r == ARCHIVE_OK)
		do
			r = archive_read_next_header(a, &entry);
		while (r == ARCHIVE_RETRY);
	if (r == ARCHIVE_EOF)
		return bundle_row(b, NULL, n, kind, (int64_t)size, "ignored", "holds nothing");
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
		msg = xasprintf("looks like %s, but can't be read: %s", kind, reason(a));
		return bundle_row(b, NULL, n, kind, (int64_t)size, "failed", msg);
	}
	if ((archive_format(a) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_RAW) {
		_cleanup_free_ char *name = without_ending(n->name);
		struct node child = *n;

		/* No filter took it: the magic was an accident, the bytes are what they are. */
		if (archive_filter_count(a) < 2)
			return bundle_row(b, NULL, n, kind, (int64_t)size, "failed", "begins like an archive, but is none");
		child.name = name;
		child.depth++;
		return visit_entry(b, a, NULL, &child);
	}
	format = format_name(a, kind);
	TRY(bundle_row(b, &id, n, format, (int64_t)size, "read", NULL));
	if (n->damage)
		TRY(bundle_amend(b, id, n->path, n->damage));
	return walk_entries(b, a, entry, n, id);
}

struct error *archive_walk(struct bundle *b, const struct node *n, const uint8_t *data,
			   uint64_t size)
{
	const char *kind = archive_kind(data, size);
	_cleanup_free_ char *msg = NULL;
	struct archive *a;
	struct error *err;

	if (n->depth >= b->lim.max_depth) {
		msg = xasprintf("archives nested deeper than %u: not opened", b->lim.max_depth);
		return bundle_row(b, NULL, n, kind, (int64_t)size, "failed", msg);
	}
	if (is_refused(data, size)) {
		msg = xasprintf("%s compression is not read here: unpack it first", kind);
		return bundle_row(b, NULL, n, kind, (int64_t)size, "failed", msg);
	}
	bundle_budget(b, n, size);
	a = reader_new();
	if (!a)
		return error_new(ERR_INTERNAL, "out of memory for libarchive");
	err = open_and_walk(b, a, n, kind, data, size);
	archive_read_free(a);
	return err;
}
