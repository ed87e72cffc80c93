// SPDX-License-Identifier: GPL-2.0-or-later
/* html_vcpus.c - VMs and vCPUs, and where each vCPU's time went. */
#include "html.h"

#define VCPUS_SHOWN	128

const struct html_state html_states[8] = {
	{ "guest_ns", "guest", "guest", "in the guest" },
	{ "host_ns", "host", "host", "handling exits in the host kernel" },
	{ "vmm_ns", "vmm", "VMM", "in the VMM" },
	{ "halted_ns", "halted", "halted", "halted by the guest" },
	{ "waiting_ns", "waiting", "waiting", "runnable but waiting for a CPU" },
	{ "blocked_ns", "blocked", "blocked", "blocked in the host" },
	{ "unknown_ns", "unknown", "unknown", "not recorded" },
	{ "lost_ns", "lost", "lost", "lost with lost events" },
};

static void put_row(struct html *h, struct json_object *vm, struct json_object *c)
{
	int64_t span = js_int(c, "last_ns") - js_int(c, "first_ns"), x = 0;
	char buf[HUMAN_MAX];
	size_t k;

	html_row(h);
	html_rawf(h, "<th scope=\"row\">VM %" PRId64 ", ", js_int(vm, "id"));
	if (js_has(c, "vcpu"))
		html_rawf(h, "vCPU %" PRId64 "</th>", js_int(c, "vcpu"));
	else
		html_raw(h, "vCPU ?</th>");
	if (js_has(c, "tid"))
		html_rawf(h, "<td class=\"n\">%" PRId64 "</td>", js_int(c, "tid"));
	else
		html_num(h, "?");
	html_num(h, human_ns(buf, span));
	html_raw(h, "<td class=\"mix\"><svg class=\"states\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
	for (k = 0; k < ARRAY_SIZE(html_states) && span > 0; k++) {
		int64_t ns = js_int(c, html_states[k].key);

		if ((double)ns / (double)span > 0.0005)
			html_rawf(h,
				  "<rect class=\"s-%s\" x=\"%.1f\" width=\"%.1f\" height=\"10\"/>",
				  html_states[k].class, 1000.0 * (double)x / (double)span,
				  1000.0 * (double)ns / (double)span);
		x += ns;
	}
	html_raw(h, "</svg></td>");
	for (k = 0; k < ARRAY_SIZE(html_states); k++) {
		int64_t ns = js_int(c, html_states[k].key);

		html_num(h, ns ? human_percent(buf, ns, span) : "–");
	}
	html_row_end(h);
}

struct error *html_vcpus(struct html *h)
{
	static const char *const heads[] = { "vCPU", ">thread", ">span", "where its time went", ">guest", ">host", ">VMM",
					     ">halted", ">waiting", ">blocked", ">unknown", ">lost" };
	size_t i, j, n = 0, all = 0;

	for (i = 0; i < json_object_array_length(h->text.vms); i++)
		all += js_len(json_object_array_get_idx(h->text.vms, i), "vcpus");
	if (!all)
		return NULL;
	html_section(h, "vcpus", "VMs and vCPUs");
	html_raw(h, "<ul class=\"vms\">\n");
	for (i = 0; i < json_object_array_length(h->text.vms) && i < VCPUS_SHOWN; i++) {
		struct json_object *vm = json_object_array_get_idx(h->text.vms, i);
		_cleanup_free_ char *name = text_vm(&h->text, js_int(vm, "id"));

		html_raw(h, "<li>");
		html_name(h, name, 80);
		html_rawf(h, ": %zu vCPU%s", js_len(vm, "vcpus"), js_len(vm, "vcpus") == 1 ? "" : "s");
		if (h->text.recordings > 1) {
			html_raw(h, ", in ");
			html_name(h, text_source(&h->text, js_int(vm, "source")), 48);
		}
		html_raw(h, "</li>\n");
	}
	html_raw(h, "</ul>\n");
	html_table(h, "Where the vCPUs’ time went", heads, ARRAY_SIZE(heads));
	for (i = 0; i < json_object_array_length(h->text.vms); i++) {
		struct json_object *vm = json_object_array_get_idx(h->text.vms, i);

		for (j = 0; j < js_len(vm, "vcpus") && n < VCPUS_SHOWN; j++, n++)
			put_row(h, vm, js_at(vm, "vcpus", j));
	}
	html_table_end(h);
	if (n < all)
		html_rawf(h, "<p class=\"note\">and %zu more vCPUs (<code>-f json</code> has all)</p>\n", all - n);
	html_section_end(h);
	return NULL;
}
