# Front door of the build. Meson does the work (meson.build); this file names
# the few things people do. `make setup` once, then `make`.
#
#   make            the program, the library and the header under build/
#   make try        set-up, build, then the example notes are indexed and asked
#   make test       set-up, build, every test; ends with "N passed, N failed"
#   make check      no warnings, lint, every test
#   make unit NAME=term [MODS="base text"] [SAN=1]    one unit test, quickly
#   make install [PREFIX=/usr/local] [DESTDIR=]

PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR
# What is tested and measured here is the program alone.
export REMEM_DAEMON_AUTO_START := false

.DEFAULT_GOAL := all
.PHONY: all setup try test check lint format bench eval fuzz install unit \
	werror docs clean distclean cross

all:
	@tools/setup.sh --check
	@tools/build.sh release

setup:
	@tools/setup.sh

try: setup
	@tools/build.sh release
	@tools/try.sh

test: setup
	@tools/test.sh $(TESTS)

check: setup
	@tools/build.sh werror
	@python3 tools/lint.py
	@tools/test.sh

werror:
	@tools/build.sh werror

lint:
	@python3 tools/lint.py

format:
	@tools/format.sh

bench: setup
	@tools/build.sh release
	@tools/bench.sh $(NAME)

eval: setup
	@tools/build.sh release
	@python3 tools/eval.py $(EVAL)

fuzz: setup
	@tools/fuzz.sh $(NAME)

install: all
	@tools/install.sh

# Kernels for ARM under emulation: needs gcc-aarch64-linux-gnu and qemu-user.
cross:
	@nice tools/cross.sh $(NAME)

unit:
	@$(MAKE) -s -f tools/unit.mk NAME="$(NAME)" MODS="$(MODS)" SAN="$(SAN)"

docs:
	@python3 tools/gen-docs.py build/docs

# Objects go, what was fetched and made from it stays.
clean:
	rm -rf build/meson build/debug build/asan build/tsan build/werror \
		build/fuzz build/unit build/docs build/remem build/libremem.*

distclean:
	rm -rf build
