load common

# What goes wrong between us and a provider.
setup() {
	root=$REMEM_SOURCE_ROOT
	begin
	log="$BATS_TEST_TMPDIR/log"
	: >"$log"
}

teardown() {
	unlisten
}

serve() { # [ARGUMENT...] of the server
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$root/test/server/provider.py" --log "$log" "$@" \
		--port-file "$BATS_TEST_TMPDIR/port"
}

remote() { # BASE_URL [MORE]
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: mock
	  remote: {baseUrl: "$1", apiKey: sk-test-000000${2:+, $2}}
	  embedding: {batchTimeoutMs: 1500}
	END
}

@test "a certificate that nobody vouches for is refused, one's own is taken" {
	command -v openssl >/dev/null || skip "no openssl"
	pem="$BATS_TEST_TMPDIR/pem"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$pem.key" \
		-out "$pem.crt" -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
	cat "$pem.key" "$pem.crt" >"$pem"
	serve --tls "$pem"
	remote "https://127.0.0.1:$port/x/v1"
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" certificate
	is 'd["vectors"]["refused"]' 0
	[ ! -s "$log" ]
	remote "https://127.0.0.1:$port/x/v1" "caFile: $pem.crt"
	run_split "$REMEM" index --json
	is 'd["degraded"]' null
	is 'd["vectors"]["pending"]' 0
}

@test "a host without an address is told, and notes answer by words" {
	remote "http://nowhere.invalid/v1"
	run_split timeout 100 "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" nowhere.invalid
	run_split "$REMEM" search --json Berlin
	is 'd["results"][0]["path"]' memory/2026-03-01.md
}

@test "an answer of one byte a second is not waited for" {
	serve
	remote "http://127.0.0.1:$port/bad=trickle,times=1,after=1/v1"
	run_split timeout 60 "$REMEM" index --json
	is 'd["degraded"]' null
	is 'd["vectors"]["pending"]' 0
}

@test "a redirect to another host is not followed, and the key stays" {
	serve
	remote "http://127.0.0.1:$port/bad=away/v1"
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" 'other.invalid'
	says "$(json 'd["degraded"]')" 'not followed'
	[ "$(wc -l <"$log")" = 1 ]
}

@test "an answer without end is cut off, and told" {
	serve
	remote "http://127.0.0.1:$port/bad=huge/v1"
	sed -i 's/1500/60000/' "$config"
	run_split timeout 100 "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" 'larger than'
	is 'd["vectors"]["refused"]' 0
}
