// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_signatures.c - the catalogue: list it, show one signature, lint files before they are used.
 */
#include <json-c/json.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "sig.h"

#define JSON_FLAGS	(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)

static void print_json(FILE *out, struct json_object *o)
{
	fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_FLAGS));
	json_object_put(o);
}

static struct json_object *object(void)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "schema", json_object_new_int(1));
	return o;
}

static void add_text(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

static void add_texts(struct json_object *o, const char *key, char **values, size_t n)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(a, json_object_new_string(values[i]));
	json_object_object_add(o, key, a);
}

static struct error *list(const struct catalogue *c, bool json, FILE *out)
{
	struct json_object *o, *a;
	int width = 0;

	if (!json) {
		for (size_t i = 0; i < c->n; i++)
			width = MAX(width, (int)strlen(c->sigs[i]->id));
		for (size_t i = 0; i < c->n; i++)
			fprintf(out, "%-*s  %s\n", width, c->sigs[i]->id, c->sigs[i]->title);
		return NULL;
	}
	o = object();
	a = json_object_new_array();
	for (size_t i = 0; i < c->n; i++) {
		struct json_object *one = json_object_new_object();

		add_text(one, "id", c->sigs[i]->id);
		add_text(one, "title", c->sigs[i]->title);
		add_text(one, "status", c->sigs[i]->status);
		json_object_array_add(a, one);
	}
	json_object_object_add(o, "signatures", a);
	print_json(out, o);
	return NULL;
}

static struct json_object *changes(const struct kernel_change *c, size_t n)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		add_text(o, "commit", c[i].commit);
		add_text(o, "subject", c[i].subject);
		add_text(o, "upstream", c[i].upstream);
		add_texts(o, "releases", c[i].releases, c[i].n_releases);
		json_object_object_add(o, "partial", json_object_new_boolean(c[i].partial));
		json_object_object_add(o, "mitigation", json_object_new_boolean(c[i].mitigation));
		json_object_object_add(o, "unverified", json_object_new_boolean(c[i].unverified));
		json_object_array_add(a, o);
	}
	return a;
}

static struct json_object *lookalikes(const struct signature *s)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < s->n_lookalikes; i++) {
		struct json_object *o = json_object_new_object();

		add_text(o, "id", s->lookalikes[i].id);
		add_text(o, "tells_apart", s->lookalikes[i].tells_apart);
		add_texts(o, "by", s->lookalikes[i].by, s->lookalikes[i].n_by);
		json_object_array_add(a, o);
	}
	return a;
}

static void show_json(const struct signature *s, FILE *out)
{
	struct json_object *o = object(), *items = json_object_new_array();

	add_text(o, "id", s->id);
	add_text(o, "title", s->title);
	add_text(o, "status", s->status);
	add_text(o, "symptom", s->symptom);
	add_text(o, "mechanism", s->mechanism);
	json_object_object_add(o, "introduced", changes(s->introduced, s->n_introduced));
	json_object_object_add(o, "fixed", changes(s->fixed, s->n_fixed));
	for (size_t i = 0; i < s->n_items; i++) {
		const struct sig_item *it = &s->items[i];
		struct json_object *one = json_object_new_object();

		add_text(one, "id", it->id);
		add_text(one, "role", sig_role_name(it->role));
		add_text(one, "strength",
			 it->role == SIG_PRECONDITION ? NULL : sig_strength_name(it->strength));
		add_texts(one, "needs", it->needs, it->n_needs);
		add_text(one, "says", it->says);
		add_text(one, "sql", it->sql);
		json_object_array_add(items, one);
	}
	json_object_object_add(o, "items", items);
	json_object_object_add(o, "lookalikes", lookalikes(s));
	add_text(o, "workaround", s->workaround);
	add_text(o, "advice", s->advice);
	add_texts(o, "references", s->references, s->n_references);
	print_json(out, o);
}

static struct error *show(const struct catalogue *c, const struct options *opt, bool json,
			  FILE *out)
{
	if (opt->n_args < 2)
		return error_new(ERR_USAGE,
				 "signatures show: name an id (see kvmortem signatures list)");
	for (size_t i = 1; i < opt->n_args; i++) {
		const struct signature *s = catalogue_find(c, opt->args[i]);

		if (!s)
			return error_new(ERR_USAGE,
					 "%s: no such signature (see kvmortem signatures list)",
					 opt->args[i]);
		if (json)
			show_json(s, out);
		else
			fputs(s->yaml, out);
	}
	return NULL;
}

static struct error *lint(const struct options *opt, bool json, FILE *out, int *status)
{
	struct json_object *o = object(), *a = json_object_new_array();
	bool told = false;
	int total = 0;

	json_object_object_add(o, "findings", a);
	if (opt->n_args < 2) {
		json_object_put(o);
		return error_new(ERR_USAGE, "signatures lint: name the files to check");
	}
	for (size_t i = 1; i < opt->n_args; i++) {
		_cleanup_free_ char *text = NULL, *fixtures = lint_fixtures_dir(opt->args[i]);
		size_t len = 0;
		FILE *f = open_memstream(&text, &len);
		int n = f ? signature_lint(opt->args[i], f) : -1;

		if (f)
			fclose(f);
		if (n < 0) {
			struct error *err =
				error_new(ERR_IO, "%.*s", (int)(text ? strcspn(text, "\n") : 0),
					  text ? text : "");

			json_object_put(o);
			return err;
		}
		total += n;
		if (!fixtures && !told && !opt->quiet) {
			fprintf(stderr, "kvmortem: %s: no fixtures/signatures two folders above: bundles are not asked for\n",
				opt->args[i]);
			told = true;
		}
		if (!json)
			fputs(text, out);
		for (char *save = NULL, *p = strtok_r(text, "\n", &save); p;
		     p = strtok_r(NULL, "\n", &save))
			json_object_array_add(a, json_object_new_string(p));
	}
	if (json)
		print_json(out, o);
	else
		json_object_put(o);
	if (total)
		*status = EXIT_NOTHING;
	return NULL;
}

/*
 * Arguments behind the verb: ids of the catalogue, and the rest, which are inputs. With inputs, *db
 * is the case that comes out of them.
 */
static struct error *ids_and_inputs(const struct options *opt, const struct catalogue *c,
				    const char **ids, size_t *n_ids, struct case_db **db,
				    int *status)
{
	_cleanup_free_ const char **inputs = xcalloc(opt->n_args, sizeof(*inputs));
	struct options of_inputs = *opt;

	*n_ids = of_inputs.n_args = 0;
	*db = NULL;
	for (size_t i = 1; i < opt->n_args; i++) {
		if (catalogue_find(c, opt->args[i]))
			ids[(*n_ids)++] = opt->args[i];
		else if (strcmp(opt->args[i], "-") && access(opt->args[i], F_OK))
			return error_new(ERR_USAGE, "%s: neither a signature (see kvmortem signatures list) nor a file",
					 opt->args[i]);
		else
			inputs[of_inputs.n_args++] = opt->args[i];
	}
	of_inputs.args = inputs;
	return of_inputs.n_args ? run_inputs(&of_inputs, db, NULL, NULL, status) : NULL;
}

static struct error *record(struct case_db *db, const struct catalogue *c, const char *const *ids,
			    size_t n_ids, FILE *out)
{
	if (db)
		TRY(verdicts_compute(db, c));
	return record_script(db, c, ids, n_ids, out);
}

/* With -v also what all verdicts together took, evidence and writing included. */
static struct error *cost(struct case_db *db, const struct catalogue *c, const char *const *ids,
			  size_t n_ids, bool verbose, FILE *out)
{
	struct timespec a, b;

	if (verbose) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		TRY(verdicts_compute(db, c));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		fprintf(out, "# all verdicts: %.1f ms of CPU time\n", (double)(b.tv_sec - a.tv_sec) * 1e3 +
			(double)(b.tv_nsec - a.tv_nsec) / 1e6);
	}
	return signatures_cost(db, c, ids, n_ids, out);
}

/* The id is the name of the file that is written. */
static struct error *draft(struct case_db *db, const struct options *opt, FILE *out)
{
	const char *base = opt->output ? strrchr(opt->output, '/') : NULL;
	_cleanup_free_ char *id = xstrdup(base ? base + 1 : opt->output ? opt->output : "");
	char *dot = strstr(id, ".yaml");

	if (dot)
		*dot = '\0';
	return signature_draft(db, sig_valid_id(id) ? id : "my-bug", out);
}

/* record, cost and draft: what they do with ids and a case. */
static struct error *of_case(const char *verb, const struct options *opt, const struct catalogue *c,
			     FILE *out, int *status)
{
	_cleanup_free_ const char **ids = xcalloc(opt->n_args + 1, sizeof(*ids));
	struct case_db *db;
	struct error *err;
	size_t n_ids;

	TRY(ids_and_inputs(opt, c, ids, &n_ids, &db, status));
	if (!strcmp(verb, "record"))
		err = record(db, c, ids, n_ids, out);
	else if (!db)
		err = error_new(ERR_USAGE, "signatures %s: name an input", verb);
	else if (!strcmp(verb, "cost"))
		err = cost(db, c, ids, n_ids, opt->verbose, out);
	else
		err = draft(db, opt, out);
	if (db)
		case_close(db);
	return err;
}

static struct error *dispatch(const struct options *opt, bool json, FILE *out, int *status)
{
	static const char *const verbs[] = { "list", "show", "record", "cost", "draft" };
	const char *verb = opt->n_args ? opt->args[0] : "list";
	struct catalogue *c;
	struct error *err;
	size_t i;

	if (!strcmp(verb, "lint"))
		return lint(opt, json, out, status);
	for (i = 0; i < ARRAY_SIZE(verbs) && strcmp(verb, verbs[i]); i++)
		;
	if (i == ARRAY_SIZE(verbs))
		return error_new(ERR_USAGE,
				 "signatures: list, show, lint, record, cost or draft is expected, not '%s'",
				 verb);
	TRY(catalogue_load(&c, opt->signature_dirs, opt->n_signature_dirs));
	if (i == 0)
		err = list(c, json, out);
	else if (i == 1)
		err = show(c, opt, json, out);
	else
		err = of_case(verb, opt, c, out, status);
	catalogue_free(c);
	return err;
}

static int run(const struct options *opt, struct error **err)
{
	bool json = opt->format && !strcmp(opt->format, "json");
	bool to_file = opt->output && strcmp(opt->output, "-");
	size_t n = to_file ? strlen(opt->output) : 0;
	int status = EXIT_OK;
	FILE *out = stdout;

	if (!opt->format && n > 5 && !strcmp(opt->output + n - 5, ".json"))
		json = true;
	if (opt->format && !json && strcmp(opt->format, "text")) {
		*err = error_new(ERR_USAGE, "signatures: -f text or json, not '%s'", opt->format);
		return EXIT_USAGE;
	}
	if (to_file) {
		out = fopen(opt->output, "we");
		if (!out) {
			*err = error_io("%s", opt->output);
			return EXIT_FAILED;
		}
	}
	*err = dispatch(opt, json, out, &status);
	if (to_file && fclose(out) && !*err)
		*err = error_io("%s", opt->output);
	return status;
}

static const struct command signatures_command = {
	.name = "signatures",
	.usage = "[list | show ID... | lint FILE... | record [ID...] [INPUT...] | draft INPUT... | cost [ID...] INPUT...]",
	.summary = "the catalogue of known bugs: list, show, check, record, draft",
	.help = "  kvmortem signatures list               ids and titles\n"
		"  kvmortem signatures show ID            one signature's file\n"
		"  kvmortem signatures lint my/*.yaml     check files; status 1 when something is found\n"
		"  kvmortem signatures record ID...       a script, to be run on the host, that records what these need (no ID: all)\n"
		"  kvmortem signatures record [ID...] case.tar.xz\n"
		"                                         one that records what this case's verdicts could not see\n"
		"  kvmortem signatures draft case.tar.xz  a skeleton of a new signature from what stands out in a case\n"
		"  kvmortem signatures cost case.tar.xz   VM steps of each signature's SQL on a case\n"
		"  kvmortem case.tar.xz --signatures my   analyse with a catalogue of your own too",
	.run = run,
};
REGISTER(commands, &signatures_command);
