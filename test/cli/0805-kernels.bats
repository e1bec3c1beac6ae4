#!/usr/bin/env bats
# One order of answers whatever vector instructions the processor has: vectors
# differ in their last digits, so what is nearly equal may change places, and
# nothing else.

@test "every path of the processor gives the same answers, near-equals aside" {
	MODEL="$REMEM_SOURCE_ROOT/build/share/remem/models/multilingual-e5-small-q4_0.gguf"
	[ -f "$MODEL" ] || skip "no model file on this machine"
	cp -r "$REMEM_SOURCE_ROOT/examples/notes" "$BATS_TEST_TMPDIR/notes"
	cd "$BATS_TEST_TMPDIR"
	"$REMEM" -q -w notes index
	printf '%s\n' '{"query":"which voltage do the solenoid valves need"}' \
		'{"query":"数据库查询变慢的原因是什么"}' \
		'{"query":"what day is the weekly meeting"}' \
		'{"query":"传感器数据现在保留多少天"}' >questions
	for cpu in portable avx2 avxvnni avx512vnni neon neondot; do
		for mode in text hybrid; do
			REMEM_CPU=$cpu "$REMEM" -q -w notes search --batch --json \
				--mode $mode --now 2026-12-01 <questions >"$mode.$cpu" ||
				rm "$mode.$cpu" # not of this machine
		done
	done
	python3 - <<-'END'
	import glob, json

	NEAR = .02  # of a score: 4-bit weights through another order of sums

	def read(name):
	    with open(name, encoding="utf-8") as f:
	        return [[(h["citation"], h["score"]) for h in json.loads(x)["results"]] for x in f]

	for mode in "text", "hybrid":
	    base = read(mode + ".portable")
	    assert len(base) == 4 and all(base), mode
	    for name in glob.glob(mode + ".*"):
	        cpu, other = name.split(".")[1], read(name)
	        if mode == "text":
	            assert other == base, cpu
	        for a, b in zip(base, other):
	            scores = dict(a)
	            for (here, s), (there, t) in zip(a, b):
	                assert abs(s - t) <= NEAR, (cpu, here, there, s, t)
	                assert here == there or there not in scores or abs(scores[there] - s) <= NEAR, (cpu, here, there)
	END
}
