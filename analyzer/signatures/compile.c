// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compile.c - run while kvmortem is built: reads the catalogue's YAML with the program's own loader
 * (sig_load.c) and prints it as a C file of constants (embedded_catalogue[] of sig.h), so that
 * nothing has to be parsed when kvmortem starts. A file that can't be read fails the build.
 *
 *     compile FILE... >signatures_embedded.c
 */
#include "../sig.h"

static void put_string(const char *s)
{
	if (!s) {
		fputs("NULL", stdout);
		return;
	}
	fputs("(char *)\"", stdout);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			fputs(s[1] ? "\\n\"\n\t\t\"" : "\\n", stdout);
		else if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\%03o", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_field(const char *name, const char *s)
{
	if (!s)
		return;
	printf("\t.%s = ", name);
	put_string(s);
	fputs(",\n", stdout);
}

static void put_strings(const char *name, const char *count, char *const *list, size_t n)
{
	if (!n)
		return;
	printf("\t.%s = (char **)(char *const []){\n", name);
	for (size_t i = 0; i < n; i++) {
		putchar('\t');
		put_string(list[i]);
		fputs(",\n", stdout);
	}
	printf("\t}, .%s = %zu,\n", count, n);
}

static void open_list(const char *name, const char *type, size_t n)
{
	printf("\t.%s = (%s *)(const %s []){\n", name, type, type);
	if (!n)
		puts("\t{ 0 },");
}

static void put_items(const struct signature *s)
{
	open_list("items", "struct sig_item", s->n_items);
	for (size_t i = 0; i < s->n_items; i++) {
		const struct sig_item *it = &s->items[i];

		printf("\t{ .role = %d, .strength = %d, .line = %lu,\n", (int)it->role,
		       (int)it->strength, it->line);
		put_field("id", it->id);
		put_field("says", it->says);
		put_field("sql", it->sql);
		put_strings("needs", "n_needs", it->needs, it->n_needs);
		puts("\t},");
	}
	printf("\t}, .n_items = %zu,\n", s->n_items);
}

static void put_changes(const char *name, const struct kernel_change *changes, size_t n)
{
	if (!n)
		return;
	open_list(name, "struct kernel_change", n);
	for (size_t i = 0; i < n; i++) {
		const struct kernel_change *c = &changes[i];

		printf("\t{ .partial = %d, .mitigation = %d, .no_stable = %d, .unverified = %d,\n",
		       c->partial, c->mitigation, c->no_stable, c->unverified);
		put_field("commit", c->commit);
		put_field("subject", c->subject);
		put_field("upstream", c->upstream);
		put_strings("releases", "n_releases", c->releases, c->n_releases);
		puts("\t},");
	}
	printf("\t}, .n_%s = %zu,\n", name, n);
}

static void put_records(const struct signature *s)
{
	if (!s->n_records)
		return;
	open_list("records", "struct sig_record", s->n_records);
	for (size_t i = 0; i < s->n_records; i++) {
		const struct sig_record *r = &s->records[i];

		printf("\t{ .line = %lu,\n", r->line);
		put_field("command", r->command);
		put_field("why", r->why);
		put_strings("items", "n_items", r->items, r->n_items);
		puts("\t},");
	}
	printf("\t}, .n_records = %zu,\n", s->n_records);
}

static void put_lookalikes(const struct signature *s)
{
	if (!s->n_lookalikes)
		return;
	open_list("lookalikes", "struct sig_lookalike", s->n_lookalikes);
	for (size_t i = 0; i < s->n_lookalikes; i++) {
		const struct sig_lookalike *a = &s->lookalikes[i];

		printf("\t{ .line = %lu,\n", a->line);
		put_field("id", a->id);
		put_field("tells_apart", a->tells_apart);
		put_strings("by", "n_by", a->by, a->n_by);
		puts("\t},");
	}
	printf("\t}, .n_lookalikes = %zu,\n", s->n_lookalikes);
}

/* The file's text is not printed: the assembler takes it from the file itself. */
static void put_signature(const struct signature *s, const char *path, int number)
{
	const char *base = strrchr(path, '/');

	printf("\nextern const char km_signature_%d[];\n"
	       "__asm__(\".section .rodata\\n.global km_signature_%d\\nkm_signature_%d:\\n"
	       ".incbin \\\"%s\\\"\\n.byte 0\\n.previous\");\n",
	       number, number, number, path);
	printf("static const struct signature signature_%d = {\n\t.embedded = true,\n"
	       "\t.yaml = (char *)km_signature_%d,\n", number, number);
	put_field("file", base ? base + 1 : path);
	put_field("id", s->id);
	put_field("title", s->title);
	put_field("status", s->status);
	put_field("symptom", s->symptom);
	put_field("mechanism", s->mechanism);
	put_field("workaround", s->workaround);
	put_field("advice", s->advice);
	put_changes("introduced", s->introduced, s->n_introduced);
	put_changes("fixed", s->fixed, s->n_fixed);
	put_items(s);
	put_records(s);
	put_lookalikes(s);
	put_strings("references", "n_references", s->references, s->n_references);
	puts("};");
}

int main(int argc, char **argv)
{
	puts("#include \"sig.h\"");
	for (int i = 1; i < argc; i++) {
		struct signature *s = NULL;
		struct error *err = sig_load_file(&s, argv[i]);

		if (err) {
			fprintf(stderr, "%s\n", err->what);
			error_free(err);
			return EXIT_FAILURE;
		}
		put_signature(s, argv[i], i - 1);
		sig_free(s);
	}
	puts("\nconst struct signature *const embedded_catalogue[] = {");
	for (int i = 1; i < argc; i++)
		printf("\t&signature_%d,\n", i - 1);
	puts("\tNULL\n};");
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
