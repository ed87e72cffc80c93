// SPDX-License-Identifier: GPL-2.0-or-later
/* test_kernel_version.c - what release strings tell about the changes in them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "signature.h"

static void test_parse(void **state)
{
	static const struct {
		const char *release, *distro;
		int v[3], rc, build, rel, sub_min, sub_max;
	} cases[] = {
		{ "6.1.176", "", { 6, 1, 176 }, 0, -1, -1, 176, 176 },
		{ "6.7.0-rc8", "", { 6, 7, 0 }, 8, -1, -1, 0, 0 },
		{ "6.7.0-rc8-00123-g610a9b8f", "", { 6, 7, 0 }, 8, -1, -1, 0, 0 },
		{ "6.7.0+", "", { 6, 7, 0 }, 0, -1, -1, 0, 0 },
		{ "6.8", "", { 6, 8, 0 }, 0, -1, -1, 0, 0 },
		{ "6.1.0-50-amd64", "debian", { 6, 1, 0 }, 0, 50, -1, 176, 176 },
		{ "6.1.0-50-cloud-amd64", "debian", { 6, 1, 0 }, 0, 50, -1, 176, 176 },
		{ "6.1.0-15-amd64", "debian", { 6, 1, 0 }, 0, 15, -1, 55, 76 },
		{ "6.1.0-0.deb11.13-amd64", "debian", { 6, 1, 0 }, 0, 13, -1, 55, 55 },
		{ "6.12.0-1-arm64", "debian", { 6, 12, 0 }, 0, 1, -1, 0, -1 },
		{ "6.12.43+deb13-amd64", "debian", { 6, 12, 43 }, 0, -1, -1, 43, 43 },
		{ "5.14.0-444.el9.x86_64", "el", { 5, 14, 0 }, 0, 444, 9, -1, -1 },
		{ "5.14.0-427.13.1.el9_4.x86_64", "el", { 5, 14, 0 }, 0, 427, 9, -1, -1 },
		{ "4.18.0-553.el8.x86_64", "el", { 4, 18, 0 }, 0, 553, 8, -1, -1 },
		{ "6.2.16-3-pve", "pve", { 6, 2, 16 }, 0, 3, -1, -1, -1 },
		{ "5.15.0-91-generic", "ubuntu", { 5, 15, 0 }, 0, 91, -1, -1, -1 },
		{ "6.5.0-1015-aws", "ubuntu", { 6, 5, 0 }, 0, 1015, -1, -1, -1 },
		{ "6.6.8-200.fc39.x86_64", "fedora", { 6, 6, 8 }, 0, 200, 39, 8, 8 },
		{ "5.3.18-150300.59.106-default", "suse", { 5, 3, 18 }, 0, 150300, -1, -1, -1 },
		{ "5.15.133.1-microsoft-standard-WSL2",
		  "wsl",
		  { 5, 15, 133 },
		  0,
		  -1,
		  -1,
		  133,
		  133 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_version kv;

		if (!kernel_parse(cases[i].release, &kv))
			fail_msg("%s is not parsed", cases[i].release);
		if (strcmp(kv.distro, cases[i].distro) || memcmp(kv.v, cases[i].v, sizeof(kv.v)) ||
		    kv.rc != cases[i].rc || kv.distro_rel != cases[i].rel ||
		    kv.sub_min != cases[i].sub_min || kv.sub_max != cases[i].sub_max ||
		    kv.distro_build != cases[i].build)
			fail_msg("%s: %s %d.%d.%d rc%d build %d rel %d sub %d..%d",
				 cases[i].release, kv.distro, kv.v[0], kv.v[1], kv.v[2], kv.rc,
				 kv.distro_build, kv.distro_rel, kv.sub_min, kv.sub_max);
	}
}

static void test_no_release(void **state)
{
	static const char *const bad[] = { NULL, "",   "linux",		 "1.2",	 "6",
					   "6.", ".1", "999999999999.1", "-6.1", "100.1.1" };
	struct kernel_version kv;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(kernel_parse(bad[i], &kv));
		assert_false(kv.known);
	}
}

static void test_package(void **state)
{
	struct kernel_version kv;

	(void)state;
	assert_true(kernel_parse("6.1.0-15-amd64", &kv));
	assert_false(kernel_add_package(&kv, "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"));
	assert_false(kernel_add_package(&kv, "6.1.0-15-amd64"));
	assert_false(kernel_add_package(&kv, "linux 6.6.13-1"));
	assert_true(kernel_add_package(&kv, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.66-1 (2023-12-09)"));
	assert_int_equal(kv.sub_min, 66);
	assert_int_equal(kv.sub_max, 66);
	assert_true(kernel_parse("5.15.0-91-generic", &kv));
	assert_false(kernel_add_package(&kv, "5.15.131-1"));
}

static void test_cmp(void **state)
{
	static const char *const order[] = { "5.15",	"5.18.3",  "6.1.0", "6.1.10", "6.2",
					     "6.8-rc1", "6.8-rc3", "6.8",   "6.10" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			struct kernel_version a, b;
			int r;

			assert_true(kernel_parse(order[i], &a) && kernel_parse(order[k], &b));
			r = kernel_cmp(&a, &b);
			assert_int_equal(r, i < k ? -1 : i > k);
		}
	}
}

static char *releases_61[] = {
	"6.3.2", "6.1.50", "el9:5.14.0-444", "debian:6.6.9-1", "ubuntu:5.15.0-100", "pve:6.5.11-8"
};

static void test_has_change(void **state)
{
	static const struct { const char *release; int has;
	} cases[] = {
		{ "6.4", 1 },
		{ "6.4.1", 1 },
		{ "6.10.0-1-generic", 1 },
		{ "7.0", 1 },
		{ "6.4.0-rc1", -1 },
		{ "6.3.1", 0 },
		{ "6.3.2", 1 },
		{ "6.1.49", 0 },
		{ "6.1.50", 1 },
		{ "6.1.0-50-amd64", 1 },
		{ "6.1.0-9-amd64", 0 },
		{ "6.1.0-10-amd64", -1 },
		{ "6.2.16", -1 },
		{ "5.10.100", -1 },
		{ "5.14.0-443.el9.x86_64", 0 },
		{ "5.14.0-444.el9.x86_64", 1 },
		{ "5.14.0-500.2.1.el9_5.x86_64", 1 },
		{ "4.18.0-553.el8.x86_64", -1 },
		{ "5.14.0-444.el8.x86_64", -1 },
		{ "5.15.0-99-generic", 0 },
		{ "5.15.0-100-generic", 1 },
		{ "6.2.0-20-generic", -1 },
		{ "6.5.11-7-pve", 0 },
		{ "6.5.11-8-pve", 1 },
		{ "6.2.16-3-pve", -1 },
		{ "6.3.13-1.el9.elrepo.x86_64", -1 },
	};
	const struct kernel_change ch = { .commit = (char *)"edbdb43fc96b",
					  .upstream = (char *)"6.4",
					  .releases = releases_61,
					  .n_releases = ARRAY_SIZE(releases_61) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel_version kv;
		int has;

		assert_true(kernel_parse(cases[i].release, &kv));
		has = kernel_has_change(&kv, &ch);
		if (has != cases[i].has)
			fail_msg("%s: %d, expected %d", cases[i].release, has, cases[i].has);
	}
}

static void test_range(void **state)
{
	static const struct { const char *release; int in;
	} cases[] = {
		{ "5.15.100", 0 },
		{ "5.17.9", 0 },
		{ "5.18.0-rc4", -1 },
		{ "5.18.1", 1 },
		{ "6.7.3", 1 },
		{ "6.8.0-rc2", -1 },
		{ "6.8", 0 },
		{ "6.12.1", 0 },
		{ "5.14.0-443.el9.x86_64", -1 },
		{ "5.14.0-444.el9.x86_64", 0 },
		{ "6.5.0-14-generic", -1 },
		{ "5.15.0-91-generic", -1 },
		{ "6.1.0-50-amd64", 1 },
	};
	static char *el9[] = { "el9:5.14.0-444" };
	const struct kernel_change intro = { .commit = (char *)"f47e5bbbc92f",
					     .upstream = (char *)"5.18",
					     .no_stable = true };
	const struct kernel_change fixed[] = {
		{ .commit = (char *)"d02c357e5bfa",
		  .upstream = (char *)"6.8",
		  .releases = el9,
		  .n_releases = 1,
		  .no_stable = true },
		{ .commit = (char *)"partial", .upstream = (char *)"5.19", .partial = true },
		{ .commit = (char *)"a-switch", .upstream = (char *)"5.19", .mitigation = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct kernel_change *why;
		struct kernel_version kv;
		int in;

		assert_true(kernel_parse(cases[i].release, &kv));
		in = kernel_in_range(&kv, &intro, 1, fixed, ARRAY_SIZE(fixed), &why);
		if (in != cases[i].in)
			fail_msg("%s: %d, expected %d", cases[i].release, in, cases[i].in);
		if (in == 0)
			assert_non_null(why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_no_release),
		cmocka_unit_test(test_package),
		cmocka_unit_test(test_cmp),
		cmocka_unit_test(test_has_change),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
