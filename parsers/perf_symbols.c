// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_symbols.c - perf.data's call chains as stacks, and what it says of the addresses in them:
 * MMAP, MMAP2 and KSYMBOL records, build-ids; see perf_file.h and symbols.h.
 */
#include "perf_file.h"
#include "symbols.h"

#define MAX_KERNEL_MAPS	256
#define MISC_CPUMODE	7
#define MODE_GUEST_KERNEL 4
#define MODE_GUEST_USER	5
#define MISC_MMAP_DATA	(1u << 13)
#define MISC_BUILD_ID	(1u << 14)	/* of MMAP2: a build-id in place of the inode */
#define PROT_EXECUTE	4
#define KSYM_UNREGISTER	1

/*
 * The whole chain is kept with the marks in it; whose the user's addresses are is looked up only
 * where there are some.
 */
static uint32_t chain_id(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
			 const uint64_t *ips, size_t n)
{
	bool user = false;
	size_t i;

	for (i = 0; i < n && !user; i++)
		user = ips[i] == (uint64_t)SYM_USER || ips[i] == (uint64_t)SYM_GUEST_USER;
	while (n && sym_is_mark(ips[n - 1]))
		n--;
	return stream_stack_id(pf->s, ips, n, user && a->tid != PERF_NONE ?
			       sym_maps_space(pf->maps, (int32_t)load32(rec + a->tid)) :
			       SYM_SPACE_NONE);
}

uint32_t perf_chain(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
		    const struct perf_sample *ps)
{
	const unsigned int mode = rec_misc(rec) & MISC_CPUMODE;
	uint64_t ips[STACK_MAX_FRAMES];
	size_t n = MIN((size_t)ps->n_callchain, (size_t)STACK_MAX_FRAMES);

	memcpy(ips, rec + ps->callchain, n * sizeof(*ips));
	while (n && sym_is_mark(ips[n - 1]))
		n--;
	/* Guests' stacks are not walked: there is only the place. */
	if (!n && (mode == MODE_GUEST_KERNEL || mode == MODE_GUEST_USER) && a->ip != PERF_NONE) {
		ips[n++] = (uint64_t)(mode == MODE_GUEST_USER ? SYM_GUEST_USER : SYM_GUEST_KERNEL);
		ips[n++] = load64(rec + a->ip);
	}
	return chain_id(pf, a, rec, ips, n);
}

/* Behind the event that @of is: its call chain. */
void perf_push_chain(struct perf_file *pf, const struct perf_attr *a, const uint8_t *rec,
		     size_t size, const struct event *of)
{
	struct perf_sample ps;
	struct event *ev;
	uint32_t id;

	if (!perf_sample_parse(a, rec, size, &ps) || !ps.n_callchain)
		return;
	id = perf_chain(pf, a, rec, &ps);
	if (id == EVENT_U32_NONE) {
		pf->chains_left_out += ps.n_callchain > 1;
		return;
	}
	ev = stream_next(pf->s);
	*ev = *of;
	ev->ev = EVENT_TYPE_NONE;
	ev->kind = EV_STACK;
	memset(ev->a, 0, sizeof(ev->a));
	ev->b[0] = id;
	ev->b[1] = 0;
	stream_push(pf->s);
}

/*
 * PERF_RECORD_MMAP of the kernel and of kvm's modules (pid -1): pid, tid, addr, len, pgoff,
 * name.
 */
static void kernel_map(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	char key[300], value[64];
	const char *name;
	size_t len;

	if (size < 48 || load32(rec + 8) != UINT32_MAX || pf->kernel_maps >= MAX_KERNEL_MAPS)
		return;
	name = (const char *)rec + 40;
	len = strnlen(name, MIN(size - 40, (size_t)250));
	if (*name != '[' && !memmem(name, len, "/kvm", 4))
		return;
	snprintf(key, sizeof(key), "kernel.map.%.*s", (int)len, name);
	snprintf(value, sizeof(value), "0x%" PRIx64 "+0x%" PRIx64, load64(rec + 16), load64(rec + 24));
	perf_add_fact(pf, key, value);
	pf->kernel_maps++;
}

/* u32 pid, tid; u64 addr, len, pgoff; name */
static void map1(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	if (size < 48 || rec_misc(rec) & MISC_MMAP_DATA)
		return;
	sym_maps_add(pf->maps, (int32_t)load32(rec + 8), load64(rec + 16), load64(rec + 24),
		     load64(rec + 32), (const char *)rec + 40,
		     strnlen((const char *)rec + 40, size - 40), NULL);
}

/*
 * The same, then u32 maj, min, u64 ino, ino_generation, or u8 size of a build-id, 3 bytes, the
 * build-id; u32 prot, flags; name
 */
static void map2(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	struct sym_build_id id = { 0 };

	if (size < 80 || !(load32(rec + 64) & PROT_EXECUTE))
		return;
	if (rec_misc(rec) & MISC_BUILD_ID && rec[40] <= sizeof(id.id)) {
		id.len = rec[40];
		memcpy(id.id, rec + 44, id.len);
	}
	sym_maps_add(pf->maps, (int32_t)load32(rec + 8), load64(rec + 16), load64(rec + 24),
		     load64(rec + 32), (const char *)rec + 72,
		     strnlen((const char *)rec + 72, size - 72), &id);
}

/* u64 addr; u32 len; u16 type, flags; name. Bits of a program's end say nothing new. */
static void ksymbol(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	if (size < 32 || load16(rec + 22) & KSYM_UNREGISTER)
		return;
	sym_maps_ksym(pf->maps, load64(rec + 8), load32(rec + 16), (const char *)rec + 24,
		      strnlen((const char *)rec + 24, size - 24));
}

void perf_map_record(struct perf_file *pf, const uint8_t *rec, size_t size)
{
	switch (rec_type(rec)) {
	case PERF_MMAP:
		kernel_map(pf, rec, size);
		map1(pf, rec, size);
		break;
	case PERF_MMAP2:
		map2(pf, rec, size);
		break;
	case PERF_KSYMBOL:
		ksymbol(pf, rec, size);
		break;
	}
}

void perf_give_maps(struct perf_file *pf)
{
	if (pf->chains_left_out)
		parse_remark(pf->ctx, false, "more different call chains than %u MiB hold: %" PRIu64
			     " were left out", STREAM_STACK_BYTES >> 20, pf->chains_left_out);
	if (pf->maps->full)
		parse_remark(pf->ctx, false, "more mapped files than are kept: some addresses of processes stay without names");
	symbols_give_maps(pf->ctx->db, pf->s->source_id, pf->maps);
	pf->maps = NULL;
}
