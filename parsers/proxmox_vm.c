// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proxmox_vm.c - Proxmox VE's settings of a VM: /etc/pve/qemu-server/ID.conf (also in pvereport)
 * and `qm config ID`. Snapshots ("[name]" and what follows) are left out. Format: qm.conf(5).
 *
 *   pve.ID.KEY			as written, of keys[]
 *   pve.ID.total_vcpus		cores times sockets, where either is given
 *   pve.ID.iothread_disks	disks with iothread=1
 */
#include "fact_out.h"

static const char *const keys[] = {
	"cores", "sockets", "cpu", "memory", "balloon", "cpulimit", "cpuunits", "affinity", "numa", "hugepages", "keephugepages",
	"machine", "bios", "ostype", "args", "name", "kvm", "vcpus", "localtime", "hostpci0", "hostpci1", "smbios1", "shares", "hotplug",
	"meta", "efidisk0", "startdate", "tdf", "numa0", "numa1",
};

/* KEY: VALUE */
static bool split(struct scan c, struct scan *key, struct scan *value)
{
	const char *s;
	size_t n;

	if (!scan_word(&c, &s, &n) || n > 24 || !scan_lit(&c, ": "))
		return false;
	*key = scan_mem(s, n);
	*value = c;
	scan_trim(value);
	return scan_left(value) > 0;
}

static bool id_of(const char *name, char id[16])
{
	const char *base = strrchr(name, '/');
	struct scan c = scan_mem(base ? base + 1 : name, strlen(base ? base + 1 : name));
	uint64_t v;

	if (!scan_u64(&c, &v) || v < 100 || v > 999999999 || !scan_lit(&c, ".conf"))
		return false;
	snprintf(id, 16, "%" PRIu64, v);
	return true;
}

static int pve_sniff(const struct sniff *s)
{
	const char *next = (const char *)s->head, *end = next + s->len, *p;
	struct scan key, value;
	unsigned int known = 0, n = 0;
	char id[16];
	size_t len, i;

	if (s->len < s->size || s->size > 65536)
		return 0;
	while (scan_lines(&next, end, &p, &len)) {
		if (!len || *p == '#')
			continue;
		if (*p == '[')
			break;
		if (!split(scan_mem(p, len), &key, &value))
			return 0;
		n++;
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			known += span_is(key.p, scan_left(&key), keys[i]);
	}
	return known >= 2 && (id_of(s->name, id) || (known >= 4 && memmem(s->head, s->len, "ostype: ", 8))) ? 85 : 0;
}

static struct error *pve_parse(struct parse_ctx *ctx)
{
	struct fact_out out = { .format = "proxmox vm", .side = fact_host_side(ctx) };
	const char *start = (const char *)ctx->m->data, *next = start, *end = next + ctx->m->size,
		   *p;
	uint64_t cores = 1, sockets = 1, disks = 0;
	int64_t vcpu_cite = 0, disk_cite = 0;
	struct scan key, value;
	char id[16] = "vm", name[64], number[24];
	size_t len, i;

	id_of(ctx->m->name, id);
	while (scan_lines(&next, end, &p, &len)) {
		if (len && *p == '[')
			break;
		if (!split(scan_mem(p, len), &key, &value))
			continue;
		if (scan_find(&value, "iothread=1")) {
			disks++;
			disk_cite = ctx_cite_at(ctx, (uint64_t)(p - start), p, len);
		}
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			struct scan v = value;
			int64_t cite;

			if (!span_is(key.p, scan_left(&key), keys[i]))
				continue;
			cite = ctx_cite_at(ctx, (uint64_t)(p - start), p, len);
			snprintf(name, sizeof(name), "pve.%s.%s", id, keys[i]);
			fact_put(ctx, &out, name, value.p, scan_left(&value), cite);
			if ((!strcmp(keys[i], "cores") && scan_u64(&v, &cores)) || (!strcmp(keys[i], "sockets") && scan_u64(&v, &sockets)))
				vcpu_cite = cite;
		}
	}
	if (vcpu_cite && cores <= 65536 && sockets <= 65536) {
		snprintf(name, sizeof(name), "pve.%s.total_vcpus", id);
		snprintf(number, sizeof(number), "%" PRIu64, cores * sockets);
		fact_put(ctx, &out, name, number, strlen(number), vcpu_cite);
	}
	if (disks) {
		snprintf(name, sizeof(name), "pve.%s.iothread_disks", id);
		snprintf(number, sizeof(number), "%" PRIu64, disks);
		fact_put(ctx, &out, name, number, strlen(number), disk_cite);
	}
	return NULL;
}

static const struct parser pve = {
	.name		= "proxmox vm",
	.kind		= PARSER_VALUE,
	.sniff		= pve_sniff,
	.parse		= pve_parse,
};
REGISTER(parsers, &pve);
