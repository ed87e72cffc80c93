// SPDX-License-Identifier: GPL-2.0-or-later
/* sides.c - whose log it is, where only all logs together tell; see sides.h. */
#include "sides.h"

#define HAS_FACT(k, v) "EXISTS (SELECT 1 FROM fact f WHERE f.source_id = s.id AND f.key = '" k "' AND f.value = '" v "')"
/* Traces of VMs that this kernel ran itself. */
#define RUNS_VMS                                                                                   \
	"EXISTS (SELECT 1 FROM log_line l WHERE l.source_id = s.id AND (l.text GLOB 'kvm [[]*' OR" \
	" l.text GLOB '*qemu*' OR l.task GLOB 'CPU */KVM' OR l.task GLOB 'qemu*'))"
#define GUEST	"s.format = 'dmesg' AND " HAS_FACT("kernel.hypervisor", "KVM") " AND NOT " RUNS_VMS
#define BARE	"s.format = 'dmesg' AND " HAS_FACT("kernel.paravirt", "bare hardware")

static struct error *settle(struct case_db *db, int64_t source, const char *side)
{
	TRY(case_insert(db, NULL, "UPDATE source SET side = ? WHERE id = ? AND side = 'unknown'", "si", side, source));
	TRY(case_insert(db, NULL, "UPDATE fact SET side = ? WHERE source_id = ? AND side = 'unknown'", "si", side, source));
	return case_insert(db, NULL, "UPDATE log_line SET side = ? WHERE source_id = ? AND side = 'unknown'", "si", side, source);
}

static struct error *settle_all(struct case_db *db, const char *sql, const char *side)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	int64_t ids[256];
	size_t n = 0, i;

	TRY(case_query(db, &st, sql, ""));
	while (n < ARRAY_SIZE(ids) && case_step(db, st, &err))
		ids[n++] = sqlite3_column_int64(st, 0);
	case_done(st);
	for (i = 0; i < n && !err; i++)
		err = settle(db, ids[i], side);
	return err;
}

struct error *sides_settle(struct case_db *db)
{
	if (!case_int(db, 0, "SELECT EXISTS (SELECT 1 FROM source s WHERE " GUEST ") AND"
		      " EXISTS (SELECT 1 FROM source s WHERE " BARE ")", ""))
		return NULL;
	TRY(settle_all(db, "SELECT s.id FROM source s WHERE s.side = 'unknown' AND " GUEST, "guest"));
	return settle_all(db, "SELECT s.id FROM source s WHERE s.side = 'unknown' AND " BARE, "host");
}
