/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tp_format.h - a tracepoint's own description (events/SYSTEM/NAME/format), read strictly, and
 * what is made of it: fields with their places, the symbol lists of the print format, and a flat
 * decoder from raw bytes to the slots of an event.
 *
 * Used by every binary form that carries formats (perf.data, trace.dat, raw tracefs). A format
 * is input: lengths, offsets and counts are limited here, and a record is never read beyond its
 * own size.
 */
#ifndef KM_TP_FORMAT_H
#define KM_TP_FORMAT_H

#include "error.h"
#include "event.h"
#include "stream.h"

#define TP_MAX_TEXT		(1u << 20)	/* bytes of one format file */
#define TP_MAX_FIELDS		256
#define TP_MAX_TABLES		32
#define TP_MAX_SYMBOLS		8192		/* of one format */
#define TP_MAX_RECORD		65536		/* bytes of a record that a field may point into */

enum tp_shape {
	TP_INTEGER,		/* 1, 2, 4 or 8 bytes */
	TP_INTEGERS,		/* fixed array of them */
	TP_STRING,		/* char[N] */
	TP_DYN_STRING,		/* __data_loc or __rel_loc char[] */
	TP_DYN_INTEGERS,	/* the same of another type */
	TP_BYTES,		/* anything else: a structure, an odd size */
};

struct tp_field {
	char		*name;
	uint32_t	offset, size;
	uint8_t		shape;		/* enum tp_shape */
	uint8_t		elem;		/* bytes of an element (1 for strings) */
	bool		is_signed, common, relative;
	bool		hex;		/* a pointer, or printed as hexadecimal */
};

struct tp_symbol {
	uint64_t	value;
	char		*name;
};

/* One __print_symbolic() or __print_flags() of the print format. */
struct tp_table {
	char		*field;		/* the first REC->field of its first argument; "" where there is none */
	bool		flags;
	struct tp_symbol *sym;
	size_t		n, cap;
};

struct tp_format {
	char		*system, *name;
	uint32_t	id;
	struct tp_field	*fields;	/* common fields first */
	size_t		n_fields, cap_fields, n_common;
	struct tp_table	*tables;
	size_t		n_tables, cap_tables;
	size_t		n_symbols;
	char		*text;		/* the file, for the renderer */
	size_t		text_len;
};

/*
 * tp_format_parse() - read a format file of @len bytes. A missing name, ID or field section, a
 * field line that isn't understood and anything over a limit is ERR_INPUT. A print format that
 * isn't understood only lacks tables.
 */
struct error *tp_format_parse(struct tp_format **ret, const char *system, const char *text,
			      size_t len);
void tp_format_free(struct tp_format *f);

/*
 * tp_field_find() - the field called one of the "a|b|c" in @names, in that order; NULL when
 * there is none.
 */
const struct tp_field *tp_field_find(const struct tp_format *f, const char *names);
/*
 * tp_symbol_name() - name of @value in @t: exact for symbolic tables, NULL for none. Flags are
 * never joined here.
 */
const char *tp_symbol_name(const struct tp_table *t, uint64_t value);
/* tp_table_of() - the @nth table over field @name; NULL when there are fewer. */
const struct tp_table *tp_table_of(const struct tp_format *f, const char *name, bool flags,
				   size_t nth);

/*
 * tp_value() - the field's value in a record of @size bytes, sign-extended where signed; false
 * when it lies outside or is no integer. @index selects the element of an array.
 */
bool tp_value(const struct tp_field *fl, const uint8_t *raw, size_t size, size_t index,
	      uint64_t *ret);
/*
 * tp_bytes() - the bytes of a field, following __data_loc; NULL when they lie outside. Strings
 * end at their NUL.
 */
const uint8_t *tp_bytes(const struct tp_field *fl, const uint8_t *raw, size_t size, size_t *len);

/*
 * tp_swap() - turn a record of the other byte order, in place, into one of this machine's: every
 * integer and array of integers, also dynamic ones, the common fields too. Structures stay as they
 * are. Only bytes inside @size are touched.
 */
void tp_swap(const struct tp_format *f, uint8_t *raw, size_t size);

/* tp_emit() - all fields but the common ones, in the format's order, for stream_ops.fields. */
void tp_emit(const struct tp_format *f, const uint8_t *raw, size_t size,
	     void (*emit)(void *arg, const char *name, const struct field_value *v), void *arg);
/*
 * tp_text() - "name=value name=value" of all fields but the common ones, with the print format's
 * symbols; into @out.
 */
void tp_text(const struct tp_format *f, const uint8_t *raw, size_t size, FILE *out);

/*
 * tp_kind() - kind of a tracepoint: its catalogue row's, a system call's by name, a reweight
 * probe's by its fields; else EV_OTHER.
 */
enum event_kind tp_kind(const struct tp_format *f);

enum tp_opcode {
	/* how to load an integer; the first that are known to tp_load() */
	TP_OP_U8, TP_OP_S8, TP_OP_U16, TP_OP_S16, TP_OP_U32, TP_OP_S32, TP_OP_U64,
	TP_OP_COMM, TP_OP_COMM_LOC, TP_OP_STATE, TP_OP_REASON, TP_OP_STR, TP_OP_BITS, TP_OP_SYM,
	TP_OP_COPY4, TP_OP_COPY8	/* an integer as wide as its slot */
};

struct tp_op {
	uint8_t		op;		/* enum tp_opcode */
	uint8_t		load;		/* STATE, REASON, BITS, SYM: TP_OP_U8 ... U64 */
	uint8_t		slot;		/* 0..3: a[], 4..5: b[] */
	uint8_t		dst;		/* the slot's place in an event */
	uint8_t		shift, bits;	/* BITS */
	uint16_t	offset;
	const struct tp_field *field;	/* COMM_LOC, STR */
};

#define TP_MAX_OPS		8
#define TP_REASON_CACHE		256

/*
 * Everything needed to turn raw bytes of one event id into an event; made once, then no
 * look-ups.
 */
struct tp_decoder {
	enum event_kind	kind;
	struct tp_op	ops[TP_MAX_OPS];
	size_t		n_ops;
	uint32_t	min_size;	/* of a record that has all fields */
	uint32_t	flags_offset;	/* of common_flags; UINT32_MAX: none */
	uint64_t	a[4];		/* defaults */
	uint32_t	b[2];
	const struct tp_format *format;
	uint16_t	*states;	/* prev_state -> enum task_state_bit, below TP_STATES */
	const struct tp_field *isa, *trap_class, *reason;
	uint8_t		isa_load;	/* enum tp_opcode */
	uint32_t	isa_at, isa_end;	/* end 0: none, or to be had by tp_value() only */
	struct { uint64_t code; uint32_t isa, packed; bool used; } cache[TP_REASON_CACHE];
};

#define TP_STATES		4096

/*
 * tp_decoder_create() - compile the catalogue's row for @kind (events.def), or the positional
 * arguments of a probe or system call, against @f; @func is b0 of probes and system calls. A
 * required field that is missing makes the decoder's kind EV_OTHER and sets *@missing to its
 * name.
 */
struct tp_decoder *tp_decoder_create(const struct tp_format *f, enum event_kind kind, uint32_t func,
				     const char **missing);
void tp_decoder_free(struct tp_decoder *d);

/*
 * tp_decode() - fill kind, flags, a[] and b[] of @ev from @raw; names of exit reasons go into
 * @s. False, with kind EV_OTHER and no slots, when the record is too short.
 */
bool tp_decode(struct tp_decoder *d, struct stream *s, const uint8_t *raw, size_t size,
	       struct event *ev);

#endif
