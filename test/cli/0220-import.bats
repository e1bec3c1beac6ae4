load common

# Settings and folders of other programs.
setup() {
	begin
	mkdir -p "$HOME/.openclaw"
}

@test "OpenClaw's settings are taken over, the rest is listed" {
	cat >"$HOME/.openclaw/openclaw.json" <<-'END'
	// written by hand
	{
	  agents: {
	    defaults: {
	      memorySearch: {
	        provider: 'openai-compatible',
	        remote: {baseUrl: "http://127.0.0.1:9/v1", apiKey: {source: 'env', provider: 'default', id: 'MY_KEY'}},
	        extraPaths: ['~/notes', {path: '/srv/wiki', pattern: '**/*.md'}],
	        query: {maxResults: 8, minScore: .25, hybrid: {vectorWeight: 0.6, textWeight: 0.4,},},
	        store: {vector: {extensionPath: '/x.so'}},
	        madeUp: {deep: 1},
	      },
	      compaction: {memoryFlush: {softThresholdTokens: 6000}},
	    },
	    list: [{id: 'a', memorySearch: {provider: 'none'}}],
	  },
	  memory: {citations: 'off', backend: 'qmd'},
	  channels: {telegram: {botToken: 'secret-token-of-a-bot'}},
	}
	END
	run_split "$REMEM" import openclaw --json --dry-run
	[ "$status" = 0 ]
	[ ! -e "$config" ]
	run_split "$REMEM" import openclaw --json
	[ "$status" = 0 ]
	is '"memorySearch.madeUp.deep" in [x["key"] for x in d["notTaken"]]' true
	is '"agents.list[0]" in [x["key"] for x in d["notTaken"]]' true
	is '"memory.backend" in [x["key"] for x in d["notTaken"]]' true
	silent "$output" MY_KEY
	silent "$(cat "$config")" secret-token
	run_split "$REMEM" config list --json
	value() { is "[s['value'] for s in d['settings'] if s['key'] == '$1'][0]" "$2"; }
	value memorySearch.query.maxResults 8
	value memorySearch.query.minScore 0.25
	value memorySearch.query.hybrid.vectorWeight 0.6
	value memorySearch.provider openai-compatible
	value memory.citations off
	value compaction.memoryFlush.softThresholdTokens 6000
	says "$(cat "$config")" '${MY_KEY}'
	says "$(cat "$config")" '/srv/wiki'
}

@test "a broken openclaw.json changes nothing" {
	echo '{agents: ' >"$HOME/.openclaw/openclaw.json"
	run_split "$REMEM" import openclaw
	[ "$status" = 1 ]
	says "$errors" 'line'
	[ ! -e "$config" ]
	run_split "$REMEM" import openclaw /no/such/file
	[ "$status" = 1 ]
	run_split "$REMEM" import nothing
	[ "$status" = 2 ]
}

@test "folders of other programs are searched, not copied" {
	no_vectors
	mkdir -p "$HOME/.claude/projects/-home-a/memory" "$HOME/.claude/projects/-home-b" \
		"$HOME/.codex/memories" "$BATS_TEST_TMPDIR/basic"
	echo '- The kettle is in the attic' >"$HOME/.claude/projects/-home-a/memory/MEMORY.md"
	echo '- The ladder is in the shed' >"$HOME/.codex/memories/a.md"
	echo '- 梯子在车库里' >"$BATS_TEST_TMPDIR/basic/b.md"
	"$REMEM" import claude-code
	"$REMEM" import codex
	"$REMEM" import basic-memory "$BATS_TEST_TMPDIR/basic"
	run_split "$REMEM" import codex
	says "$output" 'extra path already'
	run_split "$REMEM" search kettle
	says "$output" attic
	run_split "$REMEM" search ladder
	says "$output" shed
	run_split "$REMEM" search 梯子在哪里
	says "$output" 车库
	[ -z "$(find "$ws" -name a.md -o -name b.md)" ]
}
