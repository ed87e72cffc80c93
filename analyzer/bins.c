// SPDX-License-Identifier: GPL-2.0-or-later
/* bins.c - counters over time; see bins.h. */
#include "bins.h"

#define SHIFT_FIRST	20	/* about 1 ms */

static void widen(struct bins *b)
{
	uint32_t count[BINS_N] = { 0 };
	uint64_t base = b->base >> 1, i;

	for (i = 0; i < BINS_N; i++)
		count[((b->base + i) >> 1) - base] += b->count[i];
	memcpy(b->count, count, sizeof(count));
	b->base = base;
	b->shift++;
}

void bins_add(struct bins *b, uint64_t time)
{
	uint64_t i;

	if (!b->any) {
		b->any = true;
		b->shift = SHIFT_FIRST;
		b->base = time >> b->shift;
	}
	while ((i = time >> b->shift) >= b->base + BINS_N && b->shift < 63)
		widen(b);
	i = i > b->base ? i - b->base : 0;
	if (i < BINS_N && b->count[i] < UINT32_MAX)
		b->count[i]++;
}

struct error *bins_write(struct case_db *db, int64_t source_id, const char *name,
			 const struct bins *b)
{
	int i, last = BINS_N - 1;

	while (last >= 0 && !b->count[last])
		last--;
	for (i = 0; i <= last; i++)
		TRY(case_insert(
			db, NULL,
			"INSERT INTO series(source_id, name, t_ns, bin_ns, value) VALUES(?, ?, ?, ?, ?)",
			"isiid", source_id, name, (int64_t)((b->base + (uint64_t)i) << b->shift),
			(int64_t)1 << b->shift, (double)b->count[i]));
	return NULL;
}
