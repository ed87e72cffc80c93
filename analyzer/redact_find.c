// SPDX-License-Identifier: GPL-2.0-or-later
/* redact_find.c - addresses, UUIDs and paths by their form; names that many files have. */
#include "redact.h"

#include <arpa/inet.h>
#include <ctype.h>

static size_t count_of(const char *s, const char *set)
{
	return strspn(s, set);
}

static size_t find_uuid(const char *s)
{
	static const int groups[] = { 8, 4, 4, 4, 12 };
	const char *p = s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (i && *p++ != '-')
			return 0;
		if (count_of(p, "0123456789abcdefABCDEF") != (size_t)groups[i])
			return 0;
		p += groups[i];
	}
	return (size_t)(p - s);
}

static size_t find_mac(const char *s)
{
	const char *p = s;
	int i;

	for (i = 0; i < 6; i++) {
		if (i && *p != ':' && *p != '-')
			return 0;
		p += i > 0;
		if (count_of(p, "0123456789abcdefABCDEF") != 2)
			return 0;
		p += 2;
	}
	return *p == ':' ? 0 : (size_t)(p - s);
}

static size_t find_ipv4(const char *s)
{
	size_t len = count_of(s, "0123456789.");
	struct in_addr in;
	char buf[16];

	while (len && s[len - 1] == '.')
		len--;
	if (len < 7 || len > 15)
		return 0;
	memcpy(buf, s, len);
	buf[len] = '\0';
	return inet_pton(AF_INET, buf, &in) == 1 ? len : 0;
}

/* At least three colons, or a double one with something: times of day have two. */
static size_t find_ipv6(const char *s)
{
	size_t len = count_of(s, "0123456789abcdefABCDEF:."), colons = 0, i;
	struct in6_addr in;
	char buf[46];

	while (len && (s[len - 1] == '.' || (s[len - 1] == ':' && (len < 2 || s[len - 2] != ':'))))
		len--;
	if (len < 3 || len > 45)
		return 0;
	for (i = 0; i < len; i++)
		colons += s[i] == ':';
	memcpy(buf, s, len);
	buf[len] = '\0';
	return colons >= 2 && (colons >= 3 || (strstr(buf, "::") && len > 4)) &&
	       inet_pton(AF_INET6, buf, &in) == 1 ? len : 0;
}

static bool mail_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._%+-", c));
}

static size_t find_mail(const char *s)
{
	size_t local = 0, host;

	while (mail_char(s[local]))
		local++;
	if (!local || s[local] != '@')
		return 0;
	for (host = local + 1; isalnum((unsigned char)s[host]) || (s[host] && strchr(".-", s[host]));)
		host++;
	while (host > local + 1 && strchr(".-", s[host - 1]))
		host--;
	return host > local + 1 ? host : 0;
}

/* Where every host has the same files. */
static bool usual_place(const char *s, size_t len)
{
	static const char *const places[] = {
		"/proc", "/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/boot", "/dev/kvm", "/dev/null",
		"/dev/vhost-net", "/dev/vhost-vsock", "/dev/net/tun", "/dev/urandom", "/dev/vfio/vfio", "/etc/os-release",
	};
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		n = strlen(places[i]);
		if (len >= n && !memcmp(s, places[i], n) && (len == n || s[n] == '/'))
			return true;
	}
	return false;
}

static size_t find_path(const char *s, bool *usual)
{
	size_t len;

	*usual = false;
	if (*s != '/' || s[1] == '/' || !s[1])
		return 0;
	len = strcspn(s, " \t\r\n\"'<>|,;()[]{}`=:");
	while (len > 1 && strchr(".!?*", s[len - 1]))
		len--;
	/* one word behind a slash is a share, a closing tag or an option */
	if (!memchr(s + 1, '/', len - 1))
		return 0;
	*usual = usual_place(s, len);
	return len;
}

size_t redact_find(const char *s, enum redact_kind *kind)
{
	static const struct {
		enum redact_kind kind;
		size_t (*find)(const char *s);
	} forms[] = {
		{ REDACT_UUID, find_uuid }, { REDACT_MAC, find_mac },	{ REDACT_IP, find_ipv4 },
		{ REDACT_IP, find_ipv6 },   { REDACT_MAIL, find_mail },
	};
	bool usual;
	size_t i, len;

	if (*s == '/') {
		len = find_path(s, &usual);
		*kind = usual ? REDACT_N : REDACT_PATH;
		return len;
	}
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		len = forms[i].find(s);
		/* a longer word of the same letters is something else */
		if (len && !isalnum((unsigned char)s[len])) {
			*kind = forms[i].kind;
			return len;
		}
	}
	return 0;
}

/* Words that names of recordings, logs and host facts are made of. */
static const char *const usual_words[] = {
	"after", "all", "attachment", "bad", "before", "bin", "bpftrace", "bpf", "boot", "bundle", "bz2", "case", "cg", "cgroup",
	"cmdline", "config", "control", "counts", "cpio", "cpu", "cpuinfo", "csv", "dat", "data", "debug", "devices", "dir", "dmesg",
	"dump", "eml", "etc", "events", "exits", "facts", "format", "ftrace", "full", "fs", "function", "good", "graph", "gz", "guest", "header",
	"home", "host", "info", "interrupts", "journal", "journalctl", "json", "kallsyms", "kern", "kernel", "kprobes", "ksm", "kvm",
	"kvmstat", "lat", "latency", "lib", "libvirt", "list", "lock", "log", "logs", "lscpu", "mail", "max", "mbox", "meminfo", "mem",
	"messages", "mid", "mm", "module", "modules", "mounts", "net", "node", "numa", "numactl", "of", "on", "off", "oracle",
	"parameters", "perf", "pid", "pidstat", "ping", "pipe", "pressure", "printk", "proc", "ps", "psi", "qemu", "raw", "record",
	"recording", "release", "report", "run", "sar", "saved", "cmdlines", "sched", "schedstat", "script", "self", "shared", "sos",
	"sosreport", "commands", "smaps", "stat", "stats", "status", "strace", "sys", "sysctl", "syslog", "system", "tar", "tbz2", "tgz",
	"text", "thread", "threads", "time", "timehist", "tmp", "top", "trace", "tracing", "txt", "txz", "uname", "uptime", "usr", "var",
	"vcpu", "version", "virsh", "vm", "vmexit", "vmstat", "xml", "xz", "yaml", "zip", "zst", "per", "stack", "buffer", "ioport", "mmio", "msr",
};

static bool usual_word(const char *s, size_t len)
{
	size_t i;

	if (count_of(s, "0123456789") >= len)
		return true;
	while (len > 1 && isdigit((unsigned char)s[len - 1]))	/* cpu0 */
		len--;
	for (i = 0; i < ARRAY_SIZE(usual_words); i++)
		if (strlen(usual_words[i]) == len && !strncasecmp(usual_words[i], s, len))
			return true;
	return false;
}

bool redact_usual(const char *part, size_t len)
{
	size_t at = 0, n;

	while (at < len) {
		for (n = 0; at + n < len && isalnum((unsigned char)part[at + n]);)
			n++;
		if (n && !usual_word(part + at, n))
			return false;
		at += n;
		if (at < len && !strchr("._-+ #@~", part[at]))
			return false;
		at++;
	}
	return true;
}
