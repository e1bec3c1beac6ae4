#!/usr/bin/env bats
# Models of four shapes with random weights, run by llama.cpp itself in the
# embedding worker, and files that are made to break it.
load common

setup() {
	begin
	libs="$(dirname "$REMEM")/llama/lib"
	server="$BATS_TEST_DIRNAME/../server"
	[ -f "$libs/libllama.v0.4.0.so" ] || skip "llama.cpp's libraries are not there"
	models="$HOME/.local/share/remem/models"
	mkdir -p "$models"
	export PYTHONPATH="$server"
}

random() { # SHAPE FILE [NAME=VALUE...]
	python3 "$server/gguf_random.py" "$1" "$models/$2.gguf" "${@:3}"
}

use() { # NAME [DIMENSIONS]
	printf 'memorySearch:\n  provider: local\n  local: {modelPath: "%s"}\n  outputDimensionality: %d\n' \
		"$1" "${2:-0}" >"$config"
}

# How many vectors an index run makes: none where the identity is as before.
made() {
	"$REMEM" index --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["vectors"]["done"])'
}

model() {
	"$REMEM" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["model"])'
}

@test "each shape: dimensions, length, pooling, the prefixes of its kind" {
	for shape in bert nomic-bert gemma-embedding qwen3; do
		random $shape $shape
		use $shape
		printf 'the gateway waits\n小王负责\n' >texts
		"$REMEM" embed <texts >documents
		"$REMEM" embed --query <texts >queries
		python3 - "$REMEM" "$libs" "$models/$shape.gguf" $shape <<-'END'
		import json, sys
		from worker_client import Worker
		remem, libs, model, shape = sys.argv[1:]
		prefixes = {"bert": ("", ""), "nomic-bert": ("search_query: ", "search_document: "),
		            "gemma-embedding": ("task: search result | query: ", "title: none | text: "),
		            "qwen3": ("Instruct: Find the notes that answer the question\nQuery: ", "")}[shape]
		pooling = {"bert": 2, "nomic-bert": 1, "gemma-embedding": 1, "qwen3": 3}[shape]
		w = Worker(remem)
		info = w.load(libs, model, nfkc=False)
		assert (info["dims"], info["pooling"], info["window"]) == (64, pooling, 64), info
		texts = open("texts", "rb").read().split(b"\n")[:2]
		for name, prefix in zip(("queries", "documents"), prefixes):
		    raw = w.embed([prefix.encode() + t for t in texts])
		    for line, (_, v) in zip(open(name), raw):
		        got = json.loads(line)["embedding"]
		        assert len(got) == 64 and abs(sum(a * a for a in got) - 1) < 1e-4
		        norm = sum(a * a for a in v) ** .5
		        assert max(abs(a - b / norm) for a, b in zip(got, v)) < 1e-4, (name, shape)
		different = open("queries").read() != open("documents").read()
		assert different == (prefixes[0] != prefixes[1])
		END
	done
}

@test "another pooling is another identity and gives other vectors" {
	echo 'the gateway waits' >text
	for n in 1 2 3; do
		random bert bert pooling=$n
		use bert
		"$REMEM" embed <text >vector.$n
		model >name.$n
		[ "$(made)" = 4 ]
		[ "$(made)" = 0 ]
	done
	! cmp -s vector.1 vector.2
	! cmp -s vector.1 vector.3
	! cmp -s vector.2 vector.3
	grep -q '/mean/' name.1
	grep -q '/cls/' name.2
	grep -q '/last/' name.3
	random bert bert pooling=4
	run_split "$REMEM" models use bert
	[ "$status" = 1 ]
	says "$errors" 'orders answers'
}

@test "fewer dimensions where the model allows them, as a part of the identity" {
	random nomic-bert nomic
	random bert bert
	echo 'the gateway waits' >text
	use nomic
	"$REMEM" embed <text >whole
	[ "$(made)" = 4 ]
	[ "$(made)" = 0 ]
	use nomic 24
	"$REMEM" embed <text >cut
	[ "$(made)" = 4 ]
	python3 - <<-'END'
	import json
	whole, cut = (json.load(open(n))["embedding"] for n in ("whole", "cut"))
	norm = sum(a * a for a in whole[:24]) ** .5
	assert len(cut) == 24 and max(abs(a / norm - b) for a, b in zip(whole, cut)) < 1e-4
	END
	use bert 24
	run_split "$REMEM" embed <text
	[ "$status" = 1 ]
	says "$errors" 'gives 64 dimensions, not 24'
}

@test "a text of many windows: the mean of their vectors, weighted" {
	random qwen3 qwen3
	python3 - "$REMEM" "$libs" "$models/qwen3.gguf" <<-'END'
	import sys
	from worker_client import Worker
	w = Worker(sys.argv[1])
	w.load(sys.argv[2], sys.argv[3], nfkc=False)
	# A byte is a token, and one ends the text: windows of 63 of the text's own.
	text = ("abcdefghij" * 10).encode()
	(n, whole), (n1, first), (n2, second) = w.embed([text, text[:63], text[63:]])
	assert (n, n1, n2) == (101, 64, 38), (n, n1, n2)
	unit = [[a / sum(b * b for b in v) ** .5 for a in v] for v in (first, second)]
	want = [n1 * a + n2 * b for a, b in zip(*unit)]
	assert max(abs(a - b) for a, b in zip(want, whole)) < .01, (want[:3], whole[:3])
	# Long texts end, and memory stays where it was.
	before = w.memory()["VmHWM"]
	(n, _), = w.embed([b"long words " * 4000])
	assert n == 44001 and w.memory()["VmHWM"] < before + 40
	END
}

searched() { # keywords answer, and say why there is no more
	run_split "$REMEM" search --json gateway
	[ "$status" = 0 ]
	is 'd["results"][0]["path"]' MEMORY.md
	is 'd["degraded"] is not None' true
}

@test "files that are none, are cut off, or of no known kind" {
	random bert whole
	for n in 3 20 400 3000 60000; do
		head -c $n "$models/whole.gguf" >"$models/bad.gguf"
		use bad
		timeout 60 "$REMEM" index >/dev/null 2>errors || true
		searched
	done
	{ echo GGUX; tail -c +6 "$models/whole.gguf"; } >"$models/bad.gguf"
	searched
	# Counts that no file can hold.
	python3 - "$models/whole.gguf" "$models/bad.gguf" <<-'END'
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	data[8:24] = b"\xff" * 15 + b"\x7f"
	open(sys.argv[2], "wb").write(data)
	END
	searched
	random bert bad arch=llama
	searched
	run_split "$REMEM" models use bad
	[ "$status" = 1 ]
	says "$errors" "its architecture is 'llama'"
}

@test "a model that llama.cpp refuses, or that makes it abort, ends the worker alone" {
	# The shape of bert under another name: tensors are missing.
	random bert bad arch=nomic-bert
	use bad
	run_split "$REMEM" embed <<<text
	[ "$status" = 1 ]
	says "$errors" 'llama.cpp cannot load'
	searched
	random gemma-embedding bad layers=3
	run_split "$REMEM" embed <<<text
	[ "$status" = 1 ]
	says "$errors" 'signal'
	searched
	run_split "$REMEM" models verify bad --json
	[ "$status" = 1 ]
	is 'd["models"][0]["verified"]' false
}

# llama.cpp's library with a cut of texts that ends the process at one word.
deadly() { # SIGNAL
	mkdir -p deadly
	ln -sf "$libs"/*.so deadly/
	rm -f deadly/libllama.so
	cat >deadly.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <signal.h>
	#include <string.h>
	#include <stdbool.h>
	#include <stdint.h>
	int32_t llama_tokenize(const void *v, const char *text, int32_t len, int32_t *out, int32_t max, bool a, bool b);
	int32_t llama_tokenize(const void *v, const char *text, int32_t len, int32_t *out, int32_t max, bool a, bool b)
	{
		int32_t (*real)(const void *, const char *, int32_t, int32_t *, int32_t, bool, bool);

		if (memmem(text, (size_t)len, "BOOM", 4))
			raise(SIGNAL);
		*(void **)&real = dlsym(RTLD_NEXT, "llama_tokenize");
		return real(v, text, len, out, max, a, b);
	}
	END
	mv deadly/libllama.v0.4.0.so deadly/libllama-real.so
	${CC:-cc} -shared -fPIC -DSIGNAL="$1" deadly.c -o deadly/libllama.so -Wl,--no-as-needed \
		-L"$libs" -l:libllama.v0.4.0.so -Wl,-rpath,"$libs" -ldl
	printf '    runtimeDir: "%s"\n' "$PWD/deadly" >runtime
}

@test "the text that kills the worker is set aside, and the run goes on" {
	random bert bert
	for i in $(seq 30); do echo "- note number $i about the gateway"; done >>MEMORY.md
	printf -- '- BOOM goes the gateway\n- after it another note\n' >>memory/2026-03-01.md
	for signal in SIGKILL SIGABRT; do
		deadly $signal
		printf 'memorySearch:\n  provider: local\n  local:\n    modelPath: bert\n%s\n' "$(cat runtime)" >"$config"
		run_split timeout 120 "$REMEM" index --force --json
		[ "$status" = 0 ]
		is 'd["vectors"]["refused"]' 1
		is 'd["vectors"]["pending"]' 0
		run_split "$REMEM" status --json
		is 'd["index"]["refused"]' 1
		is 'len(d["refused"]) == 1 and "signal" in d["refused"][0]["reason"]' true
		run_split "$REMEM" search --json BOOM
		is 'd["results"][0]["path"]' memory/2026-03-01.md
		rm -rf "$HOME/.cache"
	done
}
