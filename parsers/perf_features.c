// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_features.c - perf.data's feature sections: what the host is and how it was recorded; see
 * perf_file.h.
 *
 * Layouts as tools/perf/util/header.c writes them; strings are a u32 length and that many bytes,
 * padded.
 */
#include "perf_file.h"

#include <stdarg.h>

#define MAX_STRING	(64u << 10)
#define MAX_LIST	4096

enum feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID,
	FEAT_HOSTNAME,
	FEAT_OSRELEASE,
	FEAT_VERSION,
	FEAT_ARCH,
	FEAT_NRCPUS,
	FEAT_CPUDESC,
	FEAT_CPUID,
	FEAT_TOTAL_MEM,
	FEAT_CMDLINE,
	FEAT_EVENT_DESC,
	FEAT_CPU_TOPOLOGY,
	FEAT_NUMA_TOPOLOGY,
	FEAT_BRANCH_STACK,
	FEAT_PMU_MAPPINGS,
	FEAT_GROUP_DESC,
	FEAT_AUXTRACE,
	FEAT_STAT,
	FEAT_CACHE,
	FEAT_SAMPLE_TIME,
	FEAT_MEM_TOPOLOGY,
	FEAT_CLOCKID,
	FEAT_DIR_FORMAT,
	FEAT_BPF_PROG_INFO,
	FEAT_BPF_BTF,
	FEAT_COMPRESSED,
	FEAT_CPU_PMU_CAPS,
	FEAT_CLOCK_DATA,
	FEAT_MAX = 256
};

void perf_add_fact(struct perf_file *pf, const char *key, const char *value)
{
	if (pf->n_facts >= PERF_MAX_FACTS)
		return;
	GROW(pf->facts, pf->cap_facts, pf->n_facts + 1);
	pf->facts[pf->n_facts++] = (struct perf_fact){ xstrdup(key), xstrdup(value) };
}

static void __printf_like(3, 4)
	add_fact(struct perf_file *pf, const char *key, const char *fmt, ...)
{
	char value[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	perf_add_fact(pf, key, value);
}

/* A length-prefixed string as a copy, or NULL. */
static char *get_string(struct perf_buf *b)
{
	uint32_t len = buf_u32(b);
	const uint8_t *p = buf_bytes(b, len);

	if (!p || len > MAX_STRING)
		return NULL;
	return xstrndup((const char *)p, len);
}

static void take_string(struct perf_file *pf, struct perf_buf *b, const char *key, char **keep)
{
	char *s = get_string(b);

	if (!s)
		return;
	perf_add_fact(pf, key, s);
	if (keep && !*keep)
		*keep = s;
	else
		free(s);
}

static void feat_hostname(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "host.name", &pf->host);
}

static void feat_osrelease(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "kernel.release", &pf->release);
}

static void feat_version(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "perf.version", &pf->perf_version);
}

static void feat_arch(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "cpu.arch", &pf->arch);
}

static void feat_cpudesc(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "cpu.desc", &pf->cpu_desc);
}

static void feat_cpuid(struct perf_file *pf, struct perf_buf *b)
{
	take_string(pf, b, "cpu.id", NULL);
}

static void feat_nrcpus(struct perf_file *pf, struct perf_buf *b)
{
	uint32_t available = buf_u32(b), online = buf_u32(b);

	if (b->bad || available > UINT16_MAX || online > UINT16_MAX)
		return;
	pf->cpus_available = (int)available;
	pf->cpus_online = (int)online;
	add_fact(pf, "cpus.online", "%" PRIu32, online);
	add_fact(pf, "cpus.available", "%" PRIu32, available);
}

static void feat_total_mem(struct perf_file *pf, struct perf_buf *b)
{
	uint64_t kb = buf_u64(b);

	if (!b->bad)
		add_fact(pf, "memory.total_kb", "%" PRIu64, kb);
}

static void feat_cmdline(struct perf_file *pf, struct perf_buf *b)
{
	uint32_t n = buf_u32(b), i;
	char *line = xstrdup("");

	for (i = 0; i < n && i < MAX_LIST && !b->bad; i++) {
		_cleanup_free_ char *arg = get_string(b);
		char *longer;

		if (!arg || strlen(line) + strlen(arg) > MAX_STRING)
			break;
		longer = xasprintf("%s%s%s", line, i ? " " : "", arg);
		free(line);
		line = longer;
	}
	if (*line)
		perf_add_fact(pf, "perf.cmdline", line);
	if (pf->cmdline)
		free(line);
	else
		pf->cmdline = line;
}

static void feat_event_desc(struct perf_file *pf, struct perf_buf *b)
{
	uint32_t n = buf_u32(b), attr_size = buf_u32(b), i, j;

	for (i = 0; i < n && i < PERF_MAX_ATTRS && !b->bad; i++) {
		const uint8_t *attr = buf_bytes(b, attr_size);
		uint32_t n_ids = buf_u32(b);
		_cleanup_free_ char *name = get_string(b);
		struct perf_attr desc;

		if (!attr || !name)
			break;
		if (!buf_bytes(b, (uint64_t)n_ids * 8))
			break;
		/*
		 * The descriptions follow the attributes' order; without it, the same event is
		 * looked for.
		 */
		if (!perf_parse_attr(&desc, attr, attr_size, b->swap))
			continue;
		if (i < pf->n_attrs && !pf->attrs[i].name && pf->attrs[i].type == desc.type &&
		    pf->attrs[i].config == desc.config) {
			pf->attrs[i].name = xstrdup(name);
			continue;
		}
		for (j = 0; j < pf->n_attrs; j++)
			if (!pf->attrs[j].name && pf->attrs[j].type == desc.type &&
			    pf->attrs[j].config == desc.config) {
				pf->attrs[j].name = xstrdup(name);
				break;
			}
	}
}

static void feat_cpu_topology(struct perf_file *pf, struct perf_buf *b)
{
	static const char *const keys[] = { "cpu.sibling_cores", "cpu.sibling_threads" };
	size_t k;

	for (k = 0; k < ARRAY_SIZE(keys); k++) {
		uint32_t n = buf_u32(b), i;

		for (i = 0; i < n && i < MAX_LIST && !b->bad; i++) {
			_cleanup_free_ char *list = get_string(b);

			if (list)
				perf_add_fact(pf, keys[k], list);
		}
	}
}

static void feat_numa_topology(struct perf_file *pf, struct perf_buf *b)
{
	uint32_t n = buf_u32(b), i;

	for (i = 0; i < n && i < PERF_MAX_NODES && !b->bad; i++) {
		uint32_t node = buf_u32(b);
		uint64_t total = buf_u64(b), unused = buf_u64(b);
		_cleanup_free_ char *cpus = get_string(b);
		char key[64];

		if (!cpus)
			break;
		snprintf(key, sizeof(key), "numa.node.%" PRIu32 ".cpus", node);
		perf_add_fact(pf, key, cpus);
		snprintf(key, sizeof(key), "numa.node.%" PRIu32 ".memory_kb", node);
		add_fact(pf, key, "%" PRIu64, total);
		snprintf(key, sizeof(key), "numa.node.%" PRIu32 ".free_kb", node);
		add_fact(pf, key, "%" PRIu64, unused);
	}
	if (n && !b->bad)
		add_fact(pf, "numa.nodes", "%" PRIu32, n);
}

static void feat_sample_time(struct perf_file *pf, struct perf_buf *b)
{
	uint64_t first = buf_u64(b), last = buf_u64(b);

	if (b->bad)
		return;
	add_fact(pf, "perf.first_sample_ns", "%" PRIu64, first);
	add_fact(pf, "perf.last_sample_ns", "%" PRIu64, last);
}

static void feat_clockid(struct perf_file *pf, struct perf_buf *b)
{
	uint64_t res = buf_u64(b);

	if (!b->bad)
		add_fact(pf, "perf.clock_resolution_ns", "%" PRIu64, res);
}

static void feat_clock_data(struct perf_file *pf, struct perf_buf *b)
{
	uint32_t version = buf_u32(b), id = buf_u32(b);
	uint64_t wall = buf_u64(b), mono = buf_u64(b);

	if (b->bad || version != 1)
		return;
	pf->has_clock_data = true;
	pf->clock_data_id = id;
	pf->clock_wall_ns = wall;
	pf->clock_mono_ns = mono;
	add_fact(pf, "perf.clock_data", "clockid %" PRIu32 ": %" PRIu64 " ns is wall clock %" PRIu64 " ns", id, mono, wall);
}

static void feat_dir_format(struct perf_file *pf, struct perf_buf *b)
{
	uint64_t version = buf_u64(b);

	if (!b->bad)
		pf->dir_version = version;
}

static void feat_compressed(struct perf_file *pf, struct perf_buf *b)
{
	(void)b;
	pf->packed = true;
	perf_add_fact(pf, "perf.compressed", "zstd");
}

void perf_add_build_id(struct perf_file *pf, const uint8_t *rec, size_t size, uint16_t misc)
{
	struct sym_build_id id = { 0 };
	char key[512], hex[64];
	size_t len, i, n = 20;

	if (size <= 36)		/* header, pid, build-id with its size, file name */
		return;
	len = strnlen((const char *)rec + 36, size - 36);
	if (!len || len > 480)
		return;
	if (misc & (1u << 15) && rec[32] <= 20)	/* PERF_RECORD_MISC_BUILD_ID_SIZE */
		n = rec[32];
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", rec[12 + i]);
	hex[2 * n] = '\0';
	id.len = (uint8_t)n;
	memcpy(id.id, rec + 12, n);
	sym_maps_build_id(pf->maps, (const char *)rec + 36, len, &id);
	snprintf(key, sizeof(key), "buildid.%.*s", (int)len, (const char *)rec + 36);
	perf_add_fact(pf, key, hex);
}

static void feat_build_id(struct perf_file *pf, struct perf_buf *b)
{
	while (b->end - b->p >= 8) {
		uint16_t size = get16(pf, b->p + 6), misc = get16(pf, b->p + 4);
		const uint8_t *rec = b->p;

		if (size < 8 || !buf_bytes(b, size))
			break;
		perf_add_build_id(pf, rec, size, misc);
	}
}

static void feat_tracing_data(struct perf_file *pf, struct perf_buf *b)
{
	perf_tracing_data(pf, *b);
}

static const struct {
	unsigned int	bit;
	const char	*name;
	void		(*read)(struct perf_file *pf, struct perf_buf *b);
} features[] = {
	{ FEAT_TRACING_DATA, "TRACING_DATA", feat_tracing_data }, { FEAT_BUILD_ID, "BUILD_ID", feat_build_id },
	{ FEAT_HOSTNAME, "HOSTNAME", feat_hostname }, { FEAT_OSRELEASE, "OSRELEASE", feat_osrelease },
	{ FEAT_VERSION, "VERSION", feat_version }, { FEAT_ARCH, "ARCH", feat_arch }, { FEAT_NRCPUS, "NRCPUS", feat_nrcpus },
	{ FEAT_CPUDESC, "CPUDESC", feat_cpudesc }, { FEAT_CPUID, "CPUID", feat_cpuid },
	{ FEAT_TOTAL_MEM, "TOTAL_MEM", feat_total_mem }, { FEAT_CMDLINE, "CMDLINE", feat_cmdline },
	{ FEAT_EVENT_DESC, "EVENT_DESC", feat_event_desc }, { FEAT_CPU_TOPOLOGY, "CPU_TOPOLOGY", feat_cpu_topology },
	{ FEAT_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", feat_numa_topology }, { FEAT_SAMPLE_TIME, "SAMPLE_TIME", feat_sample_time },
	{ FEAT_CLOCKID, "CLOCKID", feat_clockid }, { FEAT_DIR_FORMAT, "DIR_FORMAT", feat_dir_format },
	{ FEAT_COMPRESSED, "COMPRESSED", feat_compressed }, { FEAT_CLOCK_DATA, "CLOCK_DATA", feat_clock_data },
};

void perf_feature(struct perf_file *pf, unsigned int bit, struct perf_buf b)
{
	size_t i;

	if (b.p == b.end)	/* a recorder that could not find it out leaves it empty */
		return;
	for (i = 0; i < ARRAY_SIZE(features); i++) {
		if (features[i].bit != bit)
			continue;
		features[i].read(pf, &b);
		if (b.bad)
			parse_remark(pf->ctx, true, "feature section %s is damaged", features[i].name);
	}
}

void perf_read_features(struct perf_file *pf)
{
	uint64_t at = pf->data_sec.off + pf->data_sec.size;
	unsigned int bit, missing = 0, any = 0;

	if (pf->pipe || pf->killed || at < pf->data_sec.off)
		return;
	for (bit = 0; bit < FEAT_MAX; bit++) {
		uint64_t off, size;

		if (!(pf->features[bit / 64] >> (bit % 64) & 1))
			continue;
		any++;
		if (at > pf->size || pf->size - at < 16) {
			missing++;
			continue;
		}
		off = get64(pf, pf->data + at);
		size = get64(pf, pf->data + at + 8);
		at += 16;
		if (off > pf->size || size > pf->size - off) {
			missing++;
			continue;
		}
		perf_feature(pf, bit,
			     (struct perf_buf){ pf->data + off, pf->data + off + size, false,
					pf->swap });
	}
	if (missing)
		parse_remark(pf->ctx, true, "cut behind its events at byte %" PRIu64 ": %u of %u feature sections are missing",
			     pf->size, missing, any);
}

struct error *perf_write_facts(struct perf_file *pf)
{
	size_t i;

	for (i = 0; i < pf->n_facts; i++)
		TRY(case_fact(pf->ctx->db, pf->s->source_id, pf->s->desc.side, pf->facts[i].key,
			      pf->facts[i].value, pf->ctx->snapshot, 0));
	return NULL;
}
