# SPDX-License-Identifier: GPL-2.0-or-later
# Interim: configure replaces the fixed library list.
O ?= build
CC ?= gcc
PKGS = libarchive sqlite3 yaml-0.1 json-c libzstd zlib libdw libelf libtraceevent libseccomp
CFLAGS ?= -O2 -g
KM_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-I. -Ianalyzer -DSRCDIR='"$(CURDIR)"' $(shell pkg-config --cflags $(PKGS))
LIBS = $(shell pkg-config --libs $(PKGS)) -lpthread -lm
SRCS = $(wildcard analyzer/*.c parsers/*.c reports/*.c)
OBJS = $(SRCS:%.c=$(O)/%.o) $(O)/signatures_embedded.o
LIBOBJS = $(filter-out $(O)/analyzer/main.o,$(OBJS))
TESTS = $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))

all: kvmortem
kvmortem: $(OBJS)
	@echo "  LD    $@"; $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJS) $(LIBS)
$(O)/%.o: %.c
	@mkdir -p $(@D); echo "  CC    $<"; $(CC) $(KM_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(O)/signatures_embedded.c: $(wildcard analyzer/signatures/*.yaml) Makefile
	@mkdir -p $(@D); { echo '#include <stddef.h>'; echo '#include "analyzer/embedded.h"'; i=0; for f in $(sort $(wildcard analyzer/signatures/*.yaml)); do \
	echo "__asm__(\".section .rodata\\nkm_sig_$$i: .incbin \\\"$(CURDIR)/$$f\\\"\\n.byte 0\\n.previous\");"; \
	echo "extern const char km_sig_$$i[];"; i=$$((i+1)); done; \
	echo 'const struct embedded_file embedded_signatures[] = {'; i=0; for f in $(sort $(wildcard analyzer/signatures/*.yaml)); do \
	echo "{ \"$$(basename $$f)\", km_sig_$$i },"; i=$$((i+1)); done; echo '{ NULL, NULL } };'; } > $@
$(O)/signatures_embedded.o: $(O)/signatures_embedded.c
	@$(CC) $(KM_CFLAGS) $(CFLAGS) -c -o $@ $<
$(O)/tests/unit/%: tests/unit/%.c $(LIBOBJS)
	@mkdir -p $(@D); echo "  TEST  $@"; $(CC) $(KM_CFLAGS) $(CFLAGS) -o $@ $< $(LIBOBJS) $(LIBS) -lcmocka
unit: $(TESTS)
check: kvmortem unit
	@for t in $(TESTS); do CMOCKA_MESSAGE_OUTPUT=TAP $$t || exit 1; done
clean:
	rm -rf $(O) kvmortem
-include $(OBJS:.o=.d)
.PHONY: all unit check clean
