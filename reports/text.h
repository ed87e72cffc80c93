/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - the text report's parts: what lays out lines, and one function a view (text_*.c).
 *
 * Every string that came from a case goes through text_para(), text_item() or a table cell, which
 * escape it.
 */
#ifndef KM_TEXT_H
#define KM_TEXT_H

#include "human.h"
#include "model.h"
#include "table.h"

struct text {
	struct report_ctx *ctx;
	FILE		*out;
	int		width;		/* of tables */
	int		prose;		/* of running text: wide lines are hard to read */
	bool		verbose;
	bool		brief;		/* a verdict beside a stronger one: one row an item */
	const char	*bold, *dim, *red, *yellow, *cyan, *green, *off;
	struct json_object *vms, *sources;	/* for names */
	int		recordings;	/* sources with events */
	int		paths;		/* distinct files that are sources */
	char		*prefix;	/* what all members' paths begin with; left out */
};

/* A view of the text report; text_views in text.c lists them. */
struct text_view {
	const char	*name;
	struct error	*(*render)(struct text *t);
};

/*
 * text_open() - a text report without colours on @ctx->out, with the case's names; text_close()
 * frees them, also after an error. Other formats use it for names and for what they tell in the
 * same words.
 */
struct error *text_open(struct text *t, struct report_ctx *ctx);
void text_close(struct text *t);

struct error *text_analyze(struct text *t);
struct error *text_info(struct text *t);
struct error *text_exits(struct text *t);
struct error *text_latency(struct text *t);
struct error *text_stalls(struct text *t);
struct error *text_chain(struct text *t);
struct error *text_query(struct text *t);
struct error *text_diff(struct text *t);

/* Parts of `analyze` */
struct error *text_verdicts(struct text *t);
struct error *text_case(struct text *t);
/* text_spans() - the sources' times on the axes they share, as bars. */
struct error *text_spans(struct text *t);
/* text_questions() - what kinds of question the input can answer. */
struct error *text_questions(struct text *t);
/*
 * text_ties() - what pings and logs say of the time of a stall (@kind "stall_id") or an episode
 * ("episode_id"): "while a ping got no answer in time for 107 s [cite]"; malloc'd, NULL where nothing is
 * tied. text_episodes() - the episodes for which there is such a tie.
 */
char *text_ties(struct text *t, const char *kind, int64_t id);
struct error *text_episodes(struct text *t);
/* text_members_trouble() - one line for each member that was not wholly read. */
struct error *text_members_trouble(struct text *t);
/* text_not_seen() - losses, and what the recordings could not show. */
struct error *text_not_seen(struct text *t);
/*
 * text_first_of_path() - is source @n (index) the one that stands for its file? A recording goes
 * before other sections.
 */
bool text_first_of_path(struct text *t, size_t n);
/* text_sources() - one row a recording, and how many other files gave facts. */
struct error *text_sources(struct text *t);
/* text_exit_table() - at most @max rows (0: all) for @event, one table each for what @by asks. */
struct error *text_exit_table(struct text *t, const char *event, const char *by, size_t max,
			      int indent);
/* text_stall() - one stall: a head line and its links as a tree, at most @max_links (0: all). */
void text_stall(struct text *t, struct json_object *stall, size_t max_links);
/* text_links() - the stall's links as a tree; with @max in short, links that say the same as one
 * line. */
void text_links(struct text *t, struct json_object *stall, size_t max);
struct error *text_patterns(struct text *t, size_t max);
/*
 * text_stall_line() - a stall in one line: "565 ms from 124.828094 s: createvm:585, a long
 * operation: KVM_CREATE_VM". text_link_phrase() - whose link it is, where it is not the stalled
 * task's own, and what it did. Both malloc'd.
 */
char *text_stall_line(struct text *t, struct json_object *stall);
char *text_link_phrase(struct json_object *link, int64_t own_tid);

/* text_heading() - a blank line and the heading. */
void text_heading(struct text *t, const char *fmt, ...) __printf_like(2, 3);
/*
 * text_para() - a wrapped paragraph; @indent columns before the first line, @hang before the
 * others.
 */
void text_para(struct text *t, int indent, int hang, const char *fmt, ...) __printf_like(4, 5);
/*
 * text_item() - a paragraph with a label in front, in @style; the text stands @hang columns from
 * the left, on all lines.
 */
void text_item(struct text *t, int indent, int hang, const char *style, const char *label,
	       const char *fmt, ...) __printf_like(6, 7);
/* text_verbatim() - one line as it is (a command to be copied), escaped but not wrapped. */
void text_verbatim(struct text *t, int indent, const char *prefix, const char *s);
/* text_table() - print with the report's width and style. */
void text_table(struct text *t, struct table *table, int indent);

/*
 * Names; all malloc'd.
 * text_vm(): "VM 1 (qemu-system-x86, tgid 159)". text_vcpu(): "vCPU 0"; "the vCPU of thread
 * 162" where its number is unknown. text_vcpus(): "vCPUs 0-3, 7", NULL where none is known.
 */
char *text_vm(struct text *t, int64_t vm);
char *text_vcpu(struct text *t, int64_t vcpu);
char *text_vcpus(struct text *t, struct json_object *ids, int64_t vm);
/*
 * text_path() - a member's path without what all have in front; text_source() - that of a source.
 */
const char *text_path(struct text *t, const char *path);
const char *text_source(struct text *t, int64_t source);
/* text_task() - "comm:tid", ":tid" or "?" ; a long comm is cut. */
char *text_task(const char *task, struct json_object *o, const char *tid_key);
/*
 * text_cites() - "trace.txt:12 (21.593569 s), :15 (...)", at most @max, or NULL where there is
 * none.
 */
char *text_cites(struct text *t, struct json_object *array, size_t max);
/*
 * text_places() - the same without times, "line 12, line 15", where all are in @member, which the
 * reader knows.
 */
char *text_places(struct text *t, struct json_object *array, size_t max, const char *member);
/* text_join() - append to a malloc'd string (NULL at first) with @sep between. */
void text_join(char **to, const char *sep, const char *fmt, ...) __printf_like(3, 4);
/* verdict_seen_before() - has a verdict before index @i the same signature? */
bool verdict_seen_before(struct json_object *all, size_t i);

#endif
