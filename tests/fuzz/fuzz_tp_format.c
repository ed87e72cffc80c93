// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_tp_format.c - tracepoint formats: arbitrary text as a format, and the bytes behind it as
 * a record of that event.
 */
#include "parsers/tp_format.h"

static void ignore(void *arg, const char *name, const struct field_value *v)
{
	size_t *sum = arg, i;

	*sum += strlen(name);
	if (v->type == FIELD_STR || v->type == FIELD_ARRAY)
		for (i = 0; i < v->len; i++)
			*sum += (unsigned char)v->s[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t text = size > 128 ? size - 128 : size, sum = 0, kind, len;
	struct stream s = { 0 };
	struct tp_format *f;
	struct error *err;
	char *out;
	FILE *mem;

	err = tp_format_parse(&f, "kvm", (const char *)data, text);
	if (err) {
		error_free(err);
		return 0;
	}
	strtab_init(&s.strings, 1000);
	for (kind = 0; kind < EV_NKINDS; kind++) {
		const char *missing;
		struct tp_decoder *d = tp_decoder_create(f, (enum event_kind)kind, 0, &missing);
		struct event ev = { 0 };

		for (len = 0; len <= size - text; len += 16)
			tp_decode(d, &s, data + text, len, &ev);
		tp_decoder_free(d);
	}
	tp_emit(f, data + text, size - text, ignore, &sum);
	mem = open_memstream(&out, &len);
	tp_text(f, data + text, size - text, mem);
	fclose(mem);
	free(out);
	strtab_deinit(&s.strings);
	free(s.reasons);
	tp_format_free(f);
	return 0;
}
