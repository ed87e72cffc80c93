// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_needs.c - the vocabulary of `needs`, and what a case could have shown (doc/signatures.md,
 * "Needs").
 *
 * Absence proves absence only where the event is listed by the recorder, complete, system-wide and
 * nothing was lost. A text trace shows only what occurred, a function graph only the functions of
 * an unknown filter: these are seen partly, never fully.
 */
#include <ctype.h>
#include <fnmatch.h>

#include "../parsers/log_alarm.h"
#include "sig.h"

static const char *const events[] = {
#define EVENT(kind, system, name, ...)	name,
#include "../parsers/events.def"
#undef EVENT
};

static const char *const tables[] = {
	"runq_delay", "runq_wait", "reweight_jump", "throttle",	  "cgroup",  "root_stat",
	"retry_loop", "exit_stat", "stall",	    "chain_link", "pattern", "episode",
	"span",	      "span_stat", "syscall_stat",  "stack",	  "vcpu",    "series",
	"ping_gap",   "ping_stat", "log_line",	    "event_key",  "fault_stat", "silence",
	"lock_contention",
	"stack_count",
};

/* doc/fact-keys.md; a '*' at the end stands for the rest. */
static const char *const fact_keys[] = {
	"kernel.release", "kernel.version", "kernel.cmdline", "kernel.hypervisor", "kernel.preempt.model",
	"kernel.preempt.boot", "kernel.preempt.needbreak", "kernel.config.*", "host.name", "sched.preempt",
	"sched.numa_balancing.*", "numa_balancing.boot", "sysctl.*", "param.*", "ksm.*", "thp.enabled",
	"thp.defrag", "thp.shmem_enabled", "thp.khugepaged.*", "cpu.vulnerability.*", "cpu.smt",
	"clocksource.current", "clocksource.unstable", "numa.nodes", "numa.node.*", "numa.distance.*",
	"vmstat.*", "meminfo.*", "mount.cgroup2.path", "mount.cgroup2.options", "mount.cgroup.*",
	"cgroup.favordynmods", "cgroup.favordynmods.cmdline", "cgroup.*.delta", "proc.uptime_s",
	"proc.uptime_s.delta", "kernel.paravirt", "kernel.kallsyms", "cmdline.*", "cpu.*",
	"psi.*", "irq.*", "softirq.*", "kvmstat.*", "stat.*", "sched.*", "schedstat.*",
	"clocksource.switched", "perf.*", "top.*", "sysstat.*", "rtla.*", "trace_cmd.*",
	"hwlat.*", "turbostat.*",
	"qemu.version", "libvirt.version",
};

static bool fact_key(const char *name)
{
	/* Names of options stand without their CONFIG_. */
	if (!strncmp(name, "kernel.config.CONFIG_", 21))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(fact_keys); i++)
		if (!fnmatch(fact_keys[i], name, 0))
			return true;
	return false;
}

/* Is @name one of the '|'-separated names of @list? */
static bool in_alternatives(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, "|");

		if (len == n && !memcmp(p, name, n))
			return true;
		p += len;
		p += *p == '|';
	}
	return false;
}

static bool function_name(const char *s)
{
	return (isalpha((unsigned char)*s) || *s == '_') && !s[strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")];
}

static bool known_name(const char *kind, const char *name)
{
	if (!strcmp(kind, "event")) {
		for (size_t i = 0; i < ARRAY_SIZE(events); i++)
			if (in_alternatives(events[i], name))
				return true;
		return false;
	}
	if (!strcmp(kind, "table")) {
		for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
			if (!strcmp(tables[i], name))
				return true;
		return false;
	}
	if (!strcmp(kind, "fact"))
		return fact_key(name);
	if (!strcmp(kind, "probe") || !strcmp(kind, "span"))
		return function_name(name);
	if (!strcmp(kind, "syscall"))
		return function_name(name) ||
		       (!strncmp(name, "ioctl:", 6) && function_name(name + 6));
	if (!strcmp(kind, "log"))
		return log_kind_known(name);
	return false;
}

static char *one_known(const char *need)
{
	const char *colon = strchr(need, ':');
	char kind[16];

	if (!strcmp(need, "ping") || !strcmp(need, "stack"))
		return NULL;
	if (!colon || (size_t)(colon - need) >= sizeof(kind))
		return xasprintf(
			"'%s' is no need (event:, probe:, span:, syscall:, fact:, table:, log:, ping, stack)",
			need);
	memcpy(kind, need, (size_t)(colon - need));
	kind[colon - need] = 0;
	for (const char *p = colon + 1; *p;) {
		size_t len = strcspn(p, "|");
		_cleanup_free_ char *name = xstrndup(p, len);

		if (!known_name(kind, name))
			return xasprintf("'%s': no parser delivers %s '%s'", need, kind, name);
		p += len;
		p += *p == '|';
	}
	return colon[1] ? NULL : xasprintf("'%s' names nothing", need);
}

/* The next of "A or B or C": copied to *one; NULL after the last. */
static const char *next_alternative(const char *p, char **one)
{
	const char *end = strstr(p, " or ");

	*one = end ? xstrndup(p, (size_t)(end - p)) : xstrdup(p);
	return end ? end + 4 : NULL;
}

char *need_known(const char *need)
{
	char *wrong = NULL;

	for (const char *p = need; p && !wrong;) {
		_cleanup_free_ char *one = NULL;

		p = next_alternative(p, &one);
		wrong = one_known(one);
	}
	return wrong;
}

bool need_is_trace(const char *need)
{
	for (const char *p = need; p;) {
		_cleanup_free_ char *one = NULL;

		p = next_alternative(p, &one);
		if (strncmp(one, "fact:", 5) && strcmp(one, "table:cgroup"))
			return true;
	}
	return false;
}

static bool strip_prefix(const char **s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*s, prefix, n) || !(*s)[n])
		return false;
	*s += n;
	return true;
}

void probe_function(const char *event, char *buf, size_t size)
{
	const char *colon = strrchr(event, ':');
	const char *s = colon ? colon + 1 : event;
	char *p;
	size_t n;

	if (!strip_prefix(&s, "p_"))
		strip_prefix(&s, "r_");
	snprintf(buf, size, "%s", s);
	p = strstr(buf, "__return");
	if (p && p != buf)
		*p = 0;
	n = strlen(buf);
	p = strrchr(buf, '_');
	if (p && p != buf && p[1] && !p[1 + strspn(p + 1, "0123456789")] && (size_t)(p - buf) < n)
		*p = 0;
}

static bool probe_is_return(const char *event)
{
	const char *colon = strrchr(event, ':');
	const char *s = colon ? colon + 1 : event;

	return !strncmp(s, "r_", 2) || strstr(s, "__return");
}

static void view_add(struct sig_view *v, int64_t source)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->sources[i] == source)
			return;
	GROW(v->sources, v->cap, v->n + 1);
	v->sources[v->n++] = source;
}

static bool view_has(const struct sig_view *v, int64_t source)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->sources[i] == source)
			return true;
	return false;
}

/*
 * The sources whose recorder listed an event of these names whole, and of which all was read,
 * and something (a file may be cut, a window of --time may hold nothing); the sight is at least
 * PARTLY where one occurs at all.
 */
static struct error *by_coverage(struct case_db *db, const char *names, int probe,
				 struct sig_view *v)
{
	struct error *err = NULL;
	sqlite3_stmt *st;

	TRY(case_query(
		db, &st,
		"SELECT c.source_id, c.event, c.known = 'listed' AND c.complete = 'all' AND c.scope = 'system' AND s.lost = 0 AND "
		"s.events > 0 AND EXISTS (SELECT 1 FROM member m WHERE m.id = s.member_id AND m.status = 'read') AND "
		"NOT EXISTS (SELECT 1 FROM loss l WHERE l.source_id = c.source_id AND coalesce(l.events, 1) > 0), c.known "
		"FROM coverage c JOIN source s ON s.id = c.source_id",
		""));
	while (case_step(db, st, &err)) {
		const char *event = (const char *)sqlite3_column_text(st, 1);
		const char *colon = event ? strrchr(event, ':') : NULL;
		char func[128];

		if (!event)
			continue;
		if (probe) {
			if (probe_is_return(event) != (probe == 2))
				continue;
			probe_function(event, func, sizeof(func));
		} else {
			snprintf(func, sizeof(func), "%s", colon ? colon + 1 : event);
		}
		if (!in_alternatives(names, func))
			continue;
		if (sqlite3_column_int(st, 2))
			view_add(v, sqlite3_column_int64(st, 0));
		if (v->sight == SIGHT_NONE)
			v->sight = SIGHT_PARTLY;
	}
	case_done(st);
	if (v->n)
		v->sight = SIGHT_FULLY;
	return err;
}

static bool rows(struct case_db *db, const char *sql, const char *name)
{
	return case_int(db, 0, sql, "s", name) != 0;
}

static struct error *view_span(struct case_db *db, const char *names, struct sig_view *v)
{
	struct sig_view enter = { 0 }, leave = { 0 };
	struct error *err = by_coverage(db, names, 1, &enter);

	if (!err)
		err = by_coverage(db, names, 2, &leave);
	for (size_t i = 0; i < enter.n; i++)
		if (view_has(&leave, enter.sources[i]))
			view_add(v, enter.sources[i]);
	if (v->n)
		v->sight = SIGHT_FULLY;
	else if (enter.sight != SIGHT_NONE && leave.sight != SIGHT_NONE)
		v->sight = SIGHT_PARTLY;
	else if (
		rows(db,
		     "SELECT 1 FROM span_stat WHERE instr('|' || ?1 || '|', '|' || func || '|') UNION ALL "
		     "SELECT 1 FROM span WHERE instr('|' || ?1 || '|', '|' || func || '|') UNION ALL "
		     "SELECT 1 FROM span_child WHERE instr('|' || ?1 || '|', '|' || func || '|') LIMIT 1",
		     names))
		v->sight = SIGHT_PARTLY;
	free(enter.sources);
	free(leave.sources);
	return err;
}

static struct error *view_syscall(struct case_db *db, const char *names, struct sig_view *v)
{
	struct sig_view leave = { 0 };
	struct error *err = by_coverage(db, "sys_enter|sys_enter_ioctl", 0, v);

	if (!err)
		err = by_coverage(db, "sys_exit|sys_exit_ioctl", 0, &leave);
	if (leave.sight < v->sight)
		v->sight = leave.sight;
	free(leave.sources);
	if (v->sight == SIGHT_NONE &&
	    rows(db,
		 "SELECT 1 FROM span WHERE instr('|' || ?1 || '|', '|' || func || '|') UNION ALL "
		 "SELECT 1 FROM syscall_stat WHERE instr('|' || ?1 || '|', '|' || name || '|') LIMIT 1",
		 names))
		v->sight = SIGHT_PARTLY;
	return err;
}

static struct error *view_table(struct case_db *db, const char *name, struct sig_view *v)
{
	_cleanup_free_ char *sql = xasprintf("SELECT 1 FROM \"%s\" LIMIT 1", name);
	sqlite3_stmt *st;

	/* The name is one of tables[]: lint and need_view() let no other pass. */
	if (sqlite3_prepare_v2(db->db, sql, -1, &st, NULL) != SQLITE_OK)
		return error_new(ERR_INTERNAL, "table %s: %s", name, sqlite3_errmsg(db->db));
	if (sqlite3_step(st) == SQLITE_ROW)
		v->sight = SIGHT_PARTLY;
	v->any_source = true;
	sqlite3_finalize(st);
	return NULL;
}

static struct error *view_fact(struct case_db *db, const char *names, struct sig_view *v)
{
	if (rows(db,
		 "SELECT 1 FROM fact WHERE side <> 'guest' AND instr('|' || ?1 || '|', '|' || key || '|') LIMIT 1",
		 names))
		v->sight = SIGHT_FULLY;
	v->any_source = true;
	return NULL;
}

static struct error *one_view(struct case_db *db, const char *need, struct sig_view *v)
{
	const char *names = strchr(need, ':');
	const char *measured = NULL;

	*v = (struct sig_view){ 0 };
	names = names ? names + 1 : "";
	if (!strncmp(need, "event:", 6))
		return by_coverage(db, names, 0, v);
	if (!strncmp(need, "probe:", 6))
		return by_coverage(db, names, 1, v);
	if (!strncmp(need, "span:", 5))
		return view_span(db, names, v);
	if (!strncmp(need, "syscall:", 8))
		return view_syscall(db, names, v);
	if (!strncmp(need, "table:", 6))
		return view_table(db, names, v);
	if (!strncmp(need, "fact:", 5))
		return view_fact(db, names, v);
	if (!strncmp(need, "log:", 4))
		measured = "SELECT 1 FROM log_line WHERE ?1 = ?1 LIMIT 1";
	else if (!strcmp(need, "ping"))
		measured =
			"SELECT 1 FROM ping_stat WHERE ?1 = ?1 UNION ALL SELECT 1 FROM ping_gap LIMIT 1";
	else
		measured = "SELECT 1 FROM stack WHERE ?1 = ?1 LIMIT 1";
	v->any_source = true;
	if (rows(db, measured, names))
		v->sight = SIGHT_PARTLY;
	return NULL;
}

/*
 * Of alternatives the best sight counts; absence then counts in the sources of each that is seen
 * whole.
 */
static struct error *need_view(struct case_db *db, const char *need, struct sig_view *ret)
{
	_cleanup_free_ char *wrong = need_known(need);
	struct error *err = NULL;

	*ret = (struct sig_view){ 0 };
	if (wrong)
		return error_new(ERR_USAGE, "%s", wrong);
	for (const char *p = need; p && !err;) {
		_cleanup_free_ char *one = NULL;
		struct sig_view v;

		p = next_alternative(p, &one);
		err = one_view(db, one, &v);
		if (v.sight > ret->sight || (v.sight == ret->sight && v.any_source)) {
			ret->sight = v.sight;
			ret->any_source = v.any_source;
		}
		for (size_t i = 0; i < v.n; i++)
			view_add(ret, v.sources[i]);
		free(v.sources);
	}
	return err;
}

struct error *needs_view(struct case_db *db, const struct sig_item *it, struct sig_view *ret,
			 char **missing)
{
	struct error *err = NULL;

	*ret = (struct sig_view){ .sight = SIGHT_FULLY, .any_source = true };
	*missing = NULL;
	for (size_t i = 0; i < it->n_needs && !err; i++) {
		struct sig_view v;

		err = need_view(db, it->needs[i], &v);
		if (!err && v.sight == SIGHT_NONE && !*missing)
			*missing = xstrdup(it->needs[i]);
		if (v.sight < ret->sight)
			ret->sight = v.sight;
		if (!v.any_source) {
			if (ret->any_source) {
				free(ret->sources);
				ret->sources = v.sources;
				ret->n = v.n;
				ret->cap = v.cap;
				v.sources = NULL;
				ret->any_source = false;
			} else {
				size_t k = 0;

				for (size_t j = 0; j < ret->n; j++)
					if (view_has(&v, ret->sources[j]))
						ret->sources[k++] = ret->sources[j];
				ret->n = k;
			}
		}
		free(v.sources);
	}
	if (ret->sight == SIGHT_FULLY && !ret->any_source && !ret->n)
		ret->sight = SIGHT_PARTLY;
	return err;
}
