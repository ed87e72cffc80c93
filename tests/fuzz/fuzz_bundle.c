// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_bundle.c - the bundle walker on bytes from memory: archives, nested, compressed, damaged. */
#include "bundle_int.h"
#include "casefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *touch(void *arg, struct member *m)
{
	volatile uint8_t *sum = arg;
	uint64_t i;

	for (i = 0; i < m->size; i++)
		*sum ^= m->data[i];
	return m->size % 7 ? NULL : error_new(ERR_INPUT, "as if it were damaged");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bundle_limits limits = { .max_temp = 16 << 20,
					      .max_depth = 3,
					      .max_members = 500,
					      .max_ratio = 20,
					      .ratio_floor = 4 << 20,
					      .quiet = true };
	const struct node n = { .path = "fuzz", .name = "fuzz" };
	static struct case_db *db;	/* making one takes longer than the rest */
	struct bundle *b;
	uint8_t sum = 0;

	if ((!db && case_create(&db, NULL)) || case_insert(db, NULL, "DELETE FROM member", "") || bundle_open(&b, db, &limits))
		abort();
	b->visit = touch;
	b->visit_arg = &sum;
	/* Only "out of memory" and SQLite may fail the walk itself. */
	if (bundle_bytes(b, &n, data, size))
		abort();
	bundle_close(b);
	return 0;
}
