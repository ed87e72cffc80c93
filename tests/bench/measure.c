// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure COMMAND [ARG...] - run a command with its output thrown away; print "WALL USER SYS PEAK_ANON STATUS": seconds, and
 * the peak of anonymous resident memory in KiB, sampled every 2 ms from /proc/PID/status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long anon_kib(pid_t pid)
{
	char path[64], buf[4096], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	p = strstr(buf, "RssAnon:");
	return p ? atol(p + 8) : 0;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec start, now, nap = { 0, 2000000 };
	long peak = 0, anon;
	struct rusage ru;
	int status, fd;
	pid_t pid;

	if (argc < 2)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = fork();
	if (!pid) {
		fd = open("/dev/null", O_RDWR);
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (wait4(pid, &status, WNOHANG, &ru) == 0) {
		anon = anon_kib(pid);
		peak = anon > peak ? anon : peak;
		nanosleep(&nap, NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%.3f %.3f %.3f %ld %d\n",
	       (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9,
	       seconds(ru.ru_utime), seconds(ru.ru_stime), peak,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
