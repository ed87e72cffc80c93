// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ping.c - times without an answer out of ping logs. */
#include "facts.h"

/* Founding case 1: two stalls, not one; what was unreachable meanwhile belongs to the first. */
static void test_founding(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_file(db, "founding/numa-ping.txt");
	assert_sql_int(db, "SELECT count(*) FROM ping_gap WHERE kind = 'burst'", 2);
	assert_sql_str(db, "SELECT start_ns || ' ' || end_ns || ' ' || duration_ns || ' ' || max_rtt_ns || ' ' || replies "
		       "FROM ping_gap ORDER BY start_ns", "1704360682950049000 1704360790194049000 107244000000 107244000000 6");
	assert_sql_str(db, "SELECT start_ns || ' ' || duration_ns FROM ping_gap WHERE kind = 'burst' ORDER BY start_ns DESC",
		       "1704360801346320000 9135000000");
	assert_sql_int(db, "SELECT lost >= 4 FROM ping_gap ORDER BY start_ns", 1);
	assert_sql_int(db, "SELECT count(*) FROM ping_gap p, json_each(p.cites) j JOIN cite c ON c.id = j.value "
		       "WHERE c.line IS NULL OR c.text NOT LIKE '%icmp_seq%'", 0);
	assert_sql_str(db, "SELECT replies || ' ' || unreachable FROM ping_stat", "18 4");
	case_close(db);
}

/* The same, as the mail wrapped it. */
static void test_wrapped(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "mail.txt", "the guest does not respond for ~100\nseconds:\n\n"
		   "[1704360680.898427] 64 bytes from 192.168.18.11: icmp_seq=47 ttl=64\ntime=0.447 ms\n"
		   "[1704360681.922522] 64 bytes from 192.168.18.11: icmp_seq=48 ttl=64\ntime=0.515 ms\n"
		   "[1704360710.369961] From 192.168.16.32 icmp_seq=73 Destination Host\nUnreachable\n"
		   "... repeats ...\n"
		   "[1704360790.194049] 64 bytes from 192.168.18.11: icmp_seq=49 ttl=64\ntime=107244 ms\n"
		   "[1704360790.196813] 64 bytes from 192.168.18.11: icmp_seq=50 ttl=64\ntime=106227 ms\n"
		   "[1704360790.196998] 64 bytes from 192.168.18.11: icmp_seq=51 ttl=64\ntime=105203 ms\n"
		   "[...]\n"
		   "[1704360799.307342] 64 bytes from 192.168.18.11: icmp_seq=163 ttl=64\ntime=0.335 ms\n");
	assert_sql_str(db, "SELECT count(*) || ' ' || min(start_ns) || ' ' || max(duration_ns) || ' ' || max(lost) FROM ping_gap",
		       "1 1704360682950049000 107244000000 1");
	case_close(db);
}

/* @n requests every @interval ms from 1000 s on; those sent in [stop, go) ms are answered at go. */
static char *make_log(unsigned int n, unsigned int interval, unsigned int stop, unsigned int go,
		      bool stamps)
{
	char *text = xmalloc(n * 100 + 200), *p = text;
	unsigned int i;

	p += sprintf(p, "PING 10.9.0.2 (10.9.0.2) 56(84) bytes of data.\n");
	for (i = 0; i < n; i++) {
		unsigned int sent = i * interval,
			     arrival = sent >= stop && sent < go ? go + i / 8 : sent + 2;

		if (stamps)
			p += sprintf(p, "[%u.%06u] ", 1000 + arrival / 1000, arrival % 1000 * 1000);
		p += sprintf(p, "64 bytes from 10.9.0.2: icmp_seq=%u ttl=64 time=%u.0 ms\n", i + 1, arrival - sent);
	}
	sprintf(p, "\n--- 10.9.0.2 ping statistics ---\n%u packets transmitted, %u received, 0%% packet loss, time 1ms\n", n, n);
	return text;
}

/* Five requests a second, as one capture has it. */
static void test_fast_interval(void **state __unused)
{
	_cleanup_free_ char *text = make_log(40, 200, 3000, 5000, true);
	struct case_db *db = facts_new();

	facts_text(db, "ping.txt", text);
	assert_sql_str(db, "SELECT format || ' ' || status FROM member", "ping read");
	assert_sql_str(db, "SELECT kind || ' ' || start_ns || ' ' || replies FROM ping_gap", "burst 1003000000000 10");
	assert_sql_int(db, "SELECT abs(duration_ns - 2000000000) < 10000000 FROM ping_gap", 1);
	assert_sql_str(db, "SELECT sent || ' ' || replies || ' ' || median_rtt_ns FROM ping_stat", "40 40 2000000");
	assert_sql_str(db, "SELECT clock FROM source", "wall");
	case_close(db);
}

/* Without stamps the falling round trips still show the stop. */
static void test_plain(void **state __unused)
{
	_cleanup_free_ char *text = make_log(30, 1000, 10000, 16000, false);
	struct case_db *db = facts_new();

	facts_text(db, "ping.txt", text);
	assert_sql_str(db, "SELECT kind || ' ' || start_ns FROM ping_gap WHERE replies IN (6, 7)", "burst 10000000000");
	assert_sql_str(db, "SELECT clock FROM source", "ping sequence");
	case_close(db);
}

static void test_lost_and_slow(void **state __unused)
{
	struct case_db *db = facts_new();

	facts_text(db, "ping.txt",
		   "[1000.000000] 64 bytes from a (10.0.0.1): icmp_seq=1 ttl=64 time=1.0 ms\n"
		   "[1001.000000] 64 bytes from a (10.0.0.1): icmp_seq=2 ttl=64 time=1.0 ms\n"
		   "[1002.000000] 64 bytes from a (10.0.0.1): icmp_seq=3 ttl=64 time=1.0 ms\n"
		   "[1008.000000] 64 bytes from a (10.0.0.1): icmp_seq=9 ttl=64 time=1.0 ms\n"
		   "[1009.900000] 64 bytes from a (10.0.0.1): icmp_seq=10 ttl=64 time=901 ms\n"
		   "[1010.000000] 64 bytes from a (10.0.0.1): icmp_seq=11 ttl=64 time=1.0 ms\n"
		   "[1012.000000] 64 bytes from a (10.0.0.1): icmp_seq=13 ttl=64 time=1.0 ms\n");
	assert_sql_str(db, "SELECT group_concat(kind || ' ' || start_ns || ' ' || lost, '|') FROM (SELECT * FROM ping_gap ORDER BY start_ns)",
		       "lost 1002999000000 5|slow 1008999000000 0");
	case_close(db);
}

/* 16-bit numbers wrap; that is no loss. */
static void test_wrap(void **state __unused)
{
	struct case_db *db = facts_new();
	char text[4096], *p = text;
	unsigned int i;

	for (i = 0; i < 8; i++)
		p += sprintf(p, "[%u.000000] 64 bytes from h: icmp_seq=%u ttl=64 time=1.0 ms\n", 100 + i, (65532 + i) & 65535);
	facts_text(db, "ping.txt", text);
	assert_sql_int(db, "SELECT count(*) FROM ping_gap", 0);
	assert_sql_int(db, "SELECT replies FROM ping_stat", 8);
	case_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_founding),      cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_fast_interval), cmocka_unit_test(test_plain),
		cmocka_unit_test(test_lost_and_slow), cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
