// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tp_print.c - symbol lists of a print format, and fields as text; see tp_format.h.
 *
 * Of "print fmt: "...", args" only the calls __print_symbolic(expr, { value, "name" }, ...) and
 * __print_flags(expr, "delim", { value, "name" }, ...) are read. Values are constant expressions.
 */
#include "tp_print.h"

#define MAX_DEPTH	32	/* of nested parentheses in a value */

struct cursor {
	const char	*s, *end;
	int		depth;
};

static void skip_blank(struct cursor *c)
{
	while (c->s < c->end && (*c->s == ' ' || *c->s == '\t' || *c->s == '\n' || *c->s == '\r'))
		c->s++;
}

static bool take(struct cursor *c, char ch)
{
	skip_blank(c);
	if (c->s >= c->end || *c->s != ch)
		return false;
	c->s++;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

static bool value_of(struct cursor *c, int level, uint64_t *ret);

/* "(type)" before a value: words and "*" only. */
static void skip_cast(struct cursor *c)
{
	const char *p;

	skip_blank(c);
	p = c->s;
	if (p >= c->end || *p != '(')
		return;
	for (p++; p < c->end && (is_word(*p) || *p == ' ' || *p == '*'); p++)
		if (p == c->s + 1 && !is_letter(*p) && *p != ' ')
			return;
	if (p < c->end && *p == ')' && p > c->s + 1) {
		const char *w;

		for (w = c->s + 1; w < p && !is_letter(*w); w++)
			if (*w != ' ')
				return;
		if (w < p)
			c->s = p + 1;
	}
}

static bool primary(struct cursor *c, uint64_t *ret)
{
	char digits[32];
	size_t n = 0;
	char *end;

	skip_cast(c);
	skip_blank(c);
	if (c->s >= c->end || ++c->depth > MAX_DEPTH)
		return false;
	if (*c->s == '(') {
		c->s++;
		if (!value_of(c, 0, ret) || !take(c, ')'))
			return false;
		c->depth--;
		return true;
	}
	if (*c->s == '-' || *c->s == '~') {
		char op = *c->s++;

		if (!primary(c, ret))
			return false;
		*ret = op == '-' ? -*ret : ~*ret;
		c->depth--;
		return true;
	}
	while (c->s < c->end && is_word(*c->s) && n < sizeof(digits) - 1)
		digits[n++] = *c->s++;
	digits[n] = '\0';
	if (!n || digits[0] < '0' || digits[0] > '9')
		return false;
	*ret = strtoull(digits, &end, 0);
	while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
		end++;
	c->depth--;
	return *end == '\0';
}

static const char *const operators[][4] = { { "|" }, { "^" }, { "&" }, { "<<", ">>" }, { "+", "-" }, { "*" } };

/* Left-associative binary operators of C, lowest level first. */
static bool value_of(struct cursor *c, int level, uint64_t *ret)
{
	if (level == (int)ARRAY_SIZE(operators))
		return primary(c, ret);
	if (!value_of(c, level + 1, ret))
		return false;
	for (;;) {
		const char *op = NULL;
		uint64_t rhs;
		size_t i;

		skip_blank(c);
		for (i = 0; i < 4 && operators[level][i] && !op; i++) {
			size_t n = strlen(operators[level][i]);

			if ((size_t)(c->end - c->s) > n && !memcmp(c->s, operators[level][i], n))
				op = operators[level][i];
		}
		if (!op)
			return true;
		c->s += strlen(op);
		if (!value_of(c, level + 1, &rhs))
			return false;
		switch (*op) {
		case '|':
			*ret |= rhs;
			break;
		case '^':
			*ret ^= rhs;
			break;
		case '&':
			*ret &= rhs;
			break;
		case '<':
			*ret = rhs < 64 ? *ret << rhs : 0;
			break;
		case '>':
			*ret = rhs < 64 ? *ret >> rhs : 0;
			break;
		case '+':
			*ret += rhs;
			break;
		case '-':
			*ret -= rhs;
			break;
		default:
			*ret *= rhs;
		}
	}
}

/* A string literal; its text (escapes kept) goes to @text. */
static bool string(struct cursor *c, const char **text, size_t *len)
{
	if (!take(c, '"'))
		return false;
	*text = c->s;
	while (c->s < c->end && *c->s != '"')
		c->s += *c->s == '\\' && c->s + 1 < c->end ? 2 : 1;
	if (c->s >= c->end)
		return false;
	*len = (size_t)(c->s - *text);
	c->s++;
	return true;
}

/*
 * Skip an argument up to the "," after it, strings and parentheses respected; its first
 * REC->field goes to @field.
 */
static bool first_argument(struct cursor *c, char **field)
{
	const char *text;
	size_t len;
	int open = 0;

	*field = NULL;
	while (c->s < c->end) {
		char ch = *c->s;

		if (ch == '"') {
			if (!string(c, &text, &len))
				return false;
			continue;
		}
		if (ch == ',' && !open) {
			c->s++;
			return true;
		}
		if (!*field && ch == 'R' && c->end - c->s > 5 && !memcmp(c->s, "REC->", 5)) {
			const char *p = c->s + 5;

			while (p < c->end && is_word(*p) && p - c->s < 128)
				p++;
			*field = xstrndup(c->s + 5, (size_t)(p - c->s) - 5);
			c->s = p;
			continue;
		}
		open += ch == '(' || ch == '{' || ch == '[';
		open -= ch == ')' || ch == '}' || ch == ']';
		if (open < 0)
			return false;
		c->s++;
	}
	return false;
}

static void add_symbol(struct tp_format *f, struct tp_table *t, uint64_t value, const char *name,
		       size_t len)
{
	if (f->n_symbols >= TP_MAX_SYMBOLS || len > 256)
		return;
	GROW(t->sym, t->cap, t->n + 1);
	t->sym[t->n].value = value;
	t->sym[t->n++].name = xstrndup(name, len);
	f->n_symbols++;
}

/* A symbol's name: adjacent literals are one, "APIC_" "EOI". What is longer than @name is cut. */
static bool symbol_name(struct cursor *c, char name[257], size_t *len)
{
	const char *text;
	size_t n;

	if (!string(c, &text, &n))
		return false;
	*len = 0;
	do {
		n = MIN(n, 256 - *len);
		memcpy(name + *len, text, n);
		*len += n;
		skip_blank(c);
	} while (c->s < c->end && *c->s == '"' && string(c, &text, &n));
	return true;
}

static void read_table(struct tp_format *f, struct cursor *c, bool flags)
{
	struct tp_table t = { .flags = flags };
	const char *text;
	size_t len;

	if (!first_argument(c, &t.field)) {
		free(t.field);
		return;
	}
	if (!t.field)
		t.field = xstrdup("");
	if (flags && (!string(c, &text, &len) || !take(c, ','))) {
		free(t.field);
		return;
	}
	while (take(c, '{')) {
		const char *start;
		char name[257];
		uint64_t value;
		bool known;

		c->depth = 0;
		start = c->s;
		known = value_of(c, 0, &value) && take(c, ',');
		if (!known) {	/* an enumerator's name: find the string behind it */
			c->s = start;
			while (c->s < c->end && *c->s != '"' && *c->s != '}')
				c->s++;
		}
		if (!symbol_name(c, name, &len) || !take(c, '}'))
			break;
		if (known)
			add_symbol(f, &t, value, name, len);
		if (!take(c, ','))
			break;
	}
	GROW(f->tables, f->cap_tables, f->n_tables + 1);
	f->tables[f->n_tables++] = t;
}

#define MAX_CONVERSIONS	64

/* Which conversions of a format string are hexadecimal or pointers; their number. */
static size_t conversions(const char *s, size_t len, bool hex[MAX_CONVERSIONS])
{
	const char *end = s + len;
	size_t n = 0;

	while (s < end && n < MAX_CONVERSIONS) {
		if (*s++ != '%')
			continue;
		while (s < end && strchr("-+ #0123456789.hlLqjzt", *s))
			s++;
		if (s >= end)
			break;
		if (*s == '*')	/* takes an argument: from here on they would not match */
			return n;
		if (*s != '%')
			hex[n++] = *s == 'x' || *s == 'X' || *s == 'p';
		s++;
	}
	return n;
}

/*
 * Fields that the print format shows as hexadecimal: those that alone are the argument of such a
 * conversion.
 */
static void mark_hex(struct tp_format *f, const char *s, size_t len)
{
	struct cursor c = { s, s + len, 0 };
	bool hex[MAX_CONVERSIONS];
	const char *text;
	size_t n, i, j;

	if (!string(&c, &text, &n))
		return;
	n = conversions(text, n, hex);
	if (!take(&c, ','))
		return;
	for (i = 0; i < n && c.s < c.end; i++) {
		const char *start;
		char *field;
		bool more;

		skip_blank(&c);
		start = c.s;
		more = first_argument(&c, &field);
		/* "REC->name" and nothing else before the comma or the end */
		for (j = 0; field && hex[i] && j < f->n_fields; j++) {
			size_t flen = strlen(field);

			if (strcmp(f->fields[j].name, field) || strncmp(start, "REC->", 5))
				continue;
			start += 5 + flen;
			while (start < c.s && (*start == ' ' || *start == '\n'))
				start++;
			if (start >= c.s || *start == ',')
				f->fields[j].hex = true;
			break;
		}
		free(field);
		if (!more)
			break;
	}
}

void tp_print_tables(struct tp_format *f, const char *s, size_t len)
{
	struct cursor c = { s, s + len, 0 };
	const char *text;
	size_t n;

	mark_hex(f, s, len);
	while (c.s < c.end && f->n_tables < TP_MAX_TABLES) {
		static const struct { const char *call; bool flags; } calls[] = {
			{ "__print_symbolic(", false }, { "__print_flags(", true },
			{ "__print_symbolic_u64(", false }, { "__print_flags_u64(", true },
		};
		size_t i;

		if (*c.s == '"') {
			if (!string(&c, &text, &n))
				return;
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(calls); i++) {
			n = strlen(calls[i].call);
			if ((size_t)(c.end - c.s) > n && !memcmp(c.s, calls[i].call, n))
				break;
		}
		if (i == ARRAY_SIZE(calls)) {
			c.s++;
			continue;
		}
		c.s += n;
		read_table(f, &c, calls[i].flags);
	}
}

void tp_emit(const struct tp_format *f, const uint8_t *raw, size_t size,
	     void (*emit)(void *arg, const char *name, const struct field_value *v), void *arg)
{
	size_t i, len;

	for (i = 0; i < f->n_fields; i++) {
		const struct tp_field *fl = &f->fields[i];
		struct field_value v = { .type = FIELD_STR };
		const uint8_t *p;

		if (fl->common)
			continue;
		p = tp_bytes(fl, raw, size, &len);
		if (!p)
			continue;
		if (fl->shape == TP_INTEGER) {
			if (!tp_value(fl, raw, size, 0, &v.u))
				continue;
			v.i = (int64_t)v.u;
			v.type = fl->is_signed ? FIELD_INT : fl->hex ? FIELD_HEX : FIELD_UINT;
		} else if (fl->shape == TP_STRING || fl->shape == TP_DYN_STRING) {
			v.s = (const char *)p;
			v.len = len;
		} else {
			v.type = FIELD_ARRAY;
			v.s = (const char *)p;
			v.len = len;
			v.i = fl->is_signed;
			v.u = fl->shape == TP_BYTES ? 1 : fl->elem;
		}
		emit(arg, fl->name, &v);
	}
}

static void put_text(FILE *out, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		fputc((unsigned char)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i], out);
}

/*
 * @state: a task's, which is "R" without bits and "R+" with the one after the highest listed
 * (see make_states()).
 */
static void put_flags(FILE *out, const struct tp_table *t, uint64_t value, bool state)
{
	const char *sep = "";
	uint64_t top = 0;
	size_t i;

	for (i = 0; i < t->n && state; i++)
		top = MAX(top, t->sym[i].value);
	if (state && (!value || value == top << 1)) {
		fputs(value ? "R+" : "R", out);
		return;
	}
	for (i = 0; i < t->n; i++) {
		uint64_t bits = t->sym[i].value;

		if (!bits || (value & bits) != bits)
			continue;
		fprintf(out, "%s%s", sep, t->sym[i].name);
		value &= ~bits;
		sep = "|";
	}
	if (value || !*sep)
		fprintf(out, "%s0x%" PRIx64, sep, value);
}

/*
 * A field's symbols: the first table over it, or the one of its isa (vmx 1, svm 2) where there
 * are several.
 */
static const struct tp_table *table_for(const struct tp_format *f, const struct tp_field *fl,
					const uint8_t *raw, size_t size)
{
	const struct tp_field *isa = tp_field_find(f, "isa");
	const struct tp_table *second = tp_table_of(f, fl->name, false, 1);
	uint64_t v;

	if (isa && second && tp_value(isa, raw, size, 0, &v) && v == 2)
		return second;
	return tp_table_of(f, fl->name, false, 0);
}

static void put_integer(FILE *out, const struct tp_format *f, const struct tp_field *fl, uint64_t v,
			const uint8_t *raw, size_t size)
{
	const char *name = tp_symbol_name(table_for(f, fl, raw, size), v);
	const struct tp_table *flags = tp_table_of(f, fl->name, true, 0);

	if (name)
		fputs(name, out);
	else if (flags && !tp_table_of(f, fl->name, false, 0) && (v || !strcmp(fl->name, "prev_state")))
		put_flags(out, flags, v, !strcmp(fl->name, "prev_state"));
	else if (fl->hex || (!fl->is_signed && fl->elem == 8 && v > UINT32_MAX))
		fprintf(out, "0x%" PRIx64, v);
	else if (fl->is_signed)
		fprintf(out, "%" PRId64, (int64_t)v);
	else
		fprintf(out, "%" PRIu64, v);
}

void tp_text(const struct tp_format *f, const uint8_t *raw, size_t size, FILE *out)
{
	const char *sep = "";
	size_t i, j, len;
	uint64_t v;

	for (i = 0; i < f->n_fields; i++) {
		const struct tp_field *fl = &f->fields[i];
		const uint8_t *p;

		if (fl->common)
			continue;
		fprintf(out, "%s%s=", sep, fl->name);
		sep = " ";
		p = tp_bytes(fl, raw, size, &len);
		if (!p) {
			fputs("?", out);
		} else if (fl->shape == TP_INTEGER) {
			if (tp_value(fl, raw, size, 0, &v))
				put_integer(out, f, fl, v, raw, size);
		} else if (fl->shape == TP_STRING || fl->shape == TP_DYN_STRING) {
			put_text(out, (const char *)p, len);
		} else {
			fputc('{', out);
			for (j = 0; j < 64 && tp_value(fl, raw, size, j, &v); j++)
				fprintf(out, "%s0x%" PRIx64, j ? "," : "", v);
			fputc('}', out);
		}
	}
}
