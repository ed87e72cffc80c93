// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tp_format.c - tracepoint formats: reading, symbol lists, decoding, and what hostile ones
 * may not do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parsers/tp_format.h"

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_fields[] =
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n";

/* The flags of 6.1 and of 4.4, whose print formats differ. */
static const char flags_61[] =
	"print fmt: \"prev_state=%s%s\", (REC->prev_state & ((((0x0000 | 0x0001 | 0x0002) + 1) << 1) - 1)) ? "
	"__print_flags(REC->prev_state & ((((0x0000 | 0x0001) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, "
	"{ 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "
	"{ 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n";
static const char flags_44[] =
	"print fmt: \"prev_state=%s%s\", REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", "
	"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }, "
	"{ 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", REC->prev_state & 2048 ? \"+\" : \"\"\n";

static struct tp_format *parse(const char *system, const char *text)
{
	struct tp_format *f;
	struct error *err = tp_format_parse(&f, system, text, strlen(text));

	if (err)
		fail_msg("%s", err->what);
	return f;
}

static struct tp_format *make(const char *system, const char *name, const char *fields,
			      const char *print)
{
	_cleanup_free_ char *text = xasprintf("name: %s\nID: 319\n" COMMON "%s%s", name, fields, print);

	return parse(system, text);
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static void put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static uint64_t state_of(struct tp_decoder *d, struct stream *s, uint64_t kernel)
{
	uint8_t raw[64] = { 0 };
	struct event ev;

	put64(raw + 32, kernel);
	assert_true(tp_decode(d, s, raw, sizeof(raw), &ev));
	return ev.a[3];
}

static void test_switch(void **state)
{
	struct tp_format *f = make("sched", "sched_switch", switch_fields, flags_61);
	struct stream s = { 0 };
	uint8_t raw[64] = { 0 };
	const char *missing;
	struct tp_decoder *d;
	uint64_t comm[2];
	struct event ev;

	(void)state;
	assert_int_equal(tp_kind(f), EV_SCHED_SWITCH);
	d = tp_decoder_create(f, EV_SCHED_SWITCH, 0, &missing);
	assert_null(missing);
	raw[2] = 0x89;
	memcpy(raw + 40, "kvm-pit/4711\0left", 16);	/* what older kernels leave behind a comm */
	put32(raw + 24, 4711);
	put32(raw + 56, (uint32_t)-1);
	put32(raw + 60, 98);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	comm_words(comm, "kvm-pit/4711", 12);
	assert_int_equal(ev.kind, EV_SCHED_SWITCH);
	assert_int_equal(ev.a[0], comm[0]);
	assert_int_equal(ev.a[1], comm[1]);
	assert_int_equal(ev.a[2], 4711);
	assert_int_equal(ev.b[0], UINT32_MAX);
	assert_int_equal(ev.b[1], 98);
	assert_int_equal(ev.flags, EVF_KNOWN | EVF_HARDIRQ | EVF_IRQS_OFF);
	assert_false(tp_decode(d, &s, raw, 63, &ev));
	assert_int_equal(ev.kind, EV_OTHER);
	tp_decoder_free(d);
	tp_format_free(f);
}

/* Bits of a field under a name of our own, an integer's symbol, and a field that is not there. */
static void test_counted(void **state)
{
	struct tp_format *f = make("kvm", "kvm_ioapic_set_irq",
				   "\tfield:__u64 e;\toffset:8;\tsize:8;\tsigned:0;\n"
				   "\tfield:int pin;\toffset:16;\tsize:4;\tsigned:1;\n\n", "");
	struct tp_format *g = make("kvm", "kvm_apic",
				   "\tfield:unsigned int rw;\toffset:8;\tsize:4;\tsigned:0;\n"
				   "\tfield:unsigned int reg;\toffset:12;\tsize:4;\tsigned:0;\n\n",
				   "print fmt: \"%s\", __print_symbolic(REC->reg, { 0xB0, \"APIC_\" \"EOI\" })\n");
	struct stream s = { 0 };
	uint8_t raw[24] = { 0 };
	const char *missing;
	struct tp_decoder *d;
	struct event ev;

	(void)state;
	strtab_init(&s.strings, 0);
	d = tp_decoder_create(f, tp_kind(f), 0, &missing);
	put32(raw + 8, 1u << 16 | 1u << 15 | 0x81);
	put32(raw + 16, 19);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(ev.kind, EV_KVM_IOAPIC_SET_IRQ);
	assert_int_equal(ev.b[0], 19);
	assert_int_equal(ev.b[1], 1);
	put32(raw + 8, 1u << 15 | 0x81);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(ev.b[1], 0);
	tp_decoder_free(d);
	d = tp_decoder_create(g, tp_kind(g), 0, &missing);
	put32(raw + 8, 1);
	put32(raw + 12, 0xb0);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(ev.kind, EV_KVM_APIC);
	assert_int_equal(ev.b[1], 1);
	assert_string_equal(strtab_str(&s.strings, (uint32_t)ev.a[2]), "APIC_EOI");
	put32(raw + 12, 0x3b0);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(strtab_str(&s.strings, (uint32_t)ev.a[2]), "944");
	tp_decoder_free(d);
	tp_format_free(f);
	f = make("kvm", "kvm_set_irq", "\tfield:unsigned int gsi;\toffset:8;\tsize:4;\tsigned:0;\n\n", "");
	d = tp_decoder_create(f, tp_kind(f), 0, &missing);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(ev.b[0], 1);
	assert_int_equal(ev.b[1], EVENT_U32_NONE);	/* left out of the key */
	tp_decoder_free(d);
	tp_format_free(f);
	tp_format_free(g);
	strtab_deinit(&s.strings);
}

static void test_states(void **state)
{
	static const struct {
		uint64_t new, old, want;
	} cases[] = {
		{ 0, 0, TSTATE_RUNNABLE },
		{ 0x100, 2048, TSTATE_PREEMPTED },
		{ 1, 1, TSTATE_INTERRUPTIBLE },
		{ 2, 2, TSTATE_UNINTERRUPTIBLE },
		{ 0x10, 32, TSTATE_DEAD },
		{ 0x20, 16, TSTATE_ZOMBIE },
		{ 0x40, 512, TSTATE_PARKED },
		{ 2, 2 | 128, TSTATE_UNINTERRUPTIBLE },
		{ 0x80 | 2, 1024 | 2, TSTATE_IDLE | TSTATE_UNINTERRUPTIBLE },
		{ 1ull << 40, 1ull << 40, TSTATE_OTHER },
	};
	struct tp_format *f61 = make("sched", "sched_switch", switch_fields, flags_61);
	struct tp_format *f44 = make("sched", "sched_switch", switch_fields, flags_44);
	struct tp_format *bare = make("sched", "sched_switch", switch_fields, "");
	const char *missing;
	struct tp_decoder *d61 = tp_decoder_create(f61, EV_SCHED_SWITCH, 0, &missing);
	struct tp_decoder *d44 = tp_decoder_create(f44, EV_SCHED_SWITCH, 0, &missing);
	struct tp_decoder *dbare = tp_decoder_create(bare, EV_SCHED_SWITCH, 0, &missing);
	struct stream s = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(state_of(d61, &s, cases[i].new), cases[i].want);
		assert_int_equal(state_of(d44, &s, cases[i].old), cases[i].want);
		assert_int_equal(state_of(dbare, &s, cases[i].new), cases[i].want);
	}
	tp_decoder_free(d61);
	tp_decoder_free(d44);
	tp_decoder_free(dbare);
	tp_format_free(f61);
	tp_format_free(f44);
	tp_format_free(bare);
}

static const char exit_fields[] =
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long guest_rip;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 isa;\toffset:24;\tsize:4;\tsigned:0;\n\n";
static const char exit_print[] =
	"print fmt: \"reason %s%s\", (REC->isa == 1) ? __print_symbolic(REC->exit_reason & 0xffff, { 0, \"EXCEPTION_NMI\" }, "
	"{ 12, \"HLT\" }, { 48, \"EPT_VIOLATION\" }) : __print_symbolic(REC->exit_reason, { 0x078, \"hlt\" }, "
	"{ 0x400, \"npf\" }, { 12, \"not-on-vmx\" }), (REC->isa == 1) ? __print_flags(REC->exit_reason & ~0xffff, \" \", "
	"{ 0x80000000, \"FAILED_VMENTRY\" }) : \"\"\n";

static const char *reason_of(struct tp_decoder *d, struct stream *s, uint32_t isa, uint32_t code,
			     enum exit_class class)
{
	uint8_t raw[32] = { 0 };
	struct event ev;
	int twice;

	put32(raw + 8, code);
	put32(raw + 24, isa);
	for (twice = 0; twice < 2; twice++)	/* the second time out of the cache */
		assert_true(tp_decode(d, s, raw, sizeof(raw), &ev));
	assert_int_equal(EXIT_CLASS(ev.b[0]), class);
	return stream_reason_name(s, ev.b[0]);
}

static void test_exit_reasons(void **state)
{
	struct tp_format *f = make("kvm", "kvm_exit", exit_fields, exit_print);
	struct tp_format *bare = make("kvm", "kvm_exit", exit_fields, "");
	struct stream s = { 0 };
	const char *missing;
	struct tp_decoder *d = tp_decoder_create(f, EV_KVM_EXIT, 0, &missing);
	struct tp_decoder *dbare = tp_decoder_create(bare, EV_KVM_EXIT, 0, &missing);

	(void)state;
	strtab_init(&s.strings, 1000);
	assert_string_equal(reason_of(d, &s, 1, 12, EXIT_HLT), "HLT");
	assert_string_equal(reason_of(d, &s, 1, 48, EXIT_NPF), "EPT_VIOLATION");
	assert_string_equal(reason_of(d, &s, 1, 0x80000000u | 48, EXIT_NPF), "EPT_VIOLATION");
	assert_string_equal(reason_of(d, &s, 2, 0x78, EXIT_HLT), "hlt");
	assert_string_equal(reason_of(d, &s, 2, 12, EXIT_OTHER), "not-on-vmx");
	/* what the trace doesn't name, the program's own table may */
	assert_string_equal(reason_of(d, &s, 2, 0x7c, EXIT_MSR), "msr");
	assert_string_equal(reason_of(d, &s, 2, 0xffffffff, EXIT_OTHER), "invalid_guest_state");
	assert_string_equal(reason_of(d, &s, 1, 0x7777, EXIT_OTHER), "UNKNOWN");
	assert_string_equal(reason_of(dbare, &s, 2, 0x400, EXIT_NPF), "npf");
	assert_string_equal(reason_of(dbare, &s, 1, 30, EXIT_IO), "IO_INSTRUCTION");
	tp_decoder_free(d);
	tp_decoder_free(dbare);
	tp_format_free(f);
	tp_format_free(bare);
	strtab_deinit(&s.strings);
	free(s.reasons);
}

static void test_arm_trap(void **state)
{
	struct tp_format *f = make("kvm", "kvm_exit",
		"\tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned int esr_ec;\toffset:12;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned long vcpu_pc;\toffset:16;\tsize:8;\tsigned:0;\n\n",
		"print fmt: \"%s: HSR_EC: 0x%04x (%s)\", __print_symbolic(REC->ret, {0, \"IRQ\" }, {2, \"TRAP\" }), REC->esr_ec, "
		"__print_symbolic(REC->esr_ec, { 0x24, \"DABT_LOW\" }, { 0x01, \"WFx\" })\n");
	struct stream s = { 0 };
	uint8_t raw[24] = { 0 };
	const char *missing;
	struct tp_decoder *d = tp_decoder_create(f, EV_KVM_EXIT, 0, &missing);
	struct event ev;

	(void)state;
	strtab_init(&s.strings, 1000);
	put32(raw + 8, 2);
	put32(raw + 12, 0x24);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(stream_reason_name(&s, ev.b[0]), "DABT_LOW");
	assert_int_equal(EXIT_CLASS(ev.b[0]), EXIT_NPF);
	put32(raw + 12, 0x01);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(EXIT_CLASS(ev.b[0]), EXIT_HLT);
	put32(raw + 8, 0);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(stream_reason_name(&s, ev.b[0]), "IRQ");
	tp_decoder_free(d);
	tp_format_free(f);
	strtab_deinit(&s.strings);
	free(s.reasons);
}

/* s390 and RISC-V have their own fields, and here no print formats: the program's own names serve.
 */
/* POWER: another system, and names of its own. */
static void test_kvm_hv(void **state)
{
	static const char fields[] =
		"\tfield:int vcpu_id;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:int trap;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long pc;\toffset:16;\tsize:8;\tsigned:0;\n\n";
	struct tp_format *f = make("kvm_hv", "kvm_guest_exit", fields,
				   "print fmt: \"VCPU %d: trap=%s pc=0x%lx\", REC->vcpu_id, __print_symbolic(REC->trap, {0x500, \"EXTERNAL\"}, "
				   "{0x980, \"HV_DECREMENTER\"}), REC->pc\n");
	struct stream s = { 0 };
	uint8_t raw[24] = { 0 };
	const char *missing;
	struct tp_decoder *d;
	struct event ev;

	(void)state;
	strtab_init(&s.strings, 1000);
	assert_int_equal(tp_kind(f), EV_KVM_EXIT);
	d = tp_decoder_create(f, EV_KVM_EXIT, 0, &missing);
	put32(raw + 8, 2);
	put32(raw + 12, 0x980);
	put64(raw + 16, 0x1238);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(stream_reason_name(&s, ev.b[0]), "HV_DECREMENTER");
	assert_int_equal(ev.b[1], 2);
	assert_true(ev.a[0] == 0x1238);
	tp_decoder_free(d);
	tp_format_free(f);
	f = make("other", "kvm_guest_exit", fields, "print fmt: \"x\"\n");
	assert_int_equal(tp_kind(f), EV_OTHER);
	tp_format_free(f);
	strtab_deinit(&s.strings);
	free(s.reasons);
}

static void test_other_isas(void **state)
{
	static const char s390[] =
		"\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned long pswmask;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:unsigned long pswaddr;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:u8 icptcode;\toffset:32;\tsize:1;\tsigned:0;\n\n";
	static const char riscv[] =
		"\tfield:unsigned long sepc;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:unsigned long scause;\toffset:16;\tsize:8;\tsigned:0;\n\n";
	struct tp_format *f = make("kvm", "kvm_s390_sie_exit", s390, "print fmt: \"x\"\n");
	struct stream s = { 0 };
	uint8_t raw[40] = { 0 };
	const char *missing;
	struct tp_decoder *d;
	struct event ev;

	(void)state;
	strtab_init(&s.strings, 1000);
	assert_int_equal(tp_kind(f), EV_KVM_EXIT);
	d = tp_decoder_create(f, EV_KVM_EXIT, 0, &missing);
	put32(raw + 8, 3);
	put64(raw + 24, 0x1234);
	raw[32] = 0x1c;
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(stream_reason_name(&s, ev.b[0]), "Wait state");
	assert_int_equal(EXIT_CLASS(ev.b[0]), EXIT_HLT);
	assert_int_equal(ev.b[1], 3);
	assert_true(ev.a[0] == 0x1234);
	tp_decoder_free(d);
	tp_format_free(f);

	f = make("kvm", "kvm_exit", riscv, "print fmt: \"x\"\n");
	d = tp_decoder_create(f, EV_KVM_EXIT, 0, &missing);
	put64(raw + 16, 23);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_string_equal(stream_reason_name(&s, ev.b[0]), "EXC_STORE_GUEST_PAGE_FAULT");
	assert_int_equal(EXIT_CLASS(ev.b[0]), EXIT_NPF);
	put64(raw + 16, 1ull << 63 | 5);
	assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
	assert_int_equal(EXIT_CLASS(ev.b[0]), EXIT_INTR);
	tp_decoder_free(d);
	tp_format_free(f);
	strtab_deinit(&s.strings);
	free(s.reasons);
}

static void test_probes(void **state)
{
	struct tp_format *reweight = make("kprobes", "p_anything",
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 se;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:u64 old;\toffset:24;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 new;\toffset:32;\tsize:8;\tsigned:0;\n\tfield:u64 vruntime;\toffset:40;\tsize:8;\tsigned:0;\n\n", "");
	struct tp_format *root = make("kprobes", "p_hv_track_root_tdp_0",
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 di;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:u64 si;\toffset:24;\tsize:8;\tsigned:0;\n\n", "");
	struct tp_format *call = make("syscalls", "sys_enter_ioctl",
		"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:unsigned int cmd;\toffset:24;\tsize:8;\tsigned:0;\n\tfield:unsigned long arg;\toffset:32;\tsize:8;\tsigned:0;\n\n",
		"");
	struct { struct tp_format *f; enum event_kind kind; uint64_t a[4]; } cases[] = {
		{ reweight, EV_PROBE_REWEIGHT, { 101, 102, 103, 104 } },
		{ root, EV_PROBE_ROOT, { 102, 0, 0, 0 } },
		{ root, EV_PROBE_ENTER, { 101, 102, 0, 0 } },
		{ call, EV_SYSCALL_ENTER, { 101, 102, 103, 0 } },
	};
	struct stream s = { 0 };
	uint8_t raw[48];
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		put64(raw + 8 * i, 99 + i);
	assert_int_equal(tp_kind(reweight), EV_PROBE_REWEIGHT);
	assert_int_equal(tp_kind(call), EV_SYSCALL_ENTER);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *missing;
		struct tp_decoder *d = tp_decoder_create(cases[i].f, cases[i].kind, 7, &missing);
		struct event ev;

		assert_true(tp_decode(d, &s, raw, sizeof(raw), &ev));
		assert_int_equal(ev.kind, cases[i].kind);
		assert_memory_equal(ev.a, cases[i].a, sizeof(ev.a));
		assert_int_equal(ev.b[0], 7);
		tp_decoder_free(d);
	}
	tp_format_free(reweight);
	tp_format_free(root);
	tp_format_free(call);
}

static void test_symbols(void **state)
{
	struct tp_format *f = make("x", "y", "\tfield:u64 v;\toffset:8;\tsize:8;\tsigned:0;\n\n",
		"print fmt: \"a \\\"__print_symbolic(\\\" %s\", __print_symbolic(REC->v, { (1 << 3) | 1, \"nine\" }, { -1, \"minus\" }, "
		"{ ENUM_NAME, \"unread\" }, { (u32)0x80U, \"cast\" }, { ((7) & ~3) + 2 * 3, \"ten\" }, { 5, \"quote\\\"d\" })\n");
	const struct tp_table *t = tp_table_of(f, "v", false, 0);

	(void)state;
	assert_int_equal(f->n_tables, 1);
	assert_string_equal(tp_symbol_name(t, 9), "nine");
	assert_string_equal(tp_symbol_name(t, UINT64_MAX), "minus");
	assert_string_equal(tp_symbol_name(t, 0x80), "cast");
	assert_string_equal(tp_symbol_name(t, 10), "ten");
	assert_string_equal(tp_symbol_name(t, 5), "quote\\\"d");
	assert_int_equal(t->n, 5);
	tp_format_free(f);
}

static void test_text(void **state)
{
	struct tp_format *f = make("sched", "sched_switch",
		"\tfield:u64 root;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:u64 n;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:long prev_state;\toffset:24;\tsize:8;\tsigned:1;\n\tfield:u32 half;\toffset:32;\tsize:4;\tsigned:0;\n\n",
		"print fmt: \"100%% %-5s root 0x%llx n %llu half %x\", REC->n ? \"a, b\" : \"c\", REC->root, REC->n, REC->half / 2, "
		"__print_flags(REC->prev_state, \"|\", { 1, \"S\" }, { 2, \"D\" }, { 0x80, \"I\" })\n");
	static const struct { uint64_t state; const char *text; } cases[] = {
		{ 0, "root=0x5c01000 n=77 prev_state=R half=17" }, { 3, "root=0x5c01000 n=77 prev_state=S|D half=17" },
		{ 0x100, "root=0x5c01000 n=77 prev_state=R+ half=17" },
	};
	uint8_t raw[40] = { 0 };
	size_t i, len;

	(void)state;
	put64(raw + 8, 0x5c01000);
	put64(raw + 16, 77);
	put32(raw + 32, 17);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text;
		FILE *out = open_memstream(&text, &len);

		put64(raw + 24, cases[i].state);
		tp_text(f, raw, sizeof(raw), out);
		fclose(out);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
	tp_format_free(f);
}

static void test_dynamic(void **state)
{
	struct tp_format *f = make("x", "y",
		"\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:__rel_loc u16[] list;\toffset:12;\tsize:4;\tsigned:0;\n\n", "");
	uint8_t raw[28] = { 0 };
	uint64_t v;
	size_t len;

	(void)state;
	put32(raw + 8, 8u << 16 | 16);
	memcpy(raw + 16, "abc", 4);
	put32(raw + 12, 4u << 16 | 8);
	raw[24] = 0x34;
	raw[25] = 0x12;
	assert_memory_equal(tp_bytes(tp_field_find(f, "s"), raw, sizeof(raw), &len), "abc", 3);
	assert_int_equal(len, 3);
	assert_true(tp_value(tp_field_find(f, "list"), raw, sizeof(raw), 0, &v));
	assert_int_equal(v, 0x1234);
	assert_false(tp_value(tp_field_find(f, "list"), raw, sizeof(raw), 2, &v));
	put32(raw + 8, 0xffffu << 16 | 16);	/* reaches out of the record */
	assert_null(tp_bytes(tp_field_find(f, "s"), raw, sizeof(raw), &len));
	put32(raw + 12, 4u << 16 | 0xffff);
	assert_null(tp_bytes(tp_field_find(f, "list"), raw, sizeof(raw), &len));
	tp_format_free(f);
}

static void test_hostile(void **state)
{
	static const char *const bad[] = {
		"", "name: x\n", "ID: 1\n", "name: x\nID: 99999999999\n", "name: x\nID: 1\n\tfield:int a;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:4294967295;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:65535;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:-1;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 1\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:7;\n",
	};
	struct tp_format *f;
	const char *missing;
	struct tp_decoder *d;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = tp_format_parse(&f, "x", bad[i], strlen(bad[i]));

		assert_non_null(err);
		assert_null(f);
		error_free(err);
	}
	f = make("sched", "sched_switch", "\tfield:int prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n", "print fmt: \"\", __print_flags(");
	d = tp_decoder_create(f, EV_SCHED_SWITCH, 0, &missing);
	assert_string_equal(missing, "next_comm");
	assert_int_equal(d->kind, EV_OTHER);
	tp_decoder_free(d);
	tp_format_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),	     cmocka_unit_test(test_states),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_exit_reasons), cmocka_unit_test(test_arm_trap),
		cmocka_unit_test(test_other_isas), cmocka_unit_test(test_kvm_hv),
		cmocka_unit_test(test_probes),	     cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_text),	     cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
