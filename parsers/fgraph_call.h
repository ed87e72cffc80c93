/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fgraph_call.h - "MARK DURATION |  FUNCTION", the tail of function_graph's lines: the tracer's own and trace-cmd's
 * "funcgraph_entry:   1.234 us   |  func();". (kernel: trace_print_graph_duration(); trace-cmd: lib/trace-cmd/trace-ftrace.c)
 */
#ifndef KM_FGRAPH_CALL_H
#define KM_FGRAPH_CALL_H

#include "event.h"

struct fgraph_call {
	const char	*func;		/* name without module and arguments; NULL: a "}" that names none */
	size_t		func_len;
	const char	*comment;	/* text of a comment line; NULL: it is a call */
	size_t		comment_len;
	uint32_t	depth;		/* two blanks a level */
	uint8_t		kind;		/* EV_FUNC_ENTER, _LEAF, _EXIT; EV_OTHER: a comment */
};

/* fgraph_duration() - "! 128.458 us", "* 12345.67 us", "1.783 us" as ns; false when the @len bytes are none. */
bool fgraph_duration(const char *s, size_t len, uint64_t *ns);

/*
 * fgraph_call() - what stands behind the bar, indentation included; false when it is no call and no
 * comment.
 */
bool fgraph_call(const char *s, size_t len, struct fgraph_call *c);

#endif
