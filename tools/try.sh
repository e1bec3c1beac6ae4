#!/bin/sh
# The main job on the example notes: a copy of them is indexed in a temporary
# place and asked a few questions, in English and in Chinese, some of them
# answered by a note in the other language. Nothing of the user's is read or
# written.
set -eu
cd "$(dirname "$0")/.."
remem=$PWD/build/remem
place=$(mktemp -d "${TMPDIR:-/tmp}/remem-try.XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM

export HOME="$place" XDG_CACHE_HOME="$place/cache" XDG_STATE_HOME="$place/state"
export XDG_CONFIG_HOME="$place/config"
unset XDG_DATA_HOME
for name in $(env | sed -n 's/^\(REMEM_[A-Z_]*\)=.*/\1/p'); do
	case $name in REMEM_CPU | REMEM_TRACE) ;; *) unset "$name" ;; esac
done
cp -r examples/notes "$place/notes"

bold= dim= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
	bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi

say() { printf '\n%s$ remem %s%s\n' "$bold" "$*" "$plain"; }

printf '%sThe notes: %s files in examples/notes, copied to %s.%s\n' "$dim" \
	"$(find "$place/notes" -name '*.md' | wc -l | tr -d ' ')" \
	"$place/notes" "$plain"
say index
"$remem" --workspace "$place/notes" index

# A line of examples/questions.txt: "## caption", or "COUNT question".
while read -r count question; do
	case $count in
	'##') printf '\n%s%s%s\n' "$dim" "$question" "$plain" ;;
	[1-9])
		say "search -n $count '$question'"
		"$remem" --workspace "$place/notes" search -n "$count" "$question" </dev/null
		;;
	esac
done <examples/questions.txt

cat <<EOF

Your own notes:
  build/remem --workspace DIR index
  build/remem --workspace DIR search 'a question'
or 'make install' first; 'remem --help' names the other verbs.
EOF
