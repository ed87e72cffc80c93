# SPDX-License-Identifier: GPL-2.0-or-later
# kvmortem: run ./configure first (make does it with the defaults when config.mk is missing).
#   make [V=1] [O=DIR]     all check bench fuzz install uninstall lint dist clean distclean
ifndef SRC
-include config.mk
endif
SRC ?= .
O ?= build

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
KM_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(WERROR) -I. -I$(SRC) -I$(SRC)/analyzer -DSRCDIR='"$(abspath $(SRC))"' \
	$(LIBS_CFLAGS) $(CPPFLAGS) $(SANITIZE_FLAGS)
KM_LIBS = $(LIBS) -lpthread -lm

SRCS = $(sort $(wildcard $(addprefix $(SRC)/,analyzer/*.c parsers/*.c reports/*.c)))
HDRS = $(wildcard $(addprefix $(SRC)/,analyzer/*.h parsers/*.h reports/*.h))
YAMLS = $(sort $(wildcard $(SRC)/analyzer/signatures/*.yaml))
ASSETS = $(SRC)/reports/assets/page.css $(SRC)/reports/assets/page.js
OBJS = $(SRCS:$(SRC)/%.c=$(O)/%.o) $(O)/signatures_embedded.o $(O)/assets_embedded.o
LIBOBJS = $(filter-out $(O)/analyzer/main.o,$(OBJS))
TESTS = $(patsubst $(SRC)/tests/unit/%.c,$(O)/tests/unit/%,$(sort $(wildcard $(SRC)/tests/unit/test_*.c)))
FUZZERS = $(patsubst $(SRC)/tests/fuzz/%.c,$(O)/tests/fuzz/%,$(sort $(wildcard $(SRC)/tests/fuzz/fuzz_*.c)))
BENCHES = $(patsubst $(SRC)/tests/bench/%.c,$(O)/tests/bench/%,$(sort $(wildcard $(SRC)/tests/bench/*.c)))
MAN1 = $(wildcard $(SRC)/doc/*.1)
MAN5 = $(wildcard $(SRC)/doc/*.5)
DOCS = README.md doc/architecture.md doc/case-file.md doc/fact-keys.md doc/json.md doc/signatures.md

ifeq ($(V),1)
Q =
say = @:
else
Q = @
say = @printf '  %-5s %s\n'
endif

all: kvmortem

config.mk: $(SRC)/configure $(SRC)/VERSION
	$(SRC)/configure $(CONFIGURE_ARGS)

kvmortem: $(OBJS)
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(OBJS) $(KM_LIBS)

$(O)/%.o: $(SRC)/%.c config.mk
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(KM_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/analyzer/casefile.o: $(SRC)/analyzer/schema.sql

$(O)/analyzer/record_script.o: $(SRC)/analyzer/record.sh

# The catalogue is read while the program is built, by a program that runs on the machine it is built on.
COMPILE = $(O)/compile-signatures
COMPILE_SRCS = $(addprefix $(SRC)/analyzer/,signatures/compile.c sig_load.c kernel_version.c error.c base.c)

$(COMPILE): $(COMPILE_SRCS) $(HDRS) config.mk
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC_FOR_BUILD) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O1 -I. -I$(SRC) -I$(SRC)/analyzer $(LIBS_CFLAGS) \
		-o $@ $(COMPILE_SRCS) $(YAML_LIBS_FOR_BUILD)

$(O)/signatures_embedded.c: $(YAMLS) $(COMPILE) $(wildcard $(SRC)/analyzer/signatures)
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)$(COMPILE) $(abspath $(YAMLS)) >$@.new && mv $@.new $@

$(O)/assets_embedded.c: $(ASSETS) $(SRC)/analyzer/embed
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh $(SRC)/analyzer/embed assets $(abspath $(ASSETS)) >$@

$(O)/%_embedded.o: $(O)/%_embedded.c
	$(say) CC $<
	$(Q)$(CC) $(KM_CFLAGS) $(CFLAGS) -c -o $@ $<

$(O)/tests/unit/%: $(SRC)/tests/unit/%.c $(LIBOBJS)
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(KM_CFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(LIBOBJS) $(KM_LIBS) $(CMOCKA_LIBS)

unit: $(TESTS)

check: kvmortem unit
	@SRC=$(SRC) BUILD=$(O) KVMORTEM=$(abspath kvmortem) sh $(SRC)/tests/run

# Fuzzing needs clang and everything built anew with its coverage instrumentation, in a folder of its own.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 10
FUZZ_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
fuzz:
	@$(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) O=$(O)/fuzz CC=$(FUZZ_CC) SANITIZE_FLAGS= \
		CFLAGS="$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link" fuzz-build
	@SRC=$(SRC) BUILD=$(O)/fuzz SECONDS_EACH=$(FUZZ_SECONDS) sh $(SRC)/tests/fuzz/run

# What the corpora reach, file by file (tests/fuzz/coverage); FUZZ_CORPUS: a folder of more corpora.
COVER_FLAGS = -O1 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation
fuzz-coverage:
	@$(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) O=$(O)/cover CC=$(FUZZ_CC) SANITIZE_FLAGS= \
		CFLAGS="$(COVER_FLAGS)" fuzz-build
	@SRC=$(SRC) BUILD=$(O)/cover FUZZ_CC=$(FUZZ_CC) MORE_CORPUS=$(FUZZ_CORPUS) sh $(SRC)/tests/fuzz/coverage

# Both figures: executions of FUZZ_SECONDS for each target, and the coverage of the corpora.
fuzz-report: fuzz
	@$(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) fuzz-coverage

$(O)/tests/fuzz/%: $(SRC)/tests/fuzz/%.c $(wildcard $(SRC)/tests/fuzz/*.h) $(LIBOBJS)
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CC) $(KM_CFLAGS) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $< $(LIBOBJS) $(KM_LIBS)

fuzz-build: $(FUZZERS)

$(O)/tests/bench/%: $(SRC)/tests/bench/%.c $(LIBOBJS)
	@mkdir -p $(@D)
	$(say) BENCH $@
	$(Q)$(CC) $(KM_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBOBJS) $(KM_LIBS)

bench: kvmortem $(BENCHES)
	@SRC=$(SRC) BUILD=$(O) KVMORTEM=$(abspath kvmortem) sh $(SRC)/tests/bench/run

lint: kvmortem
	@SRC=$(SRC) CONFIG_DIR=. LIBS_CFLAGS="$(LIBS_CFLAGS)" sh $(SRC)/tests/lint

install: kvmortem
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(docdir)
	install -m 755 kvmortem $(DESTDIR)$(bindir)/kvmortem
	for f in $(MAN1); do install -m 644 $$f $(DESTDIR)$(mandir)/man1/; done
	for f in $(MAN5); do install -m 644 $$f $(DESTDIR)$(mandir)/man5/; done
	for f in $(DOCS); do install -m 644 $(SRC)/$$f $(DESTDIR)$(docdir)/; done
	install -d $(DESTDIR)$(datadir)/bash-completion/completions $(DESTDIR)$(datadir)/zsh/site-functions
	install -m 644 $(SRC)/completions/kvmortem.bash $(DESTDIR)$(datadir)/bash-completion/completions/kvmortem
	install -m 644 $(SRC)/completions/_kvmortem $(DESTDIR)$(datadir)/zsh/site-functions/_kvmortem

uninstall:
	rm -f $(DESTDIR)$(bindir)/kvmortem $(DESTDIR)$(datadir)/bash-completion/completions/kvmortem
	rm -f $(DESTDIR)$(datadir)/zsh/site-functions/_kvmortem
	for f in $(notdir $(MAN1)); do rm -f $(DESTDIR)$(mandir)/man1/$$f; done
	for f in $(notdir $(MAN5)); do rm -f $(DESTDIR)$(mandir)/man5/$$f; done
	for f in $(notdir $(DOCS)); do rm -f $(DESTDIR)$(docdir)/$$f; done
	-rmdir $(DESTDIR)$(docdir)

dist:
	git -C $(SRC) archive --prefix=kvmortem-$$(cat $(SRC)/VERSION)/ -o $(abspath kvmortem-$$(cat $(SRC)/VERSION).tar.gz) HEAD

clean:
	rm -rf $(O) kvmortem

distclean: clean
	rm -f config.mk config.h config.log

-include $(OBJS:.o=.d) $(TESTS:=.d)
.PHONY: all unit check fuzz fuzz-build fuzz-coverage fuzz-report bench lint install uninstall dist clean distclean
.SECONDARY:
