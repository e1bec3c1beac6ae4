#!/bin/sh
# bench.sh [FOLDER...]: this machine's limits beside what remem reaches, then
# the benchmarks of bench/ (or of its folders that are named). A folder has a
# script run or run.sh, or each of its bench_NAME.c is a program that is linked
# with the library and run without arguments.
set -eu
cd "$(dirname "$0")/.."
export REMEM="$PWD/build/remem"
out=build/bench
mkdir -p "$out"

program() {
	cc -std=c11 -O2 -DNDEBUG -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Iinclude \
		-Isrc -isystem build/deps/yyjson -o "$out/$(basename "$1" .c)" \
		"$1" build/libremem.a \
		$(pkg-config --cflags --libs sqlite3 yaml-0.1 libutf8proc nettle) \
		-lstemmer -ldl -lm -pthread
	printf '\n== %s\n' "$1"
	"$out/$(basename "$1" .c)"
}

folder() {
	for script in "$1/run" "$1/run.sh"; do
		if [ -f "$script" ]; then
			printf '\n== %s\n' "$script"
			sh "$script"
			return
		fi
	done
	for source in "$1"/bench_*.c; do
		program "$source"
	done
}

if [ $# -gt 0 ]; then
	for name; do
		folder "bench/$name"
	done
	exit
fi
"$REMEM" bench
for dir in bench/*/; do
	[ "$dir" = bench/peers/ ] && continue # fetches a lot: only when named
	folder "${dir%/}"
done
