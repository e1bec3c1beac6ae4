load common

setup() {
	begin
	no_vectors
	ldconfig -p | grep -q 'libmicrohttpd.so.12' || skip "no libmicrohttpd"
	export REMEM
	here=$BATS_TEST_DIRNAME
}

talk() { timeout 110 python3 "$here/mcp_web.py" "$@"; }

@test "mcp --http: sessions of the older versions" { talk legacy; }
@test "mcp --http: 2026-07-28, headers that repeat the body" { talk modern; }
@test "mcp --http: who may ask: token, Host, Origin, types" { talk callers; }
@test "mcp --http: large and broken requests" { talk large; }
@test "mcp --http: progress as events" { talk stream; }
@test "mcp --http: many requests and sessions" { talk many; }
@test "mcp --http: the token's file" { talk token; }
@test "mcp --http: a closed stream cancels" { talk cancel; }

@test "mcp --http: by curl" {
	command -v curl >/dev/null || skip "no curl"
	coproc python3 "$here/mcp_web.py" serve 3>&-
	read -r url token <&"${COPROC[0]}"
	run curl -sS --noproxy '*' -o out -w '%{http_code}' -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
		-d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}' "$url"
	[ "$output" = 200 ]
	grep -q '"protocolVersion":"2025-06-18"' out
	run curl -sS --noproxy '*' -o out -w '%{http_code}' "$url"
	[ "$output" = 401 ]
	exec {COPROC[1]}>&-
	wait "$COPROC_PID"
}

@test "mcp --http: the official client, legacy and auto" {
	export REMEM_NPM="${REMEM_SOURCE_ROOT:-$here/../..}/build/deps/npm"
	[ -d "$REMEM_NPM/node_modules" ] || skip "no npm packages: see make setup"
	coproc python3 "$here/mcp_web.py" serve --tools full 3>&-
	read -r url token <&"${COPROC[0]}"
	for mode in legacy auto; do
		run timeout 100 node "$here/mcp_client.mjs" $mode "$url" "$token"
		[ "$output" = ok ] || { echo "$mode: $output" >&2; false; }
	done
	exec {COPROC[1]}>&-
	wait "$COPROC_PID"
}

@test "mcp --http: without libmicrohttpd it says what to install" {
	mkdir lib
	echo "no library" >lib/libmicrohttpd.so.12
	LD_LIBRARY_PATH="$PWD/lib" run_split "$REMEM" mcp --http --port 0
	[ "$status" = 1 ]
	says "$errors" libmicrohttpd12
	[ -z "$output" ]
}
