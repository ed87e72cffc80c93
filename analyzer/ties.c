// SPDX-License-Identifier: GPL-2.0-or-later
/* ties.c - what sources say of one time; see ties.h. */
#include "ties.h"

#include "casefile.h"

/*
 * A line of a log stands for the time it speaks of, which ends when it was printed: "stuck for 22s".
 * Intervals [s, e) and [t, f) overlap for every shift of up to u when s + u < f and t + u < e; a
 * line without a length is an instant. Lines that say no more than how KVM was set up are left out.
 */
#define PARTS                                                                                      \
	"WITH part AS ("                                                                           \
	"SELECT e.id AS episode, NULL AS stall, e.source_id AS source, e.start_ns AS s, e.end_ns AS e FROM episode e UNION ALL " \
	"SELECT NULL, t.id, t.source_id, t.start_ns, t.start_ns + t.duration_ns FROM stall t), " \
	"said AS ("                                                                                \
	"SELECT g.id AS gap, NULL AS line, g.source_id AS source, g.start_ns AS s, g.end_ns AS e FROM ping_gap g UNION ALL " \
	"SELECT NULL, l.id, l.source_id, l.time_ns - coalesce(l.duration_ns, 0), l.time_ns FROM log_line l " \
	"WHERE l.time_ns IS NOT NULL AND l.kind NOT IN ('call_trace', 'kvm', 'warning', 'clocksource_unstable')), " \
	"placed AS (SELECT p.*, a.axis AS axis, p.s + a.offset_ns AS ps, p.e + a.offset_ns AS pe, a.uncertainty_ns AS pu " \
	"FROM part p JOIN axis a ON a.source_id = p.source WHERE a.offset_ns IS NOT NULL), "       \
	"heard AS (SELECT h.*, a.axis AS axis, h.s + a.offset_ns AS hs, h.e + a.offset_ns AS he, a.uncertainty_ns AS hu " \
	"FROM said h JOIN axis a ON a.source_id = h.source WHERE a.offset_ns IS NOT NULL) "

struct error *ties_write(struct case_db *db)
{
	return case_insert(
		db, NULL,
		"INSERT INTO tie(episode_id, stall_id, ping_gap_id, log_line_id, overlap_ns, uncertainty_ns) "
		PARTS "SELECT p.episode, p.stall, h.gap, h.line, min(p.pe, h.he) - max(p.ps, h.hs), p.pu + h.hu "
		"FROM placed p JOIN heard h ON h.axis = p.axis AND h.source <> p.source "
		"AND p.ps + p.pu + h.hu < h.he + (h.line IS NOT NULL) AND h.hs + p.pu + h.hu < p.pe + (h.line IS NOT NULL) "
		"ORDER BY 5 DESC, p.episode, p.stall, h.gap, h.line LIMIT 20000",
		"");
}
