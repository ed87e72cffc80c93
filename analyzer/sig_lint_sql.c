// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_lint_sql.c - SQL forms that give a row, or a wrong number, where there is nothing to tell:
 *
 *  - an aggregate without GROUP BY or HAVING returns a row over nothing (as a scalar subquery it
 *    is only a value, and allowed);
 *  - a bare column beside aggregates comes from any row of its group;
 *  - integer division drops its rest: a ratio becomes 0;
 *  - NOT IN over a column with a NULL in it is never true.
 *
 * The SQL is cut into tokens, each with its parenthesis depth and the SELECT it belongs to; that is
 * enough for these.
 */
#include <ctype.h>
#include <stdarg.h>
#include <strings.h>

#include "sig.h"

#define MAX_TOKENS	6000
#define MAX_SCOPES	128
#define MAX_DEPTH	100

enum token_kind { T_WORD, T_INT, T_FLOAT, T_STRING, T_OP };
enum scope_context { CTX_TOP, CTX_SCALAR, CTX_EXISTS, CTX_IN, CTX_FROM, CTX_CTE };

struct token {
	enum token_kind	kind;
	char		text[64];
	int		depth;
	int		scope;		/* -1: outside of every SELECT */
	int		match;		/* of '(': index of its ')' */
};

struct scope {
	enum scope_context ctx;
	int	begin, end;	/* tokens, end exclusive */
	int	depth;
	int	from, where, group, having, order;	/* clause keywords' indexes, or end */
};

struct lint {
	struct token	*t;
	int		n;
	struct scope	scopes[MAX_SCOPES];
	int		n_scopes;
	sqlite3		*db;
	void		(*found)(void *arg, const char *what);
	void		*arg;
};

static bool word(const struct token *t, const char *w)
{
	return t->kind == T_WORD && !strcasecmp(t->text, w);
}

static bool op(const struct token *t, char c)
{
	return t->kind == T_OP && t->text[0] == c && !t->text[1];
}

static bool one_of(const struct token *t, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word(t, list[i]))
			return true;
	return false;
}

#define ONE_OF(t, ...) \
	({ \
		static const char *const _l[] = { __VA_ARGS__ }; \
		one_of((t), _l, ARRAY_SIZE(_l)); \
	})

static bool tokenize(struct lint *l, const char *s)
{
	int depth = 0;

	while (*s) {
		struct token *t;
		size_t n = 1;

		if (isspace((unsigned char)*s)) {
			s++;
			continue;
		}
		if (s[0] == '-' && s[1] == '-') {
			s += strcspn(s, "\n");
			continue;
		}
		if (s[0] == '/' && s[1] == '*') {
			s = strstr(s, "*/");
			if (!s)
				return true;
			s += 2;
			continue;
		}
		if (l->n >= MAX_TOKENS)
			return false;
		t = &l->t[l->n++];
		*t = (struct token){ .kind = T_OP, .scope = -1, .match = -1 };
		if (*s == '\'' || *s == '"' || *s == '`' || *s == '[') {
			char close = *s == '[' ? ']' : *s;

			t->kind = *s == '\'' ? T_STRING : T_WORD;
			while (s[n] && s[n] != close)
				n++;
			snprintf(t->text, sizeof(t->text), "%.*s", (int)MIN(n - 1, (size_t)60),
				 s + 1);
			n += s[n] != 0;
		} else if (isdigit((unsigned char)*s)) {
			n = strspn(s, "0123456789abcdefxABCDEFX.");
			t->kind = strchr(s, '.') && strcspn(s, ".") < n ? T_FLOAT : T_INT;
			if (t->kind == T_INT && s[1] != 'x' && strcspn(s, "eE") < n)
				t->kind = T_FLOAT;
		} else if (isalpha((unsigned char)*s) || *s == '_') {
			t->kind = T_WORD;
			while (isalnum((unsigned char)s[n]) || s[n] == '_')
				n++;
		} else if ((s[0] == '|' && s[1] == '|') ||
			   (strchr("<>=!", s[0]) && strchr("<>=", s[1]) && s[1])) {
			n = 2;
		}
		if (!t->text[0])
			snprintf(t->text, sizeof(t->text), "%.*s", (int)MIN(n, (size_t)60), s);
		if (op(t, ')'))
			depth--;
		t->depth = depth;
		if (op(t, '('))
			depth++;
		if (depth < 0 || depth >= MAX_DEPTH)
			return false;
		s += n;
	}
	return true;
}

/* What a '(' that opens a SELECT stands behind. */
static enum scope_context context_of(const struct lint *l, int paren)
{
	const struct token *prev = paren > 0 ? &l->t[paren - 1] : NULL;

	if (!prev)
		return CTX_TOP;
	if (word(prev, "EXISTS"))
		return CTX_EXISTS;
	if (word(prev, "IN"))
		return CTX_IN;
	if (word(prev, "AS") || word(prev, "MATERIALIZED"))
		return CTX_CTE;
	if (ONE_OF(prev, "FROM", "JOIN"))
		return CTX_FROM;
	if (op(prev, ',')) {
		for (int i = paren - 1; i >= 0 && l->t[i].depth >= l->t[paren].depth; i--) {
			if (l->t[i].depth != l->t[paren].depth)
				continue;
			if (word(&l->t[i], "FROM"))
				return CTX_FROM;
			if (ONE_OF(&l->t[i], "SELECT", "WHERE", "BY", "HAVING"))
				break;
		}
	}
	return CTX_SCALAR;
}

static bool find_scopes(struct lint *l)
{
	int stack[MAX_DEPTH + 1], current = -1;
	enum scope_context ctx[MAX_DEPTH + 1];
	int parens[MAX_DEPTH + 1];

	ctx[0] = CTX_TOP;
	for (int i = 0; i < l->n; i++) {
		struct token *t = &l->t[i];

		if (word(t, "SELECT")) {
			if (l->n_scopes >= MAX_SCOPES)
				return false;
			current = l->n_scopes++;
			l->scopes[current] = (struct scope){
				.ctx = ctx[t->depth], .begin = i, .end = l->n, .depth = t->depth,
				.from = -1, .where = -1, .group = -1, .having = -1, .order = -1,
			};
		} else if (ONE_OF(t, "UNION", "INTERSECT", "EXCEPT") && current >= 0 &&
			   t->depth == l->scopes[current].depth) {
			l->scopes[current].end = i;
		} else if (op(t, '(')) {
			stack[t->depth + 1] = current;
			parens[t->depth + 1] = i;
			ctx[t->depth + 1] = context_of(l, i);
			t->scope = current;
			continue;
		} else if (op(t, ')')) {
			if (current >= 0 && l->scopes[current].depth > t->depth)
				l->scopes[current].end = MIN(l->scopes[current].end, i);
			current = stack[t->depth + 1];
			l->t[parens[t->depth + 1]].match = i;
		}
		t->scope = current;
	}
	for (int k = 0; k < l->n_scopes; k++) {
		struct scope *s = &l->scopes[k];

		for (int i = s->begin; i < s->end; i++) {
			const struct token *t = &l->t[i];
			int *clause = word(t, "FROM")		    ? &s->from
				      : word(t, "WHERE")	    ? &s->where
				      : word(t, "GROUP")	    ? &s->group
				      : word(t, "HAVING")	    ? &s->having
				      : ONE_OF(t, "ORDER", "LIMIT") ? &s->order
								    : NULL;

			if (clause && t->depth == s->depth && *clause < 0 && t->scope == k)
				*clause = i;
		}
	}
	return true;
}

/* Is token @i the name of an aggregate's call (not of a window function, not min(a, b))? */
static bool aggregate(const struct lint *l, int i)
{
	const struct token *t = &l->t[i];
	int close, args = 0;

	if (!ONE_OF(t, "count", "sum", "total", "avg", "min", "max", "group_concat",
		    "json_group_array", "json_group_object"))
		return false;
	if (i + 1 >= l->n || !op(&l->t[i + 1], '(') || l->t[i + 1].match < 0)
		return false;
	close = l->t[i + 1].match;
	for (int k = i + 2; k < close; k++)
		args += op(&l->t[k], ',') && l->t[k].depth == t->depth + 1;
	if (args && ONE_OF(t, "min", "max"))
		return false;
	if (close + 1 < l->n && word(&l->t[close + 1], "OVER"))
		return false;
	if (close + 2 < l->n && word(&l->t[close + 1], "FILTER") && l->t[close + 2].match > 0 &&
	    l->t[close + 2].match + 1 < l->n && word(&l->t[l->t[close + 2].match + 1], "OVER"))
		return false;
	return true;
}

static void finding(struct lint *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void finding(struct lint *l, const char *fmt, ...)
{
	char buf[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	l->found(l->arg, buf);
}

static int clause_end(const struct scope *s, int clause)
{
	int end = s->end;
	const int all[] = { s->from, s->where, s->group, s->having, s->order };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] > clause && all[i] < end)
			end = all[i];
	return end;
}

/*
 * Does the column at token @i (qualified when a '.' stands before it) stand in GROUP BY, or does
 * its table's id?
 */
static bool grouped(const struct lint *l, const struct scope *s, int i)
{
	const char *col = l->t[i].text;
	const char *table = i >= 2 && op(&l->t[i - 1], '.') ? l->t[i - 2].text : NULL;
	int end = clause_end(s, s->group);

	for (int k = s->group + 2; k < end; k++) {
		const struct token *g = &l->t[k];
		const char *gt = k >= 2 && op(&l->t[k - 1], '.') ? l->t[k - 2].text : NULL;

		if (g->kind != T_WORD || (k + 1 < end && op(&l->t[k + 1], '.')))
			continue;
		if ((!strcasecmp(g->text, col) || !strcasecmp(g->text, "id")) &&
		    (!gt || !table || !strcasecmp(gt, table)))
			return true;
	}
	return false;
}

static bool in_from(const struct lint *l, const struct scope *s, const char *name)
{
	if (s->from < 0)
		return false;
	for (int i = s->from, end = clause_end(s, s->from); i < end; i++)
		if (l->t[i].depth == s->depth && l->t[i].kind == T_WORD &&
		    !strcasecmp(l->t[i].text, name))
			return true;
	return false;
}

static bool keyword(const struct token *t)
{
	return ONE_OF(t, "AS", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "NULL",
		      "IS", "IN", "LIKE", "GLOB", "BETWEEN", "DISTINCT", "CAST", "REAL", "INTEGER",
		      "TEXT", "EXISTS", "TRUE", "FALSE", "SELECT", "ALL", "FILTER", "WHERE", "OVER",
		      "COLLATE", "ESCAPE", "ORDER", "BY", "DESC", "ASC");
}

/* The alias of the select list's item [from, end), or NULL. */
static const char *alias_of(const struct lint *l, int from, int end)
{
	return end - from >= 2 && word(&l->t[end - 2], "AS") ? l->t[end - 1].text : NULL;
}

static void bare_columns(struct lint *l, int k, int from, int end)
{
	const struct scope *s = &l->scopes[k];
	const char *alias = alias_of(l, from, end);

	if (alias && s->group >= 0)
		for (int i = s->group + 2; i < clause_end(s, s->group); i++)
			if (l->t[i].kind == T_WORD && !strcasecmp(l->t[i].text, alias))
				return;
	for (int i = from; i < end; i++) {
		const struct token *t = &l->t[i];

		if (aggregate(l, i)) {
			i = l->t[i + 1].match;
			continue;
		}
		if (op(t, '(') && t->match > 0 && i + 1 < end &&
		    ONE_OF(&l->t[i + 1], "SELECT", "WITH")) {
			i = t->match;		/* a subquery has a scope of its own */
			continue;
		}
		if (t->kind != T_WORD || keyword(t) ||
		    (i + 1 < end && (op(&l->t[i + 1], '(') || op(&l->t[i + 1], '.'))))
			continue;
		if (i > from && word(&l->t[i - 1], "AS"))
			continue;
		if (i >= from + 2 && op(&l->t[i - 1], '.') && !in_from(l, s, l->t[i - 2].text))
			continue;		/* of an outer query: one value here */
		if (s->group >= 0 && grouped(l, s, i))
			continue;
		finding(l,
			"sql: bare column '%s' beside an aggregate (group by it, or aggregate it)",
			t->text);
		return;
	}
}

static void check_aggregates(struct lint *l, int k)
{
	const struct scope *s = &l->scopes[k];
	int list_end = clause_end(s, s->begin), start = s->begin + 1, first = -1;

	for (int i = s->begin; i < s->end; i++)
		if (l->t[i].scope == k && aggregate(l, i) &&
		    (i < list_end || (s->having >= 0 && i > s->having) ||
		     (s->order >= 0 && i > s->order)))
			first = first < 0 ? i : first;
	if (first < 0)
		return;
	if (s->group < 0 && s->having < 0 && s->ctx != CTX_SCALAR)
		finding(l, "sql: %s() without GROUP BY or HAVING gives a row over nothing",
			l->t[first].text);
	for (int i = start; i <= list_end; i++) {
		if (i < list_end && (l->t[i].depth != s->depth || !op(&l->t[i], ',')))
			continue;
		bare_columns(l, k, start, i);
		start = i + 1;
	}
}

static bool real_in(const struct lint *l, int from, int to)
{
	for (int i = from; i <= to; i++)
		if (l->t[i].kind == T_FLOAT ||
		    ONE_OF(&l->t[i], "REAL", "avg", "total", "num", "mean", "m2"))
			return true;
	return false;
}

static void check_division(struct lint *l, int i)
{
	int left = i - 1, right = i + 1;

	while (left >= 0 && l->t[left].depth >= l->t[i].depth) {
		const struct token *t = &l->t[left];

		if (t->depth == l->t[i].depth &&
		    (op(t, ',') || op(t, '+') || op(t, '-') || op(t, '<') || op(t, '>') ||
		     op(t, '=') || (t->kind == T_OP && t->text[1]) ||
		     (keyword(t) && !word(t, "CAST"))))
			break;
		left--;
	}
	if (right < l->n && l->t[right].kind == T_WORD && right + 1 < l->n &&
	    op(&l->t[right + 1], '('))
		right++;
	if (right < l->n && op(&l->t[right], '(') && l->t[right].match > 0)
		right = l->t[right].match;
	if (right >= l->n)
		right = l->n - 1;
	if (!real_in(l, left + 1, right))
		finding(l,
			"sql: integer division beside '%s' (write 1.0 * a / b, or CAST(a AS REAL) / b)",
			i ? l->t[i - 1].text : "/");
}

/* Can a column of this name be NULL in some table of the schema? */
static bool nullable(struct lint *l, const char *column)
{
	sqlite3_stmt *st;
	bool found = false, ret = false;

	if (sqlite3_prepare_v2(
		    l->db,
		    "SELECT max(c.\"notnull\" = 0 AND c.pk = 0) FROM sqlite_schema t, pragma_table_info(t.name) c "
		    "WHERE t.type = 'table' AND c.name = ?1 COLLATE NOCASE HAVING count(*) > 0",
		    -1, &st, NULL) != SQLITE_OK)
		return true;
	sqlite3_bind_text(st, 1, column, -1, SQLITE_STATIC);
	if (sqlite3_step(st) == SQLITE_ROW) {
		found = true;
		ret = sqlite3_column_int(st, 0);
	}
	sqlite3_finalize(st);
	return !found || ret;
}

static void check_not_in(struct lint *l, int i)
{
	int open = i + 2, close, col;

	if (open + 2 >= l->n || !word(&l->t[i + 1], "IN") || !op(&l->t[open], '(') ||
	    !word(&l->t[open + 1], "SELECT"))
		return;
	close = l->t[open].match;
	col = open + 2;
	if (word(&l->t[col], "DISTINCT"))
		col++;
	if (col + 2 < close && op(&l->t[col + 1], '.'))
		col += 2;
	for (int k = open; k + 2 < close; k++)
		if (word(&l->t[k], "IS") && word(&l->t[k + 1], "NOT") && word(&l->t[k + 2], "NULL"))
			return;
	if (l->t[col].kind != T_WORD || nullable(l, l->t[col].text))
		finding(l,
			"sql: NOT IN over '%s', which can be NULL, is never true then (write NOT EXISTS)",
			l->t[col].text);
}

void lint_sql(sqlite3 *db, const char *sql, void (*found)(void *arg, const char *what), void *arg)
{
	struct lint *l = xcalloc(1, sizeof(*l));

	l->db = db;
	l->found = found;
	l->arg = arg;
	l->t = xcalloc(MAX_TOKENS, sizeof(*l->t));
	if (!tokenize(l, sql) || !find_scopes(l)) {
		found(arg, "sql: too long or too deeply nested to be checked");
	} else {
		for (int k = 0; k < l->n_scopes; k++)
			check_aggregates(l, k);
		for (int i = 0; i < l->n; i++) {
			if (op(&l->t[i], '/'))
				check_division(l, i);
			if (word(&l->t[i], "NOT"))
				check_not_in(l, i);
		}
	}
	free(l->t);
	free(l);
}
