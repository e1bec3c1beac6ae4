#!/bin/sh
# Names the files of one kind, for meson.build:
#   core      src of the library's layers
#   front     src of the layers that only programs have, without main
#   main      the program's main
#   unit      unit tests      test-lib  what they share      fuzz  fuzzers
#   all       all of these, for noticing that a file came or went
cd "$(dirname "$0")/.." || exit 1
front='src/cli src/mcp src/hosts src/web src/daemon'
found() { LC_ALL=C sort; }
case $1 in
core)
	find src -name '*.c' | grep -Ev '^src/(cli|mcp|hosts|web|daemon)/' | found ;;
front)
	for d in $front; do
		[ ! -d "$d" ] || find "$d" -name '*.c' ! -name main.c
	done | found ;;
main)
	find src/cli -name main.c 2>/dev/null ;;
unit)
	find test/unit -name 'u_*.c' 2>/dev/null | found ;;
test-lib)
	find test/unit -name '*.c' ! -name 'u_*.c' 2>/dev/null | found ;;
fuzz)
	find test/fuzz -maxdepth 1 -name "f_*.c" 2>/dev/null | found ;;
all)
	find src test/unit test/fuzz -name '*.c' | found
	ls tools/make-fold.py 2>/dev/null ;;
esac
exit 0
