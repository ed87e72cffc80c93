// SPDX-License-Identifier: GPL-2.0-or-later
/* test_redact.c - what is replaced by --redact, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "redact.h"

static void text_is(struct redactor *r, const char *from, const char *to)
{
	_cleanup_free_ char *s = redact_text(r, from);

	assert_string_equal(s ? s : from, to);
}

static void member_is(struct redactor *r, const char *from, const char *to)
{
	_cleanup_free_ char *s = redact_member(r, from);

	assert_string_equal(s, to);
}

static void forms(void **state)
{
	struct redactor *r = redactor_create();

	(void)state;
	text_is(r, "ping 10.1.2.3, again 10.1.2.3: 10.1.2.4.", "ping ip-1, again ip-1: ip-2.");
	text_is(r, "[2001:db8::1]:5900 and ::ffff:10.0.0.1", "[ip-3]:5900 and ip-4");
	text_is(r, "mac=52:54:00:12:34:56,", "mac=mac-1,");
	text_is(r, "52:54:00:12:34:56:78", "52:54:00:12:34:56:78");
	text_is(r, "-uuid 0f8fad5b-d9cb-469f-a165-70867728950e", "-uuid uuid-1");
	text_is(r, "0f8fad5b-d9cb-469f-a165-70867728950ef", "0f8fad5b-d9cb-469f-a165-70867728950ef");
	text_is(r, "(build@host.example.org)", "(mail-1)");
	text_is(r, "file=/srv/a/b.qcow2,if=virtio", "file=path-1,if=virtio");
	redactor_free(r);
}

static void left_alone(void **state)
{
	static const char *const same[] = {
		"CPU 0/KVM", "hv_track_root_tdp+0x0/0x70 [kvm]", "kworker/0:1-58 [003] 09:31:22",
		"/proc/sys/kernel/numa_balancing", "/dev/kvm", "/usr/bin/qemu-system-x86_64", "</name>", "a / b",
		"6.1.0-50-amd64", "version 7.2.13", "0000:3b:00.0", "12345.678901:", "load 0.10/0.20", "std::vector", "",
	};
	struct redactor *r = redactor_create();
	size_t i;

	(void)state;
	redactor_name(r, REDACT_HOST, "localhost");
	redactor_name(r, REDACT_VM, "kvm");
	redactor_name(r, REDACT_VM, "7");
	for (i = 0; i < ARRAY_SIZE(same); i++)
		text_is(r, same[i], same[i]);
	redactor_free(r);
}

static void names(void **state)
{
	struct redactor *r = redactor_create();

	(void)state;
	redactor_name(r, REDACT_HOST, "web");
	redactor_name(r, REDACT_HOST, "web.example.org");
	redactor_name(r, REDACT_VM, "db-1");
	text_is(r, "web, WEB and web.example.org", "host-1, host-1 and host-2");
	text_is(r, "webs, cobweb", "webs, cobweb");
	text_is(r, "machine-qemu\\x2d1\\x2ddb-1.scope", "machine-qemu\\x2d1\\x2dvm-1.scope");
	text_is(r, "domain.db-1.vcpus", "domain.vm-1.vcpus");
	text_is(r, "/usr/lib/web/x", "/usr/lib/host-1/x");
	redactor_free(r);
}

static void members(void **state)
{
	struct redactor *r = redactor_create();

	(void)state;
	member_is(r, "case/perf.data.xz", "case/perf.data.xz");
	member_is(r, "acme.tar.xz:acme/proc/vmstat", "file-1.tar.xz:file-1/proc/vmstat");
	member_is(r, "acme/host-7/trace-1.dat", "file-1/host-7/trace-1.dat");
	text_is(r, "formats of acme/perf.data", "formats of file-1/perf.data");
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(left_alone),
		cmocka_unit_test(names),
		cmocka_unit_test(members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
