load common

# What lies below the dialects: HTTP/2, compressed replies, proxies, kept
# connections, keys, and being told to stop.
setup() {
	root=$REMEM_SOURCE_ROOT
	begin
	ldconfig -p | grep -q libcurl || skip "no libcurl"
	command -v node >/dev/null || skip "no node"
	log="$BATS_TEST_TMPDIR/log"
	: >"$log"
	key=sk-very-secret-42
	printf '%s\n' "$key" >"$BATS_TEST_TMPDIR/key"
}

teardown() {
	unlisten
}

serve() { # [PEM]
	listen "$BATS_TEST_TMPDIR/port" node "$root/test/server/wire.mjs" \
		"$BATS_TEST_TMPDIR/port" "$log" "$@"
}

remote() { # BASE_URL [MORE]
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: mock
	  remote: {baseUrl: "$1", apiKey: {file: $BATS_TEST_TMPDIR/key}${2:+, $2}}
	  embedding: {maxBatchItems: 1, concurrency: 2}
	END
}

indexed() {
	run_split timeout 60 "$REMEM" index --json
	is 'd["degraded"]' null
	is 'd["vectors"]["pending"]' 0
}

@test "HTTP/2 by one's own certificate, for vectors and for a chat model" {
	command -v openssl >/dev/null || skip "no openssl"
	pem="$BATS_TEST_TMPDIR/pem"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$pem.key" \
		-out "$pem.crt" -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
	cat "$pem.key" "$pem.crt" >"$pem"
	serve "$pem"
	remote "https://127.0.0.1:$port/x/v1" "caFile: $pem.crt"
	indexed
	log_is 'len(rows) >= 4 and all(r["version"] == "2.0" for r in rows)'
	log_is 'all(r["key"] == "Bearer sk-very-secret-42" for r in rows)'
	cat >>"$config" <<-END
	chat: {provider: openai-compatible, model: m, baseUrl: "https://127.0.0.1:$port/x/v1", caFile: $pem.crt}
	END
	python3 "$BATS_TEST_DIRNAME/make_talk.py" claude s-1 \
		>"$BATS_TEST_TMPDIR/t.jsonl" <<-'END'
	user We decided to use Postgres 16 for billing.
	END
	run_split "$REMEM" flush -t "$BATS_TEST_TMPDIR/t.jsonl" --force --json
	is 'd["by"]' model
	sed -i 's/, caFile: [^}]*}$/}/' "$config"
	run_split "$REMEM" flush -t "$BATS_TEST_TMPDIR/t.jsonl" --force --json \
		--session other --set chat.timeoutMs=1000
	is 'd["by"]' rules
	says "$(json 'd["degraded"]')" certificate
}

@test "a compressed reply is read, and bounded after it is unfolded" {
	serve
	remote "http://127.0.0.1:$port/gzip/v1"
	indexed
	log_is 'all("gzip" in r["accepts"] for r in rows)'
	echo '- another line that is new' >"$ws/memory/new.md"
	remote "http://127.0.0.1:$port/bomb/v1"
	run_split timeout 60 "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" 'larger than'
	run_split "$REMEM" search --json 'another line'
	is 'd["results"][0]["path"]' memory/new.md
}

@test "a proxy is asked for other hosts, never for this machine" {
	serve
	remote "http://embed.invalid/v1"
	export http_proxy="http://127.0.0.1:$port"
	indexed
	log_is 'all(r["target"].startswith("http://embed.invalid/v1/") for r in rows)'
	# Not for those that are excepted, ...
	: >"$log"
	echo '- another line that is new' >"$ws/memory/new.md"
	run_split env NO_PROXY=embed.invalid timeout 60 "$REMEM" index --json
	[ "$status" = 3 ]
	says "$(json 'd["degraded"]')" embed.invalid
	log_is 'not rows'
	# ... nor for loopback.
	export http_proxy=http://127.0.0.1:1
	remote "http://127.0.0.1:$port/x/v1"
	indexed
}

@test "connections are kept: many requests, few of them" {
	serve
	for i in $(seq 30); do
		echo "- note number $i says 第 $i 条" >"$ws/memory/n$i.md"
	done
	remote "http://127.0.0.1:$port/x/v1"
	indexed
	log_is 'len(rows) >= 34'
	# Two in flight, and the one that asks questions.
	log_is 'max(r["connection"] for r in rows) <= 3'
}

@test "a key is seen by the provider alone" {
	serve
	remote "http://127.0.0.1:$port/hang/v1"
	"$REMEM" index --json >"$BATS_TEST_TMPDIR/o" 2>&1 3>&- &
	child=$!
	until [ -s "$log" ]; do
		kill -0 $child
		read -rt .05 <> <(:) || true
	done
	for p in $child $(pgrep -P $child || true); do
		! grep -q "$key" "/proc/$p/cmdline" "/proc/$p/environ"
	done
	kill $child
	wait $child || true
	remote "http://127.0.0.1:$port/x/v1"
	REMEM_TRACE=all run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	silent "$output$errors$(cat "$BATS_TEST_TMPDIR/o")" "$key"
	REMEM_TRACE=all run_split "$REMEM" search --json Berlin
	silent "$output$errors" "$key"
	run_split "$REMEM" config list --json
	silent "$output$errors" "$key"
	run_split "$REMEM" doctor --json
	silent "$output$errors" "$key"
	! grep -rqa "$key" "$HOME/.cache" "$HOME/.local" "$ws"
}

@test "told to stop it stops, also while a request is on its way" {
	serve
	remote "http://127.0.0.1:$port/hang/v1"
	for signal in SIGINT SIGTERM; do
		: >"$log"
		run_split python3 - "$REMEM" "$log" $signal <<-'END'
		import os, signal, subprocess, sys, time
		program, log, name = sys.argv[1:]
		def plain():
		    signal.signal(signal.SIGINT, signal.SIG_DFL)
		p = subprocess.Popen([program, "index"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
		                     preexec_fn=plain)
		while not os.path.getsize(log):
		    assert p.poll() is None
		    time.sleep(.02)
		start = time.monotonic()
		p.send_signal(getattr(signal, name))
		p.wait(60)
		# One second, and what a busy machine takes.
		print("%.2f" % (time.monotonic() - start))
		assert time.monotonic() - start < 2
		END
		[ "$status" = 0 ] || { echo "$signal: $output $errors" >&2; false; }
	done
	# What was read before is kept, and found by its words.
	run_split timeout 60 "$REMEM" search --mode text --json Berlin
	is 'd["results"][0]["path"]' memory/2026-03-01.md
}

@test "usage tells which client of MCP asked" {
	serve
	remote "http://127.0.0.1:$port/x/v1"
	indexed
	printf '%s\n' \
		'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"小王的助手","version":"1"}}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"Berlin"}}}' |
		timeout 60 "$REMEM" mcp >/dev/null
	run_split "$REMEM" usage --by agent --json
	is '[(r["key"], r["calls"]) for r in d["rows"]][-1]' '["小王的助手", 1]'
	is 'd["rows"][0]["key"]' remem
}
