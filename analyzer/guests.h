/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guests.h - a guest's trace.dat and its host's: trace-cmd writes the guests that it traced, with
 * their trace ids and the host thread of each vCPU, into the host's file, and the host's trace id
 * into the guest's, whose times it has measured against the host's.
 */
#ifndef KM_GUESTS_H
#define KM_GUESTS_H

#include "casefile.h"

/*
 * guests_map() - the host's vCPUs get the numbers and the VM the name that the option GUEST gives
 * for their threads; the sources of a guest's file get facts guest.name, guest.host (the host's
 * file) and guest.cpu.N.host_tid. Members may come in any order: after the last.
 */
struct error *guests_map(struct case_db *db);

/*
 * SQL: pairs of members (guest_id, host_id) whose trace ids name each other, with the guest's name;
 * a member of which there are two copies pairs with each.
 */
#define GUEST_PAIRS										\
	"SELECT DISTINCT gs.member_id AS guest_id, hs.member_id AS host_id, "			\
	"substr(n.key, 17, length(n.key) - 19) AS name, gs.path AS guest_path, hs.path AS host_path " \
	"FROM fact peer JOIN source gs ON gs.id = peer.source_id "				\
	"JOIN fact gid ON gid.source_id = gs.id AND gid.key = 'trace_cmd.id' "			\
	"JOIN fact n ON n.key GLOB 'trace_cmd.guest.*.id' AND n.value = gid.value "		\
	"JOIN source hs ON hs.id = n.source_id "						\
	"JOIN fact hid ON hid.source_id = hs.id AND hid.key = 'trace_cmd.id' AND hid.value = peer.value " \
	"WHERE peer.key = 'trace_cmd.peer' AND gs.member_id <> hs.member_id"

#endif
