// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_events.c - the decoded events in time order, as text or NDJSON (design §9): a consumer
 * that prints.
 *
 * It runs in the parser's thread, for it looks into the stream's tables and asks the parser for
 * each record's fields.
 */
#include <json-c/json.h>

#include "command.h"
#include "reports/escape.h"
#include "utf8.h"
#include "view.h"

struct task_comm {
	int32_t		tid;
	bool		used;
	uint64_t	comm[2];
};

/* What the command prints to, over all sources. */
struct printer {
	FILE		*out;
	bool		ndjson;
	size_t		sources;
};

/* One source's events on their way out. */
struct printing {
	struct printer	*pr;
	struct task_comm *tasks;	/* open addressing by tid */
	size_t		n_tasks, cap_tasks;
};

static size_t task_slot(const struct printing *p, int32_t tid)
{
	size_t i = ((uint32_t)tid * 0x9e3779b1u) & (p->cap_tasks - 1);

	while (p->tasks[i].used && p->tasks[i].tid != tid)
		i = (i + 1) & (p->cap_tasks - 1);
	return i;
}

static void set_comm(struct printing *p, int32_t tid, const uint64_t comm[2])
{
	size_t i;

	if (p->n_tasks * 2 >= p->cap_tasks) {
		struct task_comm *old = p->tasks;
		size_t n = p->cap_tasks;

		p->cap_tasks = n ? n * 2 : 1024;
		p->tasks = xcalloc(p->cap_tasks, sizeof(*p->tasks));
		for (i = 0; i < n; i++)
			if (old[i].used)
				p->tasks[task_slot(p, old[i].tid)] = old[i];
		free(old);
	}
	i = task_slot(p, tid);
	p->n_tasks += !p->tasks[i].used;
	p->tasks[i].used = true;
	p->tasks[i].tid = tid;
	memcpy(p->tasks[i].comm, comm, sizeof(p->tasks[i].comm));
}

static const struct task_comm *find_comm(const struct printing *p, int32_t tid)
{
	size_t i;

	if (!p->cap_tasks)
		return NULL;
	i = task_slot(p, tid);
	return p->tasks[i].used ? &p->tasks[i] : NULL;
}

static void comm_of(const struct printing *p, int32_t tid, char buf[24])
{
	const struct task_comm *t = find_comm(p, tid);

	if (t) {
		memcpy(buf, t->comm, 16);
		buf[16] = '\0';
	} else if (!tid) {
		strcpy(buf, "swapper");
	} else {
		snprintf(buf, 24, ":%" PRId32, tid);
	}
}

/* Pseudo events say who is called what; a loss is shown where it was found. */
static void take_pseudo(struct printing *p, const struct event *ev)
{
	const struct task_comm *parent;

	if (ev->kind == EV_TASK && (ev->a[0] || ev->a[1])) {
		set_comm(p, ev->tid, ev->a);
	} else if (ev->kind == EV_TASK_FORK) {
		parent = find_comm(p, (int32_t)ev->b[1]);
		if (parent) {
			uint64_t comm[2] = { parent->comm[0], parent->comm[1] };

			set_comm(p, (int32_t)ev->b[0], comm);
		}
	} else if (ev->kind == EV_LOST && !p->pr->ndjson) {
		if (ev->cpu != EVENT_CPU_NONE)
			fprintf(p->pr->out, "CPU:%u [LOST %" PRIu64 " EVENTS]\n", ev->cpu, ev->a[0]);
		else
			fprintf(p->pr->out, "[LOST %" PRIu64 " EVENTS]\n", ev->a[0]);
	}
}

static uint64_t array_element(const struct field_value *v, size_t i)
{
	uint64_t x = 0;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	switch (v->u) {
	case 1:
		memcpy(&u8, v->s + i, sizeof(u8));
		x = v->i ? (uint64_t)(int64_t)(int8_t)u8 : u8;
		break;
	case 2:
		memcpy(&u16, v->s + 2 * i, sizeof(u16));
		x = v->i ? (uint64_t)(int64_t)(int16_t)u16 : u16;
		break;
	case 4:
		memcpy(&u32, v->s + 4 * i, sizeof(u32));
		x = v->i ? (uint64_t)(int64_t)(int32_t)u32 : u32;
		break;
	case 8:
		memcpy(&x, v->s + 8 * i, sizeof(x));
		break;
	}
	return x;
}

/* ---- NDJSON ---- */

static struct json_object *json_text(const char *s, size_t len)
{
	_cleanup_free_ char *clean = utf8_clean(s, len);

	return json_object_new_string(clean);
}

static struct json_object *json_value(const struct field_value *v)
{
	struct json_object *list;
	size_t i;

	switch (v->type) {
	case FIELD_INT:
		return json_object_new_int64(v->i);
	case FIELD_UINT:
	case FIELD_HEX:
		return json_object_new_uint64(v->u);
	case FIELD_STR:
		return json_text(v->s, v->len);
	case FIELD_ARRAY:
		list = json_object_new_array();
		for (i = 0; v->u && i < v->len / v->u; i++)
			json_object_array_add(
				list, v->i ? json_object_new_int64((int64_t)array_element(v, i))
					   : json_object_new_uint64(array_element(v, i)));
		return list;
	}
	return NULL;
}

static void json_field(void *arg, const char *name, const struct field_value *v)
{
	json_object_object_add(arg, name, json_value(v));
}

/* json-c leaves characters that a terminal would act on beyond ASCII as they are. */
static void put_json(FILE *out, const char *s, size_t len)
{
	uint32_t cp;
	size_t n;

	for (; len; s += n, len -= n) {
		n = (unsigned char)*s < 0x7f ? 1 : utf8_next(s, len, &cp);
		if (n == 1 && (unsigned char)*s < 0x7f) {
			fputc(*s, out);
		} else if (!n) {
			n = 1;
			fputs("\\ufffd", out);
		} else if (cp < 0x10000 && char_hidden(cp)) {
			fprintf(out, "\\u%04x", cp);
		} else {
			fwrite(s, 1, n, out);
		}
	}
}

static void print_json(struct printing *p, struct stream *s, const struct event *ev)
{
	struct json_object *o = json_object_new_object(), *fields = json_object_new_object();
	const char *name = s->types[ev->ev].name, *text;
	char comm[24];
	size_t len;

	comm_of(p, ev->tid, comm);
	json_object_object_add(o, "time_ns", json_object_new_uint64(ev->time));
	json_object_object_add(o, "cpu", ev->cpu == EVENT_CPU_NONE ? NULL : json_object_new_int(ev->cpu));
	json_object_object_add(o, "tid", json_object_new_int(ev->tid));
	json_object_object_add(o, "comm", json_text(comm, strlen(comm)));
	json_object_object_add(o, "event", json_text(name, strlen(name)));
	if (s->ops && s->ops->fields)
		s->ops->fields(s->ops_priv, ev, json_field, fields);
	json_object_object_add(o, "fields", fields);
	text = json_object_to_json_string_length(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	put_json(p->pr->out, text, len);
	fputc('\n', p->pr->out);
	json_object_put(o);
}

/* ---- text ---- */

struct text_fields {
	FILE		*out;
	bool		any;
};

static void put_escaped(FILE *out, const char *s, size_t len)
{
	_cleanup_free_ char *safe = escape_terminal(s, len);

	fputs(safe, out);
}

static void text_field(void *arg, const char *name, const struct field_value *v)
{
	struct text_fields *t = arg;
	size_t i;

	fputs(t->any ? " " : "", t->out);
	t->any = true;
	put_escaped(t->out, name, strlen(name));
	fputc('=', t->out);
	switch (v->type) {
	case FIELD_INT:
		fprintf(t->out, "%" PRId64, v->i);
		break;
	case FIELD_UINT:
		fprintf(t->out, "%" PRIu64, v->u);
		break;
	case FIELD_HEX:
		fprintf(t->out, "0x%" PRIx64, v->u);
		break;
	case FIELD_STR:
		put_escaped(t->out, v->s, v->len);
		break;
	case FIELD_ARRAY:
		fputc('{', t->out);
		for (i = 0; v->u && i < v->len / v->u; i++)
			fprintf(t->out, "%s0x%" PRIx64, i ? "," : "", array_element(v, i));
		fputc('}', t->out);
		break;
	}
}

static void print_text(struct printing *p, struct stream *s, const struct event *ev,
		       const char *rendered)
{
	const char *name = s->types[ev->ev].name;
	struct text_fields fields = { .out = p->pr->out };
	FILE *out = p->pr->out;
	char comm[24];

	comm_of(p, ev->tid, comm);
	put_escaped(out, comm, strlen(comm));
	fprintf(out, "-%" PRId32, ev->tid);
	if (ev->cpu != EVENT_CPU_NONE)
		fprintf(out, " [%03u]", (unsigned int)ev->cpu);
	fprintf(out, " %llu.%09llu: ", ev->time / NSEC_PER_SEC, ev->time % NSEC_PER_SEC);
	put_escaped(out, name, strlen(name));
	fputs(": ", out);
	if (rendered)
		put_escaped(out, rendered, strlen(rendered));
	else if (s->ops && s->ops->fields)
		s->ops->fields(s->ops_priv, ev, text_field, &fields);
	fputc('\n', out);
}

static void batch(void *priv, struct stream *s, const struct batch *b)
{
	struct printing *p = priv;
	const struct event *evs[STREAM_BATCH];
	_cleanup_free_ char **texts = NULL;
	size_t i, n = 0;

	for (i = 0; i < b->n; i++)
		if (b->ev[i].ev != EVENT_TYPE_NONE)
			evs[n++] = &b->ev[i];
	if (!p->pr->ndjson && s->ops && s->ops->render && n) {
		texts = xcalloc(n, sizeof(*texts));
		s->ops->render(s->ops_priv, evs, n, texts);
	}
	for (i = n = 0; i < b->n; i++) {
		const struct event *ev = &b->ev[i];

		if (ev->ev == EVENT_TYPE_NONE) {
			take_pseudo(p, ev);
			continue;
		}
		if (p->pr->ndjson)
			print_json(p, s, ev);
		else
			print_text(p, s, ev, texts ? texts[n] : NULL);
		if (texts)
			free(texts[n]);
		n++;
	}
}

static struct error *begin(void *priv, struct stream *s)
{
	struct printing *p = priv;

	if (p->pr->sources++ && !p->pr->ndjson) {
		fputs("# ", p->pr->out);
		put_escaped(p->pr->out, s->desc.path, strlen(s->desc.path));
		fputc('\n', p->pr->out);
	}
	return NULL;
}

static struct error *end(void *priv, struct stream *s)
{
	struct printing *p = priv;

	(void)s;
	free(p->tasks);
	free(p);
	return NULL;
}

static const struct consumer printing_consumer = {
	.sync = true, .begin = begin, .batch = batch, .end = end
};

static struct error *open_printing(struct parse_ctx *ctx, struct stream **ret,
				   const struct source_desc *desc, const struct stream_ops *ops,
				   void *ops_priv)
{
	struct printing *p = xcalloc(1, sizeof(*p));

	p->pr = ctx->open_arg;
	return stream_open(ret, ctx->db, desc, ops, ops_priv, &printing_consumer, p);
}

static struct error *choose_format(const struct options *opt, bool *ndjson)
{
	const char *dot = opt->output ? strrchr(opt->output, '.') : NULL;
	const char *format = opt->format;

	if (!format)
		format = dot && (!strcmp(dot, ".ndjson") || !strcmp(dot, ".jsonl")) ? "ndjson" : "text";
	*ndjson = !strcmp(format, "ndjson");
	if (!*ndjson && strcmp(format, "text"))
		return error_new(ERR_USAGE, "events are printed as text or ndjson, not as %s", format);
	if (opt->vm || opt->vcpu)
		return error_new(ERR_USAGE, "events takes no --vm or --vcpu: its output is all tasks' (select by \"tid\")");
	return NULL;
}

static int run(const struct options *opt, struct error **err)
{
	bool to_file = opt->output && strcmp(opt->output, "-");
	struct printer pr = { .out = stdout };
	struct case_db *db = NULL;
	int status = EXIT_OK;

	*err = choose_format(opt, &pr.ndjson);
	if (!*err)
		*err = output_check(opt);
	if (*err)
		return status;
	if (opt->n_args && to_file)
		pr.out = fopen(opt->output, "we");
	if (!pr.out) {
		*err = error_io("%s", opt->output);
		return status;
	}
	*err = run_inputs(opt, &db, open_printing, &pr, &status);
	if ((fflush(pr.out) || ferror(pr.out)) && !*err)
		*err = error_io("%s: can't write", to_file ? opt->output : "standard output");
	if (pr.out != stdout)
		fclose(pr.out);
	if (!*err && !pr.sources && status == EXIT_OK)
		*err = error_new(ERR_INPUT, "no events in the input");
	case_close(db);
	return status;
}

static const struct command events_command = {
	.name		= "events",
	.usage		= "[OPTIONS] INPUT...",
	.summary	= "the decoded events in time order, as text or NDJSON",
	.help		= "  kvmortem events perf.data --time 18.9,19.2\n"
			  "  kvmortem events perf.data -f ndjson | jq 'select(.event == \"kvm:kvm_exit\") | .fields.exit_reason'\n"
			  "\n"
			  "Text lines are \"comm-tid [cpu] time: event: fields\", the fields as the kernel's own print format\n"
			  "puts them. NDJSON has one object a line, fields under the kernel's names with their raw values.\n",
	.run		= run,
};
REGISTER(commands, &events_command);
