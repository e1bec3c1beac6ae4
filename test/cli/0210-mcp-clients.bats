# The official clients, fetched by tools/setup.sh where npm is there.
load common

setup() {
	begin
	no_vectors
	export REMEM REMEM_NPM="${REMEM_SOURCE_ROOT:-$BATS_TEST_DIRNAME/../..}/build/deps/npm"
	here=$BATS_TEST_DIRNAME
	[ -d "$REMEM_NPM/node_modules" ] || skip "no npm packages: see make setup"
}

@test "mcp: the official client, legacy" {
	run timeout 100 node "$here/mcp_client.mjs" legacy "$REMEM"
	[ "$output" = ok ] || { echo "$output" >&2; false; }
}

@test "mcp: the official client, auto" {
	run timeout 100 node "$here/mcp_client.mjs" auto "$REMEM"
	[ "$output" = ok ] || { echo "$output" >&2; false; }
}

inspect() {
	timeout 60 node "$REMEM_NPM/node_modules/@modelcontextprotocol/inspector-cli/build/cli.js" --cli "$REMEM" mcp "$@"
}

@test "mcp: the inspector lists, calls and reads" {
	run_split inspect --method tools/list
	is 'd["tools"][0]["name"]' memory_search
	run_split inspect --method tools/call --tool-name memory_search --tool-arg 'query=支付网关'
	is 'd["structuredContent"]["results"][0]["path"]' MEMORY.md
	run_split inspect --method resources/list
	is 'd["resources"][0]["uri"]' memory://MEMORY.md
	run_split inspect --method resources/read --uri memory://MEMORY.md
	says "$output" 小王
	run_split inspect --method prompts/list
	is 'd["prompts"][0]["name"]' recall
	run_split inspect --method prompts/get --prompt-name recall --prompt-args topic=x
	says "$output" memory_search
}
