// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qemu_cmdline.c - QEMU command lines: in ps output, libvirt's /var/log/libvirt/qemu/NAME.log (one
 * option a line with "\" at its end, or all in one), Proxmox VE's `qm showcmd [--pretty]`, scripts,
 * /proc/PID/cmdline. Facts (option, and what of it is taken apart):
 *
 *   qemu.NAME.smp, .vcpus, .maxcpus	-smp 4,sockets=1 ...
 *   qemu.NAME.machine, .accel		-machine, -M; accel= there, -accel, -enable-kvm
 *   qemu.NAME.cpu, .cpu.model, .cpu.hyperv	-cpu; its hv-* (hv_*) flags, blank separated
 *   qemu.NAME.memory, .memory_mb	-m 4096, -m size=4194304k
 *   qemu.NAME.iothreads, .vfio_devices	numbers of -object iothread, -device vfio-*
 *   qemu.NAME.memory_backend		each -object memory-backend-*
 *   qemu.NAME.throttle			each -object throttle-group, and -drive with I/O limits
 *   qemu.NAME.overcommit, .rtc, .global, .numa, .incoming, .mem_path, .icount ...
 *   qemu.NAME.pid			out of ps output with its heading
 *   qemu.NAME.version, libvirt.version	"starting up libvirt version: 8.0.0, ... qemu version: 6.2.0"
 *   qemu.version			"QEMU emulator version 7.2.0", `pve-qemu-kvm: 8.1.2-4`
 *
 * NAME is -name's guest=, else "vmID" of -id, else "unnamed".
 */
#include "fact_out.h"

#define CMD_MAX		(256u << 10)
#define MAX_WORDS	4096
#define MAX_LINES	2048

/* Options whose value is a fact as it stands. */
static const struct { const char *option, *key; } plain[] = {
	{ "smp", "smp" }, { "machine", "machine" }, { "M", "machine" }, { "cpu", "cpu" }, { "m", "memory" },
	{ "accel", "accel" }, { "overcommit", "overcommit" }, { "realtime", "realtime" }, { "rtc", "rtc" }, { "global", "global" },
	{ "numa", "numa" }, { "incoming", "incoming" }, { "mem-path", "mem_path" }, { "icount", "icount" }, { "bios", "bios" },
	{ "watchdog", "watchdog" },
};

static const struct { const char *option, *key; } flags[] = {
	{ "enable-kvm", "accel" }, { "no-hpet", "no_hpet" }, { "mem-prealloc", "mem_prealloc" }, { "no-acpi", "no_acpi" },
	{ "S", "stopped_at_start" },
};

struct cmd_line { size_t off; uint64_t no; };

struct qemu_state {
	struct fact_out	out;
	char		*text;		/* command line from the emulator on, lines joined */
	size_t		len, cap;
	struct cmd_line	lines[MAX_LINES];
	size_t		n_lines;
	bool		open;		/* the last line ended with a backslash */
	int64_t		pid;
	int		pid_column;	/* of ps's heading, from 0; -1: no heading seen */
	char		version[64];	/* of the log line before the command */
	struct line	version_line;
	char		*version_text;
	char		name[65];
};

/* The last component of the word at @c, if it is QEMU; the cursor is moved behind the word. */
static bool is_emulator(struct scan word)
{
	const char *base = memrchr(word.p, '/', scan_left(&word));
	struct scan c = word;

	if (base)
		c.p = base + 1;
	if (scan_lit(&c, "qemu-system-")) {
		if (scan_at_end(&c))
			return false;
		while (c.p < c.end && is_word(*c.p))
			c.p++;
		return scan_at_end(&c);
	}
	return span_is(c.p, scan_left(&c), "qemu-kvm") || (base && span_is(c.p, scan_left(&c), "kvm")) ||
	       (!base && span_is(c.p, scan_left(&c), "kvm"));
}

static bool word_end(char ch)
{
	return is_blank(ch) || !ch;
}

static struct scan next_word(struct scan *c)
{
	struct scan w;

	while (c->p < c->end && word_end(*c->p))
		c->p++;
	w.p = c->p;
	while (c->p < c->end && !word_end(*c->p))
		c->p++;
	w.end = c->p;
	return w;
}

/* Does an option that QEMU has stand in @c? In prose one is needed. */
static bool has_option(struct scan c)
{
	static const char *const options[] = {
		"-name", "-machine", "-M", "-smp", "-m", "-cpu", "-accel", "-enable-kvm", "-id", "-drive", "-device", "-kernel",
		"-nodefaults", "-nographic", "-S",
	};
	struct scan w;
	size_t i;

	for (w = next_word(&c); scan_left(&w); w = next_word(&c))
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (span_is(w.p, scan_left(&w), options[i]))
				return true;
	return false;
}

/*
 * Where in the line the emulator stands with options behind it, or alone before a backslash. @pid
 * gets the word of ps's column.
 */
static const char *find_emulator(const struct qemu_state *st, struct scan c, bool continues,
				 int64_t *pid)
{
	struct scan all = c, w, rest;
	int column;

	*pid = -1;
	if (!scan_find(&c, "qemu-") && !scan_find(&c, "kvm"))
		return NULL;
	for (column = 0; column < 64; column++) {
		w = next_word(&c);
		if (!scan_left(&w))
			return NULL;
		if (column == st->pid_column) {
			struct scan n = w;

			if (!scan_i64(&n, pid) || !scan_at_end(&n))
				*pid = -1;
		}
		if (w.p > all.p && (*w.p == '"' || *w.p == '\''))
			w.p++;
		if (!is_emulator(w))
			continue;
		rest = c;
		scan_blanks(&rest);
		while (rest.p < rest.end && !*rest.p)
			rest.p++;
		if (scan_at_end(&rest) ? continues
				       : *rest.p == '-' && (continues || has_option(rest)))
			return w.p;
	}
	return NULL;
}

static void ps_heading(struct qemu_state *st, struct scan c)
{
	struct scan w;
	int column = 0, pid = -1;
	bool command = false;

	for (w = next_word(&c); scan_left(&w) && column < 40; w = next_word(&c), column++) {
		if (span_is(w.p, scan_left(&w), "PID"))
			pid = column;
		command |= span_is(w.p, scan_left(&w), "COMMAND") || span_is(w.p, scan_left(&w), "CMD") ||
			   span_is(w.p, scan_left(&w), "ARGS");
	}
	if (pid >= 0 && command)
		st->pid_column = pid;
}

/* ---- a whole command line ---- */

/* The option's words, freed of the shell's quotes, in place. False at the end. */
static bool shell_word(char *text, size_t len, size_t *at, size_t *from, size_t *to)
{
	size_t r = *at, w;
	char quote = 0;

	while (r < len && (word_end(text[r]) || text[r] == '\n'))
		r++;
	if (r >= len)
		return false;
	*from = w = r;
	for (; r < len && (quote || !(word_end(text[r]) || text[r] == '\n')); r++) {
		if (quote ? text[r] == quote : text[r] == '\'' || text[r] == '"') {
			quote = quote ? 0 : text[r];
			continue;
		}
		if (text[r] == '\\' && quote != '\'' && r + 1 < len && text[r + 1] != '\n')
			r++;
		text[w++] = text[r];
	}
	*to = w;
	*at = r;
	return true;
}

static void put(struct parse_ctx *ctx, struct qemu_state *st, const char *key, const char *s,
		size_t len)
{
	_cleanup_free_ char *name = xasprintf("qemu.%s.%s", st->name, key);
	size_t off = s >= st->text && s < st->text + st->len ? (size_t)(s - st->text) : 0, i;
	struct line ln = { .s = s, .len = len };

	for (i = 0; i + 1 < st->n_lines && st->lines[i + 1].off <= off; i++)
		;
	ln.no = st->lines[i].no;
	fact_put(ctx, &st->out, name, s, len, ctx_cite(ctx, &ln, CASE_NO_TIME));
}

static void put_num(struct parse_ctx *ctx, struct qemu_state *st, const char *key, uint64_t v,
		    struct scan cite)
{
	_cleanup_free_ char *name = xasprintf("qemu.%s.%s", st->name, key);
	size_t off = cite.p >= st->text ? (size_t)(cite.p - st->text) : 0, i;
	struct line ln = { .s = cite.p, .len = scan_left(&cite) };
	char buf[24];

	for (i = 0; i + 1 < st->n_lines && st->lines[i + 1].off <= off; i++)
		;
	ln.no = st->lines[i].no;
	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	fact_put(ctx, &st->out, name, buf, strlen(buf), ctx_cite(ctx, &ln, CASE_NO_TIME));
}

/* Value of `key=` among the comma separated parts; of the first part where @key is NULL and it has no "=". */
static bool part_of(struct scan v, const char *key, struct scan *ret)
{
	size_t n = key ? strlen(key) : 0;
	bool first = true;

	while (!scan_at_end(&v)) {
		const char *comma = memchr(v.p, ',', scan_left(&v)), *end = comma ? comma : v.end;

		if (key ? (size_t)(end - v.p) > n && !memcmp(v.p, key, n) && v.p[n] == '=' :
			  first && !memchr(v.p, '=', (size_t)(end - v.p))) {
			*ret = scan_mem(v.p + (key ? n + 1 : 0),
					(size_t)(end - v.p) - (key ? n + 1 : 0));
			return true;
		}
		first = false;
		v.p = comma ? comma + 1 : v.end;
	}
	return false;
}

static void take_memory(struct parse_ctx *ctx, struct qemu_state *st, struct scan v)
{
	struct scan n;
	uint64_t size;
	char unit;

	if ((!part_of(v, NULL, &n) && !part_of(v, "size", &n)) || !scan_u64(&n, &size) || size > UINT64_MAX / 1024 / 1024)
		return;
	unit = scan_at_end(&n) ? 'M' : *n.p;
	switch (unit) {
	case 'T': case 't':
		size *= 1024;
		/* fall through */
	case 'G': case 'g':
		size *= 1024;
		/* fall through */
	case 'M': case 'm':
		break;
	case 'K': case 'k':
		size /= 1024;
		break;
	default:
		return;
	}
	put_num(ctx, st, "memory_mb", size, v);
}

static void take_smp(struct parse_ctx *ctx, struct qemu_state *st, struct scan v)
{
	struct scan n;
	uint64_t cpus;

	if ((part_of(v, NULL, &n) || part_of(v, "cpus", &n)) && scan_u64(&n, &cpus))
		put_num(ctx, st, "vcpus", cpus, v);
	if (part_of(v, "maxcpus", &n) && scan_u64(&n, &cpus))
		put_num(ctx, st, "maxcpus", cpus, v);
}

/* -cpu MODEL,flag=on,hv-time,hv_relaxed=on,-x2apic */
static void take_cpu(struct parse_ctx *ctx, struct qemu_state *st, struct scan v)
{
	char hv[512];
	size_t o = 0;
	struct scan model, c = v;

	if (part_of(v, NULL, &model))
		put(ctx, st, "cpu.model", model.p, scan_left(&model));
	while (!scan_at_end(&c)) {
		const char *comma = memchr(c.p, ',', scan_left(&c)), *end = comma ? comma : c.end;
		struct scan f = scan_mem(c.p, (size_t)(end - c.p));

		scan_char(&f, '+');
		if ((scan_lit(&f, "hv-") || scan_lit(&f, "hv_")) && !memmem(f.p, scan_left(&f), "=off", 4) &&
		    o + scan_left(&f) + 2 < sizeof(hv)) {
			const char *eq = memchr(f.p, '=', scan_left(&f));
			size_t n = eq ? (size_t)(eq - f.p) : scan_left(&f);

			o += (size_t)snprintf(hv + o, sizeof(hv) - o, "%s%.*s", o ? " " : "", (int)n, f.p);
		}
		c.p = comma ? comma + 1 : c.end;
	}
	if (o) {
		_cleanup_free_ char *key = xasprintf("qemu.%s.cpu.hyperv", st->name);
		struct line ln = { .s = v.p, .len = scan_left(&v), .no = st->lines[0].no };

		fact_put(ctx, &st->out, key, hv, o, ctx_cite(ctx, &ln, CASE_NO_TIME));
	}
}

/* What is counted over the command line. */
struct counts { uint64_t iothreads, vfio; struct scan iothread, vfio_device; };

static void take_option(struct parse_ctx *ctx, struct qemu_state *st, const char *opt,
			struct scan v, struct counts *n)
{
	struct scan part;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(opt, plain[i].option))
			put(ctx, st, plain[i].key, v.p, scan_left(&v));
	if (!strcmp(opt, "smp")) {
		take_smp(ctx, st, v);
	} else if (!strcmp(opt, "m")) {
		take_memory(ctx, st, v);
	} else if (!strcmp(opt, "cpu")) {
		take_cpu(ctx, st, v);
	} else if (!strcmp(opt, "machine") || !strcmp(opt, "M")) {
		if (part_of(v, "accel", &part))
			put(ctx, st, "accel", part.p, scan_left(&part));
		if (part_of(v, "smm", &part))
			put(ctx, st, "smm", part.p, scan_left(&part));
		if (part_of(v, "kernel_irqchip", &part))
			put(ctx, st, "kernel_irqchip", part.p, scan_left(&part));
	} else if (!strcmp(opt, "object")) {
		if (starts_with(v.p, scan_left(&v), "memory-backend-") ||
		    memmem(v.p, scan_left(&v), "\"qom-type\":\"memory-backend-", 27))
			put(ctx, st, "memory_backend", v.p, scan_left(&v));
		if (starts_with(v.p, scan_left(&v), "throttle-group,") ||
		    memmem(v.p, scan_left(&v), "\"qom-type\":\"throttle-group\"", 27))
			put(ctx, st, "throttle", v.p, scan_left(&v));
		if (starts_with(v.p, scan_left(&v), "iothread") || memmem(v.p, scan_left(&v), "\"qom-type\":\"iothread\"", 21)) {
			n->iothreads++;
			n->iothread = v;
		}
	} else if (!strcmp(opt, "drive")) {
		if (memmem(v.p, scan_left(&v), "throttling.", 11) || memmem(v.p, scan_left(&v), ",iops", 5) ||
		    memmem(v.p, scan_left(&v), ",bps", 4))
			put(ctx, st, "throttle", v.p, scan_left(&v));
	} else if (!strcmp(opt, "device")) {
		if (starts_with(v.p, scan_left(&v), "vfio-") || memmem(v.p, scan_left(&v), "\"driver\":\"vfio-", 15)) {
			n->vfio++;
			n->vfio_device = v;
		}
	}
}

struct word { size_t from, to; };

static void find_name(struct qemu_state *st, const struct word *w, size_t n)
{
	struct scan v, part;
	char id[65];
	size_t i;

	snprintf(st->name, sizeof(st->name), "unnamed");
	for (i = 1; i + 1 < n; i++) {
		bool name = span_is(st->text + w[i].from, w[i].to - w[i].from, "-name");

		if (!name && !span_is(st->text + w[i].from, w[i].to - w[i].from, "-id"))
			continue;
		v = scan_mem(st->text + w[i + 1].from, w[i + 1].to - w[i + 1].from);
		if (!name) {
			fact_name(id, v.p, MIN(scan_left(&v), (size_t)60));
			snprintf(st->name, sizeof(st->name), "vm%.60s", id);
		} else if (part_of(v, "guest", &part) || part_of(v, NULL, &part)) {
			fact_name(st->name, part.p, scan_left(&part));
			return;
		}
	}
}

static void put_version(struct parse_ctx *ctx, struct qemu_state *st)
{
	_cleanup_free_ char *key = xasprintf("qemu.%s.version", st->name);

	if (*st->version && st->version_text) {
		st->version_line.s = st->version_text;
		fact_line(ctx, &st->out, &st->version_line, key,
			  scan_mem(st->version, strlen(st->version)));
	}
	*st->version = '\0';
}

static void take_command(struct parse_ctx *ctx, struct qemu_state *st)
{
	struct word w[MAX_WORDS];
	size_t n = 0, at = 0, i;
	struct counts counts = { 0 };
	char opt[24];

	while (n < MAX_WORDS && shell_word(st->text, st->len, &at, &w[n].from, &w[n].to))
		n++;
	if (n < 2)
		return;
	find_name(st, w, n);
	put(ctx, st, "emulator", st->text + w[0].from, w[0].to - w[0].from);
	for (i = 1; i < n; i++) {
		struct scan o = scan_mem(st->text + w[i].from, w[i].to - w[i].from);
		size_t f;

		if (!scan_char(&o, '-'))
			continue;
		scan_char(&o, '-');
		if (scan_left(&o) >= sizeof(opt))
			continue;
		snprintf(opt, sizeof(opt), "%.*s", (int)scan_left(&o), o.p);
		for (f = 0; f < ARRAY_SIZE(flags); f++)
			if (!strcmp(opt, flags[f].option))
				break;
		if (f < ARRAY_SIZE(flags)) {
			_cleanup_free_ char *key = xasprintf("qemu.%s.%s", st->name, flags[f].key);
			const char *value = f ? "yes" : "kvm";
			struct line ln = {
				.s = o.p - 1, .len = scan_left(&o) + 1, .no = st->lines[0].no};

			fact_put(ctx, &st->out, key, value, strlen(value),
				 ctx_cite(ctx, &ln, CASE_NO_TIME));
		} else if (i + 1 < n) {
			take_option(ctx, st, opt,
				    scan_mem(st->text + w[i + 1].from, w[i + 1].to - w[i + 1].from),
				    &counts);
		}
	}
	if (counts.iothreads)
		put_num(ctx, st, "iothreads", counts.iothreads, counts.iothread);
	if (counts.vfio)
		put_num(ctx, st, "vfio_devices", counts.vfio, counts.vfio_device);
	if (st->pid > 0)
		put_num(ctx, st, "pid", (uint64_t)st->pid, scan_mem(st->text + w[0].from, w[0].to - w[0].from));
	put_version(ctx, st);
}

/* ---- lines ---- */

static void add_text(struct qemu_state *st, const char *s, size_t len, uint64_t no)
{
	if (st->len + len + 1 > CMD_MAX || st->n_lines >= MAX_LINES)
		return;
	GROW(st->text, st->cap, st->len + len + 1);
	st->lines[st->n_lines++] = (struct cmd_line){ st->len, no };
	memcpy(st->text + st->len, s, len);
	st->len += len;
	st->text[st->len++] = '\n';
}

/* ..., qemu version: 6.2.0Debian 1:6.2+dfsg-2, kernel: 5.15.0-56-generic, hostname: node1 */
static bool startup_line(struct parse_ctx *ctx, struct qemu_state *st, const struct line *ln)
{
	static const struct { const char *lit, *key; } parts[] = {
		{ "starting up libvirt version: ", "libvirt.version" }, { ", kernel: ", "kernel.release" }, { ", hostname: ", "host.name" },
	};
	struct scan c = scan_line(ln);
	size_t i;

	if (!scan_find(&c, ": starting up libvirt version: "))
		return false;
	for (i = 0; i <= ARRAY_SIZE(parts); i++) {
		struct scan v = scan_line(ln);
		const char *comma;

		if (!scan_to(&v, i < ARRAY_SIZE(parts) ? parts[i].lit : ", qemu version: "))
			continue;
		comma = memchr(v.p, ',', scan_left(&v));
		if (comma)
			v.end = comma;
		scan_trim(&v);
		if (i < ARRAY_SIZE(parts)) {
			fact_line(ctx, &st->out, ln, parts[i].key, v);
			continue;
		}
		snprintf(st->version, sizeof(st->version), "%.*s", (int)MIN(scan_left(&v), (size_t)63), v.p);
		free(st->version_text);
		st->version_text = xstrndup(ln->s, ln->len);
		st->version_line = *ln;
		st->version_line.len = strlen(st->version_text);	/* a NUL ends the copy */
	}
	return true;
}

static bool version_line(struct parse_ctx *ctx, struct qemu_state *st, const struct line *ln)
{
	struct scan c = scan_line(ln), v;

	if (!scan_lit(&c, "QEMU emulator version ") && !scan_lit(&c, "pve-qemu-kvm: "))
		return false;
	v = next_word(&c);
	if (!scan_left(&v) || !is_digit(*v.p))
		return false;
	fact_line(ctx, &st->out, ln, "qemu.version", v);
	return true;
}

static enum line_result qemu_line(struct parse_ctx *ctx, void *state, const struct line *ln)
{
	struct qemu_state *st = state;
	struct scan c = scan_line(ln);
	bool continues;
	const char *at;

	scan_trim(&c);
	continues = c.end > c.p && c.end[-1] == '\\';
	if (continues) {
		c.end--;
		scan_trim(&c);
	}
	if (!st->open) {
		if (startup_line(ctx, st, ln) || version_line(ctx, st, ln))
			return LINE_TAKEN;
		at = find_emulator(st, c, continues, &st->pid);
		if (!at) {
			if (scan_left(&c) < 200 && scan_find(&c, "PID"))
				ps_heading(st, c);
			return LINE_NOT_MINE;
		}
		st->len = st->n_lines = 0;
		c.p = at;
		if (ln->len == 512 || ln->len == 511)	/* cut by top -w512: half a word is wrong */
			while (c.end > c.p && !is_blank(c.end[-1]))
				c.end--;
	}
	add_text(st, c.p, scan_left(&c), ln->no);
	st->open = continues;
	if (!continues && st->n_lines)
		take_command(ctx, st);
	return LINE_TAKEN;
}

static int qemu_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	struct qemu_state st = { .pid_column = -1 };
	size_t len, n = 0;
	int64_t pid;

	while (n++ < 8 && scan_lines(&next, end, &p, &len)) {
		struct scan c = scan_mem(p, len);
		bool continues = len && p[len - 1] == '\\';

		c.end -= continues;
		if (scan_find(&c, ": starting up libvirt version: "))
			return 80;
		if (n == 1 && find_emulator(&st, c, continues, &pid) == p)
			return 80;
	}
	return 0;
}

static struct error *qemu_begin(struct parse_ctx *ctx, void **state)
{
	struct qemu_state *st = xcalloc(1, sizeof(*st));

	st->out.format = "qemu command line";
	st->out.side = fact_host_side(ctx);
	st->pid_column = -1;
	*state = st;
	return NULL;
}

static struct error *qemu_end(struct parse_ctx *ctx, void *state)
{
	struct qemu_state *st = state;

	if (st->open && st->n_lines)
		take_command(ctx, st);
	free(st->text);
	free(st->version_text);
	free(st);
	return NULL;
}

static const struct parser qemu = {
	.name		= "qemu command line",
	.kind		= PARSER_LINES,
	.priority	= 95,
	.embed		= true,
	.sniff		= qemu_sniff,
	.begin		= qemu_begin,
	.line		= qemu_line,
	.end		= qemu_end,
};
REGISTER(parsers, &qemu);
