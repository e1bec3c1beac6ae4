#!/bin/sh
# modules.sh FILE: the folders of src/ that FILE needs, by following includes,
# also through the headers that tests share. Who sees remem.h needs api behind
# it; base, which has its error codes from there, does not. Who sees front.h
# needs the layers beside cli.
cd "$(dirname "$0")/.." || exit 1
included() {
	sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$@" 2>/dev/null
	grep -qs '^#include ["<]remem.h[">]' "$@" && echo api
	grep -qs '^#include "front.h"' "$@" && echo api &&
		for d in mcp hosts web daemon; do [ ! -d src/$d ] || echo $d; done
}
# The test and the headers beside it, or one folder up, that it includes.
files=$1
while :; do
	new=$(for f in $files; do
		echo "$f"
		for h in $(sed -n 's/^#include "\(\.\.\/\)\{0,1\}\([a-z_]*\.h\)".*/\2/p' "$f"); do
			find test/unit/"$h" test/"$h" 2>/dev/null
		done
	done | sort -u)
	[ "$new" != "$files" ] || break
	files=$new
done
# shellcheck disable=SC2086
found=$(included $files | sort -u)
while :; do
	new=$(for m in $found; do
		echo "$m"
		[ "$m" = base ] || included src/"$m"/*.[ch]
	done | sort -u)
	[ "$new" != "$found" ] || break
	found=$new
done
echo $found
