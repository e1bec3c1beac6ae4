load common
setup() { begin; no_vectors; }

@test "init makes a workspace and touches nothing that is there" {
	run_split "$REMEM" init ../fresh --json
	[ "$status" = 0 ]
	is 'd["created"]' '["memory/", "MEMORY.md"]'
	[ -d ../fresh/memory ]
	echo mine >../fresh/MEMORY.md
	run_split "$REMEM" init ../fresh --json
	is 'd["created"]' '[]'
	[ "$(cat ../fresh/MEMORY.md)" = mine ]
	run_split "$REMEM" init ../third --read-only
	[ "$status" = 1 ]
	[ ! -e ../third ]
}

@test "index reports what it did, and has nothing to do the second time" {
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	is 'd["added"]' 2
	run_split "$REMEM" index --json
	is 'd["unchanged"]' 2
	is 'd["added"]' 0
	run_split "$REMEM" index
	says "$output" 'indexed 2 of 2 files'
}

@test "index --dry-run writes nothing" {
	run_split "$REMEM" index --dry-run --json
	[ "$status" = 0 ]
	is 'd["dryRun"]' true
	is 'd["added"]' 2
	is 'd["passages"] > 0' true
	[ ! -e "$HOME/.cache" ]
}

@test "index --force publishes a new generation" {
	"$REMEM" index
	run_split "$REMEM" index --force --json
	is 'd["forced"]' true
	run_split "$REMEM" search Berlin --json
	is 'len(d["results"])' 1
}

@test "search answers with a citation that get understands" {
	run_split "$REMEM" search 支付网关
	[ "$status" = 0 ]
	says "$output" 'MEMORY.md#L'
	run_split "$REMEM" search --json 'ERR_PAY_4021'
	[ "$(json 'd["results"][0]["path"]')" = MEMORY.md ]
	run_split "$REMEM" get "$(json 'd["results"][0]["citation"]')"
	says "$output" ERR_PAY_4021
}

@test "search takes its words together, from standard input and after --" {
	run_split "$REMEM" search moved to Berlin --json
	is 'len(d["results"])' 1
	run_split "$REMEM" search --json - <<<'Berlin'
	is 'len(d["results"])' 1
	run_split "$REMEM" search --json -- --Berlin
	is 'len(d["results"])' 1
}

@test "query and grep are searches, grep by keywords" {
	run_split "$REMEM" query Berlin --json
	is 'len(d["results"])' 1
	run_split "$REMEM" grep Berlin --json
	is 'd["mode"]' text
}

@test "no hit is no failure, and what is missing is named" {
	run_split "$REMEM" search --json 'ZZQ-77123'
	[ "$status" = 0 ]
	is 'd["results"]' '[]'
	is 'd["missing"][0]' ZZQ-77123
	is 'd["stale"]' false
	is 'd["message"] is not None' true
	run_split "$REMEM" search 'ZZQ-77123'
	says "$output" ZZQ-77123
}

@test "an answer has the fields of the contract in their order" {
	run_split "$REMEM" search --json Berlin
	is 'list(d)' '["version", "results", "mode", "provider", "model", "degraded", "stale", "missing", "message", "index", "tookMs"]'
	is 'list(d["results"][0])' '["path", "startLine", "endLine", "score", "relevance", "snippet", "source", "citation", "date", "origin", "flags", "supersededBy"]'
	is 'd["index"]' '{"files": 2, "indexed": 2, "pending": 0, "skipped": 0}'
}

@test "explain shows the parts of a score" {
	run_split "$REMEM" search --json --explain Berlin
	is '"coveragePassage" in d["results"][0]["explain"]' true
	run_split "$REMEM" search --explain Berlin
	says "$output" 'decay '
}

@test "filters and the date of today" {
	run_split "$REMEM" search --json Berlin --path memory
	is 'len(d["results"])' 1
	run_split "$REMEM" search --json Berlin --path MEMORY.md
	is 'len(d["results"])' 0
	run_split "$REMEM" search --json Berlin --last 7d --now 2026-03-05
	is 'len(d["results"])' 1
	run_split "$REMEM" search --json Berlin --last 7d --now 2026-04-05
	is 'len(d["results"])' 0
	run_split "$REMEM" search --json Berlin --before 2026-02-28
	is 'len(d["results"])' 0
	run_split "$REMEM" search --json Berlin --after 2026-02-31
	[ "$status" = 2 ]
	is 'd["error"]["type"]' invalid
}

@test "a batch answers each line and goes on after a bad one" {
	run_split "$REMEM" search --batch <<-'END'
	{"query": "Berlin", "id": "a", "now": "2026-03-05", "maxResults": 1}
	{"query": 7, "id": "b"}
	not json

	{"query": "网关", "id": 4, "minScore": -1, "mode": "text", "filters": {"path": "MEMORY.md"}}
	{"query": "x", "id": "e", "filters": {"colour": "red"}}
	{"query": "x", "id": "f", "maxresults": 3}
	END
	[ "$status" = 3 ]
	[ "$(printf '%s\n' "$output" | wc -l)" = 6 ]
	printf '%s\n' "$output" | while read -r line; do
		printf '%s' "$line" | python3 -m json.tool >/dev/null
	done
	all=$output
	output=$(sed -n 1p <<<"$all"); is 'd["id"]' a; is 'len(d["results"])' 1
	output=$(sed -n 2p <<<"$all"); is 'd["id"]' b; is 'd["ok"]' false
	output=$(sed -n 3p <<<"$all"); is 'd["id"]' null
	output=$(sed -n 4p <<<"$all"); is 'd["id"]' 4; is 'len(d["results"])' 1
	output=$(sed -n 5p <<<"$all"); says "$(json 'd["error"]["message"]')" colour
	output=$(sed -n 6p <<<"$all"); says "$(json 'd["error"]["message"]')" maxresults
	run_split "$REMEM" search --batch </dev/null
	[ "$status" = 0 ]
}

@test "get gives lines, and tells absent from empty and beyond" {
	run_split "$REMEM" get memory/2026-03-01.md:3:1
	[ "$output" = "- Ann moved to Berlin" ]
	run_split "$REMEM" get --json MEMORY.md --from 3 --lines 1
	is 'd["nextFrom"]' 4
	: >memory/empty.md
	run_split "$REMEM" get --json memory/empty.md
	[ "$status" = 0 ]
	is 'd["status"] + str(d["totalLines"])' ok0
	run_split "$REMEM" get --json memory/2031-01-01.md
	[ "$status" = 1 ]
	is 'd["status"]' not_found
	run_split "$REMEM" get --json MEMORY.md:50:9
	[ "$status" = 0 ]
	is 'd["totalLines"]' 4
}

@test "get cuts long lines and says how to go on" {
	python3 -c 'print("长" * 30000)' >memory/long.md
	run_split "$REMEM" get --json memory/long.md
	is 'len(d["text"])' 12000
	is 'str(d["nextFrom"]) + ":" + str(d["nextOffset"])' 1:12000
	run_split "$REMEM" get --json memory/long.md --offset 24000
	is 'len(d["text"])' 6000
	is 'd["truncated"]' false
}

@test "status and doctor" {
	run_split "$REMEM" status --json
	[ "$status" = 0 ]
	is 'd["stale"]' true
	says "$(json 'd["problem"]')" 'no index yet'
	[ ! -e "$HOME/.cache" ]
	"$REMEM" index
	run_split "$REMEM" status --deep --json
	is 'd["complete"]' true
	is 'd["check"]["ok"]' true
	run_split "$REMEM" status
	says "$output" '2 files, 2 indexed'
	run_split "$REMEM" doctor --json
	[ "$status" = 0 ]
	is 'd["ok"]' true
}

@test "status compares disk and index" {
	"$REMEM" index
	echo '- new' >memory/new.md
	run_split "$REMEM" status --json
	is 'd["disk"]["changed"]' 1
	is 'd["stale"]' true
}

@test "config: list, get, set, unset" {
	run_split "$REMEM" config set query.maxResults 3
	[ "$status" = 0 ]
	run_split "$REMEM" config get query.maxResults
	[ "$output" = 3 ]
	run_split "$REMEM" config get query.maxResults --set query.maxResults=9
	[ "$output" = 9 ]
	run_split "$REMEM" config list --json
	is '[s["source"].split("/")[-1] for s in d["settings"] if s["key"].endswith("maxResults")][0]' config.yaml:1
	run_split "$REMEM" config unset memorySearch.query.maxResults
	run_split "$REMEM" config get query.maxResults
	[ "$output" = 6 ]
	says "$(cat "$config")" 'provider: none'
}

@test "models and version" {
	run_split "$REMEM" models list --json
	[ "$status" = 0 ]
	run_split "$REMEM" models use nothing-like-it
	[ "$status" = 1 ]
	says "$errors" 'models list'
	run_split "$REMEM" version --json
	is 'd["remem"]' 0.1.0
	run_split "$REMEM" --version
	says "$output" 'remem 0.1.0'
}

@test "help names every verb, and each verb its options" {
	run_split "$REMEM" --help
	says "$output" doctor
	for verb in init index search get embed status doctor config trust \
		models bench version help; do
		run_split "$REMEM" help $verb
		[ "$status" = 0 ]
		says "$output" "remem $verb"
		run_split "$REMEM" $verb --help
		says "$output" --workspace
	done
}
