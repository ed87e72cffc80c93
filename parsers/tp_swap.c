// SPDX-License-Identifier: GPL-2.0-or-later
/* tp_swap.c - records of the other byte order turned into this machine's; see tp_format.h. */
#include "tp_format.h"

static void swap_elements(uint8_t *p, size_t bytes, uint8_t elem)
{
	size_t i;

	for (i = 0; i + elem <= bytes; i += elem) {
		uint64_t u64;
		uint32_t u32;
		uint16_t u16;

		switch (elem) {
		case 2:
			memcpy(&u16, p + i, sizeof(u16));
			u16 = __builtin_bswap16(u16);
			memcpy(p + i, &u16, sizeof(u16));
			break;
		case 4:
			memcpy(&u32, p + i, sizeof(u32));
			u32 = __builtin_bswap32(u32);
			memcpy(p + i, &u32, sizeof(u32));
			break;
		case 8:
			memcpy(&u64, p + i, sizeof(u64));
			u64 = __builtin_bswap64(u64);
			memcpy(p + i, &u64, sizeof(u64));
			break;
		default:
			return;
		}
	}
}

void tp_swap(const struct tp_format *f, uint8_t *raw, size_t size)
{
	size_t i;

	for (i = 0; i < f->n_fields; i++) {
		const struct tp_field *fl = &f->fields[i];
		size_t left = fl->offset < size ? size - fl->offset : 0, off, n;
		uint32_t loc;

		switch (fl->shape) {
		case TP_INTEGER:
		case TP_INTEGERS:
			/* An array without a size ("buf[]") goes to the record's end. */
			n = fl->size ? fl->size : left;
			swap_elements(raw + fl->offset, MIN(n, left), fl->elem);
			break;
		case TP_DYN_STRING:
		case TP_DYN_INTEGERS:
			if (left < sizeof(loc))
				break;
			swap_elements(raw + fl->offset, sizeof(loc), sizeof(loc));
			memcpy(&loc, raw + fl->offset, sizeof(loc));
			off = (loc & 0xffff) + (fl->relative ? fl->offset + sizeof(loc) : 0);
			n = loc >> 16;
			if (fl->shape == TP_DYN_INTEGERS && off < size)
				swap_elements(raw + off, MIN(n, size - off), fl->elem);
			break;
		default:
			break;
		}
	}
}
