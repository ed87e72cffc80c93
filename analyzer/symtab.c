// SPDX-License-Identifier: GPL-2.0-or-later
/* symtab.c - kallsyms and System.map as a sorted table; see symtab.h. */
#include "symtab.h"

#define PAGE	4096ull
#define NAME_MAX_LEN	512

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Text, weak, data and bss symbols, of either binding. */
static bool is_wanted(char type)
{
	return type && strchr("tTwWdDbB", type);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* One line; false when it is no symbol's at all. */
static bool take_line(struct symtab *t, const char *p, const char *end)
{
	struct symtab_sym s = { 0 };
	const char *from = p, *name;
	char type;

	for (; p < end && hex_digit(*p) >= 0 && p - from < 16; p++)
		s.addr = s.addr << 4 | (uint64_t)hex_digit(*p);
	if (p == from || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	type = p[1];
	name = p += 3;
	while (p < end && !is_blank(*p))
		p++;
	if (p == name || p - name > NAME_MAX_LEN)
		return false;
	if (!s.addr || !is_wanted(type) || *name == '$')
		return true;
	s.name = (uint32_t)(name - t->text);
	s.len = (uint16_t)(p - name);
	while (p < end && is_blank(*p))
		p++;
	if (p < end && *p == '[') {
		const char *close = memchr(p, ']', (size_t)(end - p));

		if (close && close - p - 1 > 0 && close - p < 256) {
			s.module = (uint32_t)(p + 1 - t->text);
			s.module_len = (uint16_t)(close - p - 1);
		}
	}
	if (!s.module && s.len == 5 && !memcmp(name, "_text", 5))
		t->text_start = s.addr;
	if (!s.module && s.len == 6 && !memcmp(name, "_stext", 6))
		t->stext = s.addr;
	GROW(t->syms, t->cap, t->n + 1);
	t->syms[t->n++] = s;
	return true;
}

/* The order of the file, where addresses are equal: names come one after the other in its text. */
static int by_addr(const void *x, const void *y)
{
	const struct symtab_sym *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

void symtab_read(struct symtab *t, const char *text, size_t len)
{
	const char *p = text, *end = text + MIN(len, (size_t)UINT32_MAX);
	size_t lines = 0;

	memset(t, 0, sizeof(*t));
	t->text = text;
	while (p < end && t->n < SYMTAB_MAX) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;

		lines += take_line(t, p, stop);
		p = stop + 1;
	}
	t->hidden = lines && !t->n;
	if (t->n)
		qsort(t->syms, t->n, sizeof(*t->syms), by_addr);
	if (!t->text_start)
		t->text_start = t->stext;
}

void symtab_free(struct symtab *t)
{
	free(t->syms);
	memset(t, 0, sizeof(*t));
}

const struct symtab_sym *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;
	const struct symtab_sym *s, *next;
	uint64_t end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	s = &t->syms[lo - 1];
	next = lo < t->n ? &t->syms[lo] : NULL;
	end = (s->addr & ~(PAGE - 1)) + 2 * PAGE;
	if (next && !next->module == !s->module)
		end = next->addr;
	else if (next && end > next->addr)
		end = next->addr;
	return addr < end ? s : NULL;
}

uint64_t symtab_module_base(const struct symtab *t, const char *module, size_t len)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct symtab_sym *s = &t->syms[i];

		if (s->module && s->module_len == len && !memcmp(t->text + s->module, module, len))
			return s->addr & ~(PAGE - 1);
	}
	return 0;
}
