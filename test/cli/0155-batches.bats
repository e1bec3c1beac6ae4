load common

# Jobs of batch interfaces against a server that speaks the three vendors'
# dialects and is as bad as its control file says; see test/server/batch.py.
setup() {
	local root=$REMEM_SOURCE_ROOT
	begin
	log="$BATS_TEST_TMPDIR/log"
	control="$BATS_TEST_TMPDIR/control"
	: >"$log"
	echo '{}' >"$control"
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$root/test/server/batch.py" --log "$log" \
		--control "$control" --port-file "$BATS_TEST_TMPDIR/port"
}

teardown() {
	unlisten
}

# batch PROVIDER PATH [MORE]: settings with jobs.
batch() {
	cat >"$config" <<-END
	memorySearch:
	  provider: $1
	  remote:
	    baseUrl: "http://127.0.0.1:$port$2"
	    apiKey: sk-test-000000
	    batch: {enabled: true, minTexts: 5, pollIntervalMs: 100${3:+, $3}}
	${4:-}
	END
}

calls() { # CALL [STATUS]
	grep "\"call\": \"$1\"" "$log" | grep -c "\"status\": ${2:-}" || true
}

lines() { # CALL: lines of all of them together
	python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
print(sum(r["lines"] for r in rows if r["call"] == sys.argv[2] and r["status"] == 200))
' "$log" "$1"
}

whole() { # every passage has its vector, and search finds by it
	is 'd["vectors"]["pending"]' 0
	is 'd["complete"]' true
	run_split "$REMEM" search --json 'number7 编号7号'
	is 'd["mode"]' hybrid
	is 'd["results"][0]["path"]' memory/note-7.md
}

@test "every vendor with a batch interface: a job brings all vectors" {
	many 20
	while read -r provider path; do
		: >"$log"
		rm -rf "$XDG_CACHE_HOME/remem"
		batch "$provider" "$path"
		echo '{"looks": 2}' >"$control"
		run_split "$REMEM" index --json
		[ "$status" = 0 ]
		is 'd["vectors"]["done"]' 24
		is 'd["batch"]["jobs"]' 0
		whole
		[ "$(calls upload 200)" = 1 ]
		[ "$(calls create 200)" = 1 ]
		[ "$(calls look 200)" = 3 ]
		[ "$(lines create)" = 24 ]
		[ "$(calls discard 200)" = 2 ] # nothing stays there
		run_split "$REMEM" status --json
		is 'd["batch"]["jobs"][-1]["state"]' ended
		is 'd["batch"]["jobs"][-1]["done"]' 24
		is 'd["batch"]["jobs"][-1]["failed"]' 0
	done <<-END
	openai /v1
	voyage /voyage/v1
	gemini /v1beta
	END
}

@test "lines in any order, double, strange, missing or wrong" {
	many 40
	batch openai /v1
	sed -i 's/minTexts: 5/minTexts: 12/' "$config"
	echo '{"lines": "shuffle double unknown missing error zero dims"}' >"$control"
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["vectors"]["refused"]' 0
	[ "$(calls create)" = 2 ] # of the second the failed lines alone
	[ "$(lines create)" = 64 ]
	[ "$(lines plain)" -le 14 ] # a few are left, and are sent at once
	whole
}

@test "a line that is refused is sent alone, and its note set aside" {
	many 20
	echo '- 毒药 is what this one is about' >"$ws/memory/bad.md"
	batch openai /v1
	echo '{"poison": "毒"}' >"$control"
	run_split "$REMEM" index --json
	is 'd["vectors"]["refused"]' 1
	is 'd["vectors"]["done"]' 24
	[ "$(calls create)" = 1 ]
	whole
}

@test "answers that are cut are fetched again, not paid again" {
	many 20
	batch voyage /voyage/v1
	echo '{"lines": "cut"}' >"$control"
	run_split "$REMEM" index --json
	[ "$(calls fetch 200)" = 2 ]
	[ "$(calls create)" = 1 ]
	[ "$(calls plain)" -le 1 ] # the probe for the dimensions
	whole
}

@test "a web page, torn lines, lines without end: what is good is kept" {
	many 20
	for wrong in html torn long; do
		: >"$log"
		rm -rf "$XDG_CACHE_HOME/remem" "$HOME/.cache/remem"
		batch openai /v1
		echo "{\"lines\": \"$wrong\"}" >"$control"
		run_split "$REMEM" index --json
		[ "$status" = 0 ]
		[ "$(calls create)" -le 2 ]
		[ "$wrong" != long ] || [ "$(calls create)" = 1 ]
		whole
	done
}

@test "two failures end it for the run, and the rest goes at once" {
	many 20
	for bad in '"state": "failed"' '"create": 400' '"upload": 500' '"gone": 1' '"forget": 1, "looks": 1' '"state": "expired", "part": 2'; do
		: >"$log"
		rm -rf "$HOME/.cache/remem"
		batch gemini /v1beta
		[ "$bad" != '"upload": 500' ] || batch openai /v1
		echo "{$bad}" >"$control"
		run_split "$REMEM" index --json
		[ "$status" = 0 ]
		says "$(json 'd["batch"]["off"]')" 'failed twice'
		[ "$(calls create)" -le 2 ]
		[ "$(lines plain)" -ge 20 ]
		whole
	done
}

@test "an expired job keeps what it has done" {
	many 40
	batch openai /v1
	echo '{"state": "expired", "part": 30}' >"$control"
	run_split "$REMEM" index --json
	[ "$(lines create)" -lt 60 ]
	whole
	run_split "$REMEM" status --json
	is 'd["batch"]["jobs"][0]["done"]' 30
	is 'd["batch"]["jobs"][0]["reason"]' 'it was not done in time'
}

@test "a file that is too large is sent in halves" {
	many 40
	batch openai /v1 'concurrency: 4'
	echo '{"upload_max": 25}' >"$control"
	run_split "$REMEM" index --json
	[ "$(calls upload 413)" = 1 ]
	[ "$(calls create 200)" = 2 ]
	[ "$(lines create)" = 44 ]
	whole
}

@test "too many questions: asked later" {
	many 20
	batch openai /v1
	echo '{"look": 429, "look_times": 2, "looks": 1}' >"$control"
	run_split "$REMEM" index --json
	[ "$(calls look 429)" = 2 ]
	[ "$(calls create)" = 1 ]
	whole
}

@test "without waiting the next run fetches, and nothing goes twice" {
	many 20
	batch openai /v1 'wait: false'
	echo '{"state": "stuck"}' >"$control"
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	is 'd["batch"]["jobs"]' 1
	is 'd["batch"]["texts"]' 24
	is 'd["vectors"]["pending"]' 24
	run_split "$REMEM" index
	says "$errors" 'under way'
	echo '- a new thing' >"$ws/memory/new.md"
	run_split "$REMEM" index --json
	is 'd["vectors"]["done"]' 1 # few: at once
	is 'd["vectors"]["pending"]' 24
	[ "$(lines create)" = 24 ]
	run_split "$REMEM" search --json 'number7 编号7号'
	is 'd["results"][0]["path"]' memory/note-7.md
	[ "$(lines plain)" -le 4 ]
	run_split "$REMEM" status
	says "$output" 'running'
	run_split "$REMEM" usage --by provider --json
	is 'd["rows"][1]["key"]' 'openai batch'
	reserved=$(json 'd["rows"][1]["tokens"]')
	[ "$reserved" -gt 100 ]
	echo '{}' >"$control"
	run_split "$REMEM" index --wait --json
	[ "$(calls create)" = 1 ]
	whole
	run_split "$REMEM" usage --by provider --json
	is 'd["rows"][1]["tokens"]' 168 # as the provider counted
	is 'd["rows"][1]["calls"]' 1
	is 'round(d["rows"][1]["usd"] * 1e9)' 1680 # half of 2 cents a million
}

@test "cancelling ends the job there, and says where it cannot" {
	many 20
	batch gemini /v1beta 'wait: false'
	echo '{"state": "stuck"}' >"$control"
	"$REMEM" index || true
	echo '{"state": "stuck", "cancel": 503}' >"$control"
	run_split "$REMEM" index --cancel-batches
	[ "$status" = 1 ]
	says "$errors" 'could not be cancelled'
	echo '{"part": 15, "state": "stuck"}' >"$control"
	sed -i 's/enabled: true/enabled: false/' "$config"
	run_split "$REMEM" index --cancel-batches --json
	[ "$(calls cancel 200)" = 1 ]
	run_split "$REMEM" index --json
	[ "$(lines create)" = 24 ]
	[ "$(lines plain)" -lt 12 ] # 15 were done before
	whole
}

@test "a dry run says what it costs by batch, and asks nobody" {
	many 20
	batch openai /v1
	run_split "$REMEM" index --dry-run --json
	is 'd["byBatch"]' true
	[ ! -s "$log" ]
	sed -i 's/  *baseUrl.*//' "$config"
	run_split "$REMEM" index --dry-run --json
	half=$(json 'd["priceUsd"]')
	sed -i 's/enabled: true/enabled: false/' "$config"
	run_split "$REMEM" index --dry-run --json
	is 'd["byBatch"]' false
	is "round(d['priceUsd'] / $half, 3)" 2.0
}

@test "the day's budget bounds a job before it is sent" {
	many 40
	batch openai /v1 '' 'budget: {dailyTokens: 300}'
	run_split "$REMEM" index --json
	says "$(json 'd["degraded"]')" 'budget is used up'
	run_split "$REMEM" usage --json
	[ "$(json 'd["today"]["tokens"]')" -le 300 ]
	[ "$(lines create)" -lt 40 ]
}

@test "secrets do not go into the file of a job" {
	many 20
	printf -- '- the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\n' >"$ws/memory/key.md"
	batch openai /v1
	echo '{"poison": "sk-proj-abcdef"}' >"$control"
	run_split "$REMEM" index --json
	is 'd["vectors"]["refused"]' 0
	silent "$(cat "$log")" sk-proj
	whole
}
