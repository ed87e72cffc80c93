/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diag.h - lines on stderr: what is wrong, and the progress line.
 *
 * diag() prints "kvmortem: PATH: message" as one line whatever @path and the message hold (control characters become
 * `\x1b`), and takes a progress line away first. @path may be NULL.
 */
#ifndef KM_DIAG_H
#define KM_DIAG_H

#include "base.h"

void diag(const char *path, const char *fmt, ...) __printf_like(2, 3);

/* diag_escape() - @s with control characters as \xNN; malloc'd. */
char *diag_escape(const char *s);

/*
 * progress_start() - from one second on, show what progress_path() last named, five times a second,
 * if @mode is 1, or -1 and stderr is a terminal. progress_stop() takes the line away. One at a
 * time.
 */
void progress_start(int mode);
void progress_path(const char *path, uint64_t members);
void progress_stop(void);

#endif
