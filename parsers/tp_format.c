// SPDX-License-Identifier: GPL-2.0-or-later
/* tp_format.c - strict reader of tracepoint format files; see tp_format.h. */
#include "tp_format.h"

#include "tp_print.h"

struct line_in {
	const char	*s, *end;
};

static bool next_line(struct line_in *in, const char **line, size_t *len)
{
	const char *nl;

	if (in->s >= in->end)
		return false;
	nl = memchr(in->s, '\n', (size_t)(in->end - in->s));
	*line = in->s;
	*len = (size_t)((nl ? nl : in->end) - in->s);
	in->s = nl ? nl + 1 : in->end;
	return true;
}

static bool is_ident(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Digits of an unsigned number that fits 32 bits, then @end. */
static bool number_to(const char **s, const char *limit, char end, uint32_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	if (p >= limit || *p < '0' || *p > '9')
		return false;
	for (; p < limit && *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (uint64_t)(*p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	if (p >= limit || *p != end)
		return false;
	*s = p + 1;
	*ret = (uint32_t)v;
	return true;
}

static bool skip_word(const char **s, const char *limit, const char *word)
{
	size_t n = strlen(word);

	while (*s < limit && (**s == ' ' || **s == '\t'))
		(*s)++;
	if ((size_t)(limit - *s) < n || memcmp(*s, word, n))
		return false;
	*s += n;
	return true;
}

static bool has_word(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word), i;

	for (i = 0; i + n <= len; i++)
		if (!memcmp(s + i, word, n) && (i == 0 || !is_ident(s[i - 1])) &&
		    (i + n == len || !is_ident(s[i + n])))
			return true;
	return false;
}

/* Size of an element by its type's name; 0 where that isn't known. */
static uint8_t type_size(const char *type, size_t len)
{
	static const struct { const char *word; uint8_t size; } sizes[] = {
		{ "u64", 8 }, { "s64", 8 }, { "__u64", 8 }, { "__s64", 8 }, { "long", 8 }, { "size_t", 8 },
		{ "u32", 4 }, { "s32", 4 }, { "__u32", 4 }, { "__s32", 4 }, { "u16", 2 }, { "s16", 2 },
		{ "__u16", 2 }, { "__s16", 2 }, { "short", 2 }, { "char", 1 }, { "u8", 1 }, { "s8", 1 },
		{ "__u8", 1 }, { "__s8", 1 }, { "bool", 1 }, { "int", 4 }, { "unsigned", 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (has_word(type, len, sizes[i].word))
			return sizes[i].size;
	return 0;
}

static bool int_size(uint32_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/* Shape and element size of a field whose declaration is "@type @name[@dim]". */
static void set_shape(struct tp_field *fl, const char *type, size_t tlen, bool array, uint32_t dim)
{
	bool text = has_word(type, tlen, "char") && !has_word(type, tlen, "unsigned");
	bool dynamic = has_word(type, tlen, "__data_loc") || has_word(type, tlen, "__rel_loc");
	uint8_t elem = type_size(type, tlen);

	fl->relative = has_word(type, tlen, "__rel_loc");
	fl->hex = memchr(type, '*', tlen) != NULL;
	fl->elem = 1;
	if (dynamic && fl->size == 4) {
		fl->shape = text ? TP_DYN_STRING : TP_DYN_INTEGERS;
		fl->elem = text || !elem ? 1 : elem;
	} else if (array && text) {
		fl->shape = TP_STRING;
	} else if (array) {
		if (dim && fl->size % dim == 0 && int_size(fl->size / dim))
			elem = (uint8_t)(fl->size / dim);
		fl->shape = elem && fl->size % elem == 0 ? TP_INTEGERS : TP_BYTES;
		fl->elem = elem ? elem : 1;
	} else if (int_size(fl->size)) {
		fl->shape = TP_INTEGER;
		fl->elem = (uint8_t)fl->size;
	} else {
		fl->shape = TP_BYTES;
	}
}

/* The declaration before the first ";": type, name, and [dimension]. */
static bool parse_declaration(struct tp_field *fl, const char *s, size_t len)
{
	const char *end = s + len, *name_end, *name;
	bool array = false;
	uint32_t dim = 0;

	while (end > s && end[-1] == ' ')
		end--;
	if (end > s && end[-1] == ']') {
		const char *open = memrchr(s, '[', (size_t)(end - s));
		const char *p;

		if (!open)
			return false;
		p = open + 1;
		if (!number_to(&p, end, ']', &dim))
			dim = 0;
		array = true;
		end = open;
	} else if (end > s && end[-1] == ')') {	/* a pointer to a function: TYPE (*NAME)(...) */
		const char *open = memmem(s, len, "(*", 2);

		if (!open)
			return false;
		for (end = open + 2; end < s + len && is_ident(*end); )
			end++;
	}
	for (name_end = name = end; name > s && is_ident(name[-1]); )
		name--;
	if (name == name_end || name_end - name > 128)
		return false;
	fl->name = xstrndup(name, (size_t)(name_end - name));
	/* "__data_loc char[] name": the dimension may stand before the name. */
	set_shape(fl, s, (size_t)(name - s), array, dim);
	return true;
}

static struct error *parse_field(struct tp_format *f, const char *s, const char *end)
{
	const char *semi = memchr(s, ';', (size_t)(end - s)), *p;
	struct tp_field fl = { 0 };
	uint32_t sign = 0;

	if (!semi)
		return error_new(ERR_INPUT, "a field line without \";\"");
	p = semi + 1;
	if (!skip_word(&p, end, "offset:") || !number_to(&p, end, ';', &fl.offset) ||
	    !skip_word(&p, end, "size:") || !number_to(&p, end, ';', &fl.size))
		return error_new(ERR_INPUT, "a field line without offset and size");
	if (skip_word(&p, end, "signed:") && (!number_to(&p, end, ';', &sign) || sign > 1))
		return error_new(ERR_INPUT, "a field line with a bad sign");
	if (fl.offset > TP_MAX_RECORD || fl.size > TP_MAX_RECORD ||
	    fl.offset + fl.size > TP_MAX_RECORD)
		return error_new(ERR_INPUT, "a field beyond the largest record (offset %" PRIu32 ", size %" PRIu32 ")",
				 fl.offset, fl.size);
	if (f->n_fields >= TP_MAX_FIELDS)
		return error_new(ERR_INPUT, "more than %d fields", TP_MAX_FIELDS);
	fl.is_signed = sign;
	if (!parse_declaration(&fl, s, (size_t)(semi - s)))
		return error_new(ERR_INPUT, "a field line without a name");
	fl.common = !strncmp(fl.name, "common_", 7);
	GROW(f->fields, f->cap_fields, f->n_fields + 1);
	f->fields[f->n_fields++] = fl;
	f->n_common += fl.common;
	return NULL;
}

static struct error *parse_lines(struct tp_format *f)
{
	struct line_in in = { f->text, f->text + f->text_len };
	bool have_id = false;
	const char *line;
	size_t len;

	while (next_line(&in, &line, &len)) {
		const char *p = line, *end = line + len;

		if (skip_word(&p, end, "field:")) {
			TRY(parse_field(f, p, end));
		} else if (skip_word(&p, end, "name:")) {
			while (p < end && *p == ' ')
				p++;
			while (end > p && (end[-1] == ' ' || end[-1] == '\r'))
				end--;
			if (f->name || p == end || end - p > 128)
				return error_new(ERR_INPUT, "a bad name line");
			f->name = xstrndup(p, (size_t)(end - p));
		} else if (skip_word(&p, end, "ID:")) {
			char digits[16];

			while (p < end && *p == ' ')
				p++;
			if (end - p > 10 || end == p)
				return error_new(ERR_INPUT, "a bad ID line");
			snprintf(digits, sizeof(digits), "%.*s;", (int)(end - p), p);
			p = digits;
			if (!number_to(&p, digits + strlen(digits), ';', &f->id))
				return error_new(ERR_INPUT, "a bad ID line");
			have_id = true;
		} else if (skip_word(&p, end, "print fmt:")) {
			/*
			 * The print format is the rest of the file; it may hold line ends inside
			 * strings.
			 */
			tp_print_tables(f, p, (size_t)(f->text + f->text_len - p));
			break;
		}
	}
	if (!f->name || !have_id)
		return error_new(ERR_INPUT, "no name or no ID");
	return NULL;
}

struct error *tp_format_parse(struct tp_format **ret, const char *system, const char *text,
			      size_t len)
{
	struct tp_format *f;
	struct error *err;

	*ret = NULL;
	if (len > TP_MAX_TEXT)
		return error_new(ERR_INPUT, "a format of %zu bytes is over the limit", len);
	f = xcalloc(1, sizeof(*f));
	f->system = xstrdup(system);
	f->text = xmalloc(len + 1);
	memcpy(f->text, text, len);
	f->text[len] = '\0';
	f->text_len = len;
	err = parse_lines(f);
	if (err) {
		tp_format_free(f);
		return err;
	}
	*ret = f;
	return NULL;
}

void tp_format_free(struct tp_format *f)
{
	size_t i, j;

	if (!f)
		return;
	for (i = 0; i < f->n_fields; i++)
		free(f->fields[i].name);
	for (i = 0; i < f->n_tables; i++) {
		for (j = 0; j < f->tables[i].n; j++)
			free(f->tables[i].sym[j].name);
		free(f->tables[i].sym);
		free(f->tables[i].field);
	}
	free(f->tables);
	free(f->fields);
	free(f->system);
	free(f->name);
	free(f->text);
	free(f);
}

const struct tp_field *tp_field_find(const struct tp_format *f, const char *names)
{
	const char *p = names;
	size_t i;

	while (p) {
		size_t n = strcspn(p, "|");

		for (i = 0; i < f->n_fields; i++)
			if (!strncmp(f->fields[i].name, p, n) && !f->fields[i].name[n])
				return &f->fields[i];
		p = p[n] ? p + n + 1 : NULL;
	}
	return NULL;
}

const char *tp_symbol_name(const struct tp_table *t, uint64_t value)
{
	size_t i;

	for (i = 0; t && i < t->n; i++)
		if (t->sym[i].value == value)
			return t->sym[i].name;
	return NULL;
}

const struct tp_table *tp_table_of(const struct tp_format *f, const char *name, bool flags,
				   size_t nth)
{
	size_t i;

	for (i = 0; i < f->n_tables; i++)
		if (f->tables[i].flags == flags && !strcmp(f->tables[i].field, name) && nth-- == 0)
			return &f->tables[i];
	return NULL;
}

static uint64_t load_int(const uint8_t *p, uint8_t size, bool is_signed)
{
	uint64_t v = 0;
	unsigned int shift = 64 - size * 8u;

	switch (size) {
	case 1:
		v = *p;
		break;
	case 2: {
		uint16_t x;

		memcpy(&x, p, sizeof(x));
		v = x;
		break;
	}
	case 4: {
		uint32_t x;

		memcpy(&x, p, sizeof(x));
		v = x;
		break;
	}
	case 8:
		memcpy(&v, p, sizeof(v));
		break;
	default:
		return 0;
	}
	return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

const uint8_t *tp_bytes(const struct tp_field *fl, const uint8_t *raw, size_t size, size_t *len)
{
	size_t off = fl->offset, n = fl->size;

	*len = 0;
	if (off > size || n > size - off)
		return NULL;
	if (fl->shape == TP_DYN_STRING || fl->shape == TP_DYN_INTEGERS) {
		uint32_t loc = (uint32_t)load_int(raw + off, 4, false);

		off = (loc & 0xffff) + (fl->relative ? off + 4 : 0);
		n = loc >> 16;
		if (off > size || n > size - off)
			return NULL;
	}
	if (fl->shape == TP_STRING || fl->shape == TP_DYN_STRING)
		n = strnlen((const char *)raw + off, n);
	*len = n;
	return raw + off;
}

bool tp_value(const struct tp_field *fl, const uint8_t *raw, size_t size, size_t index,
	      uint64_t *ret)
{
	const uint8_t *p;
	size_t len;

	if (fl->shape != TP_INTEGER && fl->shape != TP_INTEGERS && fl->shape != TP_DYN_INTEGERS)
		return false;
	p = tp_bytes(fl, raw, size, &len);
	if (!p || index >= len / fl->elem)
		return false;
	*ret = load_int(p + index * fl->elem, fl->elem, fl->is_signed);
	return true;
}
