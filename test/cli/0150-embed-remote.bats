load common

# A provider on loopback that behaves as its address says; see its head.
setup() {
	local root=$REMEM_SOURCE_ROOT
	begin
	log="$BATS_TEST_TMPDIR/log"
	: >"$log"
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$root/test/server/provider.py" --log "$log" \
		--port-file "$BATS_TEST_TMPDIR/port"
}

teardown() {
	unlisten
}

# remote OPTIONS [MORE]: settings with the provider that has these options.
remote() {
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: mock
	  remote: {baseUrl: "http://127.0.0.1:$port/$1/v1", apiKey: sk-test-000000}
	${2:+  $2}
	END
}

requests() { # [STATUS]
	grep -c "\"status\": ${1:-}" "$log" || true
}

@test "notes and questions go to the provider, with the key" {
	remote shuffle
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["vectors"]["pending"]' 0
	is 'd["degraded"]' null
	silent "$(cat "$log")" '"auth": false'
	run_split "$REMEM" search --json 'gateway seconds'
	is 'd["mode"]' hybrid
	is 'd["provider"]' openai-compatible
	is 'd["results"][0]["path"]' MEMORY.md
	run_split "$REMEM" search --json '索引服务上线'
	is 'd["results"][0]["path"]' memory/2026-03-01.md
}

@test "nothing changed asks for nothing, at any address" {
	remote tag=one
	"$REMEM" index
	: >"$log"
	"$REMEM" index
	remote tag=two
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	[ "$(requests)" = 0 ]
	run_split "$REMEM" index --force --json
	is 'd["vectors"]["pending"]' 0
	is 'd["vectors"]["done"]' 0
}

@test "another number of dimensions is told apart by the setting" {
	remote tag=a
	"$REMEM" index
	remote tag=a 'outputDimensionality: 32'
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	is 'd["vectors"]["done"]' 4
	run_split "$REMEM" search --json gateway
	is 'd["mode"]' hybrid
}

@test "an item cap is learned in English, in Chinese and without words" {
	many 40
	for lang in en zh mute; do
		: >"$log"
		remote "cap=10,lang=$lang,dims=$((${#lang} + 20))" \
			"outputDimensionality: $((${#lang} + 20))"
		[ "$lang" != zh ] || sed -i 's/model: mock/model: mock-zh/' "$config"
		run_split "$REMEM" index --json
		is 'd["vectors"]["pending"]' 0
		is 'd["vectors"]["refused"]' 0
		[ "$(requests 400)" -le 5 ]
	done
}

@test "a text that is refused costs itself alone" {
	many 20
	echo '- 毒药 is what this one is about' >"$ws/memory/bad.md"
	remote 'poison=毒'
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	is 'd["vectors"]["refused"]' 1
	is 'd["degraded"]' null
}

@test "long notes are cut for a model of short texts, huge questions too" {
	python3 -c 'print("- " + "长文" * 60)' >>"$ws/MEMORY.md"
	remote 'chars=50,lang=zh'
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	is 'd["vectors"]["refused"]' 0
	python3 -c 'print("网关 gateway " * 5000)' >"$BATS_TEST_TMPDIR/long"
	run_split sh -c '"$0" embed --query <"$1"' "$REMEM" "$BATS_TEST_TMPDIR/long"
	[ "$status" = 0 ]
	is 'len(d["embedding"])' 64
}

@test "too many requests, server errors and cut replies pass" {
	for options in fail=429,times=3,wait=10 fail=503,times=3,wait=10 bad=cut,times=1 bad=few,times=1 bad=null,times=1; do
		remote "$options" "outputDimensionality: 32"
		sed -i "s/model: mock/model: $(printf '%s' "$options" | tr -c 'a-z0-9' -)/" "$config"
		run_split "$REMEM" index --json
		is 'd["vectors"]["pending"]' 0
		is 'd["degraded"]' null
	done
}

@test "an empty account is asked once and search goes on by keywords" {
	many 60
	remote 'quota,after=2' 'embedding: {maxBatchItems: 10, concurrency: 1}'
	run_split "$REMEM" index --json
	says "$(json 'd["degraded"]')" 'account is exhausted'
	[ "$(requests 429)" = 1 ]
	run_split "$REMEM" search --json ERR_PAY_4021
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' MEMORY.md
	says "$(json 'd["degraded"]')" exhausted
	silent "$output$errors" sk-test
}

@test "what was paid for is kept when a run fails" {
	many 60
	remote 'fail=401,after=4' 'embedding: {maxBatchItems: 10, concurrency: 1}'
	run_split "$REMEM" index --json
	says "$(json 'd["degraded"]')" '401'
	paid=$(json 'd["vectors"]["done"]')
	[ "$paid" -ge 20 ]
	remote tag=other 'embedding: {maxBatchItems: 10, concurrency: 1}'
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	[ "$(json 'd["vectors"]["done"]')" -le $((64 - paid)) ]
}

@test "replies that are wrong are not kept, and the reason is said" {
	for pair in 'html:web page' 'null:null' 'empty:0 vectors' 'error:not loaded' 'garbage:not JSON' 'zero:zeros' 'nan:not finite'; do
		remote "bad=${pair%%:*}"
		run_split "$REMEM" index --json
		[ "$(json 'd["vectors"]["done"]')" = 0 ]
		says "$(json 'd["degraded"]')" "${pair#*:}"
	done
}

@test "NaN for one text refuses that text" {
	many 10
	remote 'bad=nan,word=number7'
	run_split "$REMEM" index --json
	is 'd["vectors"]["refused"]' 1
	is 'd["vectors"]["pending"]' 0
}

@test "a server that mixes up batches gets texts one by one" {
	many 10
	remote mixup
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	run_split "$REMEM" search --json 'number7 编号7号'
	is 'd["results"][0]["path"]' memory/note-7.md
}

@test "a server that knows no optional fields is taken as it is" {
	remote strict
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
}

@test "a search waits no longer than it may for a provider that hangs" {
	remote tag=x
	"$REMEM" index
	remote hang
	start=$(date +%s)
	run_split "$REMEM" search --json --no-sync --deadline 500 gateway
	[ $(($(date +%s) - start)) -le 5 ]
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' MEMORY.md
	says "$(json 'd["degraded"]')" deadline
}

@test "a provider that is not there is said, with the remedy" {
	port=1
	remote x
	run_split "$REMEM" search --json --no-sync gateway
	"$REMEM" index --text-only
	run_split "$REMEM" search --json --no-sync gateway
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' MEMORY.md
	says "$(json 'd["degraded"]')" 127.0.0.1:1
}

@test "one request a text when batches are switched off" {
	many 20
	remote x 'embedding: {maxBatchItems: 1, concurrency: 1}'
	"$REMEM" index
	silent "$(cat "$log")" '"items": 2'
	[ "$(requests 200)" -ge 24 ]
}

@test "a passage that the provider refuses is listed with its reason" {
	remote poison=Berlin,lang=zh
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["vectors"]["refused"]' 1
	run_split "$REMEM" status --json
	is 'd["index"]["refused"]' 1
	is '[r["citation"] for r in d["refused"]]' '["memory/2026-03-01.md#L3"]'
	says "$(json 'd["refused"][0]["reason"]')" 输入含有不允许的内容
	run_split "$REMEM" status
	says "$output" 'memory/2026-03-01.md#L3'
	run_split "$REMEM" search --mode text --json Berlin
	is 'len(d["results"])' 1
}

@test "a model that gives other dimensions under its name is told" {
	remote tag=a
	"$REMEM" index
	echo '- 另一种维数 of Reykjavik' >memory/new.md
	remote tag=b,dims=32
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" dimensions
	is 'd["vectors"]["pending"]' 1
	run_split "$REMEM" search --json Reykjavik
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["degraded"] is not None' true
	remote tag=a
	run_split "$REMEM" index --json
	is 'd["complete"]' true
}
