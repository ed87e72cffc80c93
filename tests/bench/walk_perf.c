// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walk_perf FILE - the least that reading a perf.data can cost: every record's header, and of
 * samples the words up to the time and the raw data's first bytes. What kvmortem's whole analysis
 * is held against.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	uint64_t offset, size, n = 0, sum = 0;
	const uint8_t *in, *p, *end;
	struct stat st;
	int fd;

	fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &st) || st.st_size < 104)
		return 1;
	in = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (in == MAP_FAILED)
		return 1;
	memcpy(&offset, in + 40, 8);
	memcpy(&size, in + 48, 8);
	if (offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset)
		return 1;
	for (p = in + offset, end = p + size; p + 8 <= end;) {
		uint16_t len;
		uint64_t w[4];

		memcpy(&len, p + 6, 2);
		if (len < 8 || p + len > end)
			break;
		if (len >= 40) {
			memcpy(w, p + 8, sizeof(w));
			sum += w[0] ^ w[1] ^ w[2] ^ w[3];
		}
		n++;
		p += len;
	}
	printf("%llu records, sum %llx\n", (unsigned long long)n, (unsigned long long)sum);
	return 0;
}
