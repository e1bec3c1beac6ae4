#!/bin/sh
# This machine's limits beside what remem reaches, then every further benchmark
# of bench/: an executable bench/NAME/run or bench/NAME.sh.
set -eu
cd "$(dirname "$0")/.."
export REMEM="$PWD/build/remem"
"$REMEM" bench
for script in bench/*/run bench/*.sh; do
	if [ -x "$script" ]; then
		printf '\n== %s\n' "$script"
		"$script"
	fi
done
