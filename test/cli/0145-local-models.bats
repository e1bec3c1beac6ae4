#!/usr/bin/env bats
# Local models: fetched, checked, used, and run by llama.cpp where it is there.
load common

setup() {
	begin
	store="$BATS_TEST_TMPDIR/store"
	models="$HOME/.local/share/remem/models"
	mkdir -p "$store"
	python3 "$BATS_TEST_DIRNAME/../server/gguf_head.py" "$store/tiny.gguf"
	(cd "$store" && sha256sum tiny.gguf >tiny.gguf.sha256)
}

teardown() {
	for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
}

serve() { # MODE...
	rm -f "$BATS_TEST_TMPDIR/port" # of the server before
	python3 "$BATS_TEST_DIRNAME/../server/files.py" "$store" "$@" >"$BATS_TEST_TMPDIR/port" 3>&- &
	server=$!
	servers+=("$server")
	until [ -s "$BATS_TEST_TMPDIR/port" ]; do :; done
	address="http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")"
}

libraries() {
	libs="$(dirname "$REMEM")/llama/lib"
	builtin="$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf"
	[ -f "$libs/libllama.v0.4.0.so" ] && [ -f "$builtin" ] ||
		skip "llama.cpp's libraries or the model are not there"
}

@test "pull from a folder, list, use; nothing half is left" {
	run_split "$REMEM" models pull tiny --from "$store" --json
	[ "$status" = 0 ]
	is 'd["bytes"]' "$(stat -c %s "$store/tiny.gguf")"
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	[ "$(ls -A "$models" | wc -l)" = 2 ]
	run_split "$REMEM" models list --json
	is '[m["dims"] for m in d["models"] if m["name"] == "tiny"][0]' 8
	is '[m["pooling"] for m in d["models"] if m["name"] == "tiny"][0]' mean
	run_split "$REMEM" models use tiny
	[ "$status" = 0 ]
	run_split "$REMEM" config get local.modelPath
	[ "$output" = "$models/tiny.gguf" ]
}

@test "pull: a wrong checksum is refused and removed, none is asked for" {
	echo "$(printf x | sha256sum | cut -c1-64)  tiny.gguf" >"$store/tiny.gguf.sha256"
	run_split "$REMEM" models pull tiny --from "$store"
	[ "$status" = 1 ]
	says "$errors" 'it was removed'
	[ -z "$(ls -A "$models")" ]
	rm "$store/tiny.gguf.sha256"
	run_split "$REMEM" models pull tiny --from "$store"
	[ "$status" = 1 ]
	says "$errors" '--sha256'
	run_split "$REMEM" models pull ../tiny --from "$store"
	says "$errors" 'no name of a file'
	run_split "$REMEM" models pull tiny
	says "$errors" '--from'
}

@test "pull by HTTP goes on where it was stopped" {
	head -c 20000000 /dev/urandom >>"$store/tiny.gguf"
	(cd "$store" && sha256sum tiny.gguf >tiny.gguf.sha256)
	serve fails-at=9000000
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 1 ]
	[ ! -e "$models/tiny.gguf" ]
	[ "$(stat -c %s "$models"/.tiny.gguf.*.part)" = 8388608 ]
	kill "$server"
	serve
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	grep -q 'bytes=8388608-' "$store/log"
	! grep -q 'bytes=0-' "$store/log"
}

# The file in three pieces.
large() {
	head -c 20000000 /dev/urandom >>"$store/tiny.gguf"
	(cd "$store" && sha256sum tiny.gguf >tiny.gguf.sha256)
}

nothing_kept() {
	[ ! -e "$models" ] || [ -z "$(ls -A "$models")" ] ||
		[ "$(find "$models" -type f -size +0 | wc -l)" = 0 ]
}

@test "pull follows where the server sends it, to hosts that are safe" {
	large
	serve log=log.files expires=6
	files=$(cat "$BATS_TEST_TMPDIR/port")
	serve "to=http://localhost:$files"
	# A key of the address is for its own host alone.
	run_split "$REMEM" models pull tiny --from "http://ann:secret@127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	# Once for the checksum, once for the file: the address it leads to is kept.
	[ "$(grep -c . "$store/log")" = 2 ]
	[ "$(grep -c 'Basic' "$store/log")" = 2 ]
	[ "$(grep -c . "$store/log.files")" = 4 ]
	! grep -q 'Basic' "$store/log.files"
}

@test "pull asks again where an address that it was sent to is good no more" {
	large
	serve log=log.new
	new=$(cat "$BATS_TEST_TMPDIR/port")
	serve log=log.old expires=3
	old=$(cat "$BATS_TEST_TMPDIR/port")
	# The first two requests go to the old host, the later ones to the new one.
	cat >"$BATS_TEST_TMPDIR/route.py" <<-END
	import http.server, sys
	n = 0
	class H(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        global n
	        n += 1
	        self.send_response(307)
	        self.send_header("Location", "http://localhost:%d%s" % ($old if n <= 2 else $new, self.path))
	        self.send_header("Content-Length", "0")
	        self.end_headers()
	    def log_message(self, *args):
	        pass
	s = http.server.HTTPServer(("127.0.0.1", 0), H)
	print(s.server_address[1], flush=True)
	s.serve_forever()
	END
	rm "$BATS_TEST_TMPDIR/port"
	python3 "$BATS_TEST_TMPDIR/route.py" >"$BATS_TEST_TMPDIR/port" 3>&- &
	servers+=($!)
	until [ -s "$BATS_TEST_TMPDIR/port" ]; do :; done
	run_split "$REMEM" models pull tiny --from "http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	grep -q 'bytes=16777216-' "$store/log.new"
	! grep -q 'bytes=0-' "$store/log.new"
}

@test "pull does not follow to another host without TLS, nor for ever" {
	serve to=http://files.invalid
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 1 ]
	says "$errors" 'which is not followed: another host has to be asked by https'
	serve to=/again{n} log=log.loop
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 1 ]
	says "$errors" 'sends us on more than 5 times'
	[ "$(grep -c . "$store/log.loop")" = 6 ]
	serve to=file:///etc/passwd?
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 1 ]
	nothing_kept
}

@test "pull: a page instead of a file, a refusal, a file that is no model" {
	sum=$(cut -c1-64 "$store/tiny.gguf.sha256")
	serve html=1
	run_split "$REMEM" models pull tiny --from "$address" --sha256 "$sum"
	[ "$status" = 1 ]
	says "$errors" 'is no model: it does not begin as a GGUF file'
	says "$errors" 'a licence may have to be accepted'
	run_split "$REMEM" models pull tiny --from "$address"
	says "$errors" 'nothing says which checksum'
	serve status=403 log=log.403
	run_split "$REMEM" models pull tiny --from "$address" --sha256 "$sum"
	[ "$status" = 1 ]
	says "$errors" 'the server refuses'
	[ "$(grep -c . "$store/log.403")" = 1 ]
	echo 'version https://example.org/spec/v1' >"$store/tiny.gguf"
	(cd "$store" && sha256sum tiny.gguf >tiny.gguf.sha256)
	serve
	for from in "$address" "$store"; do
		run_split "$REMEM" models pull tiny --from "$from"
		[ "$status" = 1 ]
		says "$errors" 'does not begin as a GGUF file'
	done
	nothing_kept
}

@test "pull: a server without parts, one whose file changes" {
	serve plain=1
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	rm -r "$models"
	large
	serve etag=one changes-at=16777216
	# Small enough to be taken whole when it is another one.
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	grep -q 'bytes=8388608-16777215 "one"' "$store/log"
	rm -r "$models"
	head -c 70000000 /dev/zero >>"$store/tiny.gguf"
	(cd "$store" && sha256sum tiny.gguf >tiny.gguf.sha256)
	serve etag=one changes-at=16777216
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 1 ]
	says "$errors" 'was changed on the server while it was fetched'
	nothing_kept
}

@test "pull that is killed goes on, and is shown as it goes" {
	large
	serve hangs-at=8388608
	"$REMEM" models pull tiny --from "$address" --progress ndjson 2>"$BATS_TEST_TMPDIR/progress" 3>&- &
	pid=$!
	until grep -q 'bytes=8388608-' "$store/log"; do :; done
	kill -9 $pid
	wait $pid || true
	grep -q '"download"' "$BATS_TEST_TMPDIR/progress"
	[ ! -e "$models/tiny.gguf" ]
	[ "$(stat -c %s "$models"/.tiny.gguf.*.part)" = 8388608 ]
	serve log=log.second
	run_split "$REMEM" models pull tiny --from "$address"
	[ "$status" = 0 ]
	cmp "$store/tiny.gguf" "$models/tiny.gguf"
	! grep -q 'bytes=0-' "$store/log.second"
	[ "$(ls -A "$models" | wc -l)" = 2 ]
}

@test "pull on a disk that is too small says so before" {
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "needs a mount"
	large
	mkdir -p "$models"
	run_split unshare -m sh -c 'mount -t tmpfs -o size=9m tmpfs "$2" && "$0" models pull tiny --from "$1"' \
		"$REMEM" "$store" "$models"
	[ "$status" = 1 ]
	says "$errors" 'MB of disk'
}

@test "known models: what they are and cost, before anything is fetched" {
	run_split "$REMEM" models list --json
	is 'len(d["known"]) >= 5' true
	is 'all(k["bytes"] > 0 and k["dims"] > 0 and k["memoryBytes"] > k["bytes"] and k["licence"] for k in d["known"])' true
	run_split "$REMEM" models list
	says "$output" 'embeddinggemma-300m'
	run_split "$REMEM" models pull embeddinggemma-300m
	[ "$status" = 2 ]
	says "$errors" '768 dimensions'
	says "$errors" '--sha256'
}

@test "models and their libraries need no workspace" {
	cd "$BATS_TEST_TMPDIR"
	rm -rf "$ws"
	mkdir empty
	cd empty
	run_split "$REMEM" search gateway
	[ "$status" != 0 ]
	run_split "$REMEM" models pull tiny --from "$store"
	[ "$status" = 0 ]
	run_split "$REMEM" models use tiny
	[ "$status" = 0 ]
	grep -q 'tiny.gguf' "$config"
	run_split "$REMEM" models list --json
	is '[m["used"] for m in d["models"] if m["name"] == "tiny"]' '[true]'
	run_split "$REMEM" models runtime --from /nowhere
	[ "$status" = 1 ]
	silent "$errors" 'no workspace'
	run_split "$REMEM" --workspace /nowhere models list
	[ "$status" != 0 ]
	[ -z "$(ls -A .)" ]
}

@test "runtime: another package than the pinned one is refused" {
	mkdir "$store/npm"
	echo nothing >"$store/npm/node-llama-cpp-linux-x64-3.21.1.tgz"
	cp "$store/npm/"* "$store/npm/node-llama-cpp-linux-arm64-3.21.1.tgz"
	run_split "$REMEM" models runtime --from "$store/npm"
	[ "$status" = 1 ]
	says "$errors" 'checksum'
	[ -z "$(ls -A "$HOME/.local/share/remem/runtime")" ]
}

@test "a local model that fails leaves keywords, with the reason" {
	cp "$store/tiny.gguf" "$ws/../tiny.gguf"
	"$REMEM" config set memorySearch.local.modelPath "$ws/../tiny.gguf"
	"$REMEM" index >/dev/null 2>&1 || true
	run_split "$REMEM" search --json gateway
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' MEMORY.md
	is 'd["degraded"] is not None' true
}

@test "the builtin file through llama.cpp gives the same vectors" {
	libraries
	printf '%s\n' '小王负责支付网关，出错码 ERR_PAY_4021' 'Ａｎｎ moved to Berlin' \
		'The gateway waits 30 seconds' >"$BATS_TEST_TMPDIR/texts"
	"$REMEM" embed --provider builtin <"$BATS_TEST_TMPDIR/texts" >"$BATS_TEST_TMPDIR/a"
	"$REMEM" --set "memorySearch.local.modelPath=$builtin" embed --provider local \
		<"$BATS_TEST_TMPDIR/texts" >"$BATS_TEST_TMPDIR/b"
	python3 - "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" <<-'END'
	import json, sys
	a, b = ([json.loads(l)["embedding"] for l in open(f)] for f in sys.argv[1:])
	assert len(a) == len(b) == 3
	for x, y in zip(a, b):
	    assert sum(p * q for p, q in zip(x, y)) >= 0.999
	END
}
