// SPDX-License-Identifier: GPL-2.0-or-later
/* call_log.c - system calls out of a text; see call_log.h. */
#include "call_log.h"

#define MAX_KVM_SPANS	1000
#define MAX_LONG_SPANS	200
#define LONG_NS		(1 * (int64_t)NSEC_PER_MSEC)
#define MAX_STATS	65536

struct call_span {
	int64_t		dur_ns, time_ns, tid, cite;
	uint32_t	name;
	unsigned int	seq;
	char		result[48], task[24];
};

struct call_stat {
	uint32_t	name;
	int64_t		tid, count, errors, total_ns, min_ns, max_ns, cite;
};

/* KVM's ioctl numbers (type 0xae) where they are printed raw; from include/uapi/linux/kvm.h. */
static const struct { uint8_t nr; const char *name; } kvm_ioctls[] = {
	{ 0x00, "KVM_GET_API_VERSION" }, { 0x01, "KVM_CREATE_VM" }, { 0x03, "KVM_CHECK_EXTENSION" },
	{ 0x04, "KVM_GET_VCPU_MMAP_SIZE" }, { 0x05, "KVM_GET_SUPPORTED_CPUID" }, { 0x41, "KVM_CREATE_VCPU" },
	{ 0x42, "KVM_GET_DIRTY_LOG" }, { 0x46, "KVM_SET_USER_MEMORY_REGION" }, { 0x47, "KVM_SET_TSS_ADDR" },
	{ 0x48, "KVM_SET_IDENTITY_MAP_ADDR" }, { 0x49, "KVM_SET_USER_MEMORY_REGION2" }, { 0x60, "KVM_CREATE_IRQCHIP" },
	{ 0x61, "KVM_IRQ_LINE" }, { 0x67, "KVM_IRQ_LINE_STATUS" }, { 0x6a, "KVM_SET_GSI_ROUTING" },
	{ 0x76, "KVM_IRQFD" }, { 0x77, "KVM_CREATE_PIT2" }, { 0x79, "KVM_IOEVENTFD" }, { 0x80, "KVM_RUN" },
	{ 0x81, "KVM_GET_REGS" }, { 0x82, "KVM_SET_REGS" }, { 0x83, "KVM_GET_SREGS" }, { 0x84, "KVM_SET_SREGS" },
	{ 0x88, "KVM_GET_MSRS" }, { 0x89, "KVM_SET_MSRS" }, { 0x9a, "KVM_NMI" }, { 0xa3, "KVM_ENABLE_CAP" },
	{ 0xa5, "KVM_SIGNAL_MSI" }, { 0xe0, "KVM_CREATE_DEVICE" },
};

const char *kvm_ioctl_name(uint64_t nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kvm_ioctls); i++)
		if (kvm_ioctls[i].nr == nr)
			return kvm_ioctls[i].name;
	return NULL;
}

void call_log_init(struct call_log *log)
{
	memset(log, 0, sizeof(*log));
	strtab_init(&log->names, MAX_STATS);
	strtab_init(&log->keys, MAX_STATS);
	log->kvm.max = MAX_KVM_SPANS;
	log->slow.max = MAX_LONG_SPANS;
}

void call_log_free(struct call_log *log)
{
	free(log->kvm.v);
	free(log->slow.v);
	free(log->stats);
	strtab_deinit(&log->names);
	strtab_deinit(&log->keys);
}

/* Keep the longest @pool->max; a full pool gives up its shortest. */
static struct call_span *pool_slot(struct span_pool *pool, int64_t dur_ns)
{
	size_t i, least = 0;

	if (!pool->v)
		pool->v = xcalloc(pool->max, sizeof(*pool->v));
	if (pool->n < pool->max)
		return &pool->v[pool->n++];
	pool->dropped++;
	for (i = 1; i < pool->n; i++)
		if (pool->v[i].dur_ns < pool->v[least].dur_ns)
			least = i;
	return pool->v[least].dur_ns < dur_ns ? &pool->v[least] : NULL;
}

static struct call_stat *find_stat(struct call_log *log, uint32_t name, int64_t tid)
{
	char key[48];
	uint32_t id;
	int n;

	n = snprintf(key, sizeof(key), "%u/%" PRId64, name, tid);
	id = strtab_id(&log->keys, key, (size_t)n);
	if (id == STRTAB_NONE)
		return NULL;
	if (id >= log->n_stats) {
		GROW(log->stats, log->cap_stats, (size_t)id + 1);
		memset(&log->stats[id], 0, sizeof(log->stats[id]));
		log->n_stats = (size_t)id + 1;
		log->stats[id].name = name;
		log->stats[id].tid = tid;
		log->stats[id].min_ns = INT64_MAX;
		log->stats[id].max_ns = -1;
	}
	return &log->stats[id];
}

void call_log_add(struct parse_ctx *ctx, struct call_log *log, const struct line *ln,
		  const struct call *call)
{
	uint32_t name = strtab_id(&log->names, call->name, strlen(call->name));
	bool kvm = !strncmp(call->name, "ioctl:KVM_", 10) && strcmp(call->name, "ioctl:KVM_RUN");
	struct call_stat *stat = name == STRTAB_NONE ? NULL : find_stat(log, name, call->tid);
	struct call_span *span = NULL;
	bool longest;
	int64_t cite = 0;

	if (!stat) {
		parse_remark(ctx, true, "more than %d different calls and tasks: the rest is not counted", MAX_STATS);
		return;
	}
	longest = call->dur_ns > stat->max_ns;
	stat->count++;
	stat->errors += call->failed;
	if (__builtin_add_overflow(stat->total_ns, call->dur_ns, &stat->total_ns))
		stat->total_ns = INT64_MAX;
	stat->min_ns = MIN(stat->min_ns, call->dur_ns);
	stat->max_ns = MAX(stat->max_ns, call->dur_ns);
	if (kvm || call->dur_ns >= LONG_NS)
		span = pool_slot(kvm ? &log->kvm : &log->slow, call->dur_ns);
	/* Short calls are cited only at their first: a long log has hundreds of thousands. */
	if (span || (longest && stat->count == 1))
		cite = ctx_cite(ctx, ln, call->cite_ns);
	if (cite && longest)
		stat->cite = cite;
	if (!span)
		return;
	span->dur_ns = call->dur_ns;
	span->time_ns = call->time_ns;
	span->tid = call->tid;
	span->cite = cite;
	span->name = name;
	span->seq = log->seq++;
	snprintf(span->result, sizeof(span->result), "%s", call->result ? call->result : "");
	snprintf(span->task, sizeof(span->task), "%s", call->task ? call->task : "");
}

static int by_seq(const void *a, const void *b)
{
	const struct call_span *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static struct error *store_spans(struct parse_ctx *ctx, struct call_log *log,
				 struct span_pool *pool, int64_t source_id, const char *origin,
				 int64_t resolution_ns)
{
	size_t i;

	if (pool->n)
		qsort(pool->v, pool->n, sizeof(*pool->v), by_seq);
	for (i = 0; i < pool->n; i++) {
		const struct call_span *s = &pool->v[i];

		TRY(case_insert(
			ctx->db, NULL,
			"INSERT INTO span(source_id, func, origin, task, tid, start_ns, duration_ns, time_resolution_ns, result, cite_id)"
			" VALUES(?,?,?,?,?,?,?,?,?,?)",
			"isssIIiisI", source_id, strtab_str(&log->names, s->name), origin,
			*s->task ? s->task : NULL, s->tid >= 0 ? &s->tid : NULL,
			s->time_ns >= 0 ? &s->time_ns : NULL, s->dur_ns, resolution_ns,
			s->result, s->cite > 0 ? &s->cite : NULL));
	}
	return NULL;
}

struct error *call_log_store(struct parse_ctx *ctx, struct call_log *log, int64_t source_id,
			     const char *origin, int64_t resolution_ns)
{
	size_t i;

	TRY(store_spans(ctx, log, &log->kvm, source_id, origin, resolution_ns));
	TRY(store_spans(ctx, log, &log->slow, source_id, origin, resolution_ns));
	for (i = 0; i < log->n_stats; i++) {
		const struct call_stat *s = &log->stats[i];

		TRY(case_insert(
			ctx->db, NULL,
			"INSERT INTO syscall_stat(source_id, name, tid, count, errors, total_ns, min_ns, max_ns, cite_id)"
			" VALUES(?,?,?,?,?,?,?,?,?)",
			"isIiiiiiI", source_id, strtab_str(&log->names, s->name),
			s->tid >= 0 ? &s->tid : NULL, s->count, s->errors, s->total_ns, s->min_ns,
			s->max_ns, s->cite > 0 ? &s->cite : NULL));
	}
	if (log->kvm.dropped)
		parse_remark(ctx, false, "the longest %d KVM ioctls are listed one by one, all are counted", MAX_KVM_SPANS);
	return NULL;
}
