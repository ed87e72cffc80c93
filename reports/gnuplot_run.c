// SPDX-License-Identifier: GPL-2.0-or-later
/* gnuplot_run.c - finding gnuplot and running it; see gnuplot.h. */
#include "gnuplot.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "config.h"

#define STEP_NS		5000000	/* between two looks whether it has ended */
#define MEMORY_MAX	(1ULL << 30)
#define FILE_MAX	(64ULL << 20)

#ifdef HAVE_GNUPLOT
#define WANTED		true
#else
#define WANTED		false
#endif

char *gnuplot_find(void)
{
	const char *path = getenv("PATH"), *end;

	for (; WANTED && path && *path; path = *end ? end + 1 : end) {
		_cleanup_free_ char *name = NULL;
		struct stat st;

		end = strchrnul(path, ':');
		if (*path != '/')	/* the working directory may be the customer's bundle */
			continue;
		name = xasprintf("%.*s/gnuplot", (int)MIN(end - path, 4000), path);
		if (!stat(name, &st) && S_ISREG(st.st_mode) && !access(name, X_OK))
			return xstrdup(name);
	}
	return NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* It reads scripts and numbers of our own making, but their names and values are the case's. */
static void limit(pid_t pid, int timeout_ms)
{
	rlim_t cpu = (rlim_t)timeout_ms / 1000 + 1;

	prlimit(pid, RLIMIT_CPU, &(struct rlimit){ cpu, cpu }, NULL);
	prlimit(pid, RLIMIT_AS, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX }, NULL);
	prlimit(pid, RLIMIT_FSIZE, &(struct rlimit){ FILE_MAX, FILE_MAX }, NULL);
	prlimit(pid, RLIMIT_CORE, &(struct rlimit){ 0, 0 }, NULL);
}

static bool ended_well(pid_t pid, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	int status;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG)) || (got < 0 && errno == EINTR)) {
		if (now_ms() >= end) {
			kill(-pid, SIGKILL);	/* it leads a group of its own */
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			return false;
		}
		nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
	}
	return got == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* What it has of us: standard input and output as wanted, no other file, no signal held back. */
static int set_files(posix_spawn_file_actions_t *files, const struct gnuplot_job *job)
{
	int err;

	err = job->in < 0 ? posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0)
			  : posix_spawn_file_actions_adddup2(files, job->in, 0);
	if (!err)
		err = job->out < 0
			? posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0)
			: posix_spawn_file_actions_adddup2(files, job->out, 1);
	if (!err)
		err = posix_spawn_file_actions_addopen(files, 2, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = job->dir < 0 ? posix_spawn_file_actions_addchdir_np(files, "/")
				   : posix_spawn_file_actions_addfchdir_np(files, job->dir);
	return err ? err : posix_spawn_file_actions_addclosefrom_np(files, 3);
}

static int set_signals(posix_spawnattr_t *attr)
{
	sigset_t none, usual;
	int err;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attr, &usual);
	if (!err)
		err = posix_spawnattr_setpgroup(attr, 0);
	return err ? err
		   : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
						    POSIX_SPAWN_SETSIGDEF |
						    POSIX_SPAWN_SETPGROUP);
}

static bool run(const struct gnuplot_job *job, int timeout_ms)
{
	/* -d: no initialisation files */
	char *argv[] = { (char *)"gnuplot", (char *)"-d", (char *)job->script, NULL };
	char *env[] = { (char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C.UTF-8", (char *)"TZ=UTC",
			(char *)"HOME=/nonexistent", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid;
	int err;

	if (posix_spawn_file_actions_init(&files))
		return false;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&files);
		return false;
	}
	err = set_files(&files, job);
	if (!err)
		err = set_signals(&attr);
	if (!err)
		err = posix_spawn(&pid, job->program, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		return false;
	limit(pid, timeout_ms);
	return ended_well(pid, timeout_ms);
}

bool gnuplot_run(const struct gnuplot_job *job)
{
	int64_t from = now_ms();
	bool ok = *job->left_ms > 0 && run(job, (int)MIN(*job->left_ms, job->timeout_ms));

	*job->left_ms -= now_ms() - from;
	return ok;
}
