load common
# What was written or said a moment ago is in a running agent's next answer,
# with no command in between: notes and transcripts, the background process
# answering.
setup() {
	begin
	[ -f "$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no builtin model"
	echo 'memorySearch: {sources: [memory, sessions]}' >"$config"
	claude="$HOME/.claude/projects/-notes/11aa.jsonl"
	claw="$HOME/.openclaw/agents/main/sessions/a1.jsonl"
	mkdir -p "$(dirname "$claude")" "$(dirname "$claw")"
	claude_says 'Good morning'
	echo "{\"type\":\"session\",\"id\":\"a1\",\"timestamp\":\"2026-11-28T10:00:00Z\",\"cwd\":\"$ws\"}" >"$claw"
	claw_says 'Good evening'
	"$REMEM" daemon start
	found 'good morning' claude/
}

teardown() {
	"$REMEM" daemon stop >/dev/null 2>&1 || true
}

claude_says() {
	printf '{"type":"user","uuid":"u","parentUuid":null,"sessionId":"11aa","cwd":"%s","timestamp":"2026-11-28T10:00:00Z","message":{"role":"user","content":"%s"}}\n' \
		"$ws" "$1" >>"$claude"
}

claw_says() {
	printf '{"type":"message","id":"m","timestamp":"2026-11-28T10:00:00Z","message":{"role":"user","content":[{"type":"text","text":"%s"}]}}\n' \
		"$1" >>"$claw"
}

found() { # QUESTION PATH
	run_split "$REMEM" search --json "$1"
	[ "$status" = 0 ]
	is 'd["stale"]' false
	is "any(r['path'].startswith('$2') for r in d['results'])" true
	# It was the background process that answered.
	run_split "$REMEM" daemon status --json
	asked=$((${asked:-0} + 1))
	is 'd["workspaces"][0]["asked"]' "$asked"
}

@test "live: a note saved as vim does, and as others do" {
	cp MEMORY.md 'MEMORY.md~'
	mv MEMORY.md ../old
	{ cat ../old; echo '- The ferry to Samarkand leaves at nine'; } >MEMORY.md
	rm 'MEMORY.md~'
	found 'when does the ferry to Samarkand leave' MEMORY.md
	echo '- 布哈拉的火车十点出发' >memory/.new.tmp
	mv memory/.new.tmp memory/train.md
	found '布哈拉的火车几点出发' memory/train.md
	: >memory/train.md
	echo '- The bus to Khiva leaves at noon' >>memory/train.md
	found 'when does the bus to Khiva leave' memory/train.md
}

@test "live: a message of Claude Code and of OpenClaw" {
	claude_says 'The zeppelin to Tashkent is painted green'
	found 'what colour is the zeppelin to Tashkent' claude/
	claw_says 'The canoe to Bukhara is painted yellow'
	found 'what colour is the canoe to Bukhara' openclaw/
	claude_says '去撒马尔罕的轮渡是蓝色的'
	found '去撒马尔罕的轮渡是什么颜色' claude/
}

@test "live: a message in OpenClaw's store of today" {
	claw_stores 'The gondola to Fergana is painted purple'
	found 'what colour is the gondola to Fergana' openclaw/main/s9
	claw_stores '去费尔干纳的缆车是红色的'
	found '去费尔干纳的缆车是什么颜色' openclaw/main/s9
}

@test "live: what was deleted is gone" {
	echo '- The sledge to Nukus is made of oak' >memory/sledge.md
	found 'what is the sledge to Nukus made of' memory/sledge.md
	rm memory/sledge.md "$claude"
	run_split "$REMEM" search --json 'what is the sledge to Nukus made of'
	silent "$output" sledge.md
	run_split "$REMEM" search --json 'good morning'
	silent "$output" claude/
}
