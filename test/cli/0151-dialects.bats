load common

# Every provider against a server that speaks its dialect and refuses anything
# else; one table, test/server/dialects.py, has both sides.
# The server is one for all tests: each address stands for itself.
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
	server_files=$REMEM_SOURCE_ROOT/test/server
	dialects=$server_files/dialects.py
	begin
	log=$PORT_DIR/log
	: >"$log"
	port=$(cat "$PORT_DIR/port")
}

# speak PROVIDER MODEL [OPTIONS [MORE]]: settings for a row of the table.
speak() {
	local options="dialect=$1"
	[ "$2" = - ] || options="$options,model=$2"
	cat >"$config" <<-END
	memorySearch:
	  provider: $1
	  remote: {baseUrl: "http://127.0.0.1:$port/$options${3:+,$3}", apiKey: ${key:-sk-test-000000}}
	  $([ "$2" = - ] || echo "model: $2")
	  ${4:-}
	END
}

@test "every provider speaks its dialect: notes, questions, kinds, dimensions" {
	run_split python3 "$server_files/dialect_check.py" "$REMEM" speak
	echo "$output$errors" >&2
	says "$output" 'all well'
	[ "$(wc -l <<<"$output")" -gt 15 ]
}

@test "an error in the provider's words is told with its reason, never the key" {
	run_split python3 "$server_files/dialect_check.py" "$REMEM" errors
	echo "$output$errors" >&2
	says "$output" 'all well'
}

@test "a text that is refused costs itself alone, with every provider" {
	many 6
	echo '- 毒药 is what this one is about' >"$ws/memory/bad.md"
	while read -r name model _; do
		speak "$name" "$model" 'poison=毒,lang=zh'
		run_split "$REMEM" index --json
		is 'd["vectors"]["pending"]' 0
		is 'd["vectors"]["refused"]' 1
	done < <(python3 "$dialects" forms)
}

@test "keys of AWS sign each request, the secret stays here" {
	key='AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG'
	many 3
	speak bedrock -
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["vectors"]["pending"]' 0
	log_is 'all(r["status"] == 200 for r in rows)'
}

@test "a service without its key is not asked, and the remedy is said" {
	for name in openai gemini voyage mistral bedrock dashscope azure; do
		cat >"$config" <<-END
		memorySearch:
		  provider: $name
		  remote: {baseUrl: "http://nowhere.invalid/v1"}
		END
		run_split "$REMEM" search --json Berlin
		[ "$status" = 0 ]
		is 'len(d["results"])' 1
		says "$(json 'd["degraded"]["detail"]')" "$name needs a key"
	done
}

@test "a key of the environment counts where that is allowed, and nowhere else" {
	export OPENAI_API_KEY=sk-test-000000
	cat >"$config" <<-END
	memorySearch:
	  provider: openai
	  allowEnvKeys: false
	  remote: {baseUrl: "http://127.0.0.1:$port/dialect=openai"}
	END
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	log_is 'all(r["status"] == 401 for r in rows)'
	sed -i 's/allowEnvKeys: false/allowEnvKeys: true/' "$config"
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	silent "$output$errors$(grep -ra sk-test "$HOME" || true)" sk-test-000000
}

@test "auto turns to a service only where the builtin model is switched off" {
	export VOYAGE_API_KEY=sk-test-000000
	cat >"$config" <<-END
	memorySearch:
	  provider: auto
	  allowEnvKeys: true
	  builtin: {enabled: true, modelPath: /nonexistent.gguf}
	  remote: {baseUrl: "http://127.0.0.1:$port/dialect=voyage"}
	END
	run_split "$REMEM" search --json Berlin
	is 'd["mode"]' text
	[ ! -s "$log" ]
	sed -i 's/enabled: true/enabled: false/' "$config"
	"$REMEM" index
	run_split "$REMEM" search --json Berlin
	is 'd["provider"]' voyage
	is 'd["mode"]' hybrid
	unset VOYAGE_API_KEY
	: >"$log"
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	[ ! -s "$log" ]
}

@test "what was asked is told by day, provider and model, with its price" {
	run_split "$REMEM" usage --json
	is 'd["rows"]' '[]'
	for name in openai mistral; do
		speak $name -
		"$REMEM" index
	done
	run_split "$REMEM" usage --by provider --json
	is '[r["key"] for r in d["rows"]]' '["openai", "mistral"]'
	is 'abs(d["rows"][0]["usd"] - d["rows"][0]["tokens"] * 0.02 / 1e6) < 1e-12' true
	is 'sum(r["tokens"] for r in d["rows"]) == d["total"]["tokens"] > 100' true
	is 'd["today"] == d["total"]' true
	run_split "$REMEM" usage --by model --json
	is '[r["key"] for r in d["rows"]]' '["text-embedding-3-small", "mistral-embed"]'
	run_split "$REMEM" usage --by day
	says "$output" "$(date +%F)"
	run_split "$REMEM" usage --by moon
	[ "$status" != 0 ]
	says "$errors" moon
}

@test "a dry run tells the price and how old the prices are" {
	cat >"$config" <<-END
	memorySearch:
	  provider: voyage
	  remote: {apiKey: sk-test-000000}
	END
	run_split "$REMEM" index --dry-run --json
	is 'abs(d["priceUsd"] - d["tokens"] * 0.12 / 1e6) < 1e-12' true
	is 'd["pricesOf"][:2]' 20
	run_split "$REMEM" index --dry-run
	says "$output" 'list prices of 20'
}

@test "the dollars of a day stop before they are spent" {
	cat >"$config" <<-END
	memorySearch:
	  provider: openai
	  remote: {baseUrl: "http://nowhere.invalid/v1", apiKey: sk-test-000000}
	budget: {dailyUsd: 0.000000001}
	END
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" "today's budget"
	is 'd["vectors"]["done"]' 0
}

@test "github-copilot is refused with the reason" {
	echo 'memorySearch: {provider: github-copilot}' >"$config"
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	says "$(json 'd["degraded"]["detail"]')" 'not in this version'
}
