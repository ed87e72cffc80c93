// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * render.c - print formats rendered by libtraceevent in a child process; see render.h.
 *
 * Over one stream socket, all numbers u32 in host order. To the child, once: count, then per
 * format length of system, length of text, both. Then per batch: bytes that follow, count, and
 * per event id, cpu, size, raw bytes. From the child per batch: bytes that follow, and per event
 * a length (NO_TEXT: none) and the text.
 */
#include "render.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#define MAX_BATCH_BYTES	(1u << 20)
#define MAX_BATCH_EVENTS 1024
#define MAX_TEXT	(16u << 10)
#define MAX_REPLY	(MAX_BATCH_EVENTS * (MAX_TEXT + 4))
#define NO_TEXT		UINT32_MAX
#define TIMEOUT_MS	20000
#define CHILD_MEMORY	(768ull << 20)
#define CHILD_CPU_S	36000

struct render {
	int		fd;
	pid_t		pid;
	uint8_t		*out, *in;
	size_t		cap_out, cap_in;
};

/* ---- the child ---- */

static bool read_all(int fd, void *buf, size_t n)
{
	uint8_t *p = buf;

	while (n) {
		ssize_t got = read(fd, p, n);

		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *buf, size_t n)
{
	const uint8_t *p = buf;

	while (n) {
		ssize_t put = write(fd, p, n);

		if (put <= 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

static bool confine(void)
{
	static const int allowed[] = {
		SCMP_SYS(read),	     SCMP_SYS(write),	 SCMP_SYS(exit),   SCMP_SYS(exit_group),
		SCMP_SYS(mmap),	     SCMP_SYS(munmap),	 SCMP_SYS(mremap), SCMP_SYS(brk),
		SCMP_SYS(madvise),   SCMP_SYS(mprotect), SCMP_SYS(futex),  SCMP_SYS(rt_sigreturn),
		SCMP_SYS(getrandom),
	};
	struct rlimit none = { 0, 0 }, cpu = { CHILD_CPU_S, CHILD_CPU_S };
	scmp_filter_ctx ctx;
	bool ok;
	size_t i;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_FSIZE, &none);
#ifndef HAS_ASAN	/* whose shadow alone is larger than any limit */
	struct rlimit memory = { CHILD_MEMORY, CHILD_MEMORY };

	setrlimit(RLIMIT_AS, &memory);
#endif
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return false;
	for (ok = true, i = 0; i < ARRAY_SIZE(allowed) && ok; i++)
		ok = !seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	ok = ok && !seccomp_load(ctx);
	seccomp_release(ctx);
	return ok;
}

static bool child_formats(int fd, struct tep_handle *tep)
{
	uint32_t n, len[2];

	if (!read_all(fd, &n, sizeof(n)))
		return false;
	while (n--) {
		char *system, *text;

		if (!read_all(fd, len, sizeof(len)) || len[0] > 256 || len[1] > TP_MAX_TEXT)
			return false;
		system = calloc(1, len[0] + 1);
		text = calloc(1, len[1] + 1);
		if (!system || !text || !read_all(fd, system, len[0]) ||
		    !read_all(fd, text, len[1]))
			return false;
		tep_parse_event(tep, text, len[1], system);
		free(system);
		free(text);
	}
	return true;
}

/* One event's text; its length, or NO_TEXT. */
static uint32_t child_render(struct tep_handle *tep, const uint32_t head[3], uint8_t *raw,
			     struct trace_seq *seq)
{
	struct tep_event *event = tep_find_event(tep, (int)head[0]);
	struct tep_record rec = { .data = raw,
				  .size = (int)head[2],
				  .record_size = (int)head[2],
				  .cpu = (int)head[1],
				  .ref_count = 1 };

	if (!event || event->flags & TEP_EVENT_FL_FAILED)
		return NO_TEXT;
	trace_seq_reset(seq);
	tep_print_event(tep, seq, &rec, "%s", TEP_PRINT_INFO);
	if (seq->state != TRACE_SEQ__GOOD)
		return NO_TEXT;
	return MIN((uint32_t)seq->len, MAX_TEXT);
}

static void child(int fd, bool big_endian, unsigned int long_size)
{
	struct tep_handle *tep = tep_alloc();
	uint8_t *in = malloc(MAX_BATCH_BYTES), *raw = malloc(TP_MAX_RECORD + 64),
		*out = malloc(MAX_REPLY);
	struct trace_seq seq;
	uint32_t total;

	if (!tep || !in || !raw || !out)
		return;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tep, (int)long_size);
	trace_seq_init(&seq);
	if (!confine() || !child_formats(fd, tep))
		return;
	while (read_all(fd, &total, sizeof(total)) && total <= MAX_BATCH_BYTES &&
	       read_all(fd, in, total)) {
		uint32_t at = 4, n, i, used = 4;

		if (total < 4)
			return;
		memcpy(&n, in, sizeof(n));
		for (i = 0; i < n && i < MAX_BATCH_EVENTS; i++) {
			uint32_t head[3], len;

			if (total - at < sizeof(head))
				return;
			memcpy(head, in + at, sizeof(head));
			at += sizeof(head);
			if (head[2] > total - at || head[2] > TP_MAX_RECORD)
				return;
			/* A copy with room behind, as the library may look a few bytes too far. */
			memcpy(raw, in + at, head[2]);
			memset(raw + head[2], 0, 64);
			at += head[2];
			len = child_render(tep, head, raw, &seq);
			memcpy(out + used, &len, sizeof(len));
			used += 4;
			if (len != NO_TEXT) {
				memcpy(out + used, seq.buffer, len);
				used += len;
			}
		}
		total = used - 4;
		memcpy(out, &total, sizeof(total));
		if (!write_all(fd, out, used))
			return;
	}
}

/* ---- the parent ---- */

static bool wait_for(const struct render *r, short events)
{
	struct pollfd p = { .fd = r->fd, .events = events };
	int n;

	do
		n = poll(&p, 1, TIMEOUT_MS);
	while (n < 0 && errno == EINTR);
	return n == 1 && p.revents & events;
}

static bool put(struct render *r, const void *buf, size_t n)
{
	const uint8_t *p = buf;

	while (n) {
		ssize_t sent;

		if (!wait_for(r, POLLOUT))
			return false;
		sent = send(r->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (sent <= 0)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool get(struct render *r, void *buf, size_t n)
{
	uint8_t *p = buf;

	while (n) {
		ssize_t got;

		if (!wait_for(r, POLLIN))
			return false;
		got = recv(r->fd, p, n, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static void give_up(struct render *r)
{
	if (r->pid > 0) {
		kill(r->pid, SIGKILL);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (r->fd >= 0)
		close(r->fd);
	r->pid = -1;
	r->fd = -1;
}

struct error *render_start(struct render **ret, const struct tp_format *const *formats, size_t n,
			   bool big_endian, unsigned int long_size)
{
	struct render *r = xcalloc(1, sizeof(*r));
	uint32_t count = (uint32_t)n;
	int fds[2];
	size_t i;
	bool ok;

	*ret = r;
	r->fd = -1;
	r->pid = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return error_new(ERR_INTERNAL, "no socket for the renderer: %s", strerror(errno));
	fflush(NULL);
	r->pid = fork();
	if (r->pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return error_new(ERR_INTERNAL, "no process for the renderer: %s", strerror(errno));
	}
	if (!r->pid) {
		signal(SIGINT, SIG_IGN);	/* the parent decides when it ends */
		dup2(fds[1], 0);
		close_range(1, ~0U, 0);
		child(0, big_endian, long_size);
		_exit(0);
	}
	close(fds[1]);
	r->fd = fds[0];
	ok = put(r, &count, sizeof(count));
	for (i = 0; i < n && ok; i++) {
		uint32_t len[2] = { (uint32_t)MIN(strlen(formats[i]->system), (size_t)256),
				    (uint32_t)formats[i]->text_len };

		ok = put(r, len, sizeof(len)) && put(r, formats[i]->system, len[0]) &&
		     put(r, formats[i]->text, len[1]);
	}
	if (!ok)
		give_up(r);
	return NULL;
}

/*
 * Send events from @first on, as many as go into one batch; their number, 0 when the child has
 * died.
 */
static size_t send_some(struct render *r, const struct render_event *ev, size_t n)
{
	uint32_t head[3], total, count = 0;
	size_t used = 8, i;

	GROW(r->out, r->cap_out, (size_t)MAX_BATCH_BYTES + 4);
	for (i = 0; i < n && count < MAX_BATCH_EVENTS; i++) {
		uint32_t size = MIN(ev[i].size, (uint32_t)TP_MAX_RECORD);

		if (used + sizeof(head) + size > MAX_BATCH_BYTES)
			break;
		head[0] = ev[i].id;
		head[1] = ev[i].cpu;
		head[2] = size;
		memcpy(r->out + used, head, sizeof(head));
		memcpy(r->out + used + sizeof(head), ev[i].raw, size);
		used += sizeof(head) + size;
		count++;
	}
	total = (uint32_t)used - 4;
	memcpy(r->out, &total, sizeof(total));
	memcpy(r->out + 4, &count, sizeof(count));
	return put(r, r->out, used) ? count : 0;
}

static bool receive(struct render *r, size_t n, char **texts)
{
	uint32_t total, at = 0, len;
	size_t i;

	if (!get(r, &total, sizeof(total)) || total > MAX_REPLY)
		return false;
	GROW(r->in, r->cap_in, total);
	if (!get(r, r->in, total))
		return false;
	for (i = 0; i < n; i++) {
		if (total - at < 4)
			return false;
		memcpy(&len, r->in + at, sizeof(len));
		at += 4;
		if (len == NO_TEXT)
			continue;
		if (len > total - at)
			return false;
		texts[i] = xstrndup((const char *)r->in + at, len);
		at += len;
	}
	return true;
}

bool render_batch(struct render *r, const struct render_event *ev, size_t n, char **texts)
{
	size_t done = 0, k;

	for (k = 0; k < n; k++)
		texts[k] = NULL;
	while (done < n && r->fd >= 0) {
		k = send_some(r, ev + done, n - done);
		if (!k || !receive(r, k, texts + done)) {
			give_up(r);
			break;
		}
		done += k;
	}
	return r->fd >= 0;
}

void render_stop(struct render *r)
{
	if (!r)
		return;
	give_up(r);
	free(r->out);
	free(r->in);
	free(r);
}
