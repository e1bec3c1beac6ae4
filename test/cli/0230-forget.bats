load common

# Forgetting leaves nothing to find.
setup() {
	begin
	no_vectors
	cat >memory/2026-03-02.md <<-'END'
	# 2026-03-02

	- Zebulon Quirk gave his phone number 555-0199
	  and asked to be called
	- Ann likes tea
	- 郑小蝶的生日是五月六日 <!-- importance: 4 -->
	END
	"$REMEM" index >/dev/null
}

# Whether some file that remem keeps holds the bytes.
kept() {
	grep -rlaF "$1" "$HOME/.cache" "$HOME/.local" "$ws" 2>/dev/null
}

@test "a dry run shows and changes nothing" {
	picture "$ws" >"$BATS_TEST_TMPDIR/before"
	run_split "$REMEM" forget --person Zebulon --dry-run --json
	[ "$status" = 0 ]
	is 'd["applied"]' false
	is '[(e["path"], e["startLine"], e["endLine"]) for e in d["entries"]]' '[["memory/2026-03-02.md", 3, 4]]'
	picture "$ws" | cmp - "$BATS_TEST_TMPDIR/before"
	run_split "$REMEM" forget --person Zebulon </dev/null
	[ "$status" = 2 ]
	says "$errors" '--yes'
	picture "$ws" | cmp - "$BATS_TEST_TMPDIR/before"
	run_split "$REMEM" forget
	[ "$status" != 0 ]
}

@test "a person is forgotten: notes, index, state hold no byte of it" {
	run_split "$REMEM" search Zebulon
	says "$output" 555-0199
	run_split "$REMEM" forget --person 'zebulon quirk' --yes --json
	[ "$status" = 0 ]
	is 'd["applied"]' true
	[ -z "$(kept 555-0199)" ]
	[ -z "$(kept Zebulon)" ]
	[ -z "$(kept zebulon)" ]
	[ "$(cat memory/2026-03-02.md)" = $'# 2026-03-02\n\n- Ann likes tea\n- 郑小蝶的生日是五月六日 <!-- importance: 4 -->' ]
	run_split "$REMEM" search --json Zebulon
	is 'd["results"]' '[]'
	run_split "$REMEM" search 'Ann tea'
	says "$output" 'Ann likes tea'
}

@test "with vectors too" {
	[ -f "$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no builtin model"
	rm "$config"
	"$REMEM" index >/dev/null
	run_split "$REMEM" forget --text 郑小蝶 --yes --json
	[ "$status" = 0 ]
	[ -z "$(kept 郑小蝶)" ]
	db=$(echo "$HOME"/.cache/remem/*/gen-*/index.sqlite)
	python3 - "$db" <<-'END'
	import sqlite3, sys
	d = sqlite3.connect(sys.argv[1])
	n, = d.execute("SELECT count(*) FROM embeddings").fetchone()
	live, = d.execute("SELECT count(DISTINCT slot) FROM passages WHERE slot >= 0").fetchone()
	assert n == live > 0, (n, live)
	END
}

@test "an entry goes by its citation, and is not learned again" {
	run_split "$REMEM" forget 'memory/2026-03-02.md#L5' --yes
	[ "$status" = 0 ]
	says "$output" '1 entry in 1 note'
	silent "$(cat memory/2026-03-02.md)" 'Ann likes tea'
	says "$(cat memory/2026-03-02.md)" 'Zebulon'
	run_split "$REMEM" add 'Ann likes tea' --json
	is 'd["forgotten"]' true
	silent "$(cat memory/*.md)" 'Ann likes tea'
	# What a flush has with its speaker is the same.
	echo '- User: Bo likes 绿茶 <!-- source: claude:s#L1 -->' >memory/talk.md
	"$REMEM" forget --text 'Bo likes' --yes
	run_split "$REMEM" add 'Bo likes 绿茶' --json
	is 'd["forgotten"]' true
}

@test "what a conversation or a source gave goes" {
	"$REMEM" add 'The vault code is code-of-vault' --source https://evil.example/page
	"$REMEM" add 'The roof is green' --source https://other.example/
	printf '# Talk\n\n- Session ID: conv-77\n\n## Conversation Summary\n\nuser: "my cat is called Mio"\n' >memory/2026-03-03-cat.md
	run_split "$REMEM" forget --source https://evil.example --yes
	[ "$status" = 0 ]
	[ -z "$(kept code-of-vault)" ]
	says "$(cat memory/*.md)" 'roof is green'
	run_split "$REMEM" forget --session conv-77 --yes
	[ "$status" = 0 ]
	[ ! -e memory/2026-03-03-cat.md ]
	[ -z "$(kept Mio)" ]
}

@test "several conditions must all hold; a day has both ends" {
	run_split "$REMEM" forget --person Ann --after 2026-03-02 --before 2026-03-02 --dry-run --json
	is '[e["path"] for e in d["entries"]]' '["memory/2026-03-02.md"]'
	run_split "$REMEM" forget --person Ann --after 2026-03-03 --dry-run --json
	is 'd["entries"]' '[]'
	run_split "$REMEM" forget --after yesterday --yes
	[ "$status" = 2 ]
}

@test "read-only refuses, and the journal knows of the forgetting without its words" {
	run_split "$REMEM" forget --person Ann --yes --read-only
	[ "$status" = 1 ]
	"$REMEM" forget --person Zebulon --yes
	run_split "$REMEM" log --json
	says "$output" '"forget"'
	silent "$output" Zebulon
	run_split "$REMEM" log verify
	[ "$status" = 0 ]
}

@test "likes in other words are listed" {
	echo '- Tea is what Ann likes best' >memory/tea.md
	run_split "$REMEM" forget 'memory/2026-03-02.md#L5' --dry-run --json
	is '[s["citation"] for s in d["suspects"]]' '["memory/tea.md#L1"]'
}

@test "killed at any write, calling it again completes it" {
	for at in 3 9 15 21; do
		printf -- '- Zebulon Quirk gave his phone number 555-0199\n- stays\n' >memory/2026-03-02.md
		"$REMEM" index >/dev/null
		REMEM_TEST_KILL_AT=$at "${REMEM_DEBUG:-$REMEM}" forget --person Zebulon --yes >/dev/null 2>&1 || true
		"$REMEM" forget --person Zebulon --yes >/dev/null
		"$REMEM" index >/dev/null
		[ "$(cat memory/2026-03-02.md)" = '- stays' ]
	done
}
