// SPDX-License-Identifier: GPL-2.0-or-later
/* mapguard.c - guarded mappings; see mapguard.h. */
#include "mapguard.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MAX_RANGES	32

/* A slot is free while start is 0; len is valid before start is stored. */
struct range {
	_Atomic uintptr_t	start;
	_Atomic size_t		len;
	_Atomic int		damaged;
};

static struct range ranges[MAX_RANGES];
static _Atomic size_t page_size;
static struct sigaction old_action;

/* Async-signal-safe: atomics and two system calls. */
static void on_sigbus(int sig, siginfo_t *info, void *uc)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	size_t page = page_size;
	int saved = errno;
	int i;

	(void)uc;
	for (i = 0; i < MAX_RANGES; i++) {
		uintptr_t start = ranges[i].start;

		if (!start || addr < start || addr - start >= ranges[i].len)
			continue;
		if (mmap((void *)(addr & ~(uintptr_t)(page - 1)), page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			break;
		ranges[i].damaged = 1;
		errno = saved;
		return;
	}
	/* Not ours: the fault is repeated on return, with the action that was there before. */
	sigaction(sig, &old_action, NULL);
	errno = saved;
}

static void install_handler(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO }, now;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	/* Somebody else (a test harness, a sanitizer) may have taken the signal since. */
	if (!sigaction(SIGBUS, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == on_sigbus)
		return;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, &old_action);
}

static int take_slot(uintptr_t start, size_t len)
{
	int i;

	for (i = 0; i < MAX_RANGES; i++) {
		if (ranges[i].start)
			continue;
		ranges[i].damaged = 0;
		ranges[i].len = len;
		ranges[i].start = start;
		return i;
	}
	return -1;
}

struct error *map_file(struct mapping *m, int fd, uint64_t off, uint64_t size)
{
	uint64_t skip;
	void *p;

	memset(m, 0, sizeof(*m));
	m->slot = -1;
	m->data = (const uint8_t *)"";
	if (!size)
		return NULL;
	install_handler();
	skip = off & (page_size - 1);
	if (off > INT64_MAX || size > SIZE_MAX / 2 - skip)
		return error_new(ERR_IO, "too large to map (%" PRIu64 " bytes)", size);
	p = mmap(NULL, size + skip, PROT_READ, MAP_SHARED, fd, (off_t)(off - skip));
	if (p == MAP_FAILED)
		return error_io("can't map %" PRIu64 " bytes", size);
	m->slot = take_slot((uintptr_t)p, size + skip);
	if (m->slot < 0) {
		munmap(p, size + skip);
		return error_new(ERR_IO, "too many files are mapped at a time");
	}
	m->base = p;
	m->base_len = size + skip;
	m->data = (const uint8_t *)p + skip;
	m->size = size;
	madvise(p, m->base_len, MADV_SEQUENTIAL);
	return NULL;
}

bool map_damaged(const struct mapping *m)
{
	return m->slot >= 0 && ranges[m->slot].damaged;
}

void map_release(struct mapping *m)
{
	if (!m->base)
		return;
	munmap(m->base, m->base_len);
	ranges[m->slot].start = 0;
	memset(m, 0, sizeof(*m));
	m->slot = -1;
}
