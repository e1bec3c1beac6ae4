load common

# Needs the builtin model, which the set-up makes.
setup() {
	begin
	[ -f "$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no builtin model"
}

@test "a question finds its answer in the other language" {
	run_split "$REMEM" search --json 'who is responsible for payments?'
	[ "$status" = 0 ]
	is 'd["mode"]' hybrid
	is 'd["provider"]' builtin
	is 'd["index"]["pending"]' 0
	is 'd["results"][0]["path"]' MEMORY.md
	run_split "$REMEM" search --json '安搬到哪里了'
	is 'd["results"][0]["path"]' memory/2026-03-01.md
}

@test "vectors are made once" {
	"$REMEM" index
	run_split "$REMEM" index --json
	is 'd["vectors"]["done"]' 0
	is 'd["vectors"]["pending"]' 0
	run_split "$REMEM" index --force --json
	is 'd["vectors"]["done"]' 0
}

@test "embed gives one normalised vector a line" {
	run_split sh -c 'printf "%s\n" "hello world" "\"你好\\n世界\"" "" |
		"$0" embed --query' "$REMEM"
	[ "$status" = 0 ]
	printf '%s\n' "$output" | python3 -c '
import json, sys
rows = [json.loads(x)["embedding"] for x in sys.stdin]
assert len(rows) == 3
for v in rows:
    assert len(v) == 384
    assert abs(sum(x * x for x in v) - 1) < 1e-3'
	run_split "$REMEM" embed </dev/null
	[ "$status" = 0 ]
	[ -z "$output" ]
	run_split sh -c 'echo "\"broken" | "$0" embed' "$REMEM"
	[ "$status" = 1 ]
}

@test "text-only leaves the vectors, and the answer says so" {
	"$REMEM" index --text-only
	run_split "$REMEM" search --no-sync --json 网关
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["index"]["pending"] > 0' true
	is 'd["degraded"] is not None' true
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	run_split "$REMEM" search --json 网关
	is 'd["degraded"]' null
}

@test "models: list, verify, use" {
	run_split "$REMEM" models --json
	is 'd["models"][0]["used"]' true
	is 'd["models"][0]["dims"]' 384
	path=$(json 'd["models"][0]["path"]')
	run_split "$REMEM" models verify --json
	[ "$status" = 0 ]
	is 'd["models"][0]["verified"]' true
	run_split "$REMEM" models use "$path"
	[ "$status" = 0 ]
	run_split "$REMEM" config get builtin.modelPath
	[ "$output" = "$path" ]
	run_split "$REMEM" models use /etc/passwd
	[ "$status" = 1 ]
}

@test "bench --set judges a set" {
	set="$BATS_TEST_TMPDIR/set"
	mkdir -p "$set/workspaces"
	cp -r "$ws" "$set/workspaces/one"
	cat >"$set/queries.jsonl" <<-'END'
	{"query_id": "a", "workspace": "one", "kind": "near", "query": "Berlin", "now": "2026-03-05"}
	{"query_id": "b", "workspace": "one", "kind": "negative", "query": "quantum chromodynamics lecture"}
	END
	echo '{"query_id": "a", "path": "memory/2026-03-01.md", "startLine": 3, "endLine": 3, "grade": 1, "role": "relevant"}' \
		>"$set/qrels.jsonl"
	run_split "$REMEM" bench --set "$set" --json --run "$set/run.jsonl"
	[ "$status" = 0 ]
	is 'd["kinds"]["near"]["R@1"]' 1.0
	is 'd["kinds"]["ALL"]["n"]' 2
	[ "$(wc -l <"$set/run.jsonl")" = 2 ]
	run_split "$REMEM" bench --set "$set" --mode text
	says "$output" 'R@2000ch'
	run_split "$REMEM" bench --set /nowhere
	[ "$status" = 2 ]
	[ ! -e "$HOME/.local/state/remem" ]
}

@test "bench prints this machine's limits beside what is reached" {
	run_split "$REMEM" bench --json --repeat 2 --notes 12 --vectors 1500x384,100x70
	[ "$status" = 0 ]
	is 'd["repeat"]' 2
	for name in "memory read, one thread" sha-256 "walk and stat of the notes" \
		"FTS5 insert of ready-made terms" "nearest of 1500 x 384" \
		"nearest of 100 x 70" "terms, Latin" "chunks, Chinese" \
		"builtin model, about 200 tokens" "a question by the builtin model" \
		"first index, text" "index with nothing to do" \
		"index with one file changed" "warm search by keywords" \
		"warm search, a page as question" "cold search by keywords" \
		"cold search by meaning, few notes"; do
		is "\"$name\" in [b[\"name\"] for b in d[\"benchmarks\"]]" true
	done
	is 'all(b["low"] <= b["value"] <= b["high"] for b in d["benchmarks"])' true
	is 'all(b["high"] > 0 for b in d["benchmarks"])' true
	is '[b["turns"] for b in d["benchmarks"] if b["name"] == "sha-256"][0]' 2
	is 'all((b["limit"] is None) == (b["ratio"] is None) for b in d["benchmarks"])' true
	is 'sorted(b["name"] for b in d["benchmarks"] if b["limit"])[0]' "a question by the builtin model"
	run_split "$REMEM" bench --repeat 1 --notes 10 --vectors 100x64
	[ "$status" = 0 ]
	says "$output" 'median'
	[ -z "$(ls -d "${TMPDIR:-/tmp}"/remem-bench-* 2>/dev/null)" ]
}

@test "bench refuses sizes that are none" {
	for list in x 5x 5x0 100x64,y -3x4 99999999999x3 5x99999; do
		run_split "$REMEM" bench --vectors="$list"
		[ "$status" = 2 ]
	done
	run_split "$REMEM" bench --repeat 0
	[ "$status" = 2 ]
	[ -z "$(ls -d "${TMPDIR:-/tmp}"/remem-bench-* 2>/dev/null)" ]
}
