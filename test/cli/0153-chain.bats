load common

# One provider after the other, and a changed model. The server is one for all
# tests; what an address does stands in it.
setup_file() {
	export PORT_DIR=$BATS_FILE_TMPDIR
	listen "$PORT_DIR/port" python3 \
		"$REMEM_SOURCE_ROOT/test/server/provider.py" \
		--log "$PORT_DIR/log" --port-file "$PORT_DIR/port"
	export server
}

teardown_file() {
	unlisten
}

setup() {
	begin
	log=$PORT_DIR/log
	: >"$log"
	port=$(cat "$PORT_DIR/port")
	tag=t$BATS_TEST_NUMBER
	dead=http://127.0.0.1:1/v1
}

at() { # OPTIONS: an address of our own
	echo "http://127.0.0.1:$port/tag=$tag${1:+,$1}/v1"
}

# chain FIRST SECOND [MORE]: addresses of the provider and of its fallback.
chain() {
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: ${model:-one}
	  remote: {baseUrl: "$1", apiKey: sk-test-111111}
	  fallback:
	    provider: ${second:-vllm}
	    model: ${other:-two}
	    remote: {baseUrl: "$2", apiKey: sk-test-222222}
	${3:+  $3}
	END
}

asked() { # WORD: requests at addresses that hold it
	grep -c "$1" "$log" || true
}

# After the time for which a provider is left alone.
later() {
	python3 - "$HOME" <<-'END'
	import glob, json, sqlite3, sys
	for f in glob.glob(sys.argv[1] + "/.local/state/remem/*/state.sqlite"):
	    db = sqlite3.connect(f)
	    for key, value in db.execute("SELECT key, value FROM meta WHERE key LIKE 'down %'").fetchall():
	        d = json.loads(value)
	        d["until"] = d["since"]
	        db.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(d), key))
	    db.commit()
	END
}

@test "the fallback answers with its own settings, and each step says why" {
	chain $dead "$(at b)"
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	says "$(json 'd["degraded"]')" 127.0.0.1:1
	says "$(json 'd["degraded"]')" vllm
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is '[d["provider"], d["model"]]' '["vllm", "two"]'
	is 'd["degraded"]["reason"]' fallback
	is '[s["provider"] for s in d["degraded"]["steps"]]' '["openai-compatible", "vllm"]'
	says "$(json 'd["degraded"]["steps"][0]["reason"]')" 127.0.0.1:1
	is 'd["degraded"]["steps"][1]["reason"]' null
	is 'd["results"][0]["path"]' MEMORY.md
	says "$errors" 'vllm: answers'
	silent "$output$errors" sk-test
	run_split "$REMEM" status --json
	is '[c["state"] for c in d["chain"]]' '["down", "ready"]'
	says "$(json 'd["chain"][0]["reason"]')" 127.0.0.1:1
	is 'd["answering"]' vllm
	run_split "$REMEM" status
	says "$output" 'provider   openai-compatible: down'
	says "$output" 'fallback   vllm: ready'
}

@test "down to words step by step when nobody answers, and back by itself" {
	chain "$(at fail=500,times=9,wait=1)" "$(at b,fail=503,wait=1)"
	"$REMEM" index --text-only
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' text
	is 'd["degraded"]["reason"]' provider
	says "$(json 'd["degraded"]["detail"]')" 'HTTP 500'
	is 'd["results"][0]["path"]' MEMORY.md
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" 'HTTP 500'
	says "$(json 'd["degraded"]')" 'HTTP 503'
	chain "$(at c)" "$(at b,fail=503,wait=1)"
	"$REMEM" index
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is 'd["degraded"]' null
	is 'd["model"]' one
}

@test "a provider that is down is asked once, whatever number of processes" {
	chain "$(at a)" $dead
	"$REMEM" index
	chain "$(at fail=500,wait=1)" $dead
	"$REMEM" search --json gateway >/dev/null
	first=$(asked fail=500)
	[ "$first" -ge 1 ]
	for _ in 1 2 3 4; do
		run_split "$REMEM" search --json gateway
		is 'd["mode"]' text
		says "$(json 'd["degraded"]["detail"]')" 'asked again in'
	done
	[ "$(asked fail=500)" = "$first" ]
	later
	"$REMEM" search --json gateway >/dev/null
	second=$(asked fail=500)
	[ "$second" -gt "$first" ]
	"$REMEM" search --json gateway >/dev/null
	[ "$(asked fail=500)" = "$second" ]
}

@test "the first provider is back by itself, and nothing is paid for twice" {
	chain "$(at fail=401,after=3)" "$(at b)"
	"$REMEM" index
	echo '- Otters were seen 水獭' >memory/new.md
	"$REMEM" index
	run_split "$REMEM" search --json otters
	is 'd["provider"]' vllm
	is 'd["mode"]' hybrid
	: >"$log"
	# Once more as it was, after its time: one search finds it.
	sed -i "s/tag=$tag,fail=401,after=3/tag=$tag/" "$config"
	echo '- Ravens were heard 渡鸦' >memory/newer.md
	"$REMEM" search --json otters >/dev/null
	run_split "$REMEM" search --json otters
	is 'd["provider"]' openai-compatible
	is 'd["degraded"]' null
	is 'd["mode"]' hybrid
	# The two new notes, a probe, a self check, a question each: not the old.
	python3 - "$log" <<-'END'
	import json, sys
	rows = [json.loads(l) for l in open(sys.argv[1])]
	assert sum(r["items"] for r in rows if ",b" not in r["path"]) <= 7, rows
	END
}

@test "the same model at another address answers for the same vectors" {
	second=openai-compatible other=one
	chain "$(at a)" "$(at b)"
	"$REMEM" index
	chain $dead "$(at b)"
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is 'd["degraded"]["reason"]' fallback
	echo '- Otters were seen 水獭' >memory/new.md
	run_split "$REMEM" index --json
	is 'd["vectors"]["done"]' 1
	is 'd["vectors"]["pending"]' 0
}

@test "auto never turns to a service, whatever the fallback says" {
	cat >"$config" <<-END
	memorySearch:
	  provider: auto
	  builtin: {modelPath: /nonexistent.gguf}
	  fallback: {provider: openai, remote: {baseUrl: "$(at x)", apiKey: sk-test-222222}}
	END
	run_split "$REMEM" search --json gateway
	[ "$status" = 0 ]
	is 'd["mode"]' text
	"$REMEM" index || true
	run_split "$REMEM" search --json gateway
	is 'd["mode"]' text
	says "$(json 'd["degraded"]["detail"]')" 'never turns to a service'
	[ ! -s "$log" ]
}

@test "a local model that fails turns to a service by hand only" {
	cat >"$config" <<-END
	memorySearch:
	  provider: local
	  local: {modelPath: $HOME/none.gguf}
	  fallback:
	    provider: vllm
	    model: two
	    remote: {baseUrl: "$(at b)"}
	END
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' text
	run_split "$REMEM" search --json 'gateway'
	[ "$(asked "tag=$tag")" = 0 ]
	run_split "$REMEM" index --json
	[ "$(asked "tag=$tag")" != 0 ]
}

@test "a fallback inherits nothing, and its settings are named in errors" {
	cat >"$config" <<-END
	memorySearch:
	  provider: openai
	  model: one
	  remote: {baseUrl: "$dead", apiKey: sk-test-111111}
	  fallback: voyage
	END
	run_split "$REMEM" search --json gateway
	says "$(json 'd["degraded"]["detail"]')" "'memorySearch.fallback.remote.apiKey'"
	run_split "$REMEM" config get memorySearch.fallback.provider
	says "$output" voyage
}

@test "a fallback answers where the first one has no key" {
	chain "$(at a)" "$(at b)"
	sed -i 's/sk-test-111111/"${NOT_THERE}"/' "$config"
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is 'd["provider"]' vllm
	says "$(json 'd["degraded"]["detail"]')" NOT_THERE
}

# ---- a changed model ----

@test "a changed model is paid for by hand, and the old one answers till then" {
	model=one chain "$(at)" none
	sed -i '/fallback/,$d' "$config"
	"$REMEM" index
	sed -i 's/model: one/model: three/' "$config"
	: >"$log"
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is 'd["model"]' one
	is 'd["degraded"]["reason"]' fallback
	is 'd["results"][0]["path"]' MEMORY.md
	echo '- Otters were seen 水獭' >memory/new.md
	"$REMEM" search --json otters >/dev/null
	[ "$(asked tag)" = 2 ] # two questions, no notes
	run_split "$REMEM" index --dry-run --json
	is 'd["tokens"] > 40' true
	is 'd["vectors"]["pending"]' 5
	run_split "$REMEM" index --json
	says "$errors" 'the model was changed'
	says "$errors" tokens
	is 'd["vectors"]["done"]' 5
	is 'd["changedFrom"]' one
	is 'd["tokens"] > 40' true
	run_split "$REMEM" search --json otters
	is 'd["model"]' three
	is 'd["degraded"]' null
}

@test "a change that stops half-way goes on, and answers by the old one" {
	model=one chain "$(at)" none
	sed -i '/fallback/,$d' "$config"
	for i in $(seq 30); do
		echo "- number$i 编号$i号" >memory/n$i.md
	done
	"$REMEM" index
	model=three chain "$(at fail=401,after=3)" none \
		'embedding: {maxBatchItems: 8, concurrency: 1}'
	sed -i '/fallback/,/222222/d' "$config"
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	done=$(json 'd["vectors"]["done"]')
	[ "$done" -ge 8 ]
	sed -i "s/,fail=401,after=3//" "$config"
	run_split "$REMEM" search --json --no-sync 'number7 编号7号'
	is 'd["model"]' one
	is 'd["results"][0]["path"]' memory/n7.md
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	[ "$(json 'd["vectors"]["done"]')" = $((34 - done)) ]
	run_split "$REMEM" search --json 'number7 编号7号'
	is 'd["model"]' three
	is 'd["degraded"]' null
}

@test "who turned away from services asks none, not even for the old vectors" {
	model=one chain "$(at)" none
	sed -i '/fallback/,$d' "$config"
	"$REMEM" index
	: >"$log"
	cat >"$config" <<-END
	memorySearch: {provider: builtin, builtin: {modelPath: /nonexistent.gguf}}
	END
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' text
	says "$(json 'd["degraded"]["detail"]')" 'none is asked'
	[ ! -s "$log" ]
}

@test "a key by reference is found again, one that was written out is not kept" {
	export OLD_KEY=sk-test-333333
	model=one chain "$(at)" none
	sed -i '/fallback/,$d; s/sk-test-111111/"${OLD_KEY}"/' "$config"
	"$REMEM" index
	cat >"$config" <<-END
	memorySearch: {provider: vllm, model: four, remote: {baseUrl: "$(at v)"}}
	END
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["model"]' one
	is 'd["mode"]' hybrid
	run_split grep -ra -e sk-test "$HOME/.local" "$HOME/.cache"
	[ -z "$output" ]
}
