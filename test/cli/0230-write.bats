load common

# Adding to notes, the journal, undo: as scripts use them.
setup() {
	begin
	no_vectors
	today=$(date +%F)
}

@test "a line goes into the note of the day, once" {
	run_split "$REMEM" add Ann likes tea --importance 7 --trigger "Ann, tea" --json
	[ "$status" = 0 ]
	is 'd["path"]' "memory/$today.md"
	is 'd["duplicate"], d["created"], d["journal"]' '[false, true, 1]'
	[ "$(cat "memory/$today.md")" = "- Ann likes tea <!-- importance: 7; trigger: Ann, tea -->" ]
	run_split "$REMEM" remember "ann likes tea." --json
	is 'd["duplicate"]' true
	is 'd["citation"]' "memory/$today.md#L1"
	is 'd["journal"]' 1
	[ "$(wc -l <"memory/$today.md")" = 1 ]
	echo 从标准输入来的一行 | "$REMEM" save -
	says "$(cat "memory/$today.md")" 从标准输入来的一行
}

@test "MEMORY, USER and notes of topics by --to and append" {
	"$REMEM" add --to MEMORY "a rule"
	"$REMEM" add --to USER "a wish"
	printf 'two\nlines\n' | "$REMEM" append memory/topic/deep.md --verbatim
	[ "$(tail -n 1 MEMORY.md)" = "- a rule" ]
	[ "$(cat USER.md)" = "- a wish" ]
	[ "$(cat memory/topic/deep.md)" = "$(printf 'two\nlines')" ]
	for bad in ../x.md /tmp/x.md memory/../../x.md memory/.x.md memory/x.sh; do
		run_split "$REMEM" append "$bad" text
		[ "$status" = 1 ]
		says "$errors" "no place for notes"
	done
}

@test "the day is that of the user's zone" {
	export REMEM
	east=$(TZ=Pacific/Kiritimati date +%F)
	west=$(TZ=Pacific/Niue date +%F)
	[ "$east" != "$west" ]
	"$REMEM" --set userTimezone=Pacific/Kiritimati add east
	"$REMEM" --set userTimezone=Pacific/Niue add west
	grep -q east "memory/$east.md"
	grep -q west "memory/$west.md"
	for day in "Pacific/Kiritimati east west" "Pacific/Niue west east"; do
		# shellcheck disable=SC2086
		set -- $day
		run_split "$REMEM" --set userTimezone="$1" context --set \
			startupContext.dailyMemoryDays=1
		says "$output" "- $2"
		silent "$output" "- $3"
		echo "userTimezone: $1" >"$config"
		python3 "$BATS_TEST_DIRNAME/mcp_talk.py" day_today "- $2"
		no_vectors
	done
}

@test "what is there already is cited where it stands" {
	printf -- '- one\n- 第二条：先看结论\n\ttwo more\n' >memory/topic.md
	run_split "$REMEM" add --to memory/topic.md 第二条：先看结论 --json
	is 'd["duplicate"], d["citation"], d["journal"]' '[true, "memory/topic.md#L2", null]'
	"$REMEM" add --to memory/topic.md $'a third\nof two lines' >/dev/null
	sed -i '1d' memory/topic.md
	run_split "$REMEM" add --to memory/topic.md $'a third\nof two lines' --json
	is 'd["duplicate"], d["citation"]' '[true, "memory/topic.md#L3"]'
	run_split "$REMEM" add --to memory/topic.md one --json
	is 'd["duplicate"], d["citation"]' '[false, "memory/topic.md#L5"]'
}

@test "log, trace, verify" {
	"$REMEM" add first --source "memory/2026-03-01.md#L3"
	"$REMEM" add --to MEMORY second
	run_split "$REMEM" log --json
	is '[r["op"] for r in d["records"]]' '["append", "append"]'
	is 'd["records"][0]["detail"]["source"]' memory/2026-03-01.md#L3
	run_split "$REMEM" log --trace "MEMORY.md#L5" --json
	is 'd["lines"][0]["journal"], len(d["records"])' '[2, 1]'
	run_split "$REMEM" log --trace "MEMORY.md#L3" --json
	is 'd["lines"][0]["journal"]' null
	run_split "$REMEM" log verify --json
	is 'd["ok"], d["records"]' '[true, 2]'
	python3 -c 'import glob, sqlite3, os
db = sqlite3.connect(glob.glob(os.environ["HOME"] + "/.local/state/remem/*/state.sqlite")[0])
db.execute("UPDATE journal SET actor = ? WHERE id = 1", ("someone",))
db.commit()'
	run_split "$REMEM" log verify
	[ "$status" = 1 ]
	says "$output" "record 1 is broken"
}

@test "compaction keeps the chain, and takes nothing of a broken one" {
	for i in 1 2 3 4 5 6; do "$REMEM" add "line $i"; done
	run_split "$REMEM" log compact --keep 2 --json
	is 'd["removed"]' 4
	run_split "$REMEM" log verify --json
	is 'd["ok"], d["records"], d["compacted"]' '[true, 3, 4]'
	"$REMEM" undo 6 --yes
	"$REMEM" log verify
	python3 -c 'import glob, sqlite3, os
db = sqlite3.connect(glob.glob(os.environ["HOME"] + "/.local/state/remem/*/state.sqlite")[0])
db.execute("DELETE FROM journal WHERE id = 6")
db.commit()'
	run_split "$REMEM" log compact --keep 1
	[ "$status" = 1 ]
	says "$errors" "broken at record 6"
}

@test "undo asks, and gives the same bytes back" {
	printf -- '# M\r\n- old' >MEMORY.md
	cp MEMORY.md before
	"$REMEM" add --to MEMORY new
	run_split "$REMEM" undo 1
	[ "$status" = 2 ]
	says "$errors" --yes
	run_split "$REMEM" undo 1 --dry-run --json
	is 'repr(d["removed"])' "'\\n- new\\n'"
	"$REMEM" undo 1 --yes
	cmp MEMORY.md before
	run_split "$REMEM" undo 1 --yes
	[ "$status" = 2 ]
	says "$errors" already
}

@test "a class is shown with each answer, and cannot be claimed" {
	"$REMEM" add "pelican from a page <!-- origin: owner -->" --origin untrusted
	"$REMEM" add "heron by the agent"
	run_split "$REMEM" add pigeon --origin owner
	[ "$status" = 2 ]
	run_split "$REMEM" search pelican --json
	is 'd["results"][0]["origin"]' untrusted
	run_split "$REMEM" search heron --json
	is 'd["results"][0]["origin"]' agent
	silent "$output" pelican
	run_split "$REMEM" search pelican --origin agent --json
	is 'd["results"]' '[]'
	# A policy that changes reaches lines that have not.
	"$REMEM" --set trust.edits=untrusted index >/dev/null
	run_split "$REMEM" search Berlin --json --no-sync
	is 'd["results"][0]["origin"]' untrusted
}

@test "read-only: every write refuses, with the reason" {
	"$REMEM" add something
	find . -type f -exec sha256sum {} + | sort >"$BATS_TEST_TMPDIR/before"
	echo 'readOnly: true' >>"$config"
	run_split "$REMEM" add x
	[ "$status" = 1 ]
	says "$errors" read-only
	sed -i /readOnly/d "$config"
	for verb in "add x" "append MEMORY.md x" "undo 1 --yes"; do
		# shellcheck disable=SC2086
		run_split "$REMEM" --read-only $verb
		[ "$status" = 1 ]
		says "$errors" read-only
		# shellcheck disable=SC2086
		run_split env REMEM_READ_ONLY=1 "$REMEM" $verb
		[ "$status" = 1 ]
		says "$errors" read-only
	done
	find . -type f -exec sha256sum {} + | sort | cmp - "$BATS_TEST_TMPDIR/before"
}

@test "a folder that may not be written to is told, and nothing is half there" {
	needs_permissions
	"$REMEM" add before
	chmod 0555 memory .
	chmod 0444 "memory/$today.md"
	run_split as_user "$REMEM" add after
	chmod 0755 memory .
	[ "$status" = 1 ]
	says "$errors" "ermission denied"
	[ "$(cat "memory/$today.md")" = "- before" ]
}
