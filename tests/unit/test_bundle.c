// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_bundle.c - inputs to members: files, directories, archives, stdin, and the limits on each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bundle.h"
#include "casefile.h"

struct seen {
	char		path[600], name[300];
	uint64_t	size, sum;
	bool		truncated;
};

struct fixture {
	char		dir[64];
	struct case_db	*db;
	struct seen	seen[64];
	size_t		n;
	int		shrink_fd;	/* >= 0: truncate this to 4096 bytes in the visitor */
	struct error	*refuse;	/* what the visitor returns */
};

static uint64_t sum_of(const uint8_t *p, uint64_t n)
{
	uint64_t h = 0xcbf29ce484222325ULL, i;

	for (i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

static struct error *collect(void *arg, struct member *m)
{
	struct fixture *f = arg;
	struct seen *s = &f->seen[f->n];

	assert_true(f->n < ARRAY_SIZE(f->seen));
	f->n++;
	if (f->shrink_fd >= 0)
		assert_int_equal(ftruncate(f->shrink_fd, 4096), 0);
	snprintf(s->path, sizeof(s->path), "%s", m->path);
	snprintf(s->name, sizeof(s->name), "%s", m->name);
	s->size = m->size;
	s->sum = sum_of(m->data, m->size);
	s->truncated = m->truncated;
	if (f->refuse)
		return f->refuse;
	return member_status(f->db, m, "test", "read", NULL);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/kvmortem-test-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->shrink_fd = -1;
	*state = f;
	return case_create(&f->db, NULL) ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	case_close(f->db);
	free(f);
	return 0;
}

static char *path_in(struct fixture *f, const char *name)
{
	static char buf[4][512];
	static unsigned int i;
	char *p = buf[i++ % 4];

	snprintf(p, 512, "%s/%s", f->dir, name);
	return p;
}

static void put_file(const char *path, const void *data, size_t len)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, len, out), len);
	fclose(out);
}

static struct error *walk(struct fixture *f, const char *input, const struct bundle_limits *limits)
{
	struct bundle_limits lim = limits ? *limits : (struct bundle_limits){ 0 };
	struct bundle *b;
	struct error *err;

	lim.quiet = true;
	f->n = 0;
	assert_null(bundle_open(&b, f->db, &lim));
	err = bundle_walk(b, input, collect, f);
	bundle_close(b);
	return err;
}

static void assert_walks(struct fixture *f, const char *input, const struct bundle_limits *limits)
{
	assert_null(walk(f, input, limits));
}

/* The only row whose path ends in @tail: "status|message". */
static const char *row(struct fixture *f, const char *tail)
{
	static char buf[600];
	struct error *err = NULL;
	sqlite3_stmt *st;

	buf[0] = '\0';
	assert_null(case_query(f->db, &st, "SELECT status || '|' || COALESCE(message, '') FROM member "
			       "WHERE substr(path, -length(?1)) = ?1", "s", tail));
	if (case_step(f->db, st, &err))
		snprintf(buf, sizeof(buf), "%s", (const char *)sqlite3_column_text(st, 0));
	case_done(st);
	assert_null(err);
	return buf;
}

static void assert_row(struct fixture *f, const char *tail, const char *begin)
{
	const char *r = row(f, tail);

	if (strncmp(r, begin, strlen(begin)))
		fail_msg("row of %s is '%s', not '%s...'", tail, r, begin);
}

/* ---- archives made here ---- */

struct packer {
	struct archive	*a;
	uint8_t		*buf;
	size_t		cap, used;
};

static void pack_open(struct packer *p, int (*format)(struct archive *),
		      int (*filter)(struct archive *), size_t cap)
{
	p->a = archive_write_new();
	p->cap = cap;
	p->buf = malloc(cap);
	assert_int_equal(format(p->a), ARCHIVE_OK);
	if (filter)
		assert_int_equal(filter(p->a), ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(p->a, 1);
}

static void pack_start(struct packer *p)
{
	assert_int_equal(archive_write_open_memory(p->a, p->buf, p->cap, &p->used), ARCHIVE_OK);
}

static void pack_add(struct packer *p, const char *name, mode_t type, const void *data, size_t len)
{
	struct archive_entry *e = archive_entry_new();

	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)len);
	if (type == AE_IFLNK)
		archive_entry_set_symlink(e, "/etc/passwd");
	assert_int_equal(archive_write_header(p->a, e), ARCHIVE_OK);
	if (len)
		assert_int_equal(archive_write_data(p->a, data, len), len);
	archive_entry_free(e);
}

static void pack_close(struct packer *p)
{
	assert_int_equal(archive_write_close(p->a), ARCHIVE_OK);
	archive_write_free(p->a);
}

static int format_raw(struct archive *a)
{
	return archive_write_set_format_raw(a);
}

/* ---- the tests ---- */

static void test_plain_file(void **state)
{
	struct fixture *f = *state;

	put_file(path_in(f, "a.txt"), "hello\n", 6);
	assert_walks(f, path_in(f, "a.txt"), NULL);
	assert_int_equal(f->n, 1);
	assert_string_equal(f->seen[0].path, path_in(f, "a.txt"));
	assert_int_equal(f->seen[0].size, 6);
	assert_true(f->seen[0].sum == sum_of((const uint8_t *)"hello\n", 6));
	assert_row(f, "a.txt", "read|");
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct error *err = walk(f, path_in(f, "nothing"), NULL);

	assert_non_null(err);
	assert_int_equal(err->code, ERR_IO);
	error_free(err);
	err = walk(f, "/dev/null", NULL);
	assert_non_null(err);
	error_free(err);
}

static void test_directory(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir(path_in(f, "d"), 0755), 0);
	assert_int_equal(mkdir(path_in(f, "d/sub"), 0755), 0);
	put_file(path_in(f, "d/z"), "z", 1);
	put_file(path_in(f, "d/b"), "b", 1);
	put_file(path_in(f, "d/sub/c"), "c", 1);
	put_file(path_in(f, "d/void"), "", 0);
	put_file(path_in(f, "secret"), "secret", 6);
	assert_int_equal(symlink("../secret", path_in(f, "d/link")), 0);
	assert_int_equal(symlink("..", path_in(f, "d/up")), 0);
	assert_int_equal(mkfifo(path_in(f, "d/pipe"), 0600), 0);
	assert_walks(f, path_in(f, "d"), NULL);
	assert_int_equal(f->n, 3);
	assert_string_equal(f->seen[0].path, path_in(f, "d/b"));
	assert_string_equal(f->seen[1].path, path_in(f, "d/sub/c"));
	assert_string_equal(f->seen[2].path, path_in(f, "d/z"));
	assert_row(f, "d/link", "ignored|a symbolic link");
	assert_row(f, "d/up", "ignored|a symbolic link");
	assert_row(f, "d/pipe", "ignored|a fifo");
	assert_row(f, "d/void", "ignored|empty");
}

/* A tar.gz inside a zip, and a compressed single file inside the tar. */
static void test_nested(void **state)
{
	struct packer raw, tar, zip;
	struct fixture *f = *state;

	pack_open(&raw, format_raw, archive_write_add_filter_xz, 1 << 16);
	pack_start(&raw);
	pack_add(&raw, "x", AE_IFREG, "trace text\n", 11);
	pack_close(&raw);
	pack_open(&tar, archive_write_set_format_pax_restricted, archive_write_add_filter_gzip,
		  1 << 16);
	pack_start(&tar);
	pack_add(&tar, "./sos/proc/vmstat", AE_IFREG, "nr_free_pages 1\n", 16);
	pack_add(&tar, "sos/evil", AE_IFLNK, NULL, 0);
	pack_add(&tar, "../../etc/trace.txt.xz", AE_IFREG, raw.buf, raw.used);
	pack_close(&tar);
	pack_open(&zip, archive_write_set_format_zip, NULL, 1 << 16);
	pack_start(&zip);
	pack_add(&zip, "case/", AE_IFDIR, NULL, 0);
	pack_add(&zip, "case/inner.tar.gz", AE_IFREG, tar.buf, tar.used);
	pack_close(&zip);
	put_file(path_in(f, "c.zip"), zip.buf, zip.used);

	assert_walks(f, path_in(f, "c.zip"), NULL);
	assert_int_equal(f->n, 2);
	assert_non_null(strstr(f->seen[0].path, "/c.zip:case/inner.tar.gz:sos/proc/vmstat"));
	assert_string_equal(f->seen[0].name, "case/inner.tar.gz/sos/proc/vmstat");
	assert_int_equal(f->seen[0].size, 16);
	assert_non_null(strstr(f->seen[1].path, ":../../etc/trace.txt.xz"));
	assert_string_equal(f->seen[1].name, "case/inner.tar.gz/../../etc/trace.txt");
	assert_true(f->seen[1].sum == sum_of((const uint8_t *)"trace text\n", 11));
	assert_row(f, "c.zip", "read|");
	assert_row(f, "sos/evil", "ignored|a symbolic link");
	assert_int_equal(case_int(f->db, -1, "SELECT COUNT(*) FROM member m JOIN member p ON p.id = m.parent_id "
				  "WHERE m.path LIKE '%vmstat' AND p.format = 'tar (gzip)'", ""), 1);
	/* The same with too small a depth. */
	assert_walks(f, path_in(f, "c.zip"), &(struct bundle_limits){ .max_depth = 1 });
	assert_int_equal(f->n, 0);
	assert_int_equal(case_int(f->db, -1, "SELECT COUNT(*) FROM member WHERE status = 'failed' "
				  "AND message LIKE 'archives nested deeper than 1%'", ""), 1);
	free(raw.buf);
	free(tar.buf);
	free(zip.buf);
}

/* More than a megabyte goes through the temporary file; what is read is what was packed. */
static void test_spooled(void **state)
{
	struct fixture *f = *state;
	size_t len = 3 << 20, i;
	uint8_t *data = malloc(len);
	struct packer tar;

	for (i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	pack_open(&tar, archive_write_set_format_pax_restricted, archive_write_add_filter_zstd,
		  16 << 20);
	pack_start(&tar);
	pack_add(&tar, "small", AE_IFREG, data, 100);
	pack_add(&tar, "big1", AE_IFREG, data, len);
	pack_add(&tar, "big2", AE_IFREG, data + 1, len - 1);
	pack_close(&tar);
	put_file(path_in(f, "t.tar.zst"), tar.buf, tar.used);
	assert_walks(f, path_in(f, "t.tar.zst"), &(struct bundle_limits){ .temp_dir = f->dir, .max_temp = 4 << 20 });
	assert_int_equal(f->n, 3);
	assert_true(f->seen[1].sum == sum_of(data, len));
	assert_true(f->seen[2].sum == sum_of(data + 1, len - 1));

	/* Refused with the size and the options; the small one is read all the same. */
	assert_walks(f, path_in(f, "t.tar.zst"), &(struct bundle_limits){ .temp_dir = f->dir, .max_temp = 2 << 20 });
	assert_int_equal(f->n, 1);
	assert_int_equal(case_int(f->db, -1, "SELECT COUNT(*) FROM member WHERE status = 'failed' AND message LIKE "
				  "'needs 3 MiB%2 MiB allowed%--max-temp%--temp-dir%'", ""), 2);
	free(tar.buf);
	free(data);
}

static void test_cut(void **state)
{
	struct fixture *f = *state;
	size_t len = 400000, i;
	uint8_t *data = malloc(len);
	struct packer tar;
	uint32_t x = 1;

	for (i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >>
				    24); /* does not compress: the cut falls where it is meant to */
	}
	pack_open(&tar, archive_write_set_format_pax_restricted, archive_write_add_filter_xz,
		  2 << 20);
	pack_start(&tar);
	pack_add(&tar, "one", AE_IFREG, data, 1000);
	pack_add(&tar, "two", AE_IFREG, data, len);
	pack_add(&tar, "three", AE_IFREG, data, len);
	pack_close(&tar);
	put_file(path_in(f, "t.tar.xz"), tar.buf, tar.used * 2 / 3);
	assert_walks(f, path_in(f, "t.tar.xz"), NULL);
	assert_in_range(f->n, 1, 3);
	assert_int_equal(f->seen[0].size, 1000);
	assert_row(f, "t.tar.xz", "partly|damaged or cut after");
	/* A single compressed file that is cut gives its beginning, marked. */
	free(tar.buf);
	pack_open(&tar, format_raw, archive_write_add_filter_gzip, 1 << 20);
	pack_start(&tar);
	pack_add(&tar, "x", AE_IFREG, data, len);
	pack_close(&tar);
	put_file(path_in(f, "one.bin.gz"), tar.buf, tar.used / 2);
	assert_walks(f, path_in(f, "one.bin.gz"), NULL);
	assert_int_equal(f->n, 1);
	assert_true(f->seen[0].truncated);
	assert_in_range(f->seen[0].size, 1, len - 1);
	assert_true(f->seen[0].sum == sum_of(data, f->seen[0].size));
	assert_row(f, "one.bin.gz", "partly|its archive is damaged or cut");
	free(tar.buf);
	free(data);
}

static void test_bomb(void **state)
{
	struct fixture *f = *state;
	size_t len = 8 << 20;
	uint8_t *zeros = calloc(1, len);
	struct packer zip;

	pack_open(&zip, archive_write_set_format_zip, NULL, 1 << 20);
	pack_start(&zip);
	pack_add(&zip, "first", AE_IFREG, "1", 1);
	pack_add(&zip, "bomb", AE_IFREG, zeros, len);
	pack_add(&zip, "after", AE_IFREG, "2", 1);
	pack_close(&zip);
	put_file(path_in(f, "b.zip"), zip.buf, zip.used);
	assert_walks(f, path_in(f, "b.zip"), &(struct bundle_limits){ .max_ratio = 10, .ratio_floor = 4096,
								    .temp_dir = f->dir });
	assert_int_equal(f->n, 1);
	assert_row(f, ":bomb", "failed|grows to more than 10 times");
	assert_row(f, ":after", "");
	assert_walks(f, path_in(f, "b.zip"), &(struct bundle_limits){ .temp_dir = f->dir });
	assert_int_equal(f->n, 3);
	free(zip.buf);
	free(zeros);
}

static void test_encrypted(void **state)
{
	struct fixture *f = *state;
	struct packer zip;

	pack_open(&zip, archive_write_set_format_zip, NULL, 1 << 16);
	if (archive_write_set_options(zip.a, "zip:encryption=traditional") != ARCHIVE_OK)
		skip();
	archive_write_set_passphrase(zip.a, "secret");
	pack_start(&zip);
	pack_add(&zip, "hidden.txt", AE_IFREG, "text\n", 5);
	pack_close(&zip);
	put_file(path_in(f, "e.zip"), zip.buf, zip.used);
	assert_walks(f, path_in(f, "e.zip"), NULL);
	assert_int_equal(f->n, 0);
	assert_row(f, ":hidden.txt", "failed|is encrypted");
	free(zip.buf);
}

/* Attachments in base64 are members below their mail; archives among them are opened. */
static void test_mail(void **state)
{
	static const char mail[] =
		"From: a@example.org\nSubject: case\nMIME-Version: 1.0\n"
		"Content-Type: multipart/mixed; boundary=\"xyz\"\n\n--xyz\n"
		"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\naGVsbG8Kd29y\nbGQK\n\n--xyz\n"
		"Content-Type: application/octet-stream;\n\tname=\"../x/t.txt.gz\"\n"
		"Content-Transfer-Encoding: BASE64\n\n"
		"H4sIAAAAAAACA8tIzcnJVyjJSC1KBQBQ6RJtCwAAAA==\n--xyz--\n";
	struct fixture *f = *state;

	put_file(path_in(f, "m.eml"), mail, sizeof(mail) - 1);
	assert_walks(f, path_in(f, "m.eml"), NULL);
	assert_int_equal(f->n, 3);
	assert_string_equal(f->seen[0].path, path_in(f, "m.eml"));
	assert_string_equal(f->seen[1].name, "part-1.txt");
	assert_true(f->seen[1].sum == sum_of((const uint8_t *)"hello\nworld\n", 12));
	assert_string_equal(f->seen[2].name, "t.txt");
	assert_string_equal(f->seen[2].path, path_in(f, "m.eml:t.txt.gz"));
	assert_true(f->seen[2].sum == sum_of((const uint8_t *)"hello there", 11));
}

static void test_limits(void **state)
{
	struct fixture *f = *state;
	char longname[5000];
	struct packer tar;

	memset(longname, 'n', sizeof(longname) - 1);
	longname[sizeof(longname) - 1] = '\0';
	pack_open(&tar, archive_write_set_format_pax_restricted, NULL, 1 << 16);
	pack_start(&tar);
	pack_add(&tar, longname, AE_IFREG, "x", 1);
	pack_add(&tar, "b", AE_IFREG, "x", 1);
	pack_add(&tar, "c", AE_IFREG, "x", 1);
	pack_add(&tar, "d", AE_IFREG, "x", 1);
	pack_close(&tar);
	put_file(path_in(f, "l.tar"), tar.buf, tar.used);
	assert_walks(f, path_in(f, "l.tar"), NULL);
	assert_int_equal(f->n, 3);
	assert_int_equal(case_int(f->db, -1, "SELECT COUNT(*) FROM member WHERE message LIKE 'its path is longer%'", ""), 1);
	assert_walks(f, path_in(f, "l.tar"), &(struct bundle_limits){ .max_members = 3 });
	assert_int_equal(f->n, 1);
	assert_int_equal(case_int(f->db, -1, "SELECT COUNT(*) FROM member WHERE message LIKE 'too many members%'", ""), 1);
	free(tar.buf);
	put_file(path_in(f, "x.lzo"), "\x89LZO\0\r\n\x1a\n....", 13);
	assert_walks(f, path_in(f, "x.lzo"), NULL);
	assert_row(f, "x.lzo", "failed|lzop compression is not read here");
	/* Garbage behind a magic number. */
	put_file(path_in(f, "x.gz"), "\x1f\x8b\x08 this is no gzip file at all, is it?", 40);
	assert_walks(f, path_in(f, "x.gz"), NULL);
	assert_true(!strncmp(row(f, "x.gz"), "failed|", 7) || !strncmp(row(f, "x.gz"), "partly|", 7));
}

static void test_stdin(void **state)
{
	struct fixture *f = *state;
	struct packer tar;
	int saved = dup(0), fds[2];
	pid_t pid;

	pack_open(&tar, archive_write_set_format_pax_restricted, archive_write_add_filter_gzip,
		  1 << 16);
	pack_start(&tar);
	pack_add(&tar, "in", AE_IFREG, "piped", 5);
	pack_close(&tar);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		ssize_t n = write(fds[1], tar.buf, tar.used);

		_exit(n != (ssize_t)tar.used);
	}
	close(fds[1]);
	dup2(fds[0], 0);
	close(fds[0]);
	assert_walks(f, "-", NULL);
	assert_int_equal(f->n, 1);
	assert_string_equal(f->seen[0].path, "-:in");
	assert_true(f->seen[0].sum == sum_of((const uint8_t *)"piped", 5));
	waitpid(pid, NULL, 0);
	/* A file on stdin is read from where it stands. */
	put_file(path_in(f, "s"), "0123456789", 10);
	dup2(open(path_in(f, "s"), O_RDONLY), 0);
	lseek(0, 4, SEEK_SET);
	assert_walks(f, "-", NULL);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->seen[0].size, 6);
	assert_true(f->seen[0].sum == sum_of((const uint8_t *)"456789", 6));
	dup2(saved, 0);
	close(saved);
	free(tar.buf);
}

static void test_shrinking(void **state)
{
	struct fixture *f = *state;
	size_t len = 1 << 20;
	uint8_t *data = malloc(len);

	memset(data, 'x', len);
	put_file(path_in(f, "s"), data, len);
	f->shrink_fd = open(path_in(f, "s"), O_RDWR);
	assert_walks(f, path_in(f, "s"), NULL);
	assert_int_equal(f->n, 1);
	memset(data + 4096, 0, len - 4096);
	assert_true(f->seen[0].sum == sum_of(data, len));
	assert_row(f, "/s", "partly|the file shrank");
	close(f->shrink_fd);
	free(data);
}

static void test_visitor_fails(void **state)
{
	struct fixture *f = *state;

	put_file(path_in(f, "p"), "p", 1);
	f->refuse = error_new(ERR_INPUT, "its header is wrong");
	assert_walks(f, path_in(f, "p"), NULL);
	assert_row(f, "/p", "failed|its header is wrong");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain_file),	  TEST(test_missing),	TEST(test_directory),
		TEST(test_nested),	  TEST(test_spooled),	TEST(test_cut),
		TEST(test_bomb),	  TEST(test_encrypted), TEST(test_mail),
		TEST(test_limits),	  TEST(test_stdin),	TEST(test_shrinking),
		TEST(test_visitor_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
