// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * recognise.c - which parser a member is for, and its way through it; see parser.h and textfeed.h.
 */
#include <ctype.h>

#include "symbols.h"
#include "textfeed.h"
#include "unquote.h"

#define HEAD_MAX	(64 * 1024)
#define UTF16_MAX	(64u << 20)

/* Forms that are known and not read: the message says what to send instead. */
static const struct unread_form {
	const char	*magic;
	uint16_t	off;
	uint8_t		len;
	const char	*format, *message;
} unread_forms[] = {
	{ "SQLite format 3", 0, 16, "case file", "a saved case file is read only when it is the only input" },
	{ "\x7f" "ELF", 0, 4, "ELF", "a program or core file: nothing in it is read" },
	{ "KDUMP   ", 0, 8, "kdump", "a kernel dump is not read: send its dmesg (vmcore-dmesg.txt)" },
	{ "\x0a\x0d\x0d\x0a", 0, 4, "pcapng", "a packet capture is not read" },
	{ "\xd4\xc3\xb2\xa1", 0, 4, "pcap", "a packet capture is not read" },
	{ "LPKSHHRH", 0, 8, "journal", "a binary journal is not read: send `journalctl -k` text" },
};

const struct parser *recognise(const char *name, const uint8_t *data, uint64_t size)
{
	struct sniff s = {
		.name = name, .head = data, .len = MIN(size, (uint64_t)HEAD_MAX), .size = size
	};
	const struct parser *best = NULL;
	const struct parser *const *it;
	int best_score = 0;

	if (s.len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) {	/* a byte order mark is no content */
		s.head += 3;
		s.len -= 3;
	}
	SET_FOREACH(parsers, it) {
		int score = (*it)->sniff ? (*it)->sniff(&s) : 0;

		if (score > best_score ||
		    (score && score == best_score && strcmp((*it)->name, best->name) < 0)) {
			best = *it;
			best_score = score;
		}
	}
	return best;
}

struct error *parser_run(struct parse_ctx *ctx, const struct parser *p)
{
	ctx->parser = p;
	return p->kind == PARSER_LINES ? textfeed_whole(ctx, p) : p->parse(ctx);
}

/* Mostly printable: at most one byte in 32 is a control character that text does not have. */
static bool is_text(const uint8_t *p, uint64_t size)
{
	size_t len = MIN(size, (uint64_t)HEAD_MAX), odd = 0, i;

	for (i = 0; i < len; i++)
		odd += p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t' &&
		       p[i] != 0x1b && p[i] != '\f';
	return odd * 32 <= len;
}

static const struct unread_form *find_unread(const struct member *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unread_forms); i++) {
		const struct unread_form *u = &unread_forms[i];

		if (m->size >= (uint64_t)u->off + u->len &&
		    !memcmp(m->data + u->off, u->magic, u->len))
			return u;
	}
	return NULL;
}

/* Counters that are taken again and again, under a number: kvm_stat-1.txt, vmstat.2. */
static bool numbered_counters(const char *base, size_t len)
{
	static const char *const stems[] = { "kvm_stat", "kvmstat", "kvm-stat", "vmstat", "meminfo", "interrupts",
					     "softirqs", "schedstat", "cpu.stat" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stems); i++)
		if (strlen(stems[i]) == len && !strncasecmp(stems[i], base, len))
			return true;
	return false;
}

/*
 * A label out of the file's name: "vmstat-before.txt", "kvm_stat-1.txt", "cgroup-after2.txt", "ksm_mid", "interrupts.1". NULL where
 * there is none. @buf holds it.
 */
static const char *snapshot_of(const char *name, char buf[24])
{
	static const char *const words[] = { "before", "after", "mid", "start", "end", "pre", "post", "begin", "during", "t" };
	const char *base = strrchr(name, '/'), *dot, *p;
	size_t len, i, digits;

	base = base ? base + 1 : name;
	len = strlen(base);
	dot = strrchr(base, '.');
	if (dot && dot != base) {
		for (digits = 0; dot[1 + digits] >= '0' && dot[1 + digits] <= '9'; )
			digits++;
		if (digits && digits < 4 && !dot[1 + digits]) {
			snprintf(buf, 24, "%s", dot + 1);
			return buf;
		}
		if (strlen(dot) <= 5)
			len = (size_t)(dot - base);
	}
	for (p = base + len; p > base && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	digits = (size_t)(base + len - p);
	if (digits && digits < 4 && p - base > 1 && strchr("-_.", p[-1]) &&
	    numbered_counters(base, (size_t)(p - 1 - base))) {
		snprintf(buf, 24, "%.*s", (int)digits, p);
		return buf;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(p - base) > n + 1 && !strncasecmp(p - n, words[i], n) && strchr("-_.", p[-(long)n - 1]) &&
		    digits < 6 && (digits || n > 1)) {
			snprintf(buf, 24, "%.*s", (int)(n + digits), p - n);
			for (p = buf; *p; p++)
				buf[p - buf] = (char)tolower((unsigned char)*p);
			return buf;
		}
	}
	return NULL;
}

/*
 * Only a path component that says nothing else: guest/, guest-logs/, vm-101/, host/, hypervisor/.
 */
static const char *side_of(const char *name)
{
	static const struct { const char *word, *side; } words[] = {
		{ "guest", "guest" }, { "guests", "guest" }, { "guest-logs", "guest" }, { "in-guest", "guest" },
		{ "from-guest", "guest" }, { "host", "host" }, { "host-logs", "host" }, { "hypervisor", "host" },
	};
	const char *p = name;
	size_t i;

	while (*p) {
		size_t len = strcspn(p, "/");

		/* "guest-dmesg.txt": a file name that begins so is as clear as a directory. */
		for (i = 0; i < ARRAY_SIZE(words); i++) {
			size_t n = strlen(words[i].word);

			if (len >= n && !strncasecmp(p, words[i].word, n) &&
			    (len == n || (!p[len] && (p[n] == '-' || p[n] == '_' || p[n] == '.'))))
				return words[i].side;
		}
		p += len;
		p += *p == '/';
	}
	return "unknown";
}

static char *join_messages(const struct strtab *t)
{
	size_t len = 1, i, o = 0;
	char *out;

	if (!t->n)
		return NULL;
	for (i = 0; i < t->n; i++)
		len += t->lens[i] + 2;
	out = xmalloc(len);
	for (i = 0; i < t->n; i++) {
		if (i) {
			memcpy(out + o, "; ", 2);
			o += 2;
		}
		memcpy(out + o, t->strings[i], t->lens[i]);
		o += t->lens[i];
	}
	out[o] = '\0';
	return out;
}

static struct error *set_status(struct parse_ctx *ctx, const char *format, const char *status,
				struct error *err)
{
	_cleanup_free_ char *msg = join_messages(ctx->messages);

	if (err && err->code == ERR_INTERNAL)
		return err;
	if (err) {
		char *both = xasprintf("%s%s%s", err->what, msg ? "; " : "", msg ? msg : "");

		free(msg);
		msg = both;
		error_free(err);
		status = "failed";
	}
	return member_status(ctx->db, ctx->m, format, status, msg);
}

static struct error *feed_mixed(struct parse_ctx *ctx)
{
	uint64_t taken = 0;
	struct error *err = textfeed_mixed(ctx, &taken);

	if (!err && !taken) {
		parse_remark(ctx, false, "text, but nothing in it is known evidence");
		return set_status(ctx, "text", "ignored", NULL);
	}
	return set_status(ctx, "mixed text", ctx->partly ? "partly" : "read", err);
}

static struct error *analyze_as(struct parse_ctx *ctx, const struct parser *p)
{
	struct error *err = parser_run(ctx, p);

	return set_status(ctx, p->name, ctx->partly ? "partly" : ctx->ignored ? "ignored" : "read", err);
}

static struct error *analyze_bytes(struct parse_ctx *ctx)
{
	const struct member *m = ctx->m;
	const struct parser *p = recognise(m->name, m->data, m->size);
	const struct unread_form *unread;

	if (p && !(p->kind == PARSER_LINES && p->embed && looks_like_mail(m->data, m->size)))
		return analyze_as(ctx, p);
	unread = find_unread(m);
	if (unread && !strcmp(unread->format, "ELF") &&
	    symbols_add_elf(ctx->db, m->name, m->data, m->size)) {
		parse_remark(ctx, false, "a program or library: for the names of addresses");
		return set_status(ctx, unread->format, "ignored", NULL);
	}
	if (unread) {
		parse_remark(ctx, false, "%s", unread->message);
		return set_status(ctx, unread->format, "ignored", NULL);
	}
	if (p || is_text(m->data, m->size))
		return feed_mixed(ctx);
	parse_remark(ctx, false, "not a known format");
	return set_status(ctx, NULL, "ignored", NULL);
}

struct error *analyze_member(struct parse_ctx *proto, struct member *m)
{
	_cleanup_free_ char *utf8 = NULL;
	struct parse_ctx ctx = *proto;
	struct member converted = *m;
	struct strtab messages;
	char label[24];
	struct error *err;
	uint64_t len;

	strtab_init(&messages, 256);
	ctx.messages = &messages;
	ctx.m = m;
	ctx.partly = ctx.ignored = false;
	ctx.side = side_of(m->name);
	ctx.snapshot = snapshot_of(m->name, label);
	if (m->size <= UTF16_MAX && (utf8 = utf16_to_utf8(m->data, m->size, &len))) {
		converted.data = (const uint8_t *)utf8;
		converted.size = len;
		ctx.m = &converted;
	}
	err = analyze_bytes(&ctx);
	strtab_deinit(&messages);
	return err;
}

struct error *analyze_tree(struct parse_ctx *proto, const struct tree *t, struct member *head)
{
	struct parse_ctx ctx = *proto;
	struct strtab messages;
	char label[24];
	struct error *err;

	strtab_init(&messages, 256);
	ctx.messages = &messages;
	ctx.m = head;
	ctx.tree = t;
	ctx.partly = ctx.ignored = false;
	ctx.side = side_of(head->name);
	ctx.snapshot = snapshot_of(head->name, label);
	err = analyze_as(&ctx, proto->parser);
	strtab_deinit(&messages);
	return err;
}
