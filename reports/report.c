// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.c - report_write(): which format, where to, and the report whole or not at all.
 *
 * A file named with -o is written under a temporary name beside it and renamed when it is complete,
 * so that a full disk or an interruption never leaves half a report under the wanted name. Writing
 * goes through a stream that keeps the first errno: stdio alone forgets why a write failed.
 */
#include "command.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "filter.h"
#include "view.h"

#define WIDTH_MIN	40
#define WIDTH_DEFAULT	80

struct sink {
	int	fd;
	int	error;		/* errno of the first write that failed */
	FILE	*out;
};

static ssize_t sink_write(void *cookie, const char *buf, size_t size)
{
	struct sink *s = cookie;
	size_t done = 0;
	ssize_t n;

	while (done < size && !s->error) {
		n = write(s->fd, buf + done, size - done);
		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			s->error = errno;
	}
	return s->error ? 0 : (ssize_t)size;
}

static struct error *sink_open(struct sink *s, int fd)
{
	s->fd = fd;
	s->error = 0;
	s->out = fopencookie(s, "w", (cookie_io_functions_t) { .write = sink_write });
	if (!s->out)
		return error_io("output");
	setvbuf(s->out, NULL, _IOFBF, 65536);
	return NULL;
}

/* A reader that went away (EPIPE) wanted no more: that is no error. */
static struct error *sink_close(struct sink *s, const char *name)
{
	int saved;

	fclose(s->out);
	saved = s->error;
	if (!saved || saved == EPIPE)
		return NULL;
	return error_new(ERR_IO, "%s: %s; the report is not complete", name, strerror(saved));
}

static int by_format(const void *a, const void *b)
{
	const struct report *const *x = a, *const *y = b;

	return strcmp((*x)->format, (*y)->format);
}

static struct error *unknown_format(const char *what, const char *name)
{
	_cleanup_free_ const struct report **all = xcalloc(SET_COUNT(reports) + 1, sizeof(*all));
	_cleanup_free_ char *list = xstrdup("");
	const struct report *const *it;
	size_t n = 0, i;

	SET_FOREACH(reports, it)
		all[n++] = *it;
	qsort(all, n, sizeof(*all), by_format);
	for (i = 0; i < n; i++) {
		char *longer = xasprintf("%s%s, ", list, all[i]->format);

		free(list);
		list = longer;
	}
	return error_new(ERR_USAGE, "%s '%s': known are %ssqlite (analyze) and ndjson (events)",
			 what, name, list);
}

static const struct report *find_report(const char *format, const char *ending)
{
	const struct report *const *it;

	SET_FOREACH(reports, it) {
		if (format && !strcmp((*it)->format, format))
			return *it;
		if (ending && (*it)->ending && !strcasecmp((*it)->ending, ending))
			return *it;
	}
	return NULL;
}

static struct error *choose(const struct report **ret, const struct options *opt)
{
	static const char *const not_text[] = { ".sqlite", ".sqlite3", ".db", ".ndjson" };
	const char *dot = opt->output ? strrchr(opt->output, '.') : NULL;
	size_t i;

	*ret = NULL;
	if (opt->format) {
		*ret = find_report(opt->format, NULL);
		return *ret ? NULL : unknown_format("unknown format", opt->format);
	}
	if (dot && !strchr(dot, '/')) {
		*ret = find_report(NULL, dot);
		for (i = 0; !*ret && i < ARRAY_SIZE(not_text); i++)
			if (!strcasecmp(dot, not_text[i]))
				return unknown_format("this command does not write the format of",
						      opt->output);
	}
	if (!*ret)
		*ret = find_report("text", NULL);
	return *ret ? NULL
		    : error_new(ERR_INTERNAL, "this kvmortem was built without the text report");
}

static int terminal_width(int fd)
{
	const char *env = getenv("COLUMNS");
	struct winsize ws;
	long n = 0;

	if (!ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col)
		n = ws.ws_col;
	else if (env)
		n = strtol(env, NULL, 10);
	if (n <= 0 || n > 10000)
		return WIDTH_DEFAULT;
	return n < WIDTH_MIN ? WIDTH_MIN : (int)n;
}

static bool want_color(const struct options *opt, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (opt->color && !strcmp(opt->color, "always"))
		return true;
	if ((opt->color && !strcmp(opt->color, "never")) || (no && *no))
		return false;
	return isatty(fd) && term && strcmp(term, "dumb");
}

static struct error *render_to(const struct report *r, struct case_db *db,
			       const struct options *opt, const char *view, void *view_arg, int fd,
			       const char *name)
{
	struct report_ctx ctx = {
		.db = db,
		.opt = opt,
		.color = want_color(opt, fd),
		.width = terminal_width(fd),
		.view = view,
		.view_arg = view_arg,
	};
	struct error *err, *closed;
	struct sink s;

	TRY(sink_open(&s, fd));
	ctx.out = s.out;
	err = db ? filter_install(db, opt) : NULL;
	if (!err)
		err = r->render(&ctx);
	if (err)
		s.error = EPIPE;	/* what is still in the buffer is no report */
	closed = sink_close(&s, name);
	return err ? err : closed;
}

/* The permissions that a plain creat() would have given, or those of the file that is replaced. */
static void set_mode(int fd, const struct stat *old)
{
	mode_t mask;

	if (old) {
		fchmod(fd, old->st_mode & 0777);
		return;
	}
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

static struct error *render_file(const struct report *r, struct case_db *db,
				 const struct options *opt, const char *view, void *view_arg)
{
	_cleanup_free_ char *real = realpath(opt->output, NULL);
	_cleanup_free_ char *temp = NULL;
	const char *path = real ? real : opt->output;
	bool exists;
	struct error *err;
	struct stat st;
	int fd;

	exists = !stat(path, &st);
	if (exists && S_ISDIR(st.st_mode))
		return error_new(ERR_IO, "%s: is a directory; name a file with -o", opt->output);
	if (exists && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return error_io("%s", opt->output);
		err = render_to(r, db, opt, view, view_arg, fd, opt->output);
		close(fd);
		return err;
	}
	temp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return error_io("%s", opt->output);
	set_mode(fd, exists ? &st : NULL);
	err = render_to(r, db, opt, view, view_arg, fd, opt->output);
	if (close(fd) && !err)
		err = error_io("%s", opt->output);
	if (!err && rename(temp, path))
		err = error_io("%s", opt->output);
	if (err)
		unlink(temp);
	return err;
}

struct error *report_check(const struct options *opt)
{
	const struct report *r;

	TRY(choose(&r, opt));
	return output_check(opt);
}

struct error *report_write(struct case_db *db, const struct options *opt, const char *view,
			   void *view_arg)
{
	const struct report *r;

	TRY(choose(&r, opt));
	if (opt->output && strcmp(opt->output, "-"))
		return render_file(r, db, opt, view, view_arg);
	fflush(stdout);
	return render_to(r, db, opt, view, view_arg, STDOUT_FILENO, "standard output");
}
