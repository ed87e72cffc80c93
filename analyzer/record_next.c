// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record_next.c - the commands that would show what a case could not: filled with the VM's thread
 * ids and the host's own event names, bounded in time and size.
 *
 * Placeholders of a command: {pid} the VM's process, {tids} its vCPU threads, {event:a|b} the first
 * of these tracepoints that the host is known to have (the first one where nothing is known), as
 * system:name.
 */
#include <json-c/json.h>

#include "sig.h"

#define MAX_TIDS	64
#define UNKNOWN_TIDS	"$(ls /proc/$(pgrep -o qemu)/task | paste -sd,)"

int64_t record_pid(struct case_db *db, int64_t vm)
{
	if (!db)
		return 0;
	if (vm)
		return case_int(db, 0, "SELECT tgid FROM vm WHERE id = ? AND tgid > 0", "i", vm);
	/* A verdict on the host as a whole means the only VM there is, if there is but one. */
	return case_int(db, 0,
			"SELECT max(v.tgid) FROM vm v JOIN source s ON s.id = v.source_id "
			"WHERE s.side <> 'guest' HAVING count(DISTINCT v.tgid) = 1 AND "
			"count(*) = count(v.tgid)", "");
}

static char *vm_pid(struct case_db *db, int64_t vm)
{
	int64_t tgid = record_pid(db, vm);

	/* Not known: let the shell on the host ask; -o takes the oldest where several VMs run. */
	return tgid ? xasprintf("%" PRId64, tgid) : xstrdup("$(pgrep -o qemu)");
}

static char *vm_tids(struct case_db *db, int64_t vm)
{
	_cleanup_error_ struct error *err = NULL;
	sqlite3_stmt *st;
	char *buf = NULL;
	size_t len = 0, n = 0;
	FILE *f;

	if (!db)
		return xstrdup(UNKNOWN_TIDS);
	err = case_query(db, &st,
			 "SELECT DISTINCT v.tid FROM vcpu v JOIN source s ON s.id = v.source_id "
			 "WHERE (v.vm_id = ?1 OR ?1 = 0 AND s.side <> 'guest') AND v.tid > 0 ORDER BY v.tid",
			 "i", vm);
	if (err)
		return xstrdup("");
	f = open_memstream(&buf, &len);
	if (!f) {
		case_done(st);
		return xstrdup("");
	}
	while (n < MAX_TIDS && case_step(db, st, &err))
		fprintf(f, "%s%lld", n++ ? "," : "", (long long)sqlite3_column_int64(st, 0));
	case_done(st);
	fclose(f);
	if (n)
		return buf;
	free(buf);
	return xstrdup(UNKNOWN_TIDS);
}

/* The first of the alternatives "system:name|system:other" that some recording of the host has. */
static char *host_event(struct case_db *db, const char *list, size_t len)
{
	_cleanup_free_ char *all = xstrndup(list, len);

	for (char *save = NULL, *p = strtok_r(all, "|", &save); p && db;
	     p = strtok_r(NULL, "|", &save)) {
		const char *colon = strchr(p, ':');

		if (case_int(db, 0, "SELECT 1 FROM coverage WHERE event = ?1 OR event = ?2 LIMIT 1",
			     "ss", p, colon ? colon + 1 : p))
			return xstrdup(p);
	}
	return xstrndup(list, strcspn(list, "|}"));
}

char *record_fill(struct case_db *db, int64_t vm, const char *command)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&buf, &len);

	if (!f)
		return xstrdup(command);
	for (const char *s = command; *s;) {
		const char *end = *s == '{' ? strchr(s, '}') : NULL;
		_cleanup_free_ char *text = NULL;

		if (end && !strncmp(s, "{pid}", 5))
			text = vm_pid(db, vm);
		else if (end && !strncmp(s, "{tids}", 6))
			text = vm_tids(db, vm);
		else if (end && !strncmp(s, "{event:", 7))
			text = host_event(db, s + 7, (size_t)(end - s - 7));
		if (text) {
			fputs(text, f);
			s = end + 1;
		} else {
			fputc(*s++, f);
		}
	}
	fclose(f);
	while (len && (buf[len - 1] == '\n' || buf[len - 1] == ' '))
		buf[--len] = 0;
	return buf;
}

bool record_shows(const struct sig_record *r, const char *const *wanted, size_t n)
{
	if (!r->n_items)
		return true;
	for (size_t i = 0; i < r->n_items; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(r->items[i], wanted[k]))
				return true;
	return false;
}

char *record_next(struct case_db *db, const struct signature *s, int64_t vm_id,
		  const char *const *wanted, size_t n_wanted)
{
	struct json_object *out = json_object_new_array();
	char *ret;

	for (size_t i = 0; i < s->n_records; i++) {
		_cleanup_free_ char *command = NULL;

		if (!record_shows(&s->records[i], wanted, n_wanted))
			continue;
		command = record_fill(db, vm_id, s->records[i].command);
		json_object_array_add(out, json_object_new_string(command));
	}
	ret = xstrdup(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(out);
	return ret;
}
