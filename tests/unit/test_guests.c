// SPDX-License-Identifier: GPL-2.0-or-later
/* test_guests.c - a guest's trace.dat and its host's: one axis, vCPUs by their host threads. */
#include "facts.h"

#include "axis.h"
#include "ring_build.h"

#define HOST_ID		0x1111
#define GUEST_ID	0x2222
#define EARLIER		5000000000	/* the guest's clock minus the host's */

/* One CPU with one switch at @time, to task @next. */
static void one_cpu(struct cpu_data *cpu, uint64_t time, int32_t next, const char *comm)
{
	size_t at;

	memset(cpu, 0, sizeof(*cpu));
	cpu->pages.lsize = 8;
	at = page_begin(&cpu->pages, time);
	sched_switch(&cpu->pages, 0, 7, "bash", 1, next, comm);
	page_end(&cpu->pages, at, 0, 0);
}

static void begin(struct out *o, uint64_t id)
{
	v6_head(o, false, 8, 1);
	put_bytes(o, "options  \0", 10);
	option_text(o, 4, "local global [mono] boot\n");
	option_u64(o, 11, id);
}

static void finish_file(struct case_db *db, const char *name, struct out *o, struct cpu_data *cpu)
{
	put(o, 0, 2);
	flyrecord(o, cpu, 1);
	facts_mem(db, name, (const char *)o->data, o->n);
	free(o->data);
	free(cpu->pages.data);
}

/* The host's file names guest vm1 with id @guest and its vCPU 3, which is thread 8. */
static void host_file(struct case_db *db, uint64_t guest)
{
	struct cpu_data cpu;
	struct out o, g;

	one_cpu(&cpu, 1000000, 8, "worker");
	begin(&o, HOST_ID);
	g = empty(&o);
	put_text(&g, "vm1");
	put(&g, guest, 8);
	put(&g, 1, 4);
	put(&g, 3, 4);
	put(&g, 8, 4);
	option(&o, 13, g.data, (uint32_t)g.n);
	free(g.data);
	finish_file(db, "host.dat", &o, &cpu);
}

/* The guest's: its times are 5 s ahead of the host's. */
static void guest_file(struct case_db *db, uint64_t peer)
{
	struct cpu_data cpu;
	struct out o, g;

	one_cpu(&cpu, 1000500 + EARLIER, 9, "inside");
	begin(&o, GUEST_ID);
	g = empty(&o);
	put(&g, peer, 8);
	put(&g, 0, 4);
	put(&g, 1, 4);
	put(&g, 1, 4);
	put(&g, 1000, 8);
	put(&g, (uint64_t)-EARLIER, 8);
	put(&g, 1, 8);
	option(&o, 12, g.data, (uint32_t)g.n);
	free(g.data);
	finish_file(db, "guest.dat", &o, &cpu);
}

static void test_pair(void **state __unused)
{
	struct case_db *db = facts_new();

	guest_file(db, HOST_ID);	/* in any order */
	host_file(db, GUEST_ID);
	facts_ok(case_insert(db, NULL, "INSERT INTO vm(id, source_id) SELECT 1, id FROM source WHERE path = 'host.dat'", ""));
	facts_ok(case_insert(db, NULL, "INSERT INTO vcpu(source_id, vm_id, tid, first_ns, last_ns, guest_ns, host_ns, vmm_ns, halted_ns, waiting_ns, "
			     "blocked_ns, unknown_ns, lost_ns) SELECT id, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM source WHERE path = 'host.dat'", ""));
	facts_ok(case_insert(db, NULL, "UPDATE source SET first_ns = 1000000, last_ns = 1000000 WHERE path = 'host.dat' AND first_ns IS NULL", ""));
	facts_ok(axis_relate(db));
	/* the guest's times are the host's */
	assert_sql_int(db, "SELECT first_ns FROM source WHERE path = 'guest.dat'", 1000500);
	assert_sql_int(db, "SELECT count(DISTINCT axis) FROM axis", 1);
	assert_sql_int(db, "SELECT max(offset_ns) - min(offset_ns) FROM axis", 0);
	assert_sql_int(db, "SELECT max(uncertainty_ns) FROM axis", 10000);
	assert_sql_int(db, "SELECT count(*) FROM axis WHERE why LIKE '%guest \"vm1\" of host.dat%'", 1);
	assert_fact(db, "guest.name", "vm1");
	assert_fact(db, "guest.host", "host.dat");
	assert_fact(db, "guest.cpu.3.host_tid", "8");
	assert_sql_int(db, "SELECT vcpu FROM vcpu WHERE tid = 8", 3);
	assert_sql_str(db, "SELECT name FROM vm", "vm1");
	case_close(db);
}

/* Ids that do not name each other: two recordings side by side. */
static void test_strangers(void **state __unused)
{
	struct case_db *db = facts_new();

	host_file(db, 0x3333);
	guest_file(db, HOST_ID);
	facts_ok(axis_relate(db));
	assert_sql_int(db, "SELECT count(*) FROM axis WHERE why LIKE '%trace-cmd traced it%'", 0);
	assert_fact(db, "guest.name", "(null)");
	case_close(db);
	db = facts_new();
	host_file(db, GUEST_ID);
	guest_file(db, 0x4444);
	facts_ok(axis_relate(db));
	assert_fact(db, "guest.name", "(null)");
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
