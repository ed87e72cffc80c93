// SPDX-License-Identifier: GPL-2.0-or-later
/* trace_pattern.c - printed forms out of the catalogue's text patterns; see trace_pattern.h. */
#include "trace_pattern.h"

struct compiler {
	struct pattern	*p;
	enum event_kind	kind;
	size_t		ops, names;
};

/* Is @name one of "a|b", or the alias of "alias=field:0:8"? */
static bool field_is(const char *names, const char *name)
{
	size_t len = strlen(name), n;

	if (strchr(names, '='))
		return !strncmp(names, name, len) && names[len] == '=';
	for (; *names; names += n + (names[n] == '|')) {
		n = strcspn(names, "|");
		if (n == len && !memcmp(names, name, n))
			return true;
	}
	return false;
}

static uint8_t slot_of(enum event_kind kind, const char *name)
{
	size_t n, i;
	const struct raw_field *f = raw_fields_of(kind, &n);

	for (i = 0; i < n; i++)
		if (field_is(f[i].names, name))
			return f[i].slot;
	return S_NONE;
}

static struct form_op *add_op(struct compiler *c, const char *lit, unsigned int flags)
{
	struct form_op *op;

	if (c->ops == PATTERN_OPS)
		return NULL;
	op = &c->p->ops[c->ops++];
	op->lit = lit;
	op->lit_len = (uint8_t)strlen(lit);
	op->flags = (uint8_t)flags;
	op->conv = C_TEXT;
	op->slot = op->slot2 = S_NONE;
	return op;
}

/* "a,b,c" into names, NULL behind them. */
static bool add_names(struct compiler *c, struct form_op *op, char *list)
{
	char *save = NULL, *s;

	op->names = &c->p->names[c->names];
	for (s = strtok_r(list, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		if (c->names + 2 > PATTERN_NAMES)
			return false;
		c->p->names[c->names++] = s;
	}
	c->p->names[c->names++] = NULL;
	return true;
}

/* What stands in braces, @spec, NUL-terminated. */
static bool add_field(struct compiler *c, struct form_op *op, char *spec)
{
	static const struct {
		char	letter;
		uint8_t	conv;
	} convs[] = {
		{ 'x', C_HEX }, { 'n', C_NUM }, { 's', C_WORD }, { 't', C_TEXT }, { 'r', C_REASON },
	};
	char *colon = strchr(spec, ':');
	size_t i;

	op->name = spec;
	op->conv = C_DEC;
	if (colon) {
		*colon++ = '\0';
		if (*colon == '?') {	/* the words may have commas */
			op->conv = C_FLAG;
			if (c->names + 2 > PATTERN_NAMES)
				return false;
			op->names = &c->p->names[c->names];
			c->p->names[c->names++] = colon + 1;
			c->p->names[c->names++] = NULL;
		} else if (strchr(colon, ',')) {
			op->conv = *colon == '+' ? C_FLAGS : C_ENUM;
			if (!add_names(c, op, colon + (*colon == '+')))
				return false;
		} else {
			for (i = 0; i < ARRAY_SIZE(convs); i++)
				if (convs[i].letter == *colon)
					op->conv = convs[i].conv;
		}
	}
	op->slot = slot_of(c->kind, spec);
	return true;
}

/* One line of the pattern. */
static bool compile_line(struct compiler *c, struct form *f, char *s)
{
	size_t first = c->ops;

	while (*s) {
		char *open = strchr(s, '{'), *close = open ? strchr(open, '}') : NULL, *far;
		struct form_op *op;

		if (open && !close)
			return false;
		if (open)
			*open = '\0';
		far = strchr(s, '~');
		if (far) {
			*far = '\0';
			if (*s && !add_op(c, s, 0))
				return false;
			s = far + 1;
		}
		op = add_op(c, s, far ? FORM_SEARCH : 0);
		if (!op)
			return false;
		if (!open)
			break;
		*close = '\0';
		if (!add_field(c, op, open + 1))
			return false;
		s = close + 1;
	}
	f->ops = &c->p->ops[first];
	f->n = c->ops - first;
	return true;
}

bool pattern_compile(struct pattern *p, enum event_kind kind)
{
	const char *text = pattern_of(kind);
	struct compiler c = { .p = p, .kind = kind };
	char *line, *next;
	size_t n = 0;

	memset(p, 0, sizeof(*p));
	if (!text || strlen(text) >= sizeof(p->text))
		return false;
	strcpy(p->text, text);
	for (line = p->text; line && n < FORMS_MAX; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!compile_line(&c, &p->forms[n++], line))
			return false;
	}
	return true;
}
