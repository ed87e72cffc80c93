// SPDX-License-Identifier: GPL-2.0-or-later
/* exit_reasons.c - names and classes of exit reasons where a trace carries none; see event.h. */
#include "event.h"

#include <strings.h>

struct reason {
	uint8_t		isa;	/* 0: a spelling only */
	uint8_t		class;
	uint32_t	code;
	const char	*name;
};

static const struct reason reasons[] = {
#define REASON(isa, code, name, class)	{ isa, EXIT_##class, code, name },
#define NAME(name, class)		{ 0, EXIT_##class, 0, name },
#include "exit_reasons.def"
#undef REASON
#undef NAME
};

enum exit_class exit_class_of(const char *name)
{
	size_t i;

	if (!strncasecmp(name, "EXIT_", 5))
		name += 5;
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcasecmp(reasons[i].name, name))
			return (enum exit_class)reasons[i].class;
	if (!strncasecmp(name, "read_cr", 7) || !strncasecmp(name, "write_cr", 8))
		return EXIT_CR;
	return EXIT_OTHER;
}

const char *exit_reason_name(unsigned int isa, uint64_t code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (isa && reasons[i].isa == isa && reasons[i].code == code)
			return reasons[i].name;
	return NULL;
}
