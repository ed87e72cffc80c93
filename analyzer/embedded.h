/* SPDX-License-Identifier: GPL-2.0-or-later */
/* embedded.h - files embedded in the binary at build: the signatures and the case file's schema. */
#ifndef KM_EMBEDDED_H
#define KM_EMBEDDED_H

struct embedded_file {
	const char	*name;
	const char	*text;	/* NUL-terminated */
};

extern const struct embedded_file embedded_signatures[];	/* ends with a NULL name */

#endif
