load common
setup() { begin; no_vectors; }

@test "broken notes cost themselves alone" {
	printf -- '- bad \xff\xfe bytes, Reykjavik\n' >memory/invalid.md
	printf -- '- nul \0 byte, Montevideo\n' >memory/nul.md
	printf '\xef\xbb\xbf- mark, Ouagadougou\r\n- two\r\n' >memory/bom.md
	printf -- '- 宽字，Antananarivo\n' | iconv -t UTF-16 >memory/wide.md
	: >memory/empty.md
	head -c 3000000 /dev/zero | tr '\0' x >memory/line.md
	printf -- '---\n: [\n---\n- Thimphu\n' >memory/front.md
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	for word in Reykjavik Montevideo Ouagadougou Antananarivo Thimphu Berlin; do
		# The line of one word makes every other passage a long one.
		run_split "$REMEM" search --json --min-score -1 $word
		[ "$status" = 0 ]
		is 'len(d["results"])' 1
	done
	run_split "$REMEM" status --json
	says "$output" memory/invalid.md
}

@test "a file that is too large is listed once, with what to do" {
	truncate -s 1G memory/huge.md
	run_split "$REMEM" index
	[ "$status" = 3 ]
	says "$output" 'memory/huge.md: has 1073741824 bytes'
	says "$output" memorySearch.maxFileBytes
	says "$output" ' 0 pending'
	silent "$errors" 'run it again'
	run_split "$REMEM" status --json
	is '[s["path"] for s in d["skipped"]]' '["memory/huge.md"]'
	is 'd["warnings"]' '[]'
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
	is 'd["index"]["skipped"]' 1
}

@test "hostile names are indexed or listed" {
	mkdir "memory/$(printf 'a\nb')"
	echo '- Tegucigalpa' >"memory/$(printf 'a\nb')/c.md"
	echo '- Bujumbura' >"memory/$(printf 'x\xff').md"
	echo '- Nouakchott' >'memory/"quoted" $(id) ;.md'
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	for word in Tegucigalpa Bujumbura Nouakchott; do
		run_split "$REMEM" search --json $word
		is 'len(d["results"])' 1
		run_split "$REMEM" get -- "$(json 'd["results"][0]["citation"]')"
		says "$output" $word
		run_split "$REMEM" search --json $word
		run_split "$REMEM" search $word
		[ "$status" = 0 ]
	done
}

@test "links out of the root are not followed" {
	echo '- Xanadu secret' >../outside.md
	mkdir ../out
	echo '- Xanadu too' >../out/x.md
	ln -s ../../outside.md memory/link.md
	ln -s ../../out memory/dir
	ln -s . memory/loop
	ln -s /dev/zero memory/zero.md
	mkfifo memory/pipe.md
	run_split timeout 20 "$REMEM" index --json
	[ "$status" = 0 ]
	run_split "$REMEM" search --json Xanadu
	is 'd["results"]' '[]'
	run_split "$REMEM" status --json
	says "$output" memory/link.md
	says "$output" memory/pipe.md
	for path in memory/link.md memory/dir/x.md ../outside.md \
		"$BATS_TEST_TMPDIR/outside.md" memory/../../outside.md \
		memory/loop/link.md /etc/passwd; do
		run_split timeout 20 "$REMEM" get "$path"
		[ "$status" = 1 ]
		silent "$output" Xanadu
	done
}

@test "the workspace itself may be a link" {
	ln -s notes ../linked
	run_split "$REMEM" -w ../linked search --json Berlin
	is 'len(d["results"])' 1
}

@test "any text is a query" {
	for query in '' ' ' '"' 'a AND' 'foo-bar' "what's up?" 'NEAR(a b)' '*' \
		"'; DROP TABLE files; --" 😀 '(((' 'col:x' '超' - $'a\nb'; do
		run_split "$REMEM" search --json -- "$query" </dev/null
		[ "$status" = 0 ] || { echo "$query: $status $output"; false; }
		json 'd["version"]' >/dev/null
	done
	head -c 1000000 /dev/urandom | run_split "$REMEM" search --json -
	head -c 1000000 /dev/urandom >../noise
	run_split "$REMEM" search --json - <../noise
	[ "$status" = 0 ]
	json 'd["version"]' >/dev/null
}

drop_table() { # a statement of ours that makes no sense any more
	python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("drop table chunks")
c.commit()' "$1"
}

@test "an index that is cut, foreign or of noise is built anew" {
	for how in 'truncate -s 0' 'truncate -s 5000' 'truncate -s 100000' \
		'cp /etc/passwd' drop_table; do
		"$REMEM" index
		find "$HOME/.cache/remem" -type f -name index.sqlite |
		while read -r f; do
			$how "$f"
			rm -f "$f-wal" "$f-shm"
		done
		run_split "$REMEM" search --json Berlin
		[ "$status" = 0 ]
		is 'len(d["results"])' 1
	done
	find "$HOME/.cache/remem" -name current -exec sh -c \
		'echo ../../../etc >"$1"' _ {} \;
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
	find "$HOME/.cache/remem" -name current -exec sh -c \
		'seq 5000 >"$1"' _ {} \;
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
	mkdir ../elsewhere
	echo kept >../elsewhere/file
	for gen in "$HOME"/.cache/remem/*/gen-*; do
		rm -r "$gen"
		ln -s "$BATS_TEST_TMPDIR/elsewhere" "$gen"
	done
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	run_split "$REMEM" index --json
	[ "$status" = 0 ]
	[ "$(cat ../elsewhere/file)" = kept ]
	rm -r "$HOME/.cache/remem"
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
}

@test "settings that are no settings cost a warning" {
	for text in 'a: [' '- 1' $'\xff\xfe' 'a: &x [*x]' \
		'memorySearch: 7'; do
		printf '%s' "$text" >"$config"
		run_split "$REMEM" search --json Berlin --mode text
		[ "$status" = 0 ]
		is 'len(d["results"])' 1
	done
	rm "$config"
	mkdir "$config"
	run_split "$REMEM" search --json Berlin --mode text
	[ "$status" = 0 ]
	run_split "$REMEM" --config ../none.yaml search --json Berlin
	[ "$status" = 1 ]
}

@test "an unreadable folder keeps its rows and is told" {
	needs_permissions
	mkdir memory/deep
	echo '- Ljubljana' >memory/deep/a.md
	echo '- 卢布尔雅那' >memory/closed.md
	"$REMEM" index
	chmod 0 memory/deep memory/closed.md
	run_split as_user "$REMEM" index --json
	[ "$status" = 3 ]
	is '[s["path"] for s in d["skips"]]' '["memory/deep/", "memory/closed.md"]'
	for word in Ljubljana 卢布尔雅那; do
		run_split as_user "$REMEM" search --json $word
		is 'len(d["results"])' 1
	done
	run_split as_user "$REMEM" status
	says "$output" 'memory/deep/: cannot be read: permission denied'
	run_split as_user "$REMEM" doctor --json
	[ "$status" = 1 ]
	is 'd["ok"]' false
	chmod 755 memory/deep memory/closed.md
	run_split "$REMEM" index --json
	is 'd["complete"]' true
}

@test "a workspace that vanishes meanwhile is an error with words" {
	"$REMEM" index
	mv "$ws" "$ws.gone"
	run_split "$REMEM" -w "$ws" search Berlin
	[ "$status" = 1 ]
	[ -n "$errors" ]
}

@test "a provider that there is not is told, and keywords answer" {
	echo 'memorySearch: {provider: 没有}' >"$config"
	run_split "$REMEM" index --json
	[ "$status" = 3 ]
	is 'd["complete"]' false
	is 'd["vectors"]["pending"] > 0' true
	says "$(json 'd["degraded"]')" 没有
	run_split "$REMEM" index --text-only --json
	[ "$status" = 0 ]
	is 'd["vectors"]["pending"] > 0' true
	run_split "$REMEM" search --json Berlin
	is 'len(d["results"])' 1
	is 'd["degraded"]["reason"]' no_provider
}

@test "a model file that is none is told, and keywords answer" {
	echo 'memorySearch: {builtin: {modelPath: /etc/passwd}}' >"$config"
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["degraded"] is not None' true
	is 'd["mode"]' text
	run_split "$REMEM" models verify --json
	[ "$status" = 1 ]
	run_split "$REMEM" --set failClosed=true search Berlin
	[ "$status" = 1 ]
}
