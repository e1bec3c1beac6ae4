load common

# Settings of agents' programs: put in, taken out, never spoilt.
setup() {
	begin
	mkdir -p "$HOME/.claude" "$HOME/.codex" "$HOME/.gemini" "$HOME/.cursor" "$HOME/.openclaw"
}

# What a host would read, and what lies there before: each line one file.
samples() {
	cat <<-'END'
	claude-code .claude.json {}
	claude-code .claude.json {"numStartups":4,"mcpServers":{"x":{"command":"y"}},"projects":{"/a":{"allowedTools":[]}}}
	claude-code .claude.json {\n  "mcpServers": {\n    "x": {\n      "command": "y"\n    }\n  },\n  "tipsHistory": {}\n}\n
	claude-code .claude/settings.json {\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}\n\t\t]\n\t}\n}\n
	claude-code .claude/settings.json {"hooks":{}}
	claude-code .claude/settings.json {"permissions":{"allow":["Bash(npm run test:*)"]},"env":{"A":"\\u4e2d\\"x"}}\r\n
	codex .codex/config.toml # 我的设置\nmodel = "m"\n\n[mcp_servers.x]\ncommand = "y"\nargs = ["[", "]"]\n
	codex .codex/config.toml model = 'm'
	codex .codex/config.toml [profiles.a]\nnote = """\n[mcp_servers.remem]\n"""\n\n[features]\nhooks = true\n
	codex .codex/hooks.json {"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x"}]}]}}
	gemini .gemini/settings.json {\n  // theme\n  "ui": {"theme": "GitHub"},\n  "mcpServers": {}\n}\n
	cursor .cursor/mcp.json {"mcpServers": {}}\n
	cursor .cursor/hooks.json {\n  "version": 1,\n  "hooks": {\n    "stop": [{"command": "./a.sh"}]\n  }\n}\n
	openclaw .openclaw/openclaw.json // mine\n{\n  agents: { defaults: { workspace: '~/x', }, },\n  mcp: { servers: { /* none */ } },\n}\n
	openclaw .openclaw/openclaw.json \xef\xbb\xbf{\r\n    "gateway": {\r\n        "port": 18789\r\n    }\r\n}\r\n
	END
}

@test "a settings file comes back byte for byte, and twice changes nothing" {
	n=0
	while read -r host file text; do
		n=$((n + 1))
		printf "${text//%/%%}" >"$HOME/$file"
		cp "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		run_split "$REMEM" setup "$host" --yes
		[ "$status" = 0 ]
		! cmp -s "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		cp "$HOME/$file" "$BATS_TEST_TMPDIR/with"
		run_split "$REMEM" setup "$host" --yes
		says "$output" 'nothing to change'
		cmp "$HOME/$file" "$BATS_TEST_TMPDIR/with"
		run_split "$REMEM" uninstall "$host" --yes
		[ "$status" = 0 ]
		cmp "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		rm "$HOME/$file"
		run_split "$REMEM" uninstall "$host" --yes
		says "$output" 'nothing to change'
	done < <(samples)
	[ "$n" = 15 ]
	[ -z "$(find "$HOME" -type f -not -path '*/.local/*' -not -path '*/.config/*')" ]
}

@test "what else changed meanwhile stays" {
	echo '{"a": 1}' >"$HOME/.claude.json"
	"$REMEM" setup claude-code --yes
	python3 - "$HOME/.claude.json" "$HOME/.claude/settings.json" <<-'END'
	import json, sys
	for name in sys.argv[1:]:
	    d = json.load(open(name))
	    d["later"] = [1, 2]
	    d.setdefault("mcpServers", {})["other"] = {"command": "z"}
	    json.dump(d, open(name, "w"), indent=4)
	END
	run_split "$REMEM" setup claude-code --yes
	says "$output" 'nothing to change'
	run_split "$REMEM" uninstall claude-code --yes
	[ "$status" = 0 ]
	output=$(cat "$HOME/.claude.json")
	is d '{"mcpServers": {"other": {"command": "z"}}, "a": 1, "later": [1, 2]}'
	output=$(cat "$HOME/.claude/settings.json")
	is d '{"later": [1, 2], "mcpServers": {"other": {"command": "z"}}}'
}

@test "an older entry of ours is renewed, not doubled" {
	"$REMEM" setup codex --yes
	"$REMEM" setup codex --yes -w "$ws"
	[ "$(grep -c 'mcp_servers.remem' "$HOME/.codex/config.toml")" = 1 ]
	says "$(cat "$HOME/.codex/config.toml")" "\"--workspace\", \"$ws\""
	[ "$(grep -c 'hook codex stop' "$HOME/.codex/hooks.json")" = 1 ]
	"$REMEM" uninstall codex --yes
	[ ! -e "$HOME/.codex/config.toml" ]
	[ ! -e "$HOME/.codex/hooks.json" ]
}

@test "it asks; where nobody can answer it wants --yes" {
	run_split "$REMEM" setup cursor </dev/null
	[ "$status" = 2 ]
	says "$output" '"mcpServers"'
	says "$errors" '--yes'
	run_split "$REMEM" setup cursor --dry-run
	[ "$status" = 0 ]
	run_split "$REMEM" setup cursor --yes --read-only
	[ "$status" = 2 ]
	[ ! -e "$HOME/.cursor/mcp.json" ]
	[ ! -e "$HOME/.local/state/remem/hosts" ]
}

@test "a file that its host could not read either is left alone" {
	while read -r host file text; do
		printf "$text" >"$HOME/$file"
		cp "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		run_split "$REMEM" setup "$host" --yes --json
		[ "$status" = 1 ]
		is 'd["error"]["type"]' format
		cmp "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		run_split "$REMEM" uninstall "$host" --yes
		cmp "$HOME/$file" "$BATS_TEST_TMPDIR/before"
		rm "$HOME/$file"
	done <<-'END'
	claude-code .claude.json {"a": 1
	claude-code .claude.json []
	claude-code .claude/settings.json {"hooks": []}
	gemini .gemini/settings.json {"mcpServers": "x"}
	codex .codex/config.toml model = "m
	codex .codex/config.toml [mcp_servers]\nremem = {}
	cursor .cursor/hooks.json not json
	END
	# Nothing was written beside it either.
	[ -z "$(find "$HOME" -type f -not -path '*/.config/*')" ]
}

@test "links, folders and huge files are left alone" {
	echo '{}' >"$HOME/real.json"
	ln -s real.json "$HOME/.claude.json"
	run_split "$REMEM" setup claude-code --yes
	[ "$status" = 1 ]
	says "$errors" 'is a link'
	[ "$(cat "$HOME/real.json")" = '{}' ]
	mkdir "$HOME/.gemini/settings.json"
	run_split "$REMEM" setup gemini --yes
	[ "$status" != 0 ]
	head -c 17000000 /dev/zero | tr '\0' ' ' >"$HOME/.cursor/mcp.json"
	run_split "$REMEM" setup cursor --yes
	[ "$status" = 1 ]
	says "$errors" '16 MB'
}

@test "a folder that may not be written is said, and nothing is half done" {
	needs_permissions
	echo '{}' >"$HOME/.claude.json"
	chmod 500 "$HOME/.claude"
	run_split as_user "$REMEM" setup claude-code --yes
	[ "$status" = 1 ]
	chmod 700 "$HOME/.claude"
	"$REMEM" uninstall claude-code --yes
	[ "$(cat "$HOME/.claude.json")" = '{}' ]
}

@test "a project gets its own settings" {
	mkdir -p "$BATS_TEST_TMPDIR/p" && cd "$BATS_TEST_TMPDIR/p"
	for host in claude-code codex cursor gemini; do
		"$REMEM" setup "$host" --project --yes
	done
	output=$(cat .mcp.json)
	is 'd["mcpServers"]["remem"]["args"]' '["mcp"]'
	says "$(cat .cursor/rules/remem.mdc)" 'alwaysApply: true'
	says "$(cat .codex/config.toml)" '[mcp_servers.remem]'
	[ -z "$(find "$HOME" -type f -not -path '*/.local/*' -not -path '*/.config/*')" ]
	for host in claude-code codex cursor gemini; do
		"$REMEM" uninstall "$host" --project --yes
	done
	[ -z "$(find . -mindepth 1)" ]
	run_split "$REMEM" setup openclaw --project --yes
	[ "$status" = 1 ]
}

@test "a folder that was there, or that has got something else, stays" {
	mkdir -p "$BATS_TEST_TMPDIR/p/.gemini" && cd "$BATS_TEST_TMPDIR/p"
	"$REMEM" setup gemini --project --yes
	"$REMEM" setup cursor --project --yes
	echo mine >.cursor/rules/mine.mdc
	"$REMEM" uninstall gemini --project --yes
	"$REMEM" uninstall cursor --project --yes
	[ "$(find . -mindepth 1 | sort | tr '\n' ' ')" = './.cursor ./.cursor/rules ./.cursor/rules/mine.mdc ./.gemini ' ]
}

@test "the list says what is set up; an unknown host is named" {
	"$REMEM" setup gemini --yes --no-hooks
	silent "$(cat "$HOME/.gemini/settings.json")" hooks
	run_split "$REMEM" setup --list --json
	is '[h["name"] for h in d["hosts"] if h["setUp"]]' '["gemini"]'
	is 'len(d["hosts"])' 5
	run_split "$REMEM" setup emacs --yes
	[ "$status" = 1 ]
	says "$errors" 'no host'
}

@test "the command that was written works as the host runs it" {
	HOST_HOME="$BATS_TEST_TMPDIR/it's a home"
	mkdir -p "$HOST_HOME"
	cp "$REMEM" "$HOST_HOME/remem"
	REMEM="$HOST_HOME/remem" && "$REMEM" setup claude-code --yes -w "$ws" --set memorySearch.provider=none
	command=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["hooks"]["SessionStart"][0]["hooks"][0]["command"])' "$HOME/.claude/settings.json")
	run_split sh -c "echo '{}' | $command"
	[ "$status" = 0 ]
	is '"gateway.timeout_ms" in d["hookSpecificOutput"]["additionalContext"]' true
}
