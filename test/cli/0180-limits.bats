load common

# Input of extreme shape: bounded time and memory, or a refusal that says the
# limit, and nothing else is lost by it.
setup() {
	begin
	no_vectors
}

teardown() {
	unlisten
}

# with_server DIMS
with_server() {
	ldconfig -p | grep -q libcurl || skip "no libcurl"
	log="$BATS_TEST_TMPDIR/log"
	: >"$log"
	FAKE_DIMS=$1 listen "$BATS_TEST_TMPDIR/port" python3 \
		"$BATS_TEST_DIRNAME/fake_embed.py" "$BATS_TEST_TMPDIR/port" "$log"
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: m
	  remote:
	    baseUrl: http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")/v1
	END
}

@test "a file of 100,000 short lines" {
	seq 100000 | sed 's/^/l/' >memory/short.md
	run_split timeout 30 "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	run_split "$REMEM" search --json l99999
	is 'd["results"][0]["citation"].split("#")[0]' memory/short.md
}

@test "a line of 8 MB is cut in time that grows with its length only" {
	yes 'word 数据' | head -c 8000000 | tr '\n' ' ' >memory/line.md
	echo >>memory/line.md
	echo 'the last line says quokka' >>memory/line.md
	run_split timeout 30 "$REMEM" index --json
	[ "$status" = 0 ]
	run_split "$REMEM" search --json quokka
	is 'd["results"][0]["endLine"]' 2
	is 'd["results"][0]["path"]' memory/line.md
	is 'len(d["results"][0]["snippet"]) <= 700' true
}

@test "a line of 200 MB is refused with the limit, the rest is indexed" {
	head -c 200000000 /dev/zero | tr '\0' a >memory/huge.md
	run_split timeout 30 "$REMEM" index --json
	[ "$status" = 3 ]
	is 'd["indexed"]' 2
	says "$output" 'has 200000000 bytes, more than the'
	says "$output" memorySearch.maxFileBytes
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
}

@test "50,000 equal items are embedded once" {
	with_server 32
	yes -- '- the very same item of a long list, said again' |
		head -n 50000 >memory/equal.md
	run_split timeout 60 "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	[ "$(grep -o 'the very same item' "$log" | wc -l)" -lt 5 ]
	run_split timeout 10 "$REMEM" search --json 'the very same item'
	[ "$status" = 0 ]
	is '"memory/equal.md" in [r["path"] for r in d["results"]]' true
}

@test "a question of 1 MB is answered or refused in bounded time" {
	run_split timeout 10 "$REMEM" index --json
	python3 -c 'import json
print(json.dumps({"id": 1, "query": "Berlin " + "w%d x " * 200000}))
print(json.dumps({"id": 2, "query": " ".join(f"w{i}" for i in range(150000))}))
print(json.dumps({"id": 3, "query": "数据库" * 110000}))
print(json.dumps({"id": 4, "query": "a" * 1000000}))
print(json.dumps({"id": 5, "query": "Berlin"}))' >"$BATS_TEST_TMPDIR/batch"
	run_split timeout 20 sh -c '"$0" search --batch <"$1"' "$REMEM" \
		"$BATS_TEST_TMPDIR/batch"
	[ "$status" = 0 ] || [ "$status" = 3 ]
	[ "$(printf '%s\n' "$output" | wc -l)" = 5 ]
	output=$(printf '%s\n' "$output" | tail -n 1)
	is 'len(d["results"])' 1
}

@test "vectors of 4096 dimensions" {
	with_server 4096
	run_split timeout 30 "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	run_split timeout 30 "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'd["degraded"]' null
	is 'd["mode"]' hybrid
	run_split "$REMEM" status --deep --json
	is 'd["sizes"]["parts"]["vectors"]' 16448
	is 'd["check"]["ok"]' true
}

slow_disk() {
	cc -shared -fPIC -o "$BATS_TEST_TMPDIR/slow.so" \
		"$BATS_TEST_DIRNAME/slow_disk.c" -ldl || skip "no compiler"
}

@test "a first index on a slow disk, stopped on the way, goes on" {
	slow_disk
	for i in $(seq 40); do
		echo "note number$i" >"memory/slow-$i.md"
	done
	# Opening takes as long as looking.
	SLOW_MS=20 LD_PRELOAD="$BATS_TEST_TMPDIR/slow.so" \
		run_split timeout -s INT 1 "$REMEM" index --json
	SLOW_MS=2 LD_PRELOAD="$BATS_TEST_TMPDIR/slow.so" \
		run_split timeout 30 "$REMEM" index --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
	is 'd["indexed"]' 42
	run_split "$REMEM" search --json number40
	is 'd["results"][0]["path"]' memory/slow-40.md
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
}

@test "on a slow disk a search answers, and nothing is lost" {
	"$REMEM" index -q >/dev/null
	slow_disk
	for i in $(seq 50); do
		echo "note $i" >"memory/slow-$i.md"
	done
	start=$(date +%s%N)
	SLOW_MS=20 LD_PRELOAD="$BATS_TEST_TMPDIR/slow.so" \
		run_split timeout 10 "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	[ $(($(date +%s%N) - start)) -ge 900000000 ] # it was slow
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	is 'd["indexed"]' 52
}

@test "within 300 MB of address space" {
	yes 'some words of a long note 和一些中文' | head -c 20000000 >memory/large.md
	run_split timeout 60 sh -c 'ulimit -v 300000; exec "$0" index --json' "$REMEM"
	[ "$status" = 0 ]
	is 'd["complete"]' true
	run_split sh -c 'ulimit -v 300000; exec "$0" search --json Berlin' "$REMEM"
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' memory/2026-03-01.md
}

@test "within 300 MB of address space, with vectors" {
	[ -f "$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no builtin model"
	rm "$config"
	run_split timeout 60 sh -c 'ulimit -v 300000; exec "$0" index --json' "$REMEM"
	[ "$status" = 0 ]
	is 'd["vectors"]["pending"]' 0
	run_split sh -c 'ulimit -v 300000; exec "$0" search --json Berlin' "$REMEM"
	is 'd["mode"]' hybrid
	is 'd["degraded"]' null
	# Without the memory for the model words answer, and the limit is named.
	run_split sh -c 'ulimit -v 90000; exec "$0" search --json Berlin' "$REMEM"
	[ "$status" = 0 ]
	is 'd["mode"]' text
	is 'd["degraded"]["reason"]' provider
	says "$output" '(ulimit -v)'
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	echo '- a new line' >>memory/2026-03-01.md
	run_split sh -c 'ulimit -v 90000; exec "$0" index --json' "$REMEM"
	[ "$status" = 3 ]
	is 'd["changed"]' 1
	says "$output" '(ulimit -v)'
}

@test "without the memory for a file it is named, and nothing is lost" {
	"$REMEM" index -q >/dev/null
	head -c 50000000 /dev/zero | tr '\0' ' ' >memory/large.md
	run_split sh -c 'ulimit -v 90000; exec "$0" index --json' "$REMEM"
	[ "$status" = 1 ]
	says "$output$errors" memory/large.md
	says "$output$errors" memorySearch.maxFileBytes
	rm memory/large.md
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
}

# peak COMMAND...: the most anonymous memory it has had, in MB.
peak() {
	python3 -c '
import subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
most = 0
while p.poll() is None:
    with open(f"/proc/{p.pid}/status") as f:
        most = max([most] + [int(x.split()[1]) for x in f if x.startswith("RssAnon")])
    time.sleep(.005)
assert p.returncode == 0
print(most >> 10)' "$@"
}

@test "memory of a first index hardly grows with the files" {
	grep -q RssAnon /proc/self/status || skip "no RssAnon"
	python3 -c '
import os
for i in range(12000):
    d = f"memory/f{i // 1000}"
    os.makedirs(d, exist_ok=True)
    with open(f"{d}/n{i}.md", "w") as f:
        f.write(f"- item {i} of word{i % 977}, and some more text to hold on to: 数据{i % 13}\n" * 6)'
	[ "$(peak "$REMEM" index -q)" -le 40 ] # 24; 100,000 files take 53
}
