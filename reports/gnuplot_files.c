// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gnuplot_files.c - --plots DIR; see command.h.
 *
 * A plot's files are made in a private directory inside DIR and renamed from there, each when it is
 * complete. All names are looked up in directories that are held open, and no link is followed:
 * DIR may hold what somebody else laid there. What this program wrote is known by a mark over its
 * text in the first line of script and numbers; files that are not its own, or that have been
 * changed since, are left as they are.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "config.h"
#include "diag.h"
#include "filter.h"
#include "gnuplot.h"
#include "plots.h"

#define SOURCES_MAX	32	/* of each kind of plot */
#define ONE_MS		20000	/* for gnuplot, a plot; usual is 200 */
#define ALL_MS		120000	/* for all plots; what is left then is drawn by ourselves */
#define READ_MAX	(4u << 20)
#define HEAD		"# Written by kvmortem %s, mark %016" PRIx64 "\n"

struct files {
	const char	*name;		/* DIR as the user named it */
	int		dir, temp;
	char		temp_name[32];
	char		*gnuplot;	/* NULL: none, or it failed */
	int64_t		left_ms;
	size_t		n, kept;
	char		*first_kept;
};

static const char *const endings[] = { "dat", "gp", "svg", "png" };

/* FNV-1a: tells a change by hand, not one made to deceive. */
static uint64_t mark(const char *s, size_t n)
{
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h;
}

static char *file_name(const struct plot *p, const char *ending)
{
	return xasprintf("%s.%s", p->name, ending);
}

static struct error *write_file(const struct files *f, const struct plot *p, const char *ending,
				void (*write_to)(FILE *out, const struct plot *p), bool marked)
{
	_cleanup_free_ char *name = file_name(p, ending), *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int fd;
	bool bad;

	if (!out)
		return error_io("%s/%s", f->name, name);
	write_to(out, p);
	if (fclose(out))
		return error_io("%s/%s", f->name, name);
	fd = openat(f->temp, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		if (fd >= 0)
			close(fd);
		return error_io("%s/%s", f->name, name);
	}
	if (marked)
		fprintf(out, HEAD, KM_VERSION, mark(text, size));
	fwrite(text, 1, size, out);
	bad = fflush(out) || ferror(out);
	if (fclose(out) || bad)
		return error_io("%s/%s", f->name, name);
	return NULL;
}

/* Is file @name of DIR as an earlier run wrote it? */
static bool is_unchanged(const struct files *f, const char *name)
{
	int fd = openat(f->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL, *head = NULL;
	struct stat st;
	ssize_t n = -1;
	char *body, *m;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= READ_MAX) {
		text = xcalloc(1, (size_t)st.st_size + 1);
		n = pread(fd, text, (size_t)st.st_size, 0);
	}
	close(fd);
	if (n <= 0 || strncmp(text, "# Written by kvmortem ", 22))
		return false;
	body = strchr(text, '\n');
	m = strstr(text, ", mark ");
	if (!body || !m || m > body)
		return false;
	body++;
	head = xasprintf("%016" PRIx64 "\n", mark(body, (size_t)(text + n - body)));
	return (size_t)(body - m) == 7 + strlen(head) && !strncmp(m + 7, head, strlen(head));
}

/* May the plot's files be written, that is: are none there but an earlier run's? */
static bool is_ours(const struct files *f, const struct plot *p)
{
	bool there[ARRAY_SIZE(endings)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(endings); i++) {
		_cleanup_free_ char *name = file_name(p, endings[i]);
		struct stat st;

		there[i] = !fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW);
		if (there[i] && (!S_ISREG(st.st_mode) || (i < 2 && !is_unchanged(f, name))))
			return false;
	}
	return (there[0] && there[1]) || !(there[0] || there[1] || there[2] || there[3]);
}

static bool has_file(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) && st.st_size;
}

static void drop(const struct files *f, const struct plot *p, const char *ending)
{
	_cleanup_free_ char *name = file_name(p, ending);

	unlinkat(f->temp, name, 0);
}

/* True where gnuplot made the picture. */
static bool drawn(struct files *f, const struct plot *p)
{
	_cleanup_free_ char *script = file_name(p, "gp"), *svg = file_name(p, "svg");
	struct gnuplot_job job = {
		.program = f->gnuplot, .script = script, .dir = f->temp, .in = -1, .out = -1,
		.timeout_ms = ONE_MS, .left_ms = &f->left_ms,
	};

	if (!f->gnuplot)
		return false;
	if (gnuplot_run(&job) && has_file(f->temp, svg))
		return true;
	diag(f->name, "gnuplot failed or took too long on %s; the plots from there on are kvmortem's own", script);
	free(f->gnuplot);
	f->gnuplot = NULL;
	drop(f, p, "svg");
	drop(f, p, "png");
	return false;
}

static struct error *move_out(const struct files *f, const struct plot *p, const char *ending)
{
	_cleanup_free_ char *name = file_name(p, ending);

	if (has_file(f->temp, name))
		return renameat(f->temp, name, f->dir, name) ? error_io("%s/%s", f->name, name) : NULL;
	/* what an earlier run left is no picture of these numbers */
	return unlinkat(f->dir, name, 0) && errno != ENOENT ? error_io("%s/%s", f->name, name) : NULL;
}

static struct error *make_files(struct files *f, const struct plot *p)
{
	size_t i;

	TRY(write_file(f, p, "dat", gnuplot_data, true));
	TRY(write_file(f, p, "gp", gnuplot_script, true));
	if (!drawn(f, p))
		TRY(write_file(f, p, "svg", svg_plot_file, false));
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		TRY(move_out(f, p, endings[i]));
	f->n++;
	return NULL;
}

static struct error *put_plot(void *arg, const struct plot *p)
{
	struct files *f = arg;
	struct error *err;
	size_t i;

	if (!is_ours(f, p)) {
		if (!f->kept++)
			f->first_kept = xstrdup(p->name);
		return NULL;
	}
	err = make_files(f, p);
	for (i = 0; err && i < ARRAY_SIZE(endings); i++)
		drop(f, p, endings[i]);
	return err;
}

static struct error *put_all(struct report_ctx *ctx, struct files *f)
{
	struct error *err;
	struct text t;

	err = text_open(&t, ctx);
	if (!err)
		err = plots_delays(&t, SOURCES_MAX, put_plot, f);
	if (!err)
		err = plots_over_time(&t, SOURCES_MAX, put_plot, f);
	text_close(&t);
	/* cppcheck-suppress returnDanglingLifetime ; no error points into it */
	return err;
}

/* DIR itself is no link either: where it leads may be somebody else's choice. */
static struct error *open_dir(int *ret, const char *dir)
{
	_cleanup_free_ char *name = xstrdup(dir);
	size_t n = strlen(name);
	struct stat st;

	while (n > 1 && name[n - 1] == '/')	/* behind a slash a link would be followed */
		name[--n] = 0;
	*ret = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret >= 0)
		return NULL;
	if (!lstat(name, &st) && S_ISLNK(st.st_mode))
		return error_new(ERR_IO, "%s: is a symbolic link; name the directory that --plots shall write to", name);
	if (!stat(name, &st) && !S_ISDIR(st.st_mode))
		return error_new(ERR_IO, "%s: is not a directory, which --plots needs", name);
	return error_io("%s", name);
}

static struct error *open_temp(struct files *f)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(f->temp_name, sizeof(f->temp_name), ".kvmortem-%d-%09ld", (int)getpid(),
			 now.tv_nsec);
		if (!mkdirat(f->dir, f->temp_name, 0700))
			break;
		if (errno != EEXIST)
			return error_io("%s", f->name);
	}
	f->temp = openat(f->dir, f->temp_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return f->temp < 0 ? error_io("%s", f->name) : NULL;
}

static void say(const struct files *f, const struct options *opt)
{
	if (f->kept)
		diag(f->name, "%zu plot%s left as found: %s.* is not, or not any more, what kvmortem wrote; name another directory",
		     f->kept, f->kept == 1 ? " is" : "s are", f->first_kept);
	if (!f->n && !f->kept && !opt->quiet)
		diag(f->name, "nothing in the input can be plotted");
}

struct error *plot_files_write(struct case_db *db, const struct options *opt)
{
	struct report_ctx ctx = { .db = db, .opt = opt, .width = 80, .view = "analyze" };
	struct files f = { .name = opt->plots, .dir = -1, .temp = -1, .left_ms = ALL_MS };
	struct error *err;

	if (!opt->plots)
		return NULL;
	TRY(filter_install(db, opt));
	err = open_dir(&f.dir, opt->plots);
	if (!err)
		err = open_temp(&f);
	if (!err) {
		f.gnuplot = gnuplot_find();
		err = put_all(&ctx, &f);
	}
	if (f.temp >= 0) {
		close(f.temp);
		unlinkat(f.dir, f.temp_name, AT_REMOVEDIR);
	}
	if (f.dir >= 0)
		close(f.dir);
	if (!err)
		say(&f, opt);
	free(f.first_kept);
	free(f.gnuplot);
	return err;
}

struct error *plot_files_check(const struct options *opt)
{
	struct error *err = NULL;
	int dir;

	if (!opt->plots)
		return NULL;
	if (mkdir(opt->plots, 0777) && errno != EEXIST)
		return error_io("%s", opt->plots);
	TRY(open_dir(&dir, opt->plots));
	if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS))
		err = error_io("%s", opt->plots);
	close(dir);
	return err;
}
