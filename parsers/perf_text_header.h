/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_text_header.h - the "# ..." lines that `perf script --header` and `perf report --header`
 * print before their data: who recorded what where. (perf: print_*() of tools/perf/util/header.c,
 * perf_event_attr__fprintf().)
 *
 *   # hostname : kvmhost
 *   # cmdline : /usr/bin/perf record -a -e kvm:kvm_exit
 *   # event : name = kvm:kvm_exit, , id = { 13, 14 }, type = 2, ... freq } = 1, ...
 */
#ifndef KM_PERF_TEXT_HEADER_H
#define KM_PERF_TEXT_HEADER_H

#include "parser.h"

#define PERF_TEXT_FACTS		16
#define PERF_TEXT_EVENTS	8192

struct perf_text_event {
	char		*name;		/* as perf prints it, with its system */
	/* carrier: a dummy, has no samples */
	bool		tracepoint, sampled, no_kernel, carrier;
};

struct perf_text_header {
	char		*host, *release, *arch, *cmdline;
	int		cpus;			/* 0 unknown */
	int		clockid;		/* -1: perf's default */
	bool		has_wall;
	int64_t		wall_offset_ns;		/* wall clock minus the recording's */
	struct {
		const char	*key;
		char		*value;
		int64_t		cite;
	}		facts[PERF_TEXT_FACTS];
	size_t		n_facts, n_lines, nodes;
	int64_t		nodes_cite;
	struct perf_text_event *events;
	size_t		n_events, cap_events;
};

void perf_text_header_init(struct perf_text_header *h);
void perf_text_header_free(struct perf_text_header *h);
/* perf_text_header_line() - take what the line says; false when it is no line of such a header. */
bool perf_text_header_line(struct parse_ctx *ctx, struct perf_text_header *h,
			   const struct line *ln);
/* perf_text_header_is() - the same question, without taking anything. */
bool perf_text_header_is(const char *s, size_t len);
/* perf_text_header_has_arg() - does the recorder's command line hold the word @arg (or ARG=...)? */
bool perf_text_header_has_arg(const struct perf_text_header *h, const char *arg);
/* perf_text_header_scope() - whom the recording's command asked for: all CPUs, some, or tasks. */
enum cov_scope perf_text_header_scope(const struct perf_text_header *h);
/* perf_text_header_clock() - name of the clock of the recording's times. */
const char *perf_text_header_clock(const struct perf_text_header *h);
/* perf_text_header_facts() - write the facts, cited, for the source. */
struct error *perf_text_header_facts(struct parse_ctx *ctx, const struct perf_text_header *h,
				     int64_t source_id, const char *side);
/*
 * perf_text_header_source() - of a text that is no stream of events: the source, made at the first
 * call (*source_id is 0), with the facts and who was recorded.
 */
struct error *perf_text_header_source(struct parse_ctx *ctx, const struct perf_text_header *h,
				      int64_t *source_id, const char *format);

#endif
