// SPDX-License-Identifier: GPL-2.0-or-later
/* event_keys.c - the key columns of the catalogue as a table; see event_keys.h. */
#include "event_keys.h"

#include "engine.h"

#define F(slot_, conv, names)
#define O(slot_, conv, names, dflt)
#define K0(slot_, how_, field)	.k[0] = { .slot = KS_##slot_, .how = KEY_##how_, .name = field },
#define K1(slot_, how_, field)	.k[1] = { .slot = KS_##slot_, .how = KEY_##how_, .name = field },
#define V(slot_)		.value = KS_##slot_,
#define W(slot_)		.vcpu = KS_##slot_,
#define N()			.always = true,
#define EVENT(kind, system, names, ...)	[EV_##kind] = { .name = names, __VA_ARGS__ },
#define COUNT(kind, system, names, ...)	[EV_##kind] = { .name = names, __VA_ARGS__ },

static const struct event_keys keys[EV_NKINDS] = {
#include "../parsers/events.def"
};

const struct event_keys *event_keys_of(enum event_kind kind)
{
	return &keys[kind];
}

bool event_keyed(enum event_kind kind)
{
	const struct event_keys *k = &keys[kind];

	return (unsigned int)kind >= EV_N_ENGINE || k->always || k->k[0].slot || k->k[1].slot ||
	       k->value;
}
