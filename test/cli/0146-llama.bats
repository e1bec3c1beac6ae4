#!/usr/bin/env bats
# llama.cpp itself, where make setup has fetched it: its declarations, which
# releases are taken, and the builtin file as a check of our encoder.
load common

setup() {
	begin
	libs="$(dirname "$REMEM")/llama/lib"
	builtin="$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf"
	root="$BATS_TEST_DIRNAME/../.."
	[ -f "$libs/libllama.v0.4.0.so" ] && [ -f "$builtin" ] ||
		skip "llama.cpp's libraries or the model are not there"
}

@test "declarations of llama.cpp are those of its headers" {
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only \
		-I"$libs/../include" -I"$root/src" -I"$root/include" \
		"$root/test/abi/llama.c"
}

@test "a changed declaration is noticed" {
	mkdir embed
	sed 's/uint32_t n_ctx, n_batch/uint64_t n_ctx, n_batch/' "$root/src/embed/llama_abi.h" >embed/llama_abi.h
	! ${CC:-cc} -std=c11 -fsyntax-only -I"$libs/../include" -I. -I"$root/src" \
		-I"$root/include" "$root/test/abi/llama.c" 2>errors
	grep -q 'static assertion failed: "n_ctx"' errors
}

embed_by() { # FOLDER
	echo 'hello' | "$REMEM" --set "memorySearch.local.modelPath=$builtin" \
		--set "memorySearch.local.runtimeDir=$1" embed --provider local
}

@test "a system's library is taken when its release is known" {
	mkdir lib
	cp "$libs"/*.so lib/
	mv lib/libllama.v0.4.0.so lib/libllama.so
	run_split embed_by "$PWD/lib"
	[ "$status" = 0 ]
	is 'len(d["embedding"])' 384
}

@test "a library of another release is refused by its name" {
	mkdir lib
	echo 'const char *llama_version(void); const char *llama_version(void) { return "0.5.1"; }' >new.c
	${CC:-cc} -shared -fPIC -o lib/libllama.so new.c
	run_split embed_by "$PWD/lib"
	[ "$status" = 1 ]
	says "$errors" "release '0.5.1' of llama.cpp, which this remem does not know: it knows 0.4.0"
	echo 'int unrelated;' >new.c
	${CC:-cc} -shared -fPIC -o lib/libllama.so new.c
	run_split embed_by "$PWD/lib"
	[ "$status" = 1 ]
	says "$errors" "release '?'"
	echo 'no library at all' >lib/libllama.so
	run_split embed_by "$PWD/lib"
	[ "$status" = 1 ]
	says "$errors" "cannot load"
}

@test "one that says a known release and has not its functions is refused" {
	mkdir lib
	echo 'const char *llama_version(void); const char *llama_version(void) { return "0.4.0"; }' >new.c
	${CC:-cc} -shared -fPIC -o lib/libllama.so new.c
	run_split embed_by "$PWD/lib"
	[ "$status" = 1 ]
	says "$errors" "has no function"
}

@test "the builtin file by llama.cpp and by our encoder: the same vectors" {
	PYTHONPATH="$root/test/server" python3 - "$REMEM" "$libs" "$builtin" "$root/../shared/oracle/e5-small.jsonl" <<-'END'
	import json, os, subprocess, sys, unicodedata
	from texts import TEXTS
	from worker_client import Worker
	remem, libs, model, oracle = sys.argv[1:]
	texts = ["passage: " + t for t in TEXTS]
	if os.path.exists(oracle):
	    rows = [json.loads(line) for line in open(oracle)]
	    texts += ["passage: " + r["text"] for r in rows if r["prefix"] == "passage: " and r["tokens"] < 500]
	    assert len(texts) > len(TEXTS) + 60
	ours = subprocess.run([remem, "embed", "--provider", "builtin"], check=True, stdout=subprocess.PIPE,
	                      input="".join(json.dumps(t[9:]) + "\n" for t in texts).encode()).stdout
	ours = [json.loads(line)["embedding"] for line in ours.splitlines()]
	# Without the map of our tables llama.cpp takes controls for unknown pieces.
	plain = [all(unicodedata.category(c) not in ("Cc", "Cf", "Zl", "Zp") for c in t) for t in texts]
	assert sum(plain) > len(TEXTS) - 4
	counts = []
	for own in (False, True):  # by our tables, and by llama.cpp's vocabulary
	    w = Worker(remem)
	    w.load(libs, model, window=512, vocabulary=own)
	    vectors = w.embed([t.encode() for t in texts])
	    w.end()
	    assert len(vectors) == len(ours)
	    counts.append([n for (n, _), p in zip(vectors, plain) if p])
	    for text, (_, v), o, p in zip(texts, vectors, ours, plain):
	        dot = sum(a * b for a, b in zip(v, o)) / sum(a * a for a in v) ** .5
	        assert dot >= .999 or own and not p, (own, dot, text)
	assert counts[0] == counts[1]
	END
}
