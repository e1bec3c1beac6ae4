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
	[ -z "${server:-}" ] || kill "$server"
}

serve() { # MODE...
	rm -f "$BATS_TEST_TMPDIR/port" # of the server before
	python3 "$BATS_TEST_DIRNAME/../server/files.py" "$store" "$@" >"$BATS_TEST_TMPDIR/port" 3>&- &
	server=$!
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
