/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tp_print.h - the part of the format reader that knows print formats; private to tp_*.c. */
#ifndef KM_TP_PRINT_H
#define KM_TP_PRINT_H

#include "tp_format.h"

/*
 * tp_print_tables() - add the symbol lists in the print format @s to @f. What isn't understood
 * is left out.
 */
void tp_print_tables(struct tp_format *f, const char *s, size_t len);

#endif
