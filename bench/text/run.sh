#!/bin/sh
# Speed of cutting text into terms, from the repository's top folder:
# bench/text/run.sh [FILE...]
set -eu
out=build/bench
: "${CC:=cc}"
mkdir -p "$out"
python3 tools/make-fold.py "$out/fold_table.c"
$CC -std=c11 -O2 -DNDEBUG -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Iinclude -Isrc \
	bench/text/bench_term.c "$out/fold_table.c" src/text/fold.c src/text/term.c \
	src/text/ident.c src/text/hangul.c src/text/stem.c src/text/token.c \
	src/text/script.c src/base/utf8.c -o "$out/bench_term"
exec "$out/bench_term" "$@"
