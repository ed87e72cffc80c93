/* SPDX-License-Identifier: GPL-2.0-or-later */
/* embedded.h - files embedded in the binary at build: the HTML report's style and script. */
#ifndef KM_EMBEDDED_H
#define KM_EMBEDDED_H

struct embedded_file {
	const char	*name;
	const char	*text;	/* NUL-terminated */
	const char	*sha256; /* of the bytes, in base64 as a Content-Security-Policy wants it */
};

extern const struct embedded_file embedded_assets[];	/* ends with a NULL name */

#endif
