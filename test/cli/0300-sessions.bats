load common

setup() {
	begin
	no_vectors
	echo 'memorySearch: {provider: none, sources: [memory, sessions]}' >"$config"
	project="$HOME/.claude/projects/-notes"
	mkdir -p "$project"
	talk="$project/11aa.jsonl"
	say user 'Which ferry goes to the island of Fårö?'
	say assistant 'The yellow one, from Fårösund, every half hour.'
	claw="$HOME/.openclaw/agents/main/sessions"
	mkdir -p "$claw"
}

# say ROLE TEXT: one more line in the talk.
say() {
	printf '{"type":"%s","uuid":"u","parentUuid":null,"sessionId":"11aa","cwd":"%s","timestamp":"2026-11-28T10:00:00Z","message":{"role":"%s","content":"%s"}}\n' \
		"$1" "$ws" "$1" "$2" >>"$talk"
}

@test "a message is found in the next search, with no command in between" {
	run_split "$REMEM" search 'ferry to the island' --json
	[ "$status" = 0 ]
	is 'd["results"][0]["source"]' 'sessions'
	is 'd["results"][0]["path"]' 'claude/-notes/11aa'
	is 'd["results"][0]["citation"]' 'claude/-notes/11aa#L1-L2'
	is 'd["results"][0]["date"]' '2026-11-28'
	says "$output" 'User: Which ferry'
	say user '渡轮的末班是几点?'
	run_split "$REMEM" search '末班渡轮' --json
	is 'd["results"][0]["citation"]' 'claude/-notes/11aa#L1-L3'
	says "$output" '渡轮的末班'
}

@test "a citation opens the very lines of the transcript" {
	run_split "$REMEM" get 'claude/-notes/11aa#L2'
	[ "$status" = 0 ]
	[ "$output" = "$(sed -n 2p "$talk")" ]
	run_split "$REMEM" get 'claude/-notes/none#L2' --json
	is 'd["status"]' 'not_found'
	run_split "$REMEM" get 'claude/-notes/../../../.ssh/id'
	[ "$status" != 0 ]
}

@test "--source chooses between notes and talks" {
	say user 'gateway.timeout_ms was raised'
	run_split "$REMEM" search gateway.timeout_ms --source sessions --json
	is 'len([r for r in d["results"] if r["source"] != "sessions"])' 0
	is 'd["results"][0]["source"]' 'sessions'
	run_split "$REMEM" search gateway.timeout_ms --source memory --json
	is 'd["results"][0]["source"]' 'memory'
	is 'len([r for r in d["results"] if r["source"] != "memory"])' 0
}

@test "talks of another project and of another agent stay out" {
	mkdir -p "$HOME/.claude/projects/-other" "$HOME/.openclaw/agents/two/sessions"
	sed "s|$ws|/srv/other|; s|ferry|zeppelin|" "$talk" >"$HOME/.claude/projects/-other/22bb.jsonl"
	cat >"$HOME/.openclaw/agents/two/sessions/a.jsonl" <<-END
	{"type":"session","id":"a","timestamp":"2026-11-28T10:00:00Z","cwd":"$ws"}
	{"type":"message","id":"1","message":{"role":"user","content":"a submarine"}}
	END
	run_split "$REMEM" search zeppelin --json
	is 'd["results"]' '[]'
	run_split "$REMEM" search submarine --json
	is 'd["results"]' '[]'
	run_split "$REMEM" search submarine --agent two --json
	is 'd["results"][0]["path"]' 'openclaw/two/a'
	run_split "$REMEM" get 'claude/-other/22bb#L1' --json
	is 'd["status"]' 'not_found'
	echo 'memorySearch: {provider: none, sources: [sessions], sessions: {scope: all}}' >"$config"
	run_split "$REMEM" search zeppelin --json
	is 'd["results"][0]["path"]' 'claude/-other/22bb'
}

@test "talks are no source unless they are asked for" {
	no_vectors
	run_split "$REMEM" search ferry --json
	is 'd["results"]' '[]'
}

@test "folders of the user's own, and a key that is never shown" {
	mkdir -p "$HOME/logs/a"
	cat >"$HOME/logs/a/t.jsonl" <<-'END'
	{"role":"user","content":"the tram key is sk-abcdefghij0123456789klmn"}
	END
	echo 'memorySearch: {provider: none, sources: [memory, sessions], sessions: {paths: ["~/logs"]}}' >"$config"
	run_split "$REMEM" search 'tram key' --json
	is 'd["results"][0]["citation"]' 'sessions/logs/a/t#L1'
	says "$output" '[masked api key]'
	! grep -rq abcdefghij0123456789klmn "$HOME/.cache"
}

@test "a message in OpenClaw's store is found, and opened as it stands there" {
	claw_stores 'the heron nests by the weir'
	run_split "$REMEM" search 'heron nests' --json
	is 'd["results"][0]["citation"]' 'openclaw/main/s9#L1'
	claw_stores '苍鹭飞走了'
	run_split "$REMEM" search '苍鹭' --json
	is 'd["results"][0]["path"]' 'openclaw/main/s9'
	says "$output" '苍鹭飞走了'
	run_split "$REMEM" get 'openclaw/main/s9#L1'
	[ "$output" = '{"type":"message","id":"e1","message":{"role":"user","content":"the heron nests by the weir"}}' ]
}

@test "--path takes a talk by its name, whatever part it stands in" {
	for day in 27 28 29; do
		sed -n 1p "$talk" | sed "s/2026-11-28/2026-11-$day/; s/ferry/kayak $day/" >>"$talk"
	done
	run_split "$REMEM" search kayak --path 'claude/-notes/11aa' --json
	is 'sorted(set(r["path"] for r in d["results"]))' '["claude/-notes/11aa"]'
	is 'len(set(r["date"] for r in d["results"])) > 1' true
	run_split "$REMEM" search kayak --path 'memory/' --json
	is 'd["results"]' '[]'
}

@test "a dry run counts talks as well, and writes nothing" {
	provider=(--set memorySearch.provider=openai --set memorySearch.remote.apiKey=sk-none)
	before=$(picture "$HOME")
	run_split "$REMEM" index --dry-run --json "${provider[@]}"
	[ "$status" = 0 ]
	would=$(json '[d["added"], d["chunks"], d["passages"]]')
	is 'd["tokens"] > 40 and d["priceUsd"] > 0' true
	[ "$(picture "$HOME")" = "$before" ]
	run_split "$REMEM" index --json
	is '[d["added"], d["chunks"], d["passages"]]' "$would"
	# Text is in step, its vectors are not: they are what it would cost.
	run_split "$REMEM" index --dry-run --json
	is '[d["added"], d["changed"]]' '[0, 0]'
	say user '渡轮的末班是几点?'
	run_split "$REMEM" index --dry-run --json
	is '[d["added"], d["changed"]]' '[0, 1]'
	run_split "$REMEM" index --dry-run --force --json
	is '[d["added"], d["chunks"] > 0]' "[$(printf '%s' "$would" | tr -d '[]' | cut -d, -f1), true]"
}
