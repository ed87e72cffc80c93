// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sig_load.c - signatures from YAML (libyaml).
 *
 * The format is doc/signatures.md. Reading is strict: a key that is not of the format is an error
 * with its line.
 */
#include <stdarg.h>
#include <yaml.h>

#include "sig.h"

struct loader {
	yaml_document_t	doc;
	const char	*file;
	struct error	*err;		/* the first one */
};

static const char *const role_names[] = { "for", "against", "precondition" };
static const char *const strength_names[] = { "supporting", "strong", "decisive" };

const char *sig_role_name(enum sig_role role)
{
	return role_names[role];
}

const char *sig_strength_name(enum sig_strength strength)
{
	return strength_names[strength];
}

static void fail(struct loader *l, const yaml_node_t *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void fail(struct loader *l, const yaml_node_t *n, const char *fmt, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list ap;

	if (l->err)
		return;
	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	l->err = error_new(ERR_USAGE, "%s:%lu: %s", l->file,
			   n ? (unsigned long)n->start_mark.line + 1 : 1UL,
			   what ? what : "out of memory");
}

static yaml_node_t *node(struct loader *l, int id)
{
	return yaml_document_get_node(&l->doc, id);
}

/* A scalar's text, copied; NULL and an error when it is none or empty. */
static char *scalar(struct loader *l, const yaml_node_t *n, const char *key)
{
	if (!n || n->type != YAML_SCALAR_NODE || !n->data.scalar.length ||
	    memchr(n->data.scalar.value, 0, n->data.scalar.length)) {
		fail(l, n, "%s: a text is expected", key);
		return NULL;
	}
	return xstrndup((const char *)n->data.scalar.value, n->data.scalar.length);
}

static bool boolean(struct loader *l, const yaml_node_t *n, const char *key)
{
	_cleanup_free_ char *s = scalar(l, n, key);

	if (s && strcmp(s, "true") && strcmp(s, "false"))
		fail(l, n, "%s: true or false is expected", key);
	return s && !strcmp(s, "true");
}

/* A list of texts; a single text is a list of one. */
static char **strings(struct loader *l, const yaml_node_t *n, const char *key, size_t *count)
{
	char **ret = NULL;
	size_t cap = 0;

	*count = 0;
	if (n && n->type == YAML_SCALAR_NODE) {
		GROW(ret, cap, 1);
		ret[0] = scalar(l, n, key);
		*count = ret[0] ? 1 : 0;
		return ret;
	}
	if (!n || n->type != YAML_SEQUENCE_NODE) {
		fail(l, n, "%s: a list is expected", key);
		return NULL;
	}
	for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
	     i++) {
		char *s = scalar(l, node(l, *i), key);

		if (!s)
			break;
		GROW(ret, cap, *count + 1);
		ret[(*count)++] = s;
	}
	return ret;
}

static void free_strings(char **s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(s[i]);
	free(s);
}

/*
 * Walk a mapping: for each pair, @set takes it by key; false: no such key. Duplicate keys are
 * errors (the second would win silently).
 */
typedef bool (*set_key)(struct loader *l, void *obj, const char *key, yaml_node_t *value);

static void mapping(struct loader *l, yaml_node_t *n, const char *what, set_key set, void *obj)
{
	yaml_node_pair_t *p, *q;

	if (!n || n->type != YAML_MAPPING_NODE) {
		fail(l, n, "%s: a mapping (key: value lines) is expected", what);
		return;
	}
	for (p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top && !l->err; p++) {
		yaml_node_t *kn = node(l, p->key);
		_cleanup_free_ char *key = scalar(l, kn, what);

		if (!key)
			return;
		for (q = n->data.mapping.pairs.start; q < p; q++) {
			yaml_node_t *other = node(l, q->key);

			if (other->type == YAML_SCALAR_NODE &&
			    !strcmp((const char *)other->data.scalar.value, key))
				fail(l, kn, "%s: key '%s' stands twice", what, key);
		}
		if (!l->err && !set(l, obj, key, node(l, p->value)))
			fail(l, kn, "%s: unknown key '%s'", what, key);
	}
}

static bool set_item(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct sig_item *it = obj;

	if (!strcmp(key, "id")) {
		it->id = scalar(l, v, key);
	} else if (!strcmp(key, "says")) {
		it->says = scalar(l, v, key);
	} else if (!strcmp(key, "sql")) {
		it->sql = scalar(l, v, key);
	} else if (!strcmp(key, "needs")) {
		it->needs = strings(l, v, key, &it->n_needs);
	} else if (!strcmp(key, "strength")) {
		_cleanup_free_ char *s = scalar(l, v, key);
		size_t i;

		for (i = 0; s && i < ARRAY_SIZE(strength_names); i++)
			if (!strcmp(s, strength_names[i]))
				break;
		if (i == ARRAY_SIZE(strength_names))
			fail(l, v, "strength: decisive, strong or supporting is expected, not '%s'",
			     s ? s : "");
		else
			it->strength = (enum sig_strength)i;
	} else {
		return false;
	}
	return true;
}

static void items(struct loader *l, struct signature *s, yaml_node_t *n, enum sig_role role)
{
	if (!n || n->type != YAML_SEQUENCE_NODE) {
		fail(l, n, "%s: a list of items is expected", role_names[role]);
		return;
	}
	for (yaml_node_item_t *i = n->data.sequence.items.start;
	     i < n->data.sequence.items.top && !l->err; i++) {
		yaml_node_t *in = node(l, *i);
		struct sig_item *it;

		if (s->n_items >= SIG_MAX_ITEMS) {
			fail(l, in, "more than %d items", SIG_MAX_ITEMS);
			return;
		}
		it = &s->items[s->n_items++];
		it->role = role;
		it->line = in->start_mark.line + 1;
		mapping(l, in, role_names[role], set_item, it);
		if (!l->err && (!it->id || !it->says || !it->sql || !it->n_needs))
			fail(l, in, "an item has id, needs, says and sql (and a strength)");
	}
}

static bool set_change(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct kernel_change *c = obj;

	if (!strcmp(key, "commit"))
		c->commit = scalar(l, v, key);
	else if (!strcmp(key, "subject"))
		c->subject = scalar(l, v, key);
	else if (!strcmp(key, "upstream"))
		c->upstream = scalar(l, v, key);
	else if (!strcmp(key, "releases"))
		c->releases = strings(l, v, key, &c->n_releases);
	else if (!strcmp(key, "partial"))
		c->partial = boolean(l, v, key);
	else if (!strcmp(key, "mitigation"))
		c->mitigation = boolean(l, v, key);
	else if (!strcmp(key, "no-stable"))
		c->no_stable = boolean(l, v, key);
	else if (!strcmp(key, "unverified"))
		c->unverified = boolean(l, v, key);
	else
		return false;
	return true;
}

static void changes(struct loader *l, yaml_node_t *n, const char *what, struct kernel_change **ret,
		    size_t *count)
{
	size_t cap = 0;

	if (!n || n->type != YAML_SEQUENCE_NODE) {
		fail(l, n, "%s: a list of commits is expected", what);
		return;
	}
	for (yaml_node_item_t *i = n->data.sequence.items.start;
	     i < n->data.sequence.items.top && !l->err; i++) {
		struct kernel_version kv;
		struct kernel_change *c;

		GROW(*ret, cap, *count + 1);
		c = &(*ret)[(*count)++];
		*c = (struct kernel_change){ 0 };
		mapping(l, node(l, *i), what, set_change, c);
		if (l->err)
			return;
		/* of a change that was only posted the subject is all there is */
		if (!c->commit && !c->subject && !c->upstream && !c->n_releases)
			fail(l, node(l, *i),
			     "%s: a commit, a subject, an upstream release or releases are expected",
			     what);
		if (c->upstream && !kernel_parse(c->upstream, &kv))
			fail(l, node(l, *i), "%s: upstream '%s' is no release", what, c->upstream);
		for (size_t r = 0; r < c->n_releases; r++) {
			const char *colon = strchr(c->releases[r], ':');

			if (!kernel_parse(colon ? colon + 1 : c->releases[r], &kv))
				fail(l, node(l, *i), "%s: '%s' is no release", what,
				     c->releases[r]);
		}
	}
}

static bool set_affects(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct signature *s = obj;

	if (!strcmp(key, "introduced"))
		changes(l, v, key, &s->introduced, &s->n_introduced);
	else if (!strcmp(key, "fixed"))
		changes(l, v, key, &s->fixed, &s->n_fixed);
	else
		return false;
	return true;
}

static bool set_record(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct sig_record *r = obj;

	if (!strcmp(key, "command"))
		r->command = scalar(l, v, key);
	else if (!strcmp(key, "why"))
		r->why = scalar(l, v, key);
	else if (!strcmp(key, "shows"))
		r->items = strings(l, v, key, &r->n_items);
	else
		return false;
	return true;
}

static void records(struct loader *l, struct signature *s, yaml_node_t *n)
{
	size_t cap = 0;

	if (!n || n->type != YAML_SEQUENCE_NODE) {
		fail(l, n, "record_next: a list is expected");
		return;
	}
	for (yaml_node_item_t *i = n->data.sequence.items.start;
	     i < n->data.sequence.items.top && !l->err; i++) {
		struct sig_record *r;

		GROW(s->records, cap, s->n_records + 1);
		r = &s->records[s->n_records++];
		*r = (struct sig_record){ .line = node(l, *i)->start_mark.line + 1 };
		mapping(l, node(l, *i), "record_next", set_record, r);
		if (!l->err && (!r->command || !r->why))
			fail(l, node(l, *i), "record_next: command and why are expected");
	}
}

static bool set_lookalike(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct sig_lookalike *a = obj;

	if (!strcmp(key, "id"))
		a->id = scalar(l, v, key);
	else if (!strcmp(key, "tells_apart"))
		a->tells_apart = scalar(l, v, key);
	else if (!strcmp(key, "by"))
		a->by = strings(l, v, key, &a->n_by);
	else
		return false;
	return true;
}

static void lookalikes(struct loader *l, struct signature *s, yaml_node_t *n)
{
	size_t cap = 0;

	if (!n || n->type != YAML_SEQUENCE_NODE) {
		fail(l, n, "lookalikes: a list is expected");
		return;
	}
	for (yaml_node_item_t *i = n->data.sequence.items.start;
	     i < n->data.sequence.items.top && !l->err; i++) {
		struct sig_lookalike *a;

		GROW(s->lookalikes, cap, s->n_lookalikes + 1);
		a = &s->lookalikes[s->n_lookalikes++];
		*a = (struct sig_lookalike){ .line = node(l, *i)->start_mark.line + 1 };
		mapping(l, node(l, *i), "lookalikes", set_lookalike, a);
		if (!l->err && (!a->id || !a->tells_apart))
			fail(l, node(l, *i), "lookalikes: id and tells_apart are expected");
	}
}

static bool set_signature(struct loader *l, void *obj, const char *key, yaml_node_t *v)
{
	struct signature *s = obj;
	const struct { const char *key; char **field;
	} texts[] = {
		{ "id", &s->id },
		{ "title", &s->title },
		{ "status", &s->status },
		{ "symptom", &s->symptom },
		{ "mechanism", &s->mechanism },
		{ "workaround", &s->workaround },
		{ "advice", &s->advice },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!strcmp(key, texts[i].key)) {
			*texts[i].field = scalar(l, v, key);
			return true;
		}
	}
	if (!strcmp(key, "affects"))
		mapping(l, v, key, set_affects, s);
	else if (!strcmp(key, "preconditions"))
		items(l, s, v, SIG_PRECONDITION);
	else if (!strcmp(key, "evidence"))
		items(l, s, v, SIG_FOR);
	else if (!strcmp(key, "against"))
		items(l, s, v, SIG_AGAINST);
	else if (!strcmp(key, "record_next"))
		records(l, s, v);
	else if (!strcmp(key, "lookalikes"))
		lookalikes(l, s, v);
	else if (!strcmp(key, "references"))
		s->references = strings(l, v, key, &s->n_references);
	else
		return false;
	return true;
}

bool sig_valid_id(const char *id)
{
	return id && *id >= 'a' && *id <= 'z' && strlen(id) <= 80 &&
	       !id[strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

struct error *sig_parse(struct signature **ret, const char *file, const char *text, size_t len)
{
	struct signature *s = xcalloc(1, sizeof(*s));
	struct loader l = { .file = file };
	yaml_parser_t parser;

	*ret = NULL;
	s->file = xstrdup(file);
	s->yaml = xstrndup(text, len);
	s->items = xcalloc(SIG_MAX_ITEMS, sizeof(*s->items));
	if (!yaml_parser_initialize(&parser)) {
		sig_free(s);
		return error_new(ERR_INTERNAL, "%s: libyaml can't be set up", file);
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &l.doc)) {
		l.err = error_new(ERR_USAGE, "%s:%lu: %s", file,
				  (unsigned long)parser.problem_mark.line + 1,
				  parser.problem ? parser.problem : "no YAML");
	} else {
		yaml_node_t *root = yaml_document_get_root_node(&l.doc);

		if (!root)
			fail(&l, NULL, "the file is empty");
		else
			mapping(&l, root, "signature", set_signature, s);
		if (!l.err && (!sig_valid_id(s->id) || !s->title || !s->mechanism))
			fail(&l, root,
			     "a signature has an id (small letters, digits, -), a title and a mechanism");
		for (size_t i = 0; i < s->n_items && !l.err; i++)
			if (!sig_valid_id(s->items[i].id))
				l.err = error_new(
					ERR_USAGE,
					"%s:%lu: '%s' is no id (small letters, digits, -)", file,
					s->items[i].line, s->items[i].id);
		yaml_document_delete(&l.doc);
	}
	yaml_parser_delete(&parser);
	if (l.err) {
		sig_free(s);
		return l.err;
	}
	*ret = s;
	return NULL;
}

static void free_changes(struct kernel_change *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(c[i].commit);
		free(c[i].subject);
		free(c[i].upstream);
		free_strings(c[i].releases, c[i].n_releases);
	}
	free(c);
}

void sig_free(struct signature *s)
{
	if (!s)
		return;
	free_changes(s->introduced, s->n_introduced);
	free_changes(s->fixed, s->n_fixed);
	for (size_t i = 0; i < s->n_items; i++) {
		free(s->items[i].id);
		free(s->items[i].says);
		free(s->items[i].sql);
		free_strings(s->items[i].needs, s->items[i].n_needs);
	}
	for (size_t i = 0; i < s->n_records; i++) {
		free(s->records[i].command);
		free(s->records[i].why);
		free_strings(s->records[i].items, s->records[i].n_items);
	}
	for (size_t i = 0; i < s->n_lookalikes; i++) {
		free(s->lookalikes[i].id);
		free(s->lookalikes[i].tells_apart);
		free_strings(s->lookalikes[i].by, s->lookalikes[i].n_by);
	}
	free_strings(s->references, s->n_references);
	free(s->lookalikes);
	free(s->items);
	free(s->records);
	free(s->id);
	free(s->title);
	free(s->status);
	free(s->symptom);
	free(s->mechanism);
	free(s->workaround);
	free(s->advice);
	free(s->file);
	free(s->yaml);
	free(s);
}

/* The whole of a small file; *len bytes, NUL-terminated. */
static struct error *read_file(const char *path, char **ret, size_t *len)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *buf = NULL;

	if (!f)
		return error_io("%s", path);
	buf = xmalloc(SIG_MAX_BYTES + 1);
	*len = fread(buf, 1, SIG_MAX_BYTES + 1, f);
	if (ferror(f))
		return error_io("%s", path);
	if (*len > SIG_MAX_BYTES)
		return error_new(ERR_USAGE, "%s: over %d bytes: no signature", path, SIG_MAX_BYTES);
	*ret = xstrndup(buf, *len);
	return NULL;
}

struct error *sig_load_file(struct signature **ret, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	TRY(read_file(path, &text, &len));
	return sig_parse(ret, path, text, len);
}
