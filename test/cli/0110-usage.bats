load common
setup() { begin; no_vectors; }

@test "unknown words are answered with the nearest" {
	run_split "$REMEM" serach x
	[ "$status" = 2 ]
	says "$errors" "did you mean 'search'?"
	run_split "$REMEM" search --limti 3 x
	[ "$status" = 2 ]
	says "$errors" "did you mean '--limit'?"
	run_split "$REMEM" config get query.maxResult
	[ "$status" = 2 ]
	says "$errors" "query.maxResults"
	run_split "$REMEM" config lst
	says "$errors" "did you mean 'list'?"
}

@test "mistakes are usage, as text and as JSON" {
	for words in 'search' 'search --mode loud x' 'search -n 0 x' \
		'search -n 1e3 x' 'search --min-score 2 x' 'search -n' \
		'search --last 7x x' 'get' 'get a b' 'index now' 'status now' \
		'config set a' 'trust maybe' '--progress loud version' \
		'search --now today x' '--set query.maxResults=many search x' \
		'--set nothing search x' 'embed --query --document' \
		'search --batch x' 'help nonsense-verb' '--agent ../x status'; do
		run_split "$REMEM" $words
		[ "$status" = 2 ] || { echo "$words: $status"; false; }
		[ -z "$output" ]
		[ -n "$errors" ]
		run_split "$REMEM" --json $words
		[ "$status" = 2 ]
		is 'd["ok"]' false
		is 'd["error"]["type"]' invalid
	done
}

@test "no workspace says how to make one" {
	mkdir ../empty
	cd ../empty
	run_split "$REMEM" status
	[ "$status" = 1 ]
	says "$errors" 'remem init'
	run_split "$REMEM" --workspace ../none status --json
	[ "$status" = 1 ]
	is 'd["error"]["type"]' not_found
	says "$(json 'd["error"]["action"]')" 'remem init'
}

@test "the workspace is found in its order" {
	mkdir -p deep/er "$HOME/.remem" "$HOME/.openclaw/workspace" ../other
	where() { run_split "$REMEM" "$@" status --json; json 'd["workspace"]'; }
	[ "$(cd deep/er && where)" = "$ws" ]
	cd "$BATS_TEST_TMPDIR"
	[ "$(where)" = "$HOME/.openclaw/workspace" ]
	rmdir "$HOME/.openclaw/workspace"
	[ "$(where)" = "$HOME/.remem" ]
	"$REMEM" config set workspace "$BATS_TEST_TMPDIR/other"
	[ "$(where)" = "$BATS_TEST_TMPDIR/other" ]
	[ "$(REMEM_WORKSPACE=$HOME where)" = "$HOME" ]
	[ "$(REMEM_WORKSPACE=$HOME where -w "$ws")" = "$ws" ]
}

@test "warnings of settings name file, line and what was expected" {
	cat >"$config" <<-'END'
	memorySearch:
	  provider: none
	  query:
	    maxResults: six
	  qurey: {}
	END
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	says "$errors" "config.yaml:4"
	says "$errors" "whole number from 1 to 100"
	says "$errors" "did you mean 'memorySearch.query'?"
	run_split "$REMEM" -q search --json Berlin
	[ -z "$errors" ]
}

@test "an untrusted remem.yaml sets safe keys only" {
	cat >remem.yaml <<-'END'
	memorySearch:
	  query: {maxResults: 2}
	  provider: openai-compatible
	  remote: {baseUrl: "http://127.0.0.1:9/v1", apiKey: {command: [touch, pwned]}}
	END
	run_split "$REMEM" search Berlin
	says "$errors" 'remem trust on'
	[ ! -e pwned ]
	run_split "$REMEM" config get query.maxResults
	[ "$output" = 2 ]
	run_split "$REMEM" config get provider
	[ "$output" = none ]
	"$REMEM" trust on
	run_split "$REMEM" config get provider
	[ "$output" = openai-compatible ]
	echo '# changed' >>remem.yaml
	run_split "$REMEM" config get provider
	[ "$output" = none ]
	"$REMEM" trust on
	"$REMEM" trust off
	run_split "$REMEM" trust --json
	is 'd["trusted"]' false
}

@test "secrets are in no output" {
	cat >"$config" <<-'END'
	memorySearch:
	  provider: openai-compatible
	  remote: {baseUrl: "http://127.0.0.1:9/v1", apiKey: sk-very-secret, headers: {X-A: hush-hush}}
	END
	for words in 'config list --all' 'config list --json' \
		'config get remote.apiKey' 'config get remote.headers' \
		'status --deep' 'doctor' 'search Berlin' 'index'; do
		run_split env REMEM_TRACE=all "$REMEM" $words
		silent "$output$errors" sk-very-secret
		silent "$output$errors" hush-hush
	done
}

@test "colours only on a terminal that wants them" {
	run_split "$REMEM" search Berlin
	silent "$output" $'\033'
	if command -v script >/dev/null; then
		shown=$(TERM=xterm script -qec "'$REMEM' search Berlin" /dev/null)
		says "$shown" $'\033[1m'
		shown=$(TERM=xterm NO_COLOR=1 script -qec "'$REMEM' search Berlin" /dev/null)
		silent "$shown" $'\033'
		shown=$(TERM=dumb script -qec "'$REMEM' search Berlin" /dev/null)
		silent "$shown" $'\033'
	fi
}

@test "what notes hold cannot drive the terminal" {
	printf -- '- Zanzibar \033[2J\033]0;owned\007 end\r\n' >memory/esc.md
	run_split "$REMEM" search Zanzibar
	says "$output" Zanzibar
	silent "$output" $'\033'
	silent "$output" $'\007'
	run_split "$REMEM" get memory/esc.md
	silent "$output" $'\033'
	run_split "$REMEM" get --json memory/esc.md
	says "$(json 'd["text"]')" $'\033[2J'
}

@test "progress as JSON lines on standard error" {
	run_split "$REMEM" index --progress ndjson --json
	[ "$status" = 0 ]
	printf '%s\n' "$errors" | python3 -c '
import json, sys
rows = [json.loads(x) for x in sys.stdin if x.strip()]
assert all(set(r) == {"phase", "done", "total", "rate", "leftSeconds"} for r in rows)'
}

@test "a full disk under standard output is a failure" {
	[ -e /dev/full ] || skip
	"$REMEM" index
	run sh -c '"$0" search Berlin >/dev/full' "$REMEM"
	[ "$status" = 1 ]
}
