#!/bin/sh
# Benchmark of the builtin encoder, from the repository's top folder:
# bench/encoder/run.sh [LEVEL...]. Compares with llama.cpp over the same file when its
# libraries can be fetched, else measures ours alone and says so.
set -eu

model=${REMEM_MODEL:-build/share/remem/models/multilingual-e5-small-q4_0.gguf}
out=build/bench
llama=build/llama
: "${CC:=cc}"
mkdir -p "$out"
flags="-std=c11 -O2 -DNDEBUG -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Iinclude -Isrc"
ours="bench/encoder/bench_encoder.c src/encoder/*.c src/base/alloc.c src/base/err.c
	src/base/utf8.c src/base/cpu.c src/base/fair.c"

# shellcheck disable=SC2086
$CC $flags $ours -o "$out/bench_encoder" -lutf8proc -lm -lpthread
with=
if sh tools/setup-llama.sh "$llama" >/dev/null 2>&1; then
	libs=$(cd "$llama/lib" && pwd)
	# shellcheck disable=SC2086
	$CC $flags -DBENCH_LLAMA -I"$llama/include" $ours bench/encoder/peer.c \
		-o "$out/bench_encoder_llama" -L"$libs" -l:libllama.v0.4.0.so \
		-l:libggml.v0.4.0.so -l:libggml-base.so -Wl,-rpath,"$libs" \
		-lutf8proc -lm -lpthread
	with=yes
else
	echo "llama.cpp could not be fetched: only ours is measured" >&2
fi
for level in ${*:-portable avx2 avxvnni avx512vnni amx neon neondot}; do
	"$out/bench_encoder" "$model" $level 2>/dev/null || continue
	[ "$with" ] || continue
	variant=
	[ $level = avx2 ] && variant=haswell
	[ $level = portable ] && continue
	"$out/bench_encoder_llama" "$model" $level "$libs" $variant || true
done
