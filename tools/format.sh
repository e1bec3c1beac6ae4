#!/bin/sh
# Lays out all C files as .clang-format says. Commit that alone.
set -eu
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null 2>&1; then
	echo "format: needs clang-format (apt-get install clang-format)" >&2
	exit 1
fi
git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i
