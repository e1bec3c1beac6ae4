#!/bin/sh
# fuzz.sh [NAME]: runs the fuzzers (or one) with libFuzzer, FUZZ_SECONDS each
# (60). New inputs gather in build/fuzz/corpus/NAME; what crashes lies in
# build/fuzz/crashes and belongs into test/fuzz/corpus/NAME with the fix.
set -eu
cd "$(dirname "$0")/.."
if ! command -v "${CC:-clang}" >/dev/null 2>&1; then
	echo "fuzz: needs clang (apt-get install clang)" >&2
	exit 1
fi
tools/build.sh fuzz
mkdir -p build/fuzz/crashes
failed=
for source in test/fuzz/f_${1:-*}.c; do
	[ -f "$source" ] || { echo "fuzz: no fuzzer '${1:-}'" >&2; exit 1; }
	name=$(basename "$source" .c)
	name=${name#f_}
	mkdir -p "build/fuzz/corpus/$name"
	seeds=test/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	build/fuzz/fuzz_f_"$name" -max_total_time="${FUZZ_SECONDS:-60}" \
		-timeout=20 -rss_limit_mb=4096 -print_final_stats=0 -verbosity=0 \
		-artifact_prefix=build/fuzz/crashes/"$name"- \
		build/fuzz/corpus/"$name" $seeds || failed="$failed $name"
	echo "fuzz: $name done"
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
