// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ticket.c - what stands in a ticket, most important first: the bug and how sure, what to do now,
 * the environment, the evidence with its citations, the worst stall's causal chain, what could not
 * be seen, how the report came about. Tables that are made to be read in columns come from the text
 * report as they are.
 */
#include "config.h"
#include "ticket.h"

#include "escape.h"
#include "text.h"

#define TITLE_BYTES	240
#define CODE_WIDTH	100
#define CITES_SHOWN	3
#define ROWS_SHOWN	3
#define CHAIN_LINKS	40
#define ALIKE_SHOWN	6

/* Weights: what is left out first has the highest. */
enum { KEEP, W_EVIDENCE, W_ENVIRONMENT, W_CHAIN, W_ALIKE, W_TABLES, W_MEMBERS };

struct ticket {
	struct report_ctx *ctx;
	struct doc	*d;
	struct text	text;	/* lays out what goes into code blocks, and names things */
	struct json_object *verdicts;
};

static bool is_word(struct json_object *v, const char *word)
{
	return !strcmp(js_str(v, "verdict"), word);
}

static bool is_told(struct json_object *v)
{
	return is_word(v, "match") || is_word(v, "likely") || is_word(v, "possible");
}

static void section(struct ticket *t, int weight, const char *name)
{
	t->d->weight = weight;
	doc_add(t->d, DOC_HEAD, 2);
	doc_text(t->d, "%s", name);
}

/* The kernel of the host that was recorded, or of its facts. */
static char *host_kernel(struct report_ctx *ctx)
{
	struct error *err;
	sqlite3_stmt *st;
	char *s = NULL;

	err = case_query(ctx->db, &st,
			 "SELECT kernel FROM source WHERE kernel IS NOT NULL AND side <> 'guest' UNION ALL "
			 "SELECT value FROM fact WHERE key = 'kernel.release' AND side <> 'guest' LIMIT 1", "");
	if (!err && case_step(ctx->db, st, &err) && sqlite3_column_text(st, 0))
		s = xstrdup((const char *)sqlite3_column_text(st, 0));
	if (!err)
		case_done(st);
	error_free(err);
	return s;
}

/* Is verdict @i the first of its signature? Of the others only what differs is told. */
static bool is_first(struct json_object *all, size_t i)
{
	const char *id = js_str(json_object_array_get_idx(all, i), "id");
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(js_str(json_object_array_get_idx(all, k), "id"), id))
			return false;
	return true;
}

static char *first_fix(struct json_object *v)
{
	struct json_object *o = js_at(v, "fixed_by", 0);
	const char *s = o ? json_object_get_string(o) : NULL;

	return s ? xstrndup(s, strcspn(s, " \n")) : NULL;
}

static struct error *title_without_verdict(struct report_ctx *ctx, char **ret)
{
	_cleanup_json_ struct json_object *patterns = NULL;
	struct json_object *p;
	char buf[HUMAN_MAX];

	TRY(model_array(ctx, MODEL_PATTERNS, NULL, NULL, &patterns));
	p = json_object_array_get_idx(patterns, 0);
	if (p)
		*ret = xasprintf("KVM: no known bug matched; most time was lost to: %s (%s in %" PRId64
				 " stalls)", js_str(p, "shape"), human_ns(buf, js_int(p, "total_ns")),
				 js_int(p, "count"));
	else
		*ret = xstrdup("KVM: no known bug matched, no stall of a vCPU was seen");
	return NULL;
}

static struct error *make_title(struct report_ctx *ctx, struct json_object *verdicts, char **ret)
{
	struct json_object *v = json_object_array_get_idx(verdicts, 0);
	_cleanup_free_ char *kernel = host_kernel(ctx), *fix = NULL, *raw = NULL;

	if (v && is_word(v, "possible")) {
		raw = xasprintf("KVM: no known bug is shown; possible: %s%s%s", js_str(v, "title"),
				kernel ? ", kernel " : "", kernel ? kernel : "");
	} else if (!v || !is_told(v)) {
		TRY(title_without_verdict(ctx, &raw));
	} else {
		fix = first_fix(v);
		raw = xasprintf("KVM: %s [%s%s%s%s%s]", js_str(v, "title"), js_str(v, "verdict"),
				kernel ? ", kernel " : "", kernel ? kernel : "",
				fix ? ", fixed by " : "", fix ? fix : "");
	}
	*ret = escape_prose(raw);
	if (strlen(*ret) > TITLE_BYTES) {
		char *cut = xasprintf("%.*s…", (int)display_cut(*ret, TITLE_BYTES / 4 * 3), *ret);

		free(*ret);
		*ret = cut;
	}
	return NULL;
}

struct error *ticket_title(struct report_ctx *ctx, char **ret)
{
	_cleanup_json_ struct json_object *verdicts = NULL;

	TRY(model_array(ctx, MODEL_VERDICTS, NULL, NULL, &verdicts));
	return make_title(ctx, verdicts, ret);
}

static char *where(struct ticket *t, struct json_object *v)
{
	struct json_object *s = js_get(v, "subject");
	_cleanup_free_ char *vm = NULL, *vcpus = NULL;
	char from[HUMAN_MAX], length[HUMAN_MAX], *line = NULL;

	if (js_has(s, "vm")) {
		vm = text_vm(&t->text, js_int(s, "vm"));
		vcpus = text_vcpus(&t->text, js_get(s, "vcpus"), js_int(s, "vm"));
	}
	text_join(&line, "", "%s", vm ? vm : "the host");
	if (vcpus)
		text_join(&line, ", ", "%s", vcpus);
	if (js_has(s, "from_ns"))
		text_join(&line, ", ", "from %s", human_time(from, js_int(s, "from_ns")));
	if (js_has(s, "from_ns") && js_has(s, "to_ns") && js_int(s, "to_ns") > js_int(s, "from_ns"))
		text_join(&line, ", ", "for %s",
			  human_ns(length, js_int(s, "to_ns") - js_int(s, "from_ns")));
	return line;
}

static void put_row(struct ticket *t, struct json_object *e, struct json_object *row)
{
	_cleanup_free_ char *cites = text_cites(&t->text, js_get(row, "cites"), CITES_SHOWN);
	const char *strength = js_str(e, "strength"), *quote = js_str(js_at(row, "cites", 0), "text");

	doc_add(t->d, DOC_ITEM, 1);
	doc_bold(t->d, *strength ? strength : js_str(e, "role"));
	doc_text(t->d, ": %s", js_str(row, "says"));
	if (cites) {
		doc_text(t->d, " [");
		doc_literal(t->d, cites);
		doc_text(t->d, "]");
	}
	if (*quote && !strcmp(strength, "decisive")) {
		doc_add(t->d, DOC_CODE, 0);
		doc_lines(t->d, quote);
	}
}

static void put_evidence(struct ticket *t, struct json_object *v, const char *role)
{
	size_t i, k;

	for (i = 0; i < js_len(v, "evidence"); i++) {
		struct json_object *e = js_at(v, "evidence", i);
		size_t n = js_len(e, "rows");

		if (strcmp(js_str(e, "role"), role) || strcmp(js_str(e, "outcome"), "shown"))
			continue;
		for (k = 0; k < n && k < ROWS_SHOWN; k++)
			put_row(t, e, js_at(e, "rows", k));
		if (n > k) {
			doc_add(t->d, DOC_ITEM, 1);
			doc_text(t->d, "and %zu more of that kind", n - k);
		}
	}
}

static void put_commands(struct ticket *t, struct json_object *v)
{
	_cleanup_free_ char *lines = NULL;
	size_t i;

	for (i = 0; i < js_len(v, "record_next"); i++)
		text_join(&lines, "\n", "%s", json_object_get_string(js_at(v, "record_next", i)));
	if (!lines)
		return;
	doc_add(t->d, DOC_PARA, 0);
	doc_text(t->d, "What to record to tell:");
	doc_add(t->d, DOC_CODE, 0);
	doc_lines(t->d, lines);
}

static void put_changes(struct ticket *t, struct json_object *v, const char *key, const char *words)
{
	size_t i;

	for (i = 0; i < js_len(v, key); i++) {
		if (!i) {
			doc_add(t->d, DOC_PARA, 0);
			doc_bold(t->d, words);
			doc_text(t->d, ":");
		}
		doc_add(t->d, DOC_ITEM, 1);
		doc_text(t->d, "%s", json_object_get_string(js_at(v, key, i)));
	}
}

static void put_verdict_head(struct ticket *t, struct json_object *v, bool first)
{
	_cleanup_free_ char *line = where(t, v);
	struct doc *d = t->d;

	doc_add(d, DOC_PARA, 0);
	doc_bold(d, is_word(v, "match") ? "Match" : is_word(v, "likely") ? "Likely" : "Possible");
	if (first) {
		doc_text(d, ": %s (signature ", js_str(v, "title"));
		doc_literal(d, js_str(v, "id"));
		doc_text(d, "), %s. Because: %s.", line, js_str(v, "because"));
	} else {
		doc_text(d, ": ");
		doc_literal(d, js_str(v, "id"));
		doc_text(d, " also in %s. Because: %s.", line, js_str(v, "because"));
	}
	if (*js_str(v, "contradiction")) {
		doc_add(d, DOC_PARA, 0);
		doc_bold(d, "But");
		doc_text(d, ": %s", js_str(v, "contradiction"));
	}
	if (!first)
		return;
	if (*js_str(v, "workaround")) {
		doc_add(d, DOC_PARA, 0);
		doc_bold(d, "Do now");
		doc_text(d, ": %s", js_str(v, "workaround"));
	}
	put_changes(t, v, "introduced_by", "Since");
	put_changes(t, v, "fixed_by", "Fixed by");
}

static void put_verdict_body(struct ticket *t, struct json_object *v, bool first)
{
	struct doc *d = t->d;
	size_t i;

	d->weight = W_EVIDENCE;
	put_evidence(t, v, "for");
	put_evidence(t, v, "precondition");
	put_evidence(t, v, "against");
	if (first && *js_str(v, "mechanism")) {
		doc_add(d, DOC_PARA, 0);
		doc_bold(d, "Mechanism");
		doc_text(d, ": %s", js_str(v, "mechanism"));
	}
	d->weight = W_ALIKE;
	for (i = 0; i < js_len(v, "missing"); i++) {
		doc_add(d, DOC_ITEM, 1);
		doc_text(d, "not seen: %s", json_object_get_string(js_at(v, "missing", i)));
	}
	if (!is_word(v, "match"))
		put_commands(t, v);
}

static void put_verdicts(struct ticket *t)
{
	size_t n = json_object_array_length(t->verdicts), i, told = 0;

	section(t, KEEP, "Verdict");
	for (i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(t->verdicts, i);

		if (is_told(v)) {
			t->d->weight = told++ ? W_ALIKE : KEEP;
			put_verdict_head(t, v, is_first(t->verdicts, i));
		}
	}
	if (!told) {
		doc_add(t->d, DOC_PARA, 0);
		doc_bold(t->d, "No known bug matches");
		doc_text(t->d, ". What held the vCPUs up stands below.");
	}
	for (i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(t->verdicts, i);
		_cleanup_free_ char *name = NULL, *line = NULL;

		if (!is_told(v))
			continue;
		line = where(t, v);
		name = told > 1 ? xasprintf("Evidence: %s in %s", js_str(v, "id"), line)
				: xstrdup("Evidence");
		section(t, W_EVIDENCE, name);
		put_verdict_body(t, v, is_first(t->verdicts, i));
	}
}

/* What in the environment decides about KVM bugs: facts by their keys (doc/fact-keys.md). */
static struct error *put_environment(struct ticket *t)
{
	struct error *err = NULL;
	sqlite3_stmt *st;
	size_t n = 0;

	TRY(case_query(t->ctx->db, &st,
		       "SELECT key, value, side FROM (SELECT key, value, side, MIN(id) AS id FROM fact WHERE "
		       "key IN ('kernel.version','kernel.cmdline','kernel.hypervisor','cpu.model','cpu.count','numa.nodes',"
		       "'sysctl.kernel.numa_balancing','ksm.run','thp.enabled','sched.preempt','clocksource.current',"
		       "'cgroup.favordynmods','qemu.version','libvirt.version') OR key GLOB 'param.kvm*.*' "
		       "OR key GLOB 'qemu.*.version' OR key GLOB 'qemu.*.machine' OR key = 'cpu.vulnerability.itlb_multihit' "
		       "GROUP BY key, side) ORDER BY side = 'guest', key GLOB 'param.*', id LIMIT 60", ""));
	while (case_step(t->ctx->db, st, &err)) {
		if (!n++) {
			section(t, W_ENVIRONMENT, "Environment");
			doc_table(t->d, 3);
			doc_cell(t->d, DOC_PLAIN, "side");
			doc_cell(t->d, DOC_PLAIN, "fact");
			doc_cell(t->d, DOC_PLAIN, "value");
		}
		doc_cell(t->d, DOC_PLAIN, (const char *)sqlite3_column_text(st, 2));
		doc_cell(t->d, DOC_LITERAL, (const char *)sqlite3_column_text(st, 0));
		doc_cell(t->d, DOC_LITERAL, (const char *)sqlite3_column_text(st, 1));
	}
	case_done(st);
	return err;
}

/* What the text report prints by @put, as a block of lines. */
static struct error *put_text(struct ticket *t, int weight, const char *head,
			      struct error *(*put)(struct text *, void *), void *arg)
{
	_cleanup_free_ char *lines = NULL;
	const char *body;
	struct error *err;
	size_t len;

	t->text.out = open_memstream(&lines, &len);
	if (!t->text.out)
		return error_io("report");
	err = put(&t->text, arg);
	fclose(t->text.out);
	t->text.out = NULL;
	if (err)
		return err;
	for (body = lines; *body == '\n'; body++)
		;
	if (!*body)
		return NULL;
	section(t, weight, head);
	doc_add(t->d, DOC_CODE, 0);
	doc_lines(t->d, body);
	return NULL;
}

static struct error *print_chain(struct text *text, void *arg)
{
	text_stall(text, arg, CHAIN_LINKS);
	return NULL;
}

static struct error *print_case(struct text *text, void *arg)
{
	(void)arg;
	return text_case(text);
}

static struct error *put_chain(struct ticket *t)
{
	_cleanup_json_ struct json_object *stalls = NULL;

	TRY(model_array(t->ctx, MODEL_STALLS, "1", NULL, &stalls));
	if (!json_object_array_length(stalls))
		return NULL;
	return put_text(t, W_CHAIN, "The longest stall and its causal chain", print_chain,
			json_object_array_get_idx(stalls, 0));
}

static void put_ruled_out(struct ticket *t)
{
	size_t n = json_object_array_length(t->verdicts), i, shown = 0;

	for (i = 0; i < n && shown < ALIKE_SHOWN; i++) {
		struct json_object *v = json_object_array_get_idx(t->verdicts, i);
		size_t k;

		if (!is_word(v, "ruled-out") || !is_first(t->verdicts, i))
			continue;
		for (k = 0; k < js_len(v, "evidence"); k++)
			if (!strcmp(js_str(js_at(v, "evidence", k), "outcome"), "shown") &&
			    strcmp(js_str(js_at(v, "evidence", k), "role"), "precondition"))
				break;
		if (k == js_len(v, "evidence"))
			continue;
		if (!shown++)
			section(t, W_ALIKE, "Looks like it, but ruled out");
		doc_add(t->d, DOC_ITEM, 1);
		doc_literal(t->d, js_str(v, "id"));
		doc_text(t->d, ": %s", js_str(v, "because"));
	}
}

static struct error *put_members(struct ticket *t)
{
	_cleanup_json_ struct json_object *members = NULL;
	size_t i;

	section(t, W_MEMBERS, "How this was made");
	doc_add(t->d, DOC_PARA, 0);
	doc_text(t->d, "By kvmortem %s from the files below; every time is on its own file's clock, every "
		 "citation names a line or a byte offset in one of them.", KM_VERSION);
	TRY(model_array(t->ctx, MODEL_MEMBERS, NULL, NULL, &members));
	for (i = 0; i < json_object_array_length(members); i++) {
		struct json_object *m = json_object_array_get_idx(members, i);
		char size[HUMAN_MAX];

		if (!*js_str(m, "format"))
			continue;
		doc_add(t->d, DOC_ITEM, 1);
		doc_literal(t->d, js_str(m, "path"));
		doc_text(t->d, ": %s, %s, %s", js_str(m, "format"), human_bytes(size, js_int(m, "bytes")),
			 js_str(m, "status"));
		if (*js_str(m, "message"))
			doc_text(t->d, " (%s)", js_str(m, "message"));
	}
	return NULL;
}

static struct error *build(struct ticket *t)
{
	_cleanup_free_ char *title = NULL;

	TRY(make_title(t->ctx, t->verdicts, &title));
	doc_add(t->d, DOC_HEAD, 1);
	doc_text(t->d, "%s", title);
	put_verdicts(t);
	TRY(put_environment(t));
	TRY(put_chain(t));
	put_ruled_out(t);
	TRY(put_text(t, W_TABLES, "Where the vCPUs' time went", print_case, NULL));
	return put_members(t);
}

struct error *ticket_build(struct report_ctx *ctx, struct doc *d)
{
	struct ticket t = { .ctx = ctx, .d = d };
	struct error *err;

	if (!strcmp(ctx->view, "diff"))
		return ticket_diff_build(ctx, d);
	if (strcmp(ctx->view, "analyze"))
		return error_new(ERR_USAGE, "-f %s is made by `analyze` and `diff` only; `%s` has text and json",
				 ctx->opt->format ? ctx->opt->format : "this", ctx->view);
	err = text_open(&t.text, ctx);
	t.text.width = t.text.prose = CODE_WIDTH;
	if (!err)
		err = model_array(ctx, MODEL_VERDICTS, NULL, NULL, &t.verdicts);
	if (!err)
		err = build(&t);
	json_object_put(t.verdicts);
	text_close(&t.text);
	return err;
}
