load common

setup() {
	begin
	ldconfig -p | grep -q libcurl || skip "no libcurl"
	log="$BATS_TEST_TMPDIR/log"
	: >"$log"
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$BATS_TEST_DIRNAME/fake_embed.py" "$BATS_TEST_TMPDIR/port" "$log"
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: m
	  remote:
	    baseUrl: http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/v1
	    apiKey: \${MY_KEY}
	END
	export MY_KEY=sk-of-mine
}

teardown() {
	unlisten
}

@test "a remote provider gets its key by reference and answers" {
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	is 'd["vectors"]["done"]' 4
	says "$(cat "$log")" 'Bearer sk-of-mine'
	run_split "$REMEM" search --json Berlin
	is 'd["provider"]' openai-compatible
	is 'd["degraded"]' null
	silent "$output$errors$(cat "$config")" sk-of-mine
}

@test "nothing leaves the machine when keywords are asked for" {
	run_split "$REMEM" search --mode text --json Berlin
	is 'len(d["results"])' 1
	[ ! -s "$log" ]
}

@test "the day's budget is kept" {
	run_split "$REMEM" --set budget.dailyTokens=1 index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" budget
	[ ! -s "$log" ]
}

@test "a key that is not there is told, and keywords answer" {
	unset MY_KEY
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	says "$(json 'd["degraded"]["detail"]')" MY_KEY
	run_split "$REMEM" status --json
	says "$(json 'd["vectors"]["off"]')" MY_KEY
}

@test "a provider that is down degrades with its reason" {
	kill $server
	wait $server 2>/dev/null || true
	run_split timeout 100 "$REMEM" search --json --deadline 2000 Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["degraded"] is not None' true
}
