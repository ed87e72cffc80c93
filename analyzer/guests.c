// SPDX-License-Identifier: GPL-2.0-or-later
/* guests.c - a guest's trace.dat and its host's; see guests.h. */
#include "guests.h"

#define MAX_PAIRS	64

struct pair { int64_t guest, host; char name[65], host_path[512]; };

/* The host's threads of the guest's CPUs: ?1 what their facts begin with, ?2 the host's member. */
#define THREADS										\
	"(SELECT CAST(substr(f.key, length(?1) + 1) AS INTEGER) AS cpu, CAST(f.value AS INTEGER) AS tid, " \
	"f.cite_id FROM fact f JOIN source s ON s.id = f.source_id WHERE s.member_id = ?2 AND " \
	"substr(f.key, 1, length(?1)) = ?1 AND f.key GLOB '*.tid')"
#define OF_HOST	"source_id IN (SELECT id FROM source WHERE member_id = ?2)"

static struct error *map_pair(struct case_db *db, const struct pair *p)
{
	_cleanup_free_ char *prefix = xasprintf("trace_cmd.guest.%s.vcpu.", p->name);

	TRY(case_insert(db, NULL, "UPDATE vcpu SET vcpu = (SELECT t.cpu FROM " THREADS " t WHERE t.tid = vcpu.tid) WHERE vcpu IS NULL AND "
			OF_HOST " AND tid IN (SELECT tid FROM " THREADS ")", "si", prefix, p->host));
	TRY(case_insert(db, NULL, "UPDATE task SET role = 'vcpu' WHERE role IN ('other', 'vmm') AND " OF_HOST
			" AND tid IN (SELECT tid FROM " THREADS ")", "si", prefix, p->host));
	TRY(case_insert(db, NULL, "UPDATE vm SET name = ?3 WHERE name IS NULL AND id IN (SELECT vm_id FROM vcpu WHERE " OF_HOST
			" AND tid IN (SELECT tid FROM " THREADS "))", "sis", prefix, p->host, p->name));
	TRY(case_insert(db, NULL, "INSERT INTO fact(source_id, side, key, value, num, cite_id) SELECT g.id, 'host', "
			"'guest.cpu.' || t.cpu || '.host_tid', t.tid, t.tid, min(t.cite_id) FROM " THREADS " t JOIN source g "
			"WHERE g.member_id = ?3 GROUP BY g.id, t.cpu, t.tid", "sii", prefix, p->host, p->guest));
	return case_insert(db, NULL, "INSERT INTO fact(source_id, side, key, value) SELECT id, 'host', 'guest.name', ?1 FROM source "
			   "WHERE member_id = ?3 UNION ALL SELECT id, 'host', 'guest.host', ?2 FROM source WHERE member_id = ?3", "ssi",
			   p->name, p->host_path, p->guest);
}

struct error *guests_map(struct case_db *db)
{
	_cleanup_free_ struct pair *pairs = xcalloc(MAX_PAIRS, sizeof(*pairs));
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t n = 0, i;

	TRY(case_query(db, &st, GUEST_PAIRS, ""));
	while (n < MAX_PAIRS && case_step(db, st, &err)) {
		struct pair *p = &pairs[n++];

		p->guest = sqlite3_column_int64(st, 0);
		p->host = sqlite3_column_int64(st, 1);
		snprintf(p->name, sizeof(p->name), "%s", (const char *)sqlite3_column_text(st, 2));
		snprintf(p->host_path, sizeof(p->host_path), "%s", (const char *)sqlite3_column_text(st, 4));
	}
	case_done(st);
	for (i = 0; i < n && !err; i++)
		err = map_pair(db, &pairs[i]);
	return err;
}
