// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * repeat_perf IN OUT MEGABYTES - a perf.data as large as wanted: IN's samples again and again with
 * shifted times. Other records but the rounds' ends stay in the first copy only. IN must be an
 * uncompressed file-mode perf.data whose attrs have one prefix of sample_type up to the time.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define RECORD_SAMPLE		9
#define RECORD_FINISHED_ROUND	68
/* IDENTIFIER, IP, TID, TIME */
#define PREFIX_BITS (1ull << 16 | 1ull << 0 | 1ull << 1 | 1ull << 2)

struct section {
	uint64_t offset, size;
};

struct header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct record {
	uint32_t type;
	uint16_t misc, size;
};

static void die(const char *what)
{
	fprintf(stderr, "repeat_perf: %s\n", what);
	exit(1);
}

static void put(FILE *out, const void *p, size_t n)
{
	if (fwrite(p, 1, n, out) != n)
		die("can't write");
}

int main(int argc, char **argv)
{
	uint64_t type, span, first = UINT64_MAX, last = 0, time_off, copies, copy, shift;
	struct header h;
	struct stat st;
	uint8_t *in, *p, *end, buf[65536];
	FILE *out;
	int fd;

	if (argc != 4)
		die("usage: repeat_perf IN OUT MEGABYTES");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < sizeof(h))
		die("can't read IN");
	in = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (in == MAP_FAILED)
		die("can't map IN");
	memcpy(&h, in, sizeof(h));
	if (memcmp(h.magic, "PERFILE2", 8) || h.data.offset + h.data.size > (uint64_t)st.st_size ||
	    !h.data.size)
		die("IN is no whole file-mode perf.data");
	memcpy(&type, in + h.attrs.offset + 24, sizeof(type));
	time_off = 8 + 8 * (uint64_t)__builtin_popcountll(type & (PREFIX_BITS & ~(1ull << 2)));
	end = in + h.data.offset + h.data.size;
	for (p = in + h.data.offset; p + 8 <= end; p += ((struct record *)p)->size) {
		const struct record *r = (const struct record *)p;
		uint64_t t;

		if (r->size < 8 || p + r->size > end)
			die("bad record in IN");
		if (r->type != RECORD_SAMPLE)
			continue;
		memcpy(&t, p + time_off, sizeof(t));
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	span = last - first + 1000000;
	copies = strtoull(argv[3], NULL, 10) * 1000000 / h.data.size + 1;
	out = fopen(argv[2], "w");
	if (!out)
		die("can't write OUT");
	put(out, in, h.data.offset);
	for (copy = 0, shift = 0; copy < copies; copy++, shift += span) {
		for (p = in + h.data.offset; p + 8 <= end; p += ((struct record *)p)->size) {
			const struct record *r = (const struct record *)p;
			uint64_t t;

			if (copy && r->type != RECORD_SAMPLE && r->type != RECORD_FINISHED_ROUND)
				continue;
			memcpy(buf, p, r->size);
			if (r->type == RECORD_SAMPLE && copy) {
				memcpy(&t, buf + time_off, sizeof(t));
				t += shift;
				memcpy(buf + time_off, &t, sizeof(t));
			}
			put(out, buf, r->size);
		}
	}
	/* feature sections follow the data: move their offsets */
	{
		uint64_t size = (uint64_t)ftell(out) - h.data.offset, by = size - h.data.size, i;
		struct section *s = (struct section *)(in + h.data.offset + h.data.size);
		int n = 0;

		for (i = 0; i < 4; i++)
			n += __builtin_popcountll(h.features[i]);
		for (i = 0; i < (uint64_t)n; i++) {
			struct section moved = s[i];

			moved.offset += by;
			put(out, &moved, sizeof(moved));
		}
		put(out, (uint8_t *)(s + n), (size_t)(in + st.st_size - (uint8_t *)(s + n)));
		h.data.size = size;
		rewind(out);
		put(out, &h, sizeof(h));
	}
	if (fclose(out))
		die("can't write OUT");
	return 0;
}
