// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record_script.c - `signatures record`: one shell script that records what signatures need.
 *
 * What to record follows from `needs`, each event and file once over all signatures. The script's
 * fixed part, record.sh, looks the names up on the host itself: it records what is there and says
 * what is missing. Nothing of a case or of a private catalogue gets into the shell text but numbers
 * and words of a closed set of characters; prose goes into comments.
 */
#include <ctype.h>

#include "config.h"
#include "sig.h"

#define RECORD_SECONDS	20
#define RECORD_MAX_MB	1000
#define MAX_ENTRIES	500

extern const char km_record_sh[];
__asm__(".section .rodata\n"
	".global km_record_sh\n"
	"km_record_sh:\n"
	".incbin \"" SRCDIR "/analyzer/record.sh\"\n"
	".byte 0\n"
	".previous\n");

struct list {
	char	**v;
	size_t	n, cap;
};

struct plan {
	struct list	events, probes, files, why, by_hand;
	bool		stacks, ping;
	int64_t		pid;
	char		kernel[80];
};

/* What a table of the case file is made from; no row: nothing that a recorder could be told. */
static const struct {
	const char *table, *events;
} table_events[] = {
	{ "runq_delay", "sched_switch sched_waking sched_wakeup sched_wakeup_new" },
	{ "runq_wait", "sched_switch sched_waking sched_wakeup sched_wakeup_new" },
	{ "throttle", "sched_switch sched_waking sched_wakeup" },
	{ "retry_loop", "kvm_page_fault kvm_unmap_hva_range|kvm_unmap_hva" },
	{ "fault_stat", "kvm_page_fault" },
	{ "silence", "sched_switch timer:hrtimer_expire_entry" },
	{ "syscall_stat", "raw_syscalls:sys_enter raw_syscalls:sys_exit" },
	{ "lock_contention", "lock:contention_begin lock:contention_end" },
};

/* Arguments that the engine reads of a probed function: position two is in si on x86-64. */
static const struct {
	const char *func, *arguments;
} probe_arguments[] = {
	{ "hv_track_root_tdp", "root=%si" },
};

/* Probes whose arguments need debug information: only the catalogue's own commands set them. */
static const char *const probes_by_hand[] = { "reweight_entity" };

/* Where a fact is read; others are in the fixed part's set. */
static const struct {
	const char *prefix, *path;
} fact_paths[] = {
	{ "sysctl.", "proc/sys/" },
	{ "param.", "sys/module/" },
};

static void add(struct list *l, const char *text, size_t len)
{
	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->v[i]) == len && !memcmp(l->v[i], text, len))
			return;
	if (l->n >= MAX_ENTRIES)
		return;
	GROW(l->v, l->cap, l->n + 1);
	l->v[l->n++] = xstrndup(text, len);
}

static void add_words(struct list *l, const char *words)
{
	for (const char *p = words; *p;) {
		size_t n = strcspn(p, " ");

		if (n)
			add(l, p, n);
		p += n;
		p += *p == ' ';
	}
}

static void free_list(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

/* Only what stands for itself in a shell's quotes and in a path. */
static bool plain_word(const char *s, const char *also)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.' && *s != '-' &&
		    !strchr(also, *s))
			return false;
	return true;
}

static void add_probe(struct plan *p, const char *kind, const char *funcs)
{
	const char *arguments = "";
	_cleanup_free_ char *line = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(probes_by_hand); i++)
		if (!strcmp(funcs, probes_by_hand[i]))
			return;
	for (size_t i = 0; *kind == 'p' && i < ARRAY_SIZE(probe_arguments); i++)
		if (!strcmp(funcs, probe_arguments[i].func))
			arguments = probe_arguments[i].arguments;
	line = xasprintf("%s %s%s%s", kind, funcs, *arguments ? " " : "", arguments);
	add(&p->probes, line, strlen(line));
}

static void add_fact(struct plan *p, const char *keys)
{
	_cleanup_free_ char *all = xstrdup(keys);

	for (char *save = NULL, *k = strtok_r(all, "|", &save); k; k = strtok_r(NULL, "|", &save)) {
		if (!plain_word(k, ""))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(fact_paths); i++) {
			size_t n = strlen(fact_paths[i].prefix);
			_cleanup_free_ char *path = NULL;
			char *dot;

			if (strncmp(k, fact_paths[i].prefix, n))
				continue;
			if (!strncmp(k, "param.", 6)) {
				dot = strchr(k + n, '.');
				if (!dot)
					continue;
				path = xasprintf("%s%.*s/parameters/%s", fact_paths[i].path,
						 (int)(dot - k - (long)n), k + n, dot + 1);
			} else {
				path = xasprintf("%s%s", fact_paths[i].path, k + n);
				for (dot = path; *dot; dot++)
					*dot = *dot == '.' ? '/' : *dot;
			}
			add(&p->files, path, strlen(path));
		}
	}
}

static void add_table(struct plan *p, const char *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(table_events); i++)
		if (!strcmp(table, table_events[i].table))
			add_words(&p->events, table_events[i].events);
	p->stacks |= !strcmp(table, "stack");
	p->ping |= !strncmp(table, "ping_", 5);
	if (!strcmp(table, "root_stat"))
		add_probe(p, "p", "hv_track_root_tdp");
	if (!strcmp(table, "exit_stat") || !strcmp(table, "stall") || !strcmp(table, "vcpu"))
		add_words(&p->events, "kvm_exit kvm_entry");
}

static void add_one(struct plan *p, const char *need)
{
	const char *name = strchr(need, ':');

	name = name ? name + 1 : "";
	if (!strcmp(need, "ping"))
		p->ping = true;
	else if (!strcmp(need, "stack"))
		p->stacks = true;
	else if (!strncmp(need, "fact:", 5))
		add_fact(p, name);
	else if (!plain_word(name, "|:"))
		return;
	else if (!strncmp(need, "event:", 6))
		add(&p->events, name, strlen(name));
	else if (!strncmp(need, "probe:", 6))
		add_probe(p, "p", name);
	else if (!strncmp(need, "table:", 6))
		add_table(p, name);
	else if (!strncmp(need, "span:", 5)) {
		add_probe(p, "p", name);
		add_probe(p, "r", name);
	} else if (!strncmp(need, "syscall:ioctl:", 14)) {
		add_words(&p->events, "syscalls:sys_enter_ioctl|raw_syscalls:sys_enter "
				      "syscalls:sys_exit_ioctl|raw_syscalls:sys_exit");
	} else if (!strncmp(need, "syscall:", 8)) {
		add_words(&p->events, "raw_syscalls:sys_enter raw_syscalls:sys_exit");
	}
	/* log: the kernel's log is always among the files */
}

static void add_need(struct plan *p, const char *need)
{
	_cleanup_free_ char *wrong = need_known(need);

	for (const char *s = wrong ? NULL : need; s;) {
		const char *end = strstr(s, " or ");
		_cleanup_free_ char *one = end ? xstrndup(s, (size_t)(end - s)) : xstrdup(s);

		add_one(p, one);
		s = end ? end + 4 : NULL;
	}
}

static bool done_by_script(const char *command)
{
	static const char *const scripted[] = {
		"perf record ", "perf probe ", "dmesg", "d=/sys/fs/cgroup",
	};

	for (size_t i = 0; i < ARRAY_SIZE(probes_by_hand); i++)
		if (strstr(command, probes_by_hand[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(scripted); i++)
		if (!strncmp(command, scripted[i], strlen(scripted[i])))
			return true;
	return false;
}

/* The catalogue's own reasons, and those of its commands that the script has no part for. */
static void add_commands(struct plan *p, struct case_db *db, const struct signature *s, int64_t vm,
			 const char *const *wanted, size_t n_wanted)
{
	for (size_t i = 0; i < s->n_records; i++) {
		const struct sig_record *r = &s->records[i];
		_cleanup_free_ char *why = xasprintf("%s: %s", s->id, r->why), *text = NULL,
				    *command = NULL;

		if (!record_shows(r, wanted, n_wanted))
			continue;
		add(&p->why, why, strlen(why));
		if (done_by_script(r->command))
			continue;
		command = record_fill(db, vm, r->command);
		text = xasprintf("%s\n%s", why, command);
		add(&p->by_hand, text, strlen(text));
	}
}

/* Is the item worth recording for: what decides, and what settings it depends on? */
static bool counts(const struct sig_item *it)
{
	return it->role == SIG_PRECONDITION ||
	       (it->role == SIG_FOR && it->strength == SIG_STRONG) ||
	       it->strength == SIG_DECISIVE;
}

/* All that a signature needs, or with @verdict what that verdict could not see. */
static void add_signature(struct plan *p, struct case_db *db, const struct signature *s,
			  int64_t verdict, int64_t vm)
{
	const char *wanted[SIG_MAX_ITEMS];
	size_t n = 0;

	for (size_t i = 0; i < s->n_items; i++) {
		const struct sig_item *it = &s->items[i];

		if (!counts(it) ||
		    (verdict && !case_int(db, 0,
					  "SELECT 1 FROM evidence WHERE verdict_id = ? AND item = ? AND "
					  "outcome IN ('not-visible', 'error') LIMIT 1", "is", verdict,
					  it->id)))
			continue;
		if (it->role == SIG_FOR)
			wanted[n++] = it->id;
		for (size_t k = 0; k < it->n_needs; k++)
			add_need(p, it->needs[k]);
	}
	if (n)
		add_commands(p, db, s, vm, wanted, n);
}

static void comment(FILE *out, const char *indent, const char *text)
{
	fprintf(out, "# %s", indent);
	for (; *text; text++) {
		if (*text == '\n')
			fprintf(out, "\n# %s  ", indent);
		else if (!iscntrl((unsigned char)*text))
			fputc(*text, out);
	}
	fputc('\n', out);
}

static void put_list(FILE *out, const char *name, const struct list *l)
{
	fprintf(out, "%s='", name);
	for (size_t i = 0; i < l->n; i++)
		fprintf(out, "%s%s", i ? "\n" : "", l->v[i]);
	fprintf(out, "'\n");
}

static void print(const struct plan *p, FILE *out)
{
	fprintf(out, "#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0-or-later\n"
		"# Made by `kvmortem signatures record` (kvmortem " KM_VERSION "). Run it as root on the host; it records:\n");
	for (size_t i = 0; i < p->why.n; i++)
		comment(out, "- ", p->why.v[i]);
	if (!p->why.n)
		comment(out, "", "what the signatures' evidence needs");
	fprintf(out, "# It deletes nothing, takes its probes away again, and packs all into one tar.gz for kvmortem.\n");
	if (p->ping)
		fprintf(out, "# Meanwhile, on another machine: ping -D -w 60 GUEST > kvmortem-ping.txt\n");
	if (p->by_hand.n)
		fprintf(out, "#\n# By hand, for which this script has no part:\n");
	for (size_t i = 0; i < p->by_hand.n; i++)
		comment(out, "  ", p->by_hand.v[i]);
	fprintf(out, "\nSECS=%d MAX_MB=%d STACKS=%d\n", RECORD_SECONDS, RECORD_MAX_MB,
		p->stacks);
	if (p->pid)
		fprintf(out, "PID='%" PRId64 "'\n", p->pid);
	else
		fprintf(out, "PID=''\n");
	fprintf(out, "KERNEL='%s'\n", p->kernel);
	put_list(out, "EVENTS", &p->events);
	put_list(out, "PROBES", &p->probes);
	put_list(out, "FILES", &p->files);
	fputs(km_record_sh, out);
}

/* Without a thread of the VM in the recording nothing could be said of it. */
static void add_base(struct plan *p)
{
	if (p->events.n || p->probes.n)
		add_words(&p->events, "sched:sched_switch sched:sched_waking sched:sched_wakeup kvm:kvm_entry kvm:kvm_exit");
}

/* Names that stand with and without their system are one. */
static void drop_twins(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->n; k++) {
			const char *colon = strchr(l->v[k], ':');

			if (i == k || !colon || strchr(l->v[i], ':') || strcmp(colon + 1, l->v[i]))
				continue;
			free(l->v[i]);
			memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(*l->v));
			l->n--;
			i--;
			break;
		}
	}
}

static struct error *of_case(struct plan *p, struct case_db *db, const struct catalogue *c,
			     const char *const *ids, size_t n_ids)
{
	/* without ids: where something is shown; where nothing is, all that can't be told */
	const char *sql =
		"SELECT v.id, v.signature, coalesce(v.vm_id, 0) FROM verdict v WHERE v.verdict IN ('likely', 'possible', 'cannot-tell') "
		"AND (?1 OR EXISTS (SELECT 1 FROM evidence e WHERE e.verdict_id = v.id AND e.role = 'for' AND e.outcome = 'shown')) ORDER BY v.id";
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t found = 0;

	for (int all = n_ids ? 1 : 0; all < 2 && !found; all++) {
		TRY(case_query(db, &st, sql, "i", (int64_t)all));
		while (case_step(db, st, &err)) {
			const char *id = (const char *)sqlite3_column_text(st, 1);
			const struct signature *s = id ? catalogue_find(c, id) : NULL;
			size_t k;

			for (k = 0; s && k < n_ids && strcmp(ids[k], id); k++)
				;
			if (!s || (n_ids && k == n_ids))
				continue;
			found++;
			add_signature(p, db, s, sqlite3_column_int64(st, 0),
				      sqlite3_column_int64(st, 2));
			if (!p->pid)
				p->pid = record_pid(db, sqlite3_column_int64(st, 2));
		}
		case_done(st);
		TRY(err);
	}
	if (!found)
		return error_new(ERR_USAGE, "nothing is left to record: no verdict of this case could not be told (name ids, without an input, to record anew)");
	return NULL;
}

static void kernel_of(struct case_db *db, struct plan *p)
{
	_cleanup_error_ struct error *err = NULL;
	sqlite3_stmt *st;

	err = case_query(db, &st, "SELECT kernel FROM source WHERE side <> 'guest' AND kernel IS NOT NULL UNION ALL "
			 "SELECT value FROM fact WHERE side <> 'guest' AND key = 'kernel.release'", "");
	if (err)
		return;
	if (case_step(db, st, &err)) {
		const char *s = (const char *)sqlite3_column_text(st, 0);

		if (s && plain_word(s, "+~") && strlen(s) < sizeof(p->kernel))
			snprintf(p->kernel, sizeof(p->kernel), "%s", s);
	}
	case_done(st);
}

struct error *record_script(struct case_db *db, const struct catalogue *c, const char *const *ids,
			    size_t n_ids, FILE *out)
{
	struct plan p = { 0 };
	struct error *err = NULL;

	if (db) {
		err = of_case(&p, db, c, ids, n_ids);
		kernel_of(db, &p);
	}
	for (size_t i = 0; !db && i < c->n; i++) {
		size_t k;

		for (k = 0; k < n_ids && strcmp(ids[k], c->sigs[i]->id); k++)
			;
		if (!n_ids || k < n_ids)
			add_signature(&p, NULL, c->sigs[i], 0, 0);
	}
	if (!err) {
		add_base(&p);
		drop_twins(&p.events);
		print(&p, out);
	}
	free_list(&p.events);
	free_list(&p.probes);
	free_list(&p.files);
	free_list(&p.why);
	free_list(&p.by_hand);
	return err;
}
