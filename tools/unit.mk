# One unit test without building the rest: `make unit NAME=term`. Only the
# folders it needs are compiled: those named in MODS, else every folder whose
# headers are included by the test and, from there on, by the folders found.
# SAN=1 adds address and undefined sanitizers, SAN=thread the thread sanitizer.

CC ?= cc
src := test/unit/u_$(NAME).c
ifeq ($(NAME),)
$(error say which: make unit NAME=term)
endif
mods := $(if $(strip $(MODS)),$(MODS),$(shell tools/modules.sh $(src)))
comma := ,
san := $(if $(filter thread,$(SAN)),thread,$(if $(strip $(SAN)),address$(comma)undefined))
out := build/unit/$(if $(san),$(subst $(comma),-,$(san)),plain)
packages := sqlite3 yaml-0.1 libutf8proc nettle cmocka

CFLAGS := -std=c11 -g -O1 -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Wall -Wextra \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -MMD -MP \
	-Iinclude -Isrc -Itest/unit -isystem build/deps/yyjson \
	$(shell pkg-config --cflags $(packages) libcurl) \
	$(if $(san),-fsanitize=$(san) -fno-omit-frame-pointer)
LIBS := $(shell pkg-config --libs $(packages)) -lstemmer -ldl -lm -pthread

sources := $(filter-out %/main.c,$(foreach m,$(mods),$(wildcard src/$(m)/*.c)))
sources += $(filter-out $(wildcard test/unit/u_*.c),$(wildcard test/unit/*.c))
objects := $(patsubst %.c,$(out)/%.o,$(sources)) $(out)/yyjson.o
ifneq ($(filter text,$(mods)),)
objects += $(out)/fold_table.o
endif
program := $(out)/u_$(NAME)

.PHONY: run
run: $(program)
	$(program) $(ONLY)

$(program): $(out)/u_$(NAME)_main.o $(objects)
	rm -f $(out)/$(NAME).a
	ar -rcs $(out)/$(NAME).a $(objects)
	$(CC) $(CFLAGS) -o $@ $< $(out)/$(NAME).a $(LIBS)

$(out)/u_$(NAME)_main.c: $(src) tools/gen-test-main.py
	mkdir -p $(@D)
	python3 tools/gen-test-main.py $< $@

$(out)/fold_table.c: tools/make-fold.py
	mkdir -p $(@D)
	python3 $< $@

$(out)/yyjson.o: build/deps/yyjson/yyjson.c
	mkdir -p $(@D)
	$(CC) -std=c11 -O2 -w -c -o $@ $<

$(out)/%.o: $(out)/%.c
	$(CC) $(CFLAGS) -c -o $@ $<

$(out)/%.o: %.c
	mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

-include $(shell find $(out) -name '*.d' 2>/dev/null)
