// SPDX-License-Identifier: GPL-2.0-or-later
/* redact.c - placeholders for what names a customer, all over the case file; see redact.h. */
#include "redact.h"

#include <ctype.h>
#include <fcntl.h>

#include "strtab.h"

#define NAME_MIN	2	/* a shorter name would be replaced all over */

static const char *const prefixes[] = { "host", "user", "vm", "ip", "mac", "mail", "uuid", "path", "file" };

struct secret {
	char		*name;
	size_t		len;
	char		*placeholder;
	enum redact_kind kind;
	bool		word;		/* a name to be looked for, not a form */
};

struct redactor {
	struct secret	*s;
	size_t		n, cap;
	size_t		count[REDACT_N];
	struct strtab	index;		/* kind and name -> index */
	uint32_t	*words;		/* indexes of names to be looked for, longest first */
	size_t		n_words, cap_words;
};

struct redactor *redactor_create(void)
{
	struct redactor *r = xcalloc(1, sizeof(*r));

	strtab_init(&r->index, 1u << 20);
	return r;
}

void redactor_free(struct redactor *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n; i++) {
		free(r->s[i].name);
		free(r->s[i].placeholder);
	}
	strtab_deinit(&r->index);
	free(r->words);
	free(r->s);
	free(r);
}

static const struct secret *secret_of(struct redactor *r, enum redact_kind kind, const char *name,
				      size_t len)
{
	_cleanup_free_ char *key = xasprintf("%d %.*s", (int)kind, (int)len, name);
	uint32_t before = (uint32_t)r->n, id = strtab_id(&r->index, key, strlen(key));

	if (id == before) {
		GROW(r->s, r->cap, r->n + 1);
		r->s[r->n++] = (struct secret){
			.name = xstrndup(name, len),
			.len = len,
			.kind = kind,
			.placeholder = xasprintf("%s-%zu", prefixes[kind], ++r->count[kind]),
		};
	}
	return id < r->n ? &r->s[id] : NULL;
}

/* Names that say nothing, and would be replaced in words of the report. */
static bool no_name(const char *name)
{
	static const char *const common[] = {
		"localhost", "(none)", "none", "unknown", "root", "kernel", "kvm", "qemu", "vm", "host", "guest", "from", "-",
	};
	size_t i;

	if (strlen(name) < NAME_MIN || name[strspn(name, "0123456789.:-")] == '\0')
		return true;
	for (i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcasecmp(name, common[i]))
			return true;
	return false;
}

void redactor_name(struct redactor *r, enum redact_kind kind, const char *name)
{
	const struct secret *s;
	uint32_t at;
	size_t i;

	if (!name || no_name(name))
		return;
	s = secret_of(r, kind, name, strlen(name));
	if (!s || s->word)
		return;
	at = (uint32_t)(s - r->s);
	r->s[at].word = true;
	GROW(r->words, r->cap_words, r->n_words + 1);
	for (i = r->n_words++; i && r->s[r->words[i - 1]].len < s->len; i--)
		r->words[i] = r->words[i - 1];
	r->words[i] = at;
}

/* A word begins at @s of @text: systemd writes a dash in a name as \x2d. */
static bool begins(const char *text, const char *s)
{
	return s == text || !isalnum((unsigned char)s[-1]) ||
	       (s - text >= 4 && !strncmp(s - 4, "\\x2d", 4));
}

static const struct secret *name_at(const struct redactor *r, const char *s)
{
	size_t i;

	for (i = 0; i < r->n_words; i++) {
		const struct secret *w = &r->s[r->words[i]];

		if (!strncasecmp(s, w->name, w->len) && !isalnum((unsigned char)s[w->len]))
			return w;
	}
	return NULL;
}

static void put(FILE **out, char **buf, size_t *len, const char *text, const char *at,
		const char *placeholder)
{
	if (!*out) {
		*out = open_memstream(buf, len);
		if (*out)
			fwrite(text, 1, (size_t)(at - text), *out);
	}
	if (*out)
		fputs(placeholder, *out);
}

char *redact_text(struct redactor *r, const char *text)
{
	const char *s = text;
	FILE *out = NULL;
	char *buf = NULL;
	size_t size;

	while (*s) {
		const struct secret *found = NULL;
		enum redact_kind kind = REDACT_N;
		size_t len = 0;

		if (begins(text, s)) {
			found = name_at(r, s);
			len = found ? found->len : 0;
			if (!found && (isalnum((unsigned char)*s) || *s == '/' || *s == ':'))
				len = redact_find(s, &kind);
			if (kind == REDACT_MAC && s > text && s[-1] == ':')
				len = 0;	/* the rest of something longer */
			if (!found && len && kind < REDACT_N)
				found = secret_of(r, kind, s, len);
		}
		if (found) {
			put(&out, &buf, &size, text, s, found->placeholder);
			s += len;
			continue;
		}
		/* a usual path may still have a name in it: it is gone through byte by byte */
		if (out)
			fputc(*s, out);
		s++;
	}
	if (!out)
		return NULL;
	fclose(out);
	return buf;
}

/* The ending stays: it tells what kind of file it was. */
static size_t stem_of(const char *part, size_t len)
{
	size_t i = len, stem = len;

	while (i-- > 1)
		if (part[i] == '.' && redact_usual(part + i + 1, len - i - 1))
			stem = i;
		else if (part[i] == '.')
			break;
	return stem;
}

char *redact_member(struct redactor *r, const char *path)
{
	char *buf = NULL;
	size_t size;
	FILE *out = open_memstream(&buf, &size);

	if (!out)
		return NULL;
	while (*path) {
		size_t len = strcspn(path, "/:"), stem = stem_of(path, len);

		if (redact_usual(path, len)) {
			fwrite(path, 1, len, out);
		} else {
			_cleanup_free_ char *name = xstrndup(path, stem);
			const struct secret *known = name_at(r, name), *s;

			if (known && known->len < stem)
				known = NULL;
			s = known ? known : secret_of(r, REDACT_FILE, path, stem);
			fprintf(out, "%s%.*s", s ? s->placeholder : "", (int)(len - stem), path + stem);
			if (!known)
				redactor_name(r, REDACT_FILE, name);
		}
		path += len;
		if (*path)
			fputc(*path++, out);
	}
	fclose(out);
	return buf;
}

static void sql_redact(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = sqlite3_value_type(argv[0]) == SQLITE_TEXT
				   ? (const char *)sqlite3_value_text(argv[0])
				   : NULL;
	char *(*rewrite)(struct redactor *, const char *) = argc == 2 ? redact_member : redact_text;
	char *s = text ? rewrite(sqlite3_user_data(ctx), text) : NULL;

	if (s)
		sqlite3_result_text(ctx, s, -1, free);
	else
		sqlite3_result_value(ctx, argv[0]);
}

struct named {
	struct redactor	*r;
	enum redact_kind kind;
};

static void sql_name(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct redactor *r = sqlite3_user_data(ctx);

	(void)argc;
	redactor_name(r, (enum redact_kind)sqlite3_value_int(argv[0]),
		      (const char *)sqlite3_value_text(argv[1]));
}

/* The host of a syslog line, "Jan  4 09:31:22 HOST ..." or "2024-01-04T09:31:22+01:00 HOST ...". */
static void sql_log_host(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *s = (const char *)sqlite3_value_text(argv[0]), *p = s;
	_cleanup_free_ char *host = NULL;

	(void)argc;
	if (!s)
		return;
	if (isalpha((unsigned char)*p) && strspn(p, "JFMASONDabceglnoprtuvy") == 3 && p[3] == ' ') {
		p += 3 + strspn(p + 3, " ");
		p += strspn(p, "0123456789");
		p += strspn(p, " ");
		if (strspn(p, "0123456789") != 2 || p[2] != ':')
			return;
	} else if (strspn(p, "0123456789") != 4 || p[4] != '-' || !memchr(p, 'T', strcspn(p, " "))) {
		return;
	}
	p += strcspn(p, " ");
	p += strspn(p, " ");
	host = xstrndup(p, strcspn(p, " :["));
	redactor_name(sqlite3_user_data(ctx), REDACT_HOST, host);
}

static void sql_home(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *s = (const char *)sqlite3_value_text(argv[0]);

	(void)argc;
	for (; s && (s = strstr(s, "/home/")); s += 6) {
		_cleanup_free_ char *user = xstrndup(s + 6, strcspn(s + 6, "/ \"':,"));

		redactor_name(sqlite3_user_data(ctx), REDACT_USER, user);
	}
}

/* The host's name in the kernel's parameter ip=CLIENT:SERVER:GATEWAY:NETMASK:HOST:DEVICE:... */
static void sql_boot_host(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *s = (const char *)sqlite3_value_text(argv[0]);

	(void)argc;
	for (; s && (s = strstr(s, "ip=")); s += 3) {
		const char *p = s, *end = s + strcspn(s, " \"\n");
		_cleanup_free_ char *host = NULL;
		int colons = 0;

		while (p < end && colons < 4)	/* an IPv6 address stands in brackets */
			if (*p == '[')
				p += strcspn(p, "] \"\n");
			else
				colons += *p++ == ':';
		if (colons < 4)
			continue;
		host = xstrndup(p, MIN((size_t)(end - p), strcspn(p, ":")));
		redactor_name(sqlite3_user_data(ctx), REDACT_HOST, host);
	}
}

/*
 * Where a case knows names: SQL that calls secret(kind, name), log_host(text), home(text),
 * boot_host(text).
 */
static const char *const sources_of_names[] = {
	"SELECT secret(0, host) FROM source",
	"SELECT secret(0, value) FROM fact WHERE key = 'host.name' OR key GLOB '*.hostname'",
	/* a full name's first label stands alone in logs */
	"SELECT secret(0, substr(value, 1, instr(value, '.') - 1)) FROM fact WHERE key = 'host.name' AND instr(value, '.') > 1",
	"SELECT boot_host(value) FROM fact WHERE key GLOB '*.cmdline' OR key GLOB 'cmdline.*'", "SELECT boot_host(text) FROM cite",
	"SELECT log_host(text) FROM cite",
	"SELECT log_host(text) FROM log_line",
	"SELECT secret(0, substr(text, 6, instr(substr(text, 6), ' ') - 1)) FROM cite WHERE text LIKE 'PING %'",
	"SELECT secret(0, substr(t, 1, instr(t, ' ') - 1)) FROM (SELECT substr(text, instr(text, ' bytes from ') + 12) AS t FROM cite "
	"WHERE text LIKE '% bytes from % (%') WHERE instr(t, ' ') > 1",
	"SELECT home(path) FROM member", "SELECT home(text) FROM cite", "SELECT home(value) FROM fact",
	"SELECT secret(1, value) FROM fact WHERE key GLOB '*.runas' OR key GLOB '*.user'",
	"SELECT secret(2, value) FROM fact WHERE key GLOB 'pve.*.name' OR key GLOB 'qemu.*.name' OR key GLOB 'domain.*.name'",
	"SELECT secret(2, name) FROM vm WHERE name NOT GLOB 'qemu*' AND name NOT GLOB 'kvm*' AND name NOT GLOB 'CPU *' AND "
	"name NOT IN ('VM', 'firecracker', 'cloud-hyperviso', 'cloud-hypervisor', 'crosvm', 'lkvm', 'vmm', 'java') AND name NOT GLOB 'fc_vcpu*' "
	"AND name NOT IN (SELECT comm FROM task WHERE role <> 'vcpu' AND comm IS NOT NULL)",
};

/* Facts are called by the VM that they are about: PREFIX.NAME.SUFFIX with one of these endings. */
static const char *const vm_keys[][2] = {
	{ "domain.", ".vcpus" }, { "domain.", ".memory_kb" }, { "domain.", ".uuid" }, { "domain.", ".os.machine" },
	{ "domain.", ".state" }, { "domain.", ".pid" }, { "domain.", ".cpu.mode" }, { "domain.", ".emulator" },
	{ "domain.", ".cputune.quota_us" }, { "domain.", ".os.arch" },
	{ "qemu.", ".vcpus" }, { "qemu.", ".machine" }, { "qemu.", ".accel" }, { "qemu.", ".memory_mb" },
	{ "qemu.", ".smp" }, { "qemu.", ".cpu" }, { "qemu.", ".version" }, { "qemu.", ".pid" },
};

static struct error *run_sql(struct case_db *db, const char *sql)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(db, &st, sql, ""));
	while (case_step(db, st, &err))
		;
	case_done(st);
	return err;
}

static struct error *collect(struct case_db *db)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sources_of_names); i++)
		TRY(run_sql(db, sources_of_names[i]));
	for (i = 0; i < ARRAY_SIZE(vm_keys); i++) {
		_cleanup_free_ char *sql = xasprintf(
			"SELECT secret(2, substr(key, %zu, length(key) - %zu)) FROM fact WHERE key "
			"GLOB '%s?*%s'",
			strlen(vm_keys[i][0]) + 1, strlen(vm_keys[i][0]) + strlen(vm_keys[i][1]),
			vm_keys[i][0], vm_keys[i][1]);

		TRY(run_sql(db, sql));
	}
	return NULL;
}

/* Texts of the catalogue, and paths, which have rules of their own. */
static bool kept(const char *table, const char *column)
{
	static const char *const columns[][2] = {
		{ "member", "path" }, { "source", "path" }, { "verdict", "title" }, { "verdict", "mechanism" },
		{ "verdict", "workaround" }, { "verdict", "fixed_by" }, { "verdict", "signature" }, { "verdict", "introduced_by" },
		{ "verdict", "lookalikes" }, { "evidence", "item" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(columns[i][0], table) && !strcmp(columns[i][1], column))
			return true;
	return false;
}

static struct error *rewrite_all(struct case_db *db)
{
	char *all = NULL;
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(run_sql(db, "UPDATE member SET path = redact(path, 1)"));
	TRY(run_sql(db, "UPDATE source SET path = redact(path, 1)"));
	TRY(case_query(db, &st, "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "
		       "AND c.type = 'TEXT' ORDER BY m.name, c.cid", ""));
	while (case_step(db, st, &err)) {
		const char *table = (const char *)sqlite3_column_text(st, 0),
			   *column = (const char *)sqlite3_column_text(st, 1);
		char *more;

		if (kept(table, column))
			continue;
		more = xasprintf("%sUPDATE \"%s\" SET \"%s\" = redact(\"%s\");", all ? all : "", table, column, column);
		free(all);
		all = more;
	}
	case_done(st);
	if (!err && sqlite3_exec(db->db, all ? all : "", NULL, NULL, NULL) != SQLITE_OK)
		err = error_new(ERR_INTERNAL, "redacting: %s", sqlite3_errmsg(db->db));
	free(all);
	return err;
}

static struct error *write_map(const struct redactor *r, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	size_t i;

	if (!f)
		return error_io("%s", path);
	for (i = 0; i < r->n; i++)
		fprintf(f, "%s\t%s\n", r->s[i].placeholder, r->s[i].name);
	return fclose(f) ? error_io("%s", path) : NULL;
}

static void add_functions(sqlite3 *db, struct redactor *r)
{
	sqlite3_create_function(db, "redact", 1, SQLITE_UTF8, r, sql_redact, NULL, NULL);
	sqlite3_create_function(db, "redact", 2, SQLITE_UTF8, r, sql_redact, NULL, NULL);
	sqlite3_create_function(db, "secret", 2, SQLITE_UTF8, r, sql_name, NULL, NULL);
	sqlite3_create_function(db, "log_host", 1, SQLITE_UTF8, r, sql_log_host, NULL, NULL);
	sqlite3_create_function(db, "home", 1, SQLITE_UTF8, r, sql_home, NULL, NULL);
	sqlite3_create_function(db, "boot_host", 1, SQLITE_UTF8, r, sql_boot_host, NULL, NULL);
}

static void drop_functions(sqlite3 *db)
{
	static const struct {
		const char	*name;
		int		args;
	} fns[] = { { "redact", 1 }, { "redact", 2 }, { "secret", 2 }, { "log_host", 1 }, { "home", 1 }, { "boot_host", 1 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fns); i++)
		sqlite3_create_function(db, fns[i].name, fns[i].args, SQLITE_UTF8, NULL, NULL, NULL,
					NULL);
}

struct error *case_redact(struct case_db **db, const struct options *opt)
{
	struct redactor *r;
	struct error *err = NULL;

	if (!opt->redact && !opt->redact_map)
		return NULL;
	if (sqlite3_db_readonly((*db)->db, "main") == 1) {
		struct case_db *copy;

		TRY(case_clone(&copy, *db));
		case_close(*db);
		*db = copy;
	}
	r = redactor_create();
	add_functions((*db)->db, r);
	err = collect(*db);
	if (!err)
		err = rewrite_all(*db);
	drop_functions((*db)->db);
	/* what stood there before must not be left in unused pages of a file that is kept */
	if (!err)
		err = case_compact(*db);
	if (!err && opt->redact_map)
		err = write_map(r, opt->redact_map);
	redactor_free(r);
	return err;
}
