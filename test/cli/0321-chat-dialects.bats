load common

# What asks a chat model, with each of the providers.
setup() {
	local root=$REMEM_SOURCE_ROOT
	begin
	export TZ=UTC
	ldconfig -p | grep -q libcurl || skip "no libcurl"
	talk="$BATS_TEST_TMPDIR/talk.jsonl"
	log="$BATS_TEST_TMPDIR/log"
	answer="$BATS_TEST_TMPDIR/answer"
	: >"$log"
	: >"$answer"
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$root/test/server/chat.py" --log "$log" \
		--answer "$answer" --port-file "$BATS_TEST_TMPDIR/port"
	export MY_KEY=sk-secret-1234
	python3 "$BATS_TEST_DIRNAME/make_talk.py" claude s-1 >"$talk" <<-'END'
	user We decided to use Postgres 16 for billing.
	assistant 好的，账单系统用 Postgres 16。
	END
}

teardown() {
	unlisten
}

chat() { # PROVIDER OPTIONS
	local path=
	case $1 in
	openai-compatible) path=/v1 ;;
	gemini) path=/v1beta ;;
	esac
	cat >"$config" <<-END
	memorySearch: {provider: none}
	chat:
	  provider: $1
	  model: m1
	  baseUrl: "http://127.0.0.1:$port/$1,$2$path"
	  apiKey: \${MY_KEY}
	END
}

providers='openai-compatible anthropic gemini ollama'

@test "each provider writes down what matters, and names a snapshot" {
	for p in $providers; do
		echo "# $p" >&2
		: >"$log"
		chat "$p" answer
		printf -- '- Billing runs on Postgres 16 with %s (L1)\n' "$p" >"$answer"
		run_split "$REMEM" flush -t "$talk" --force --json --session "f-$p"
		is 'd["by"]' model
		is 'd["degraded"]' null
		is 'd["entries"][0]["text"]' "Billing runs on Postgres 16 with $p"
		log_is 'len(rows) == 1 and rows[0]["status"] == 200'
		log_is 'any("Postgres 16 for billing" in t for t in rows[0]["prompt"])'
		log_is 'any("账单系统" in t for t in rows[0]["prompt"])'
		log_is 'rows[0]["json"] is False'
		: >"$log"
		printf '{"name":"Billing %s","summary":"用 Postgres 16"}' "$p" >"$answer"
		run_split "$REMEM" snapshot -t "$talk" --json --force --session "s-$p"
		is 'd["slugBy"]' model
		says "$(json 'd["path"]')" "billing-$p.md"
		says "$(cat "$ws/$(json 'd["path"]')")" '用 Postgres 16'
		log_is 'len(rows) == 1 and rows[0]["json"] is True'
		silent "$output$errors" sk-secret
	done
	run_split "$REMEM" usage --by provider --json
	is 'sorted(r["key"] for r in d["rows"])' '["anthropic", "gemini", "ollama", "openai-compatible"]'
	is 'all(r["calls"] == 2 and r["tokens"] == 84 for r in d["rows"])' true
}

@test "a provider that fails leaves the rules, with its reason" {
	for p in $providers; do
		for say in 401 cut; do
			chat "$p" "say=$say"
			run_split timeout 60 "$REMEM" flush -t "$talk" --force --json \
				--session "$say-$p" --set chat.timeoutMs=1000
			is 'd["by"]' rules
			is 'd["degraded"] is not None' true
			silent "$output$errors" sk-secret
		done
	done
}

flush() { # SESSION [ARGUMENT...]
	local session=$1
	shift
	"$REMEM" flush -t "$talk" --force --json --session "$session" "$@"
}

requests() {
	wc -l <"$log"
}

until_is() { # NUMBER COMMAND...
	local n=$1 i
	shift
	for i in $(seq 600); do
		[ "$("$@")" != "$n" ] || return 0
		read -rt .05 <> <(:) || true
	done
	return 1
}

ended() {
	cat "$BATS_TEST_TMPDIR"/out.* 2>/dev/null | wc -l
}

@test "processes share a day's budget: what one has set aside no other spends" {
	chat anthropic answer,gate
	printf -- '- Billing runs on Postgres 16 (L1)\n' >"$answer"
	# An answer may have 2,000 tokens, so that two do not fit.
	for i in 1 2 3 4; do
		{
			flush "s$i" --set budget.dailyTokens=3500 2>/dev/null \
				>"$BATS_TEST_TMPDIR/some.$i" || true
			echo over >"$BATS_TEST_TMPDIR/out.$i"
		} 3>&- &
	done
	until_is 3 ended
	until_is 1 requests
	touch "$answer.go"
	until_is 4 ended
	[ "$(requests)" = 1 ]
	[ "$(grep -l '"by":"rules"' "$BATS_TEST_TMPDIR"/some.* | wc -l)" = 3 ]
	[ "$(grep -l 'budget of tokens' "$BATS_TEST_TMPDIR"/some.* | wc -l)" = 3 ]
	# What it took is counted, and no more.
	run_split "$REMEM" usage --json
	is 'd["today"]["tokens"]' 42
	run_split flush after --set budget.dailyTokens=3500
	is 'd["by"]' model
}

@test "what a killed process has set aside is free again after its time" {
	chat gemini answer,gate
	printf -- '- Billing runs on Postgres 16 (L1)\n' >"$answer"
	"$REMEM" flush -t "$talk" --force --session killed \
		--set budget.dailyTokens=12000 >/dev/null 2>&1 3>&- &
	victim=$!
	until_is 1 requests
	kill -9 $victim
	wait $victim 2>/dev/null || true
	touch "$answer.go"
	run_split flush next --set budget.dailyTokens=12000
	is 'd["by"]' rules
	python3 - "$(find "$HOME" -name state.sqlite)" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	assert db.execute("SELECT count(*) FROM hold").fetchone() == (1,)
	db.execute("UPDATE hold SET until = 1")
	db.commit()
	END
	run_split flush later --set budget.dailyTokens=12000
	is 'd["by"]' model
}

@test "dollars bound chat models as well, by their prices in and out" {
	chat anthropic answer
	sed -i 's/model: m1/model: claude-haiku-4-5-20251001/' "$config"
	printf -- '- Billing runs on Postgres 16 (L1)\n' >"$answer"
	run_split flush one --set budget.dailyUsd=0.001
	is 'd["by"]' rules
	says "$(json 'd["degraded"]')" 'budget of dollars'
	[ "$(requests)" = 0 ]
	run_split flush two --set budget.dailyUsd=0.02
	is 'd["by"]' model
	# 30 tokens at 1 dollar, 12 at 5.
	run_split "$REMEM" usage --by model --json
	is 'd["rows"][0]["key"]' claude-haiku-4-5-20251001
	is 'round(d["rows"][0]["usd"] * 1e6)' 90
	is 'd["rows"][0]["unpricedTokens"]' 0
}

@test "usage tells who asked: a host's hook, an agent, nobody in particular" {
	chat ollama answer
	printf -- '- Billing runs on Postgres 16 (L1)\n' >"$answer"
	flush one --via hook:claude-code >/dev/null
	flush two --agent work >/dev/null
	flush three >/dev/null
	run_split "$REMEM" usage --by agent --json
	is 'sorted(r["key"] for r in d["rows"])' '["claude-code", "remem", "work"]'
	is 'd["total"]["usd"]' 0
	is 'd["total"]["unpricedTokens"]' 0
	run_split "$REMEM" usage --by nobody
	[ "$status" != 0 ]
}
