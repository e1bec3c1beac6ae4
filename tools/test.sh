#!/bin/sh
# Builds what the tests need and runs them: tools/test.sh [WORD...] only those
# whose name holds a word. The last line counts, also when the build fails.
set -u
cd "$(dirname "$0")/.."

build() {
	printf 'build: %s\n' "$1" >&2
	tools/build.sh "$@" && return 0
	printf 'build of %s failed\n0 passed, 1 failed\n' "$1"
	exit 1
}

build release
build debug
build asan
threaded=$(tools/list-files.sh unit | sed -n 's/^.*\/\(u_thr_.*\)\.c$/\1/p')
[ -z "$threaded" ] || build tsan $threaded
exec python3 tools/run-tests.py "$@"
