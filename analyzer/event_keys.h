/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_keys.h - what the catalogue's rows say is to be counted (K0, K1, V, W, N of events.def). */
#ifndef KM_EVENT_KEYS_H
#define KM_EVENT_KEYS_H

#include "event.h"

enum key_how {
	KEY_NONE,
	KEY_DEC,
	KEY_HEX,
	KEY_STR,		/* a string's id, or an address */
	KEY_REASON,		/* packed exit reason */
	KEY_ERRNO,		/* shown where negative, and then alone */
};

enum key_slot { KS_NONE, KS_A0, KS_A1, KS_A2, KS_A3, KS_B0, KS_B1 };

struct event_keys {
	const char	*name;		/* the event's, "new|old" */
	bool		always;		/* counted without keys too */
	struct {
		uint8_t		slot, how;	/* enum key_slot, enum key_how */
		const char	*name;		/* "new|old", "alias=field..." */
	} k[2];
	uint8_t		value, vcpu;	/* enum key_slot */
};

/* event_keys_of() - the row of @kind; event_keyed() (engine.h) says whether it asks for any. */
const struct event_keys *event_keys_of(enum event_kind kind);

/* key_present() - does the slot hold a field's value (not the sentinel of an absent one)? */
static inline bool key_present(const struct event *ev, uint8_t slot)
{
	return slot >= KS_B0 ? ev->b[slot - KS_B0] != EVENT_U32_NONE
			     : slot != KS_NONE && ev->a[slot - KS_A0] != EVENT_NONE;
}

/* key_value() - the slot's value, 32 bits sign-extended; 0 for none. */
static inline int64_t key_value(const struct event *ev, uint8_t slot)
{
	return slot >= KS_B0 ? (int64_t)(int32_t)ev->b[slot - KS_B0]
			     : slot != KS_NONE ? (int64_t)ev->a[slot - KS_A0] : 0;
}

#endif
