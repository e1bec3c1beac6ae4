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

# The command and its arguments as the settings of a host have them, a line each.
server_of() {
	case $1 in
	codex) python3 -c 'import sys, tomllib; d = tomllib.load(open(sys.argv[1], "rb"))["mcp_servers"]["remem"]
import json; print(d["command"]); print(json.dumps(d["args"]))' "$HOME/.codex/config.toml" ;;
	*) python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); d = d.get("mcpServers") or d["mcp"]["servers"]; d = d["remem"]
print(d["command"]); print(json.dumps(d["args"]))' "$HOME/$2" ;;
	esac
}

@test "mcp: what setup wrote for each program serves the official client" {
	for pair in claude-code:.claude.json codex:.codex/config.toml cursor:.cursor/mcp.json \
		gemini:.gemini/settings.json openclaw:.openclaw/openclaw.json; do
		host=${pair%%:*}
		"$REMEM" setup "$host" --yes >/dev/null 2>&1
		{ read -r command; read -r args; } < <(server_of "$host" "${pair#*:}")
		REMEM_MCP_ARGS=$args run timeout 100 node "$here/mcp_client.mjs" auto "$command"
		[ "$output" = ok ] || { echo "$host: $output" >&2; false; }
		"$REMEM" uninstall "$host" --yes >/dev/null 2>&1
		[ ! -e "$HOME/${pair#*:}" ]
	done
}
