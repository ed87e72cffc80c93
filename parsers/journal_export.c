// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * journal_export.c - `journalctl -o export` (systemd's JOURNAL_EXPORT_FORMATS): an entry is a block
 * of fields, a blank line ends it.
 *
 *   __REALTIME_TIMESTAMP=1796061740000000
 *   _BOOT_ID=2a8f...
 *   MESSAGE=watchdog: BUG: soft lockup - CPU#1 stuck for 45s! [qemu-system-x86:176]
 *
 * A value that holds a control character (a message of several lines, say) stands behind its name's
 * own line as eight bytes of length, little-endian, as many bytes, and a newline. What an entry
 * means, dmesg.c says.
 */
#include "dmesg_log.h"

#define NAME_MAX_LEN	64

struct export {
	const char	*p, *end;
	uint64_t	line;		/* of p, from 1 */
	uint64_t	entries, damaged;
};

static bool is_name(const char *s, size_t len)
{
	size_t i;

	if (!len || len > NAME_MAX_LEN || is_digit(*s))
		return false;
	for (i = 0; i < len; i++)
		if (!(s[i] >= 'A' && s[i] <= 'Z') && !is_digit(s[i]) && s[i] != '_')
			return false;
	return true;
}

static void advance(struct export *x, const char *to)
{
	const char *nl;

	while (x->p < to && (nl = memchr(x->p, '\n', (size_t)(to - x->p)))) {
		x->line++;
		x->p = nl + 1;
	}
	x->p = to;
}

/* Behind damage: to where the next entry certainly begins. */
static void resync(struct export *x)
{
	static const char begin[] = "\n\n__CURSOR=";
	const char *at = memmem(x->p, (size_t)(x->end - x->p), begin, strlen(begin));

	x->damaged++;
	advance(x, at ? at + 2 : x->end);
}

/* Name and value of the field at the cursor, which moves behind it; false when it is damaged. */
static bool read_field(struct export *x, struct scan *name, struct scan *value, uint64_t *no)
{
	const char *nl = memchr(x->p, '\n', (size_t)(x->end - x->p)), *eq;
	const char *eol = nl ? nl : x->end, *v;
	uint64_t len = 0;
	size_t i;

	*no = x->line;
	eq = memchr(x->p, '=', (size_t)(eol - x->p));
	*name = scan_mem(x->p, (size_t)((eq ? eq : eol) - x->p));
	if (!is_name(name->p, scan_left(name)))
		return false;
	if (eq) {
		*value = scan_mem(eq + 1, (size_t)(eol - eq - 1));
		advance(x, nl ? nl + 1 : x->end);
		return true;
	}
	v = eol + 1;
	if (!nl || x->end - v < 8)
		return false;
	for (i = 0; i < 8; i++)
		len |= (uint64_t)(uint8_t)v[i] << (8 * i);
	v += 8;
	if (len > (uint64_t)(x->end - v) || (len < (uint64_t)(x->end - v) && v[len] != '\n'))
		return false;
	*value = scan_mem(v, (size_t)len);
	advance(x, MIN(v + len + 1, x->end));
	return true;
}

/* The fields up to the next blank line. */
static void read_entry(struct parse_ctx *ctx, struct export *x, struct dmesg_state *st)
{
	struct journal_entry e;
	struct scan name, value;
	uint64_t no, message_no = x->line;

	journal_begin(&e);
	while (x->p < x->end && *x->p != '\n') {
		if (!read_field(x, &name, &value, &no)) {
			resync(x);
			free(e.message);
			return;
		}
		if (span_is(name.p, scan_left(&name), "MESSAGE"))
			message_no = no;
		journal_field(&e, name.p, scan_left(&name), value.p, scan_left(&value));
	}
	if (x->p < x->end)
		advance(x, x->p + 1);
	if (journal_finish(&e)) {
		x->entries++;
		dmesg_log_entry(ctx, st, &e, message_no);
	}
	free(e.message);
}

static struct error *export_parse(struct parse_ctx *ctx)
{
	struct export x = { .p = (const char *)ctx->m->data, .line = 1 };
	struct dmesg_state *st = dmesg_log_begin(ctx);

	x.end = x.p + ctx->m->size;
	while (x.p < x.end) {
		if (*x.p == '\n')
			advance(&x, x.p + 1);
		else
			read_entry(ctx, &x, st);
	}
	if (x.damaged)
		parse_remark(ctx, true, "journal export: %" PRIu64 " places are cut or damaged; %" PRIu64 " entries were read",
			     x.damaged, x.entries);
	return dmesg_log_end(ctx, st);
}

/* The journal's own fields are among the first of each entry. */
static int export_sniff(const struct sniff *s)
{
	static const char *const own[] = { "__CURSOR=", "__REALTIME_TIMESTAMP=", "__MONOTONIC_TIMESTAMP=", "_BOOT_ID=" };
	struct export x = { .p = (const char *)s->head, .line = 1 };
	struct scan name, value;
	unsigned int n = 0, found = 0;
	uint64_t no;
	size_t i;

	x.end = x.p + s->len;
	while (x.p < x.end && n++ < 200) {
		const char *at = x.p;

		if (*x.p == '\n') {
			x.p++;
			continue;
		}
		if (!read_field(&x, &name, &value, &no))
			break;
		for (i = 0; i < ARRAY_SIZE(own); i++)
			found += starts_with(at, (size_t)(x.end - at), own[i]);
	}
	return found >= 2 ? 90 : 0;
}

static const struct parser journal_export = {
	.name		= "journal export",
	.kind		= PARSER_BINARY,
	.sniff		= export_sniff,
	.parse		= export_parse,
};
REGISTER(parsers, &journal_export);
