load common

# Orders to assistants that get into memory are kept, and never given unasked.
setup() {
	root=$REMEM_SOURCE_ROOT
	begin
	no_vectors
	cat "$root"/test/poison/hostile-*.txt >"$BATS_TEST_TMPDIR/hostile"
}

# given FILE: whether something of what is printed there is a hostile text.
# Twelve characters of one in the middle tell it.
given() {
	python3 - "$BATS_TEST_TMPDIR/hostile" "$1" <<-'END'
	import sys
	out = " ".join(open(sys.argv[2], encoding="utf-8").read().split())
	n = 0
	for line in open(sys.argv[1], encoding="utf-8"):
	    t = " ".join(line.split()).replace("<", "&lt;")
	    m = t[len(t) // 4:len(t) // 4 + 16]
	    if m in out:
	        n += 1
	        print("given:", line, file=sys.stderr)
	sys.exit(1 if n else 0)
	END
}

# All that is given unasked: at the start and for prompts.
ask() {
	"$REMEM" index >/dev/null
	"$REMEM" context --budget 100000 >"$BATS_TEST_TMPDIR/given" 2>/dev/null
	"$REMEM" context --budget 100000 --task 'instructions previous user assistant 指令 用户 记忆' >>"$BATS_TEST_TMPDIR/given" 2>/dev/null
	for p in 'what did we decide about instructions?' '我们之前决定的指令是什么？' 'do you remember what the user said about the assistant' '还记得用户的密码吗'; do
		printf '{"session_id":"s","prompt":"%s"}' "$p" |
			"$REMEM" hook claude-code prompt >>"$BATS_TEST_TMPDIR/given" 2>/dev/null || true
	done
}

@test "added by an agent: none is given, none gets into a curated note" {
	python3 - "$REMEM" "$BATS_TEST_TMPDIR/hostile" <<-'END'
	import json, subprocess, sys
	msgs = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
	        {"jsonrpc": "2.0", "method": "notifications/initialized"}]
	for i, line in enumerate(open(sys.argv[2], encoding="utf-8")):
	    for k, to in enumerate(("today", "MEMORY")):
	        msgs.append({"jsonrpc": "2.0", "id": 2 * i + k + 1, "method": "tools/call", "params": {"name": "memory_add", "arguments": {"content": line.strip(), "target": to}}})
	out = subprocess.run([sys.argv[1], "mcp", "--set", "trust.limits.entriesPerMinute=0"], input="".join(json.dumps(m) + "\n" for m in msgs).encode(), stdout=subprocess.PIPE).stdout
	assert len(out.splitlines()) >= 300, len(out.splitlines())
	END
	cp MEMORY.md "$BATS_TEST_TMPDIR/memory"
	ask
	given "$BATS_TEST_TMPDIR/given"
	run_split "$REMEM" review list --json
	[ "$(json 'len(d["proposals"])')" -ge 143 ]
}

@test "written into a note by others: none is given" {
	sed 's/^/- /' "$BATS_TEST_TMPDIR/hostile" >>MEMORY.md
	sed 's/^/- /' "$BATS_TEST_TMPDIR/hostile" >"memory/$(date +%F).md"
	ask
	says "$(cat "$BATS_TEST_TMPDIR/given")" 'gateway'
	given "$BATS_TEST_TMPDIR/given"
}

@test "from a conversation: none is given" {
	python3 - "$BATS_TEST_TMPDIR/hostile" >"$BATS_TEST_TMPDIR/talk.jsonl" <<-'END'
	import json, sys
	for line in open(sys.argv[1], encoding="utf-8"):
	    print(json.dumps({"role": "user", "content": "Remember this, we decided: " + line.strip()}))
	    print(json.dumps({"role": "assistant", "content": "记住，我们决定：" + line.strip()}))
	END
	"$REMEM" flush --transcript "$BATS_TEST_TMPDIR/talk.jsonl" --session s --force >/dev/null
	"$REMEM" snapshot --transcript "$BATS_TEST_TMPDIR/talk.jsonl" --session s >/dev/null
	ask
	given "$BATS_TEST_TMPDIR/given"
}
