/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base.h - what every file of kvmortem uses: fixed-width types, cleanup guards, linker sets.
 *
 * No function here allocates without saying so; none keeps state.
 */
#ifndef KM_BASE_H
#define KM_BASE_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) _a = (a);                                                            \
		__typeof__(b) _b = (b);                                                            \
		_a < _b ? _a : _b;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) _a = (a);                                                            \
		__typeof__(b) _b = (b);                                                            \
		_a > _b ? _a : _b;                                                                 \
	})
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

/* An address sanitizer needs terabytes of addresses: a child's memory is not limited then. */
#ifdef __SANITIZE_ADDRESS__
#define HAS_ASAN	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN	1
#endif
#endif
#define __printf_like(f, a)	__attribute__((format(printf, f, a)))
#define __unused		__attribute__((unused))

#define NSEC_PER_USEC		1000ULL
#define NSEC_PER_MSEC		1000000ULL
#define NSEC_PER_SEC		1000000000ULL

/* Scope guards: `_cleanup_free_ char *p = ...` is freed when p goes out of scope. */
static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_		__attribute__((cleanup(cleanup_free)))
#define _cleanup_close_		__attribute__((cleanup(cleanup_close)))
#define _cleanup_fclose_	__attribute__((cleanup(cleanup_fclose)))

/*
 * Linker sets. REGISTER(parsers, &x) puts a pointer to x into section "km_parsers";
 * SET_DECLARE(parsers, struct parser) makes it iterable with SET_FOREACH. Adding or deleting
 * the file that registers is the whole change. The order inside a section is the linker's, so
 * whoever iterates sorts by name or priority first.
 */
#define REGISTER(set, ptr)		_REGISTER(set, ptr, __LINE__)
#define _REGISTER(set, ptr, line)	__REGISTER(set, ptr, line)
#define __REGISTER(set, ptr, line) \
	static const void *const __attribute__((used, section("km_" #set))) \
	_km_##set##_entry_##line = (ptr)

#define SET_DECLARE(set, type) \
	extern const type *const __attribute__((weak)) __start_km_##set[]; \
	extern const type *const __attribute__((weak)) __stop_km_##set[]

#define SET_FOREACH(set, it) \
	for ((it) = __start_km_##set; (it) && (it) < __stop_km_##set; (it)++)

#define SET_COUNT(set)		((size_t)(__stop_km_##set - __start_km_##set))

/*
 * Allocation that does not return NULL: kvmortem's memory is bounded by design
 * (doc/architecture.md), so running out of it is an environment failure; these print one line and
 * exit with status 3. Sizes that come from input must be checked against a limit before they get
 * here.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __printf_like(1, 2);

/*
 * A stream into memory for one short text after the other (making a new one for each costs more
 * than the texts). text_out_begin() gives it, empty; NULL where there is no memory. text_out_end()
 * returns what was printed since, malloc'd. Zeroed at first; text_out_free() at the end.
 */
struct text_out {
	FILE	*f;
	char	*text;
	size_t	len;
};
FILE *text_out_begin(struct text_out *t);
char *text_out_end(struct text_out *t);
void text_out_free(struct text_out *t);

/* Grow @arr (of elements *arr) to hold at least @need elements; @cap is updated. Amortised O(1). */
#define GROW(arr, cap, need) do {						\
	if ((size_t)(need) > (size_t)(cap) || !(arr)) {					\
		size_t _n = (cap) ? (size_t)(cap) * 2 : 16;			\
		while (_n < (size_t)(need))					\
			_n *= 2;						\
		(arr) = xrealloc((arr), _n * sizeof(*(arr)));			\
		(cap) = _n;							\
	}									\
} while (0)

/* The same of an array whose @n elements are all in use, for one more index: new ones are zero. */
#define GROW_ZERO(arr, n, index) do {						\
	if (unlikely((size_t)(index) >= (size_t)(n))) {				\
		size_t _n = MAX((size_t)(index) + 1, (size_t)(n) * 2);		\
		(arr) = xrealloc((arr), _n * sizeof(*(arr)));			\
		memset((arr) + (n), 0, (_n - (n)) * sizeof(*(arr)));		\
		(n) = (__typeof__(n))_n;						\
	}									\
} while (0)

#endif
