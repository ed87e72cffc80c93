/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line: all options of all commands in one table, and times as --time and
 * --at take them.
 */
#ifndef KM_OPTIONS_H
#define KM_OPTIONS_H

#include "command.h"

struct cmdline {
	struct options	opt;
	const struct command *cmd;	/* never NULL after success */
	bool		help, version;
};

/*
 * options_parse() - argv into *cl. The command is the first word that is not an option, when a
 * command has that name; else it is `analyze`. ERR_USAGE with one line on anything wrong.
 * cmdline_free() in any case.
 */
struct error *options_parse(struct cmdline *cl, int argc, char **argv);
void cmdline_free(struct cmdline *cl);

const struct command *command_find(const char *name);
/* options_help() - help of the program (@cmd NULL) or of one command, on @out. */
void options_help(const struct command *cmd, FILE *out);

/* One bound of --time, or the time of --at. */
struct time_spec {
	enum { TIME_SPEC_NONE, TIME_SPEC_ABSOLUTE, TIME_SPEC_RELATIVE, TIME_SPEC_WALL } kind;
	int64_t ns; /* on the source's clock, since its first event, or since the epoch */
};

/* time_spec_parse() - "12345.678", "+1.5", "2024-01-04T10:33:10+01:00" (or Z; without a zone: UTC); @len bytes. ERR_USAGE. */
struct error *time_spec_parse(struct time_spec *t, const char *s, size_t len);
/* time_window_parse() - "FROM,TO"; either may be empty. ERR_USAGE. */
struct error *time_window_parse(struct time_spec *from, struct time_spec *to, const char *s);
/*
 * time_window_apply() - the window for one source; wall-clock bounds need a source on the wall
 * clock or with a known offset to it. ERR_INPUT with one line where there is none.
 */
struct error *time_window_apply(struct stream_time *ret, const char *s,
				const struct source_desc *desc);

/* size_parse() - "1048576", "512M", "2G", "1.5GiB"; ERR_USAGE. */
struct error *size_parse(uint64_t *ret, const char *s, const char *option);

#endif
