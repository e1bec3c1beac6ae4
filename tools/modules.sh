#!/bin/sh
# modules.sh FILE: the folders of src/ that FILE needs, by following includes.
cd "$(dirname "$0")/.." || exit 1
included() {
	sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$@" 2>/dev/null | sort -u
}
found=$(included "$1")
grep -q '^#include "remem.h"\|^#include <remem.h>' "$1" && found="$found base"
while :; do
	new=$(for m in $found; do
		echo "$m"
		included src/"$m"/*.[ch]
	done | sort -u)
	[ "$new" != "$found" ] || break
	found=$new
done
echo $found
