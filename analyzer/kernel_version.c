// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernel_version.c - what a kernel release string tells about the upstream changes in it.
 *
 * Upstream and stable releases carry exactly what their number says. Debian and Fedora build stable
 * releases; Debian's `uname -r` has the ABI number, not the stable number, which stands in the
 * package's version. RHEL and its kin, Ubuntu, SUSE and Proxmox pick changes on top of an old
 * number: only their own build numbers, where a signature lists them, decide.
 */
#include <ctype.h>

#include "signature.h"

/*
 * Debian ABI names and the stable release they were built from, as far as known (the last row was
 * seen on a recording, the others are from Debian's changelogs by memory); between two rows the
 * stable number lies between theirs. A package version in the case makes this table superfluous.
 */
static const struct debian_abi { int major, minor, abi, sub; } debian_abis[] = {
	{ 5, 10, 8, 46 }, { 5, 10, 9, 70 },
	{ 6, 1, 9, 27 }, { 6, 1, 13, 55 }, { 6, 1, 18, 76 }, { 6, 1, 21, 90 }, { 6, 1, 50, 176 },
};

static const char *const ubuntu_flavours[] = {
	"generic", "lowlatency", "aws", "azure", "gcp", "kvm", "oracle", "ibm", "nvidia", "raspi",
};

static bool scan_int(const char **s, int *ret)
{
	long v = 0;

	if (!isdigit((unsigned char)**s))
		return false;
	while (isdigit((unsigned char)**s)) {
		v = v * 10 + (**s - '0');
		if (v > 100000000)
			return false;
		(*s)++;
	}
	*ret = (int)v;
	return true;
}

static bool ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return a >= b && !strcmp(s + a - b, end);
}

static bool debian_arch(const char *s)
{
	static const char *const archs[] = {
		"amd64", "arm64", "686", "686-pae", "ppc64le", "powerpc64le", "s390x", "riscv64",
	};

	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (ends_with(s, archs[i]))
			return true;
	return false;
}

static void debian_range(struct kernel_version *kv)
{
	kv->sub_min = 0;
	for (size_t i = 0; i < ARRAY_SIZE(debian_abis); i++) {
		const struct debian_abi *d = &debian_abis[i];

		if (d->major != kv->v[0] || d->minor != kv->v[1])
			continue;
		if (d->abi <= kv->distro_build)
			kv->sub_min = MAX(kv->sub_min, d->sub);
		if (d->abi >= kv->distro_build &&
		    (kv->sub_max == KERNEL_SUB_UNKNOWN || d->sub < kv->sub_max))
			kv->sub_max = d->sub;
	}
}

/*
 * What follows the version: "-444.el9.x86_64", "-50-cloud-amd64", "-3-pve", "-91-generic",
 * "-200.fc39.x86_64" ...
 */
static void classify(struct kernel_version *kv, const char *rest)
{
	const char *p;
	const char *s = rest;

	kv->sub_min = kv->sub_max = kv->v[2];
	if (*s == '-') {
		s++;
		if (!scan_int(&s, &kv->distro_build))
			kv->distro_build = -1;
	}
	p = strstr(rest, ".el");
	if (p && isdigit((unsigned char)p[3])) {
		strcpy(kv->distro, "el");
		p += 3;
		scan_int(&p, &kv->distro_rel);
		kv->sub_min = kv->sub_max = KERNEL_SUB_UNKNOWN;
		return;
	}
	p = strstr(rest, ".fc");
	if (p && isdigit((unsigned char)p[3])) {
		strcpy(kv->distro, "fedora");
		p += 3;
		scan_int(&p, &kv->distro_rel);
		return;
	}
	if (ends_with(rest, "-pve")) {
		strcpy(kv->distro, "pve");
		kv->sub_min = kv->sub_max = KERNEL_SUB_UNKNOWN;
		return;
	}
	if (strstr(rest, "-microsoft-")) {
		strcpy(kv->distro, "wsl");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ubuntu_flavours); i++) {
		if (kv->distro_build >= 0 && *s == '-' &&
		    !strncmp(s + 1, ubuntu_flavours[i], strlen(ubuntu_flavours[i]))) {
			strcpy(kv->distro, "ubuntu");
			kv->sub_min = kv->sub_max = KERNEL_SUB_UNKNOWN;
			return;
		}
	}
	if (ends_with(rest, "-default") && kv->distro_build > 1000) {
		strcpy(kv->distro, "suse");
		kv->sub_min = kv->sub_max = KERNEL_SUB_UNKNOWN;
		return;
	}
	if (debian_arch(rest) &&
	    (kv->distro_build >= 0 || strstr(rest, ".deb") || !strncmp(rest, "+deb", 4))) {
		strcpy(kv->distro, "debian");
		p = strstr(rest, ".deb"); /* 6.1.0-0.deb11.13-amd64: a backport of ABI 13 */
		p = p ? strchr(p + 4, '.') : NULL;
		if (p) {
			p++;
			scan_int(&p, &kv->distro_build);
		}
		if (kv->v[2] == 0) {
			kv->sub_min = 0;
			kv->sub_max = KERNEL_SUB_UNKNOWN;
			debian_range(kv);
		}
		return;
	}
	p = strstr(rest, "-rc");
	if (p && isdigit((unsigned char)p[3])) {
		p += 3;
		scan_int(&p, &kv->rc);
		kv->distro_build = -1;
	} else {
		kv->distro_build = -1;	/* an own build: it may carry anything on top */
	}
}

bool kernel_parse(const char *release, struct kernel_version *kv)
{
	const char *s = release;

	*kv = (struct kernel_version){ .distro_rel = -1, .distro_build = -1 };
	if (!release)
		return false;
	while (isspace((unsigned char)*s))
		s++;
	if (!scan_int(&s, &kv->v[0]) || *s++ != '.' || !scan_int(&s, &kv->v[1]) ||
	    kv->v[0] < 2 || kv->v[0] > 99 || kv->v[1] > 999) {
		*kv = (struct kernel_version){ .distro_rel = -1, .distro_build = -1 };
		return false;
	}
	if (*s == '.' && isdigit((unsigned char)s[1])) {
		s++;
		scan_int(&s, &kv->v[2]);
	}
	snprintf(kv->raw, sizeof(kv->raw), "%.*s", (int)strcspn(release, " \t\r\n"), release);
	kv->known = true;
	{
		_cleanup_free_ char *rest = xstrndup(s, MIN(strcspn(s, " \t\r\n"), (size_t)100));

		classify(kv, rest);
	}
	return true;
}

bool kernel_add_package(struct kernel_version *kv, const char *text)
{
	if (!kv->known || !text)
		return false;
	for (const char *p = text; *p; p++) {
		int a, b, c, n;
		const char *s = p;

		if (!isdigit((unsigned char)*p) ||
		    (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '.' || p[-1] == '-')))
			continue;
		if (!scan_int(&s, &a) || *s++ != '.' || !scan_int(&s, &b) || *s++ != '.' ||
		    !scan_int(&s, &c) || *s++ != '-' || !scan_int(&s, &n))
			continue;
		/*
		 * The package of this very kernel: same x.y, a stable number where uname has 0, and
		 * no ABI suffix.
		 */
		if (a != kv->v[0] || b != kv->v[1] || c == 0 || kv->v[2] != 0 || n > 20 ||
		    *s == '-')
			continue;
		if (strcmp(kv->distro, "debian") && kv->distro[0])
			continue;
		kv->sub_min = kv->sub_max = c;
		return true;
	}
	return false;
}

int kernel_cmp(const struct kernel_version *a, const struct kernel_version *b)
{
	for (int i = 0; i < 3; i++)
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i] ? -1 : 1;
	if (a->rc != b->rc) {
		if (!a->rc || !b->rc)
			return a->rc ? -1 : 1;
		return a->rc < b->rc ? -1 : 1;
	}
	return 0;
}

/* Distributions whose number is that of a stable release. */
static bool number_counts(const struct kernel_version *kv)
{
	return !kv->distro[0] || !strcmp(kv->distro, "debian") || !strcmp(kv->distro, "fedora") ||
	       !strcmp(kv->distro, "wsl");
}

/*
 * "el9:5.14.0-444" against a kernel of el9: 1 at or after, 0 before, -1 when it is about something
 * else.
 */
static int release_of_distro(const struct kernel_version *kv, const char *rel)
{
	const char *colon = strchr(rel, ':');
	struct kernel_version want;
	char name[16];
	size_t n, letters;
	int major_rel = -1;

	if (!colon || !kv->distro[0])
		return -1;
	n = MIN((size_t)(colon - rel), sizeof(name) - 1);
	memcpy(name, rel, n);
	name[n] = 0;
	letters = strcspn(name, "0123456789");
	if (name[letters])
		major_rel = atoi(name + letters);
	name[letters] = 0;
	if (strcmp(name, kv->distro) || (major_rel >= 0 && major_rel != kv->distro_rel))
		return -1;
	if (!kernel_parse(colon + 1, &want))
		return -1;
	if (!strcmp(kv->distro, "debian")) {
		/* A package version: 6.1.90-1. */
		if (want.v[0] != kv->v[0] || want.v[1] != kv->v[1])
			return -1;
		if (kv->sub_min != KERNEL_SUB_UNKNOWN && kv->sub_min >= want.v[2])
			return 1;
		if (kv->sub_max != KERNEL_SUB_UNKNOWN && kv->sub_max < want.v[2])
			return 0;
		return -1;
	}
	{
		const char *dash = strchr(colon + 1, '-');
		int build = -1;

		if (want.v[0] != kv->v[0] || want.v[1] != kv->v[1] || want.v[2] != kv->v[2])
			return -1;
		if (dash) {
			dash++;
			scan_int(&dash, &build);
		}
		if (build < 0 || kv->distro_build < 0)
			return -1;
		return kv->distro_build >= build;
	}
}

static int release_of_stable(const struct kernel_version *kv, const char *rel)
{
	struct kernel_version want;

	if (strchr(rel, ':') || !number_counts(kv) || !kernel_parse(rel, &want))
		return -1;
	if (want.v[0] != kv->v[0] || want.v[1] != kv->v[1] || kv->rc)
		return -1;
	if (kv->sub_min != KERNEL_SUB_UNKNOWN && kv->sub_min >= want.v[2])
		return 1;
	if (kv->sub_max != KERNEL_SUB_UNKNOWN && kv->sub_max < want.v[2])
		return 0;
	return -1;
}

int kernel_has_change(const struct kernel_version *kv, const struct kernel_change *ch)
{
	struct kernel_version up;
	bool branch = false;
	int r, ret = -1;

	if (!kv->known)
		return -1;
	for (size_t i = 0; i < ch->n_releases; i++) {
		r = release_of_distro(kv, ch->releases[i]);
		if (r >= 0)
			return r;
	}
	if (!ch->upstream || !kernel_parse(ch->upstream, &up))
		up.known = false;
	if (up.known) {
		/* A candidate of the very release may have it or not. */
		if (kv->rc && kv->v[0] == up.v[0] && kv->v[1] == up.v[1])
			return up.rc ? kernel_cmp(kv, &up) >= 0 : -1;
		if (kv->v[0] > up.v[0] || (kv->v[0] == up.v[0] && kv->v[1] >= up.v[1]))
			return 1;
	}
	for (size_t i = 0; i < ch->n_releases; i++) {
		struct kernel_version want;

		r = release_of_stable(kv, ch->releases[i]);
		if (r >= 0)
			return r;
		if (!strchr(ch->releases[i], ':') && kernel_parse(ch->releases[i], &want) &&
		    want.v[0] == kv->v[0] && want.v[1] == kv->v[1])
			branch = true;
	}
	if (up.known && number_counts(kv) && !branch && (ch->no_stable || kv->rc))
		ret = 0;
	return ret;
}

int kernel_in_range(const struct kernel_version *kv, const struct kernel_change *introduced,
		    size_t n_introduced, const struct kernel_change *fixed, size_t n_fixed,
		    const struct kernel_change **why)
{
	bool unknown = n_introduced == 0, has = n_introduced == 0;

	if (why)
		*why = NULL;
	if (!kv->known)
		return -1;
	for (size_t i = 0; i < n_fixed; i++) {
		if (fixed[i].partial || fixed[i].mitigation)
			continue;
		if (kernel_has_change(kv, &fixed[i]) == 1) {
			if (why)
				*why = &fixed[i];
			return 0;
		}
	}
	for (size_t i = 0; i < n_introduced; i++) {
		int r = kernel_has_change(kv, &introduced[i]);

		if (r == 1)
			has = true;
		else if (r < 0)
			unknown = true;
		else if (why)
			*why = &introduced[i];
	}
	if (!has)
		return unknown ? -1 : 0;
	if (why)
		*why = n_introduced ? &introduced[0] : NULL;
	if (n_introduced == 0)
		unknown = true;
	for (size_t i = 0; i < n_fixed; i++)
		if (!fixed[i].partial && !fixed[i].mitigation &&
		    kernel_has_change(kv, &fixed[i]) < 0)
			unknown = true;
	return unknown ? -1 : 1;
}
