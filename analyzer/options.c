// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - the command line by table; see options.h. */
#include "options.h"

#include <getopt.h>
#include <math.h>

enum value_kind {
	V_FLAG,
	V_TRUE,
	V_STRING,
	V_LIST,
	V_COUNT,
	V_SIZE,
	V_JOBS,
	V_MS,
	V_LONG,
	V_COLOR,
	V_TIME,
	V_AT,
	V_ON,
	V_OFF
};

#define OFFSET(field)	offsetof(struct options, field)

static const struct option_row {
	const char	*name;
	char		letter;		/* 0: none */
	const char	*arg;		/* name in the help; NULL: takes none */
	enum value_kind	kind;
	size_t		offset;
	const char	*commands;	/* blank-separated; NULL: all */
	const char	*help;
} rows[] = {
	{ "format", 'f', "FORMAT", V_STRING, OFFSET(format), NULL,
	  "text, html, json, sqlite, markdown, jira, bugzilla, title, perfetto or folded; events: text or ndjson (default: by the ending of -o, else text)" },
	{ "output", 'o', "FILE", V_STRING, OFFSET(output), NULL, "write there instead of stdout" },
	{ "signatures", 0, "DIR", V_LIST, OFFSET(signature_dirs), NULL, "add the signatures (*.yaml) of DIR; may be repeated" },
	{ "vm", 0, "VM", V_STRING, OFFSET(vm), NULL, "only this VM (id, thread group or name)" },
	{ "vcpu", 0, "VCPU", V_STRING, OFFSET(vcpu), NULL, "only this vCPU (number or thread id)" },
	{ "time", 0, "FROM,TO", V_TIME, OFFSET(time), NULL,
	  "only events in this time: 12345.678 (the recording's clock), +1.5 (since its first event), "
	  "2024-01-04T10:33:10+01:00 (where a wall clock is known)" },
	{ "stall-threshold", 0, "MS", V_MS, OFFSET(stall_threshold_ms), NULL, "stalls are longer than this (default: adaptive)" },
	{ "fail-on-match", 0, NULL, V_TRUE, OFFSET(fail_on_match), "analyze", "exit with status 10 when a signature matched" },
	{ "redact", 0, NULL, V_TRUE, OFFSET(redact), "analyze info exits latency stalls chain query",
	  "replace names of hosts, users and VMs, addresses, UUIDs and paths by placeholders" },
	{ "redact-map", 0, "FILE", V_STRING, OFFSET(redact_map), "analyze info exits latency stalls chain query",
	  "with --redact: keep the key to the placeholders in FILE" },
	{ "plots", 0, "DIR", V_STRING, OFFSET(plots), "analyze",
	  "write the case's plots into DIR: svg, and by gnuplot png, with script (.gp) and numbers (.dat)" },
	{ "event", 0, "EVENT", V_STRING, OFFSET(exits_event), "exits", "vmexit, mmio, ioport or msr" },
	{ "by", 0, "WHAT", V_STRING, OFFSET(exits_by), "exits", "all, vm or vcpu" },
	{ "stall", 0, "N", V_LONG, OFFSET(chain_stall), "chain", "the stall with this id" },
	{ "at", 0, "TIME", V_AT, OFFSET(chain_at), "chain", "the stall at this time" },
	{ "symfs", 0, "DIR", V_STRING, OFFSET(symfs), NULL,
	  "programs and libraries of the recorded host, below DIR by their paths: functions and lines of processes" },
	{ "debug-dir", 0, "DIR", V_STRING, OFFSET(debug_dir), NULL, "their debug data: DIR/.build-id/xx/rest.debug" },
	{ "guestkallsyms", 0, "FILE", V_STRING, OFFSET(guest_kallsyms), NULL,
	  "names for the guest's kernel addresses: its /proc/kallsyms" },
	{ "jobs", 'j', "N", V_JOBS, OFFSET(jobs), NULL, "1: all in one thread; else reading and analysis in two (the results are the same)" },
	{ "temp-dir", 0, "DIR", V_STRING, OFFSET(temp_dir), NULL, "where the unnamed temporary file goes" },
	{ "max-temp", 0, "SIZE", V_SIZE, OFFSET(max_temp), NULL, "its largest size (default: half of the free space)" },
	{ "color", 0, "WHEN", V_COLOR, OFFSET(color), NULL, "auto, always or never" },
	{ "progress", 0, NULL, V_ON, OFFSET(progress), NULL, "show a progress line" },
	{ "no-progress", 0, NULL, V_OFF, OFFSET(progress), NULL, "show none" },
	{ "strict", 0, NULL, V_TRUE, OFFSET(strict), NULL, "exit with status 3 when an input could not be read" },
	{ "quiet", 'q', NULL, V_TRUE, OFFSET(quiet), NULL, "no lines about members on stderr" },
	{ "verbose", 'v', NULL, V_COUNT, OFFSET(verbose), NULL, "say more" },
	{ "help", 'h', NULL, V_FLAG, 0, NULL, "show this help" },
	{ "version", 'V', NULL, V_FLAG, 0, NULL, "show the version" },
};

static bool word_in(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *p = words;

	while ((p = strstr(p, word))) {
		if ((p == words || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
		p += len;
	}
	return false;
}

const struct command *command_find(const char *name)
{
	const struct command *const *it;

	SET_FOREACH(commands, it)
		if (!strcmp((*it)->name, name))
			return *it;
	return NULL;
}

static int by_command_name(const void *a, const void *b)
{
	return strcmp((*(const struct command *const *)a)->name,
		      (*(const struct command *const *)b)->name);
}

static void help_rows(FILE *out, const char *command, bool of_command)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct option_row *r = &rows[i];
		char left[64];

		if (of_command != (r->commands != NULL) ||
		    (r->commands && !word_in(r->commands, command)))
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
			 r->letter ? "," : " ", r->name, r->arg ? " " : "", r->arg ? r->arg : "");
		if (strlen(left) > 25)
			fprintf(out, "  %s\n  %-26s %s\n", left, "", r->help);
		else
			fprintf(out, "  %-26s %s\n", left, r->help);
	}
}

void options_help(const struct command *cmd, FILE *out)
{
	const struct command *const *it;
	const struct command **list;
	size_t n = 0, i;

	if (cmd) {
		fprintf(out, "usage: kvmortem %s %s\n\n%s\n", cmd->name, cmd->usage ? cmd->usage : "", cmd->summary);
		if (cmd->help)
			fprintf(out, "\n%s\n", cmd->help);
		fprintf(out, "\nOptions:\n");
		help_rows(out, cmd->name, true);
		help_rows(out, cmd->name, false);
		return;
	}
	fprintf(out, "usage: kvmortem [COMMAND] [OPTIONS] INPUT...\n\n"
		"Which known bug is in this KVM host's trace, logs or bundle, and what says so.\n"
		"INPUT is a file, a directory, an archive, or - for stdin.\n\nCommands:\n");
	list = xcalloc(SET_COUNT(commands) + 1, sizeof(*list));
	SET_FOREACH(commands, it)
		list[n++] = *it;
	if (n)
		qsort(list, n, sizeof(*list), by_command_name);
	for (i = 0; i < n; i++)
		fprintf(out, "  %-12s %s%s\n", list[i]->name, list[i]->summary,
			strcmp(list[i]->name, "analyze") ? "" : " (the default)");
	free(list);
	fprintf(out, "\n`kvmortem COMMAND --help` shows a command's own options.\n\nOptions of all commands:\n");
	help_rows(out, "", false);
}

static struct error *number(double *ret, const char *s, const char *name, double min, double max)
{
	char *end;

	errno = 0;
	*ret = strtod(s, &end);
	if (end == s || *end || errno || !isfinite(*ret) || *ret < min || *ret > max)
		return error_new(ERR_USAGE, "--%s needs a number from %g to %g: '%.80s'", name, min, max, s);
	return NULL;
}

static struct error *check_time(const struct option_row *r, const char *arg)
{
	struct time_spec a, b;

	if (r->kind == V_TIME)
		return time_window_parse(&a, &b, arg);
	if (!*arg)
		return error_new(ERR_USAGE, "--%s needs a time", r->name);
	return time_spec_parse(&a, arg, strlen(arg));
}

static struct error *set_value(struct cmdline *cl, const struct option_row *r, const char *arg)
{
	void *p = (char *)&cl->opt + r->offset;
	double v;

	switch (r->kind) {
	case V_FLAG:
		*(strcmp(r->name, "help") ? &cl->version : &cl->help) = true;
		break;
	case V_TRUE:
		*(bool *)p = true;
		break;
	case V_ON:
	case V_OFF:
		*(int *)p = r->kind == V_ON;
		break;
	case V_COUNT:
		++*(int *)p;
		break;
	case V_COLOR:
		if (strcmp(arg, "auto") && strcmp(arg, "always") && strcmp(arg, "never"))
			return error_new(ERR_USAGE, "--%s is auto, always or never: '%.80s'", r->name, arg);
		*(const char **)p = arg;
		break;
	case V_TIME:
	case V_AT:
		TRY(check_time(r, arg));
		*(const char **)p = arg;
		break;
	case V_STRING:
		*(const char **)p = arg;
		break;
	case V_LIST:
		cl->opt.signature_dirs =
			xrealloc(cl->opt.signature_dirs,
				 (cl->opt.n_signature_dirs + 1) * sizeof(*cl->opt.signature_dirs));
		cl->opt.signature_dirs[cl->opt.n_signature_dirs++] = arg;
		break;
	case V_SIZE:
		TRY(size_parse(p, arg, "--max-temp"));
		break;
	case V_JOBS:
		TRY(number(&v, arg, r->name, 1, 1024));
		*(unsigned int *)p = (unsigned int)v;
		break;
	case V_MS:
		TRY(number(&v, arg, r->name, 0.001, 1e9));
		*(double *)p = v;
		break;
	case V_LONG:
		TRY(number(&v, arg, r->name, 1, 1e9));
		*(long *)p = (long)v;
		break;
	}
	return NULL;
}

static struct error *getopt_tables(struct option *longs, char *shorts)
{
	size_t i, o = 0;

	shorts[o++] = ':';	/* a missing argument is told from an unknown option */
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		longs[i] = (struct option){ rows[i].name,
					    rows[i].arg ? required_argument : no_argument, NULL,
					    1000 + (int)i };
		if (!rows[i].letter)
			continue;
		shorts[o++] = rows[i].letter;
		if (rows[i].arg)
			shorts[o++] = ':';
	}
	shorts[o] = '\0';
	return NULL;
}

static const struct option_row *row_of(int c)
{
	size_t i;

	if (c >= 1000)
		return &rows[c - 1000];
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static struct error *wrong_option(int c, char **argv)
{
	const char *what = c == ':' ? "needs an argument" : "unknown option, ambiguous or with an argument it does not take";

	if (optopt && optopt < 1000)
		return error_new(ERR_USAGE, "-%c: %s (kvmortem --help lists the options)", optopt,
				 c == ':' ? what : "unknown option");
	return error_new(ERR_USAGE, "%.80s: %s (kvmortem --help lists the options)", argv[optind - 1], what);
}

struct error *options_parse(struct cmdline *cl, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(rows) + 1] = { { NULL, 0, NULL, 0 } };
	char shorts[2 * ARRAY_SIZE(rows) + 2];
	bool used[ARRAY_SIZE(rows)] = { false };
	size_t i;
	int c;

	memset(cl, 0, sizeof(*cl));
	cl->opt.color = "auto";
	cl->opt.progress = -1;
	cl->opt.chain_stall = -1;
	getopt_tables(longs, shorts);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *r = c == '?' || c == ':' ? NULL : row_of(c);

		if (!r)
			return wrong_option(c, argv);
		used[r - rows] = true;
		TRY(set_value(cl, r, optarg));
	}
	cl->opt.args = (const char **)argv + optind;
	cl->opt.n_args = (size_t)(argc - optind);
	cl->cmd = cl->opt.n_args ? command_find(cl->opt.args[0]) : NULL;
	if (cl->cmd) {
		cl->opt.args++;
		cl->opt.n_args--;
	} else if (cl->help || cl->version) {
		return NULL;
	} else {
		cl->cmd = command_find("analyze");
	}
	if (!cl->cmd)
		return error_new(ERR_INTERNAL, "the analyze command is not built in");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (used[i] && rows[i].commands && !word_in(rows[i].commands, cl->cmd->name))
			return error_new(ERR_USAGE, "--%s is an option of %s, not of %s", rows[i].name, rows[i].commands,
					 cl->cmd->name);
	return NULL;
}

void cmdline_free(struct cmdline *cl)
{
	free(cl->opt.signature_dirs);
	cl->opt.signature_dirs = NULL;
}
