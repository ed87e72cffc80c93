// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diag.c - lines on stderr; see diag.h. stderr is the process's, so is the state of its last line.
 */
#include "diag.h"

#include <pthread.h>
#include <stdarg.h>
#include <time.h>

static struct progress {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	pthread_t	thread;
	bool		on, stop, shown;
	char		path[160];
	uint64_t	members;
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

char *diag_escape(const char *s)
{
	size_t len = strlen(s), i, o = 0;
	char *out = xmalloc(4 * len + 1);

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == 0x7f)
			o += (size_t)sprintf(out + o, "\\x%02x", c);
		else
			out[o++] = (char)c;
	}
	out[o] = '\0';
	return out;
}

static void clear_line(void)
{
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
}

void diag(const char *path, const char *fmt, ...)
{
	_cleanup_free_ char *msg = NULL, *safe_path = NULL, *safe = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&msg, fmt, ap);
	va_end(ap);
	if (n < 0)
		msg = xstrdup(fmt);
	safe = diag_escape(msg);
	safe_path = path ? diag_escape(path) : NULL;
	pthread_mutex_lock(&progress.lock);
	clear_line();
	fprintf(stderr, "kvmortem: %s%s%s\n", safe_path ? safe_path : "", safe_path ? ": " : "", safe);
	pthread_mutex_unlock(&progress.lock);
}

static void *progress_main(void *arg)
{
	struct timespec at;

	(void)arg;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec++;
	pthread_mutex_lock(&progress.lock);
	while (!progress.stop) {
		int r = pthread_cond_timedwait(&progress.wake, &progress.lock, &at);

		if (progress.stop || r != ETIMEDOUT)
			continue;
		clear_line();
		fprintf(stderr, "reading %s (%" PRIu64 " members)", progress.path, progress.members);
		fflush(stderr);
		progress.shown = true;
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += 200000000;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
	}
	clear_line();
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void progress_start(int mode)
{
	if (progress.on || mode == 0 || (mode < 0 && !isatty(STDERR_FILENO)))
		return;
	progress.stop = false;
	progress.on = !pthread_create(&progress.thread, NULL, progress_main, NULL);
}

void progress_path(const char *path, uint64_t members)
{
	_cleanup_free_ char *safe = NULL;
	size_t len;

	if (!progress.on)
		return;
	safe = diag_escape(path);
	len = strlen(safe);
	pthread_mutex_lock(&progress.lock);
	/* The end of a path says more than its beginning. */
	snprintf(progress.path, sizeof(progress.path), "%s%s", len > 48 ? "..." : "", len > 48 ? safe + len - 48 : safe);
	progress.members = members;
	pthread_mutex_unlock(&progress.lock);
}

void progress_stop(void)
{
	if (!progress.on)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.stop = true;
	pthread_cond_signal(&progress.wake);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	progress.on = false;
}
