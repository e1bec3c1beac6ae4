load common

# Invented secrets, put where they may come in; then every file that remem
# made, and every request it sent, is searched for them.
setup() {
	root=$REMEM_SOURCE_ROOT
	begin
	no_vectors
	# In pieces, so that no scanner of sources takes them for real ones.
	openai="sk-""proj-Zq8Xw3Lm5Np7Rt9Vy2Bc4Df6Gh8Jk1Ls"
	github="ghp_""Ab3De6Gh9Jk2Mn5Pq8St1Vw4Yz7Bc0Ef3Hi6"
	password='hunter2-Zx9Kq7Lm'
	say="the key is $openai and token $github, password: $password"
}

teardown() {
	unlisten
}

# No file below these holds one of the three.
none_in() {
	! grep -rlaF -e "$openai" -e "$github" -e "$password" "$@" 2>/dev/null
}

@test "what an agent adds is masked, and counted" {
	run_split env REMEM_TRACE=all "$REMEM" add "$say" --source "https://u:$password@example.org/x" --json
	[ "$status" = 0 ]
	[ "$(json 'd["secrets"]')" -ge 3 ]
	printf '%s' "$output$errors" >"$BATS_TEST_TMPDIR/said"
	none_in "$BATS_TEST_TMPDIR/said" "$ws" "$HOME"
	says "$(cat memory/*.md)" '[masked '
	"$REMEM" append MEMORY "$say" >/dev/null
	"$REMEM" add --to USER --origin untrusted "$say" >/dev/null
	run_split "$REMEM" review show 1
	says "$output" '[masked '
	"$REMEM" index >/dev/null
	none_in "$ws" "$HOME"
}

@test "flush, snapshot and their records hold none" {
	cat >"$BATS_TEST_TMPDIR/talk.jsonl" <<-END
	{"role":"user","content":"Remember that we decided to use Postgres. $say"}
	{"role":"assistant","content":"Noted, I will always use Postgres. $say"}
	END
	"$REMEM" flush --transcript "$BATS_TEST_TMPDIR/talk.jsonl" --session s1 --force >"$BATS_TEST_TMPDIR/said" 2>&1
	"$REMEM" snapshot --transcript "$BATS_TEST_TMPDIR/talk.jsonl" --session s1 >>"$BATS_TEST_TMPDIR/said" 2>&1
	says "$(cat memory/*.md)" Postgres
	none_in "$BATS_TEST_TMPDIR/said" "$ws" "$HOME"
}

@test "doctor says where one stands in a note and of what kind" {
	printf '# x\n\n- a\n- %s\n' "$say" >memory/x.md
	run_split "$REMEM" doctor --json
	printf '%s' "$output$errors" >"$BATS_TEST_TMPDIR/said"
	none_in "$BATS_TEST_TMPDIR/said"
	is 'len([c for c in d["checks"] if c["name"] == "secret" and "memory/x.md#L4" in c["message"]])' 3
	run_split "$REMEM" doctor --json --set memorySearch.provider=none
	is 'd["ok"]' true
}

@test "a remote provider is sent none, of notes and questions" {
	local log="$BATS_TEST_TMPDIR/log"
	: >"$log"
	python3 "$root/test/cli/fake_embed.py" "$BATS_TEST_TMPDIR/port" "$log" >/dev/null 2>&1 3>&- &
	server=$!
	for _ in $(seq 100); do
		[ -s "$BATS_TEST_TMPDIR/port" ] && break
		sleep 0.1
	done
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: mock
	  remote: {baseUrl: "http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/v1", apiKey: k}
	END
	printf '# x\n\n- %s\n' "$say" >memory/x.md
	"$REMEM" index >/dev/null
	run_split "$REMEM" search "$say" --json
	[ "$status" = 0 ]
	is 'd["degraded"]' null
	says "$(cat "$log")" '[masked '
	none_in "$log"
	# The key is of the note's own text: nothing is sent again.
	local before
	before=$(wc -l <"$log")
	"$REMEM" index --force >/dev/null
	[ "$(wc -l <"$log")" = "$before" ]
}
