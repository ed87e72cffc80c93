/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_log.h - system calls out of a text, for strace and perf trace: a span for every KVM ioctl
 * (KVM_RUN excepted) and for other calls of 1 ms and more, the longest of each class, and
 * syscall_stat for all.
 */
#ifndef KM_CALL_LOG_H
#define KM_CALL_LOG_H

#include "parser.h"

struct call {
	const char	*name;		/* "futex", "ioctl:KVM_CREATE_VM" */
	const char	*result;	/* as printed, or NULL; at most 47 bytes are kept */
	const char	*task;		/* comm, or NULL; at most 23 bytes are kept */
	int64_t		tid, time_ns;	/* -1 not known */
	int64_t		dur_ns;
	int64_t		cite_ns;	/* time for the citation, or CASE_NO_TIME */
	bool		failed;
};

struct call_log {
	struct strtab	names, keys;
	struct call_stat *stats;
	size_t		n_stats, cap_stats;
	struct span_pool {
		struct call_span *v;
		size_t		n, max;
		uint64_t	dropped;
	}		kvm, slow;
	unsigned int	seq;
};

void call_log_init(struct call_log *log);
void call_log_free(struct call_log *log);
/* call_log_add() - count a call with a duration, and keep it when it is of the longest. */
void call_log_add(struct parse_ctx *ctx, struct call_log *log, const struct line *ln,
		  const struct call *call);
/* call_log_store() - write spans (of @origin) and statistics. */
struct error *call_log_store(struct parse_ctx *ctx, struct call_log *log, int64_t source_id,
			     const char *origin, int64_t resolution_ns);
/* kvm_ioctl_name() - the request KVM numbers @nr (of type 0xae), or NULL. */
const char *kvm_ioctl_name(uint64_t nr);

#endif
