load common
# What a search loads and holds. The loader says which libraries it opens, also
# those that are opened later.
setup() {
	begin
	LD_DEBUG=files "$REMEM" --version 2>&1 | grep -q 'file=libc\.' ||
		skip "this loader does not say what it opens"
}

libraries() { # COMMAND...
	LD_DEBUG=files "$@" 2>&1 >/dev/null | grep -o 'file=[^ ]*' | sort -u
}

needs_none_of_the_heavy() {
	[ -n "$libs" ]
	! grep -E 'curl|llama|ggml|microhttpd|ssl|crypto' <<<"$libs"
}

@test "a search in text mode loads no library that it does not use" {
	no_vectors
	"$REMEM" -q index
	libs=$(libraries "$REMEM" search --mode text gateway)
	needs_none_of_the_heavy
	grep -q sqlite <<<"$libs"
	libs=$(libraries "$REMEM" -q index)
	needs_none_of_the_heavy
}

@test "nor does a hybrid one, and it fits into 50 MB" {
	[ -f "$(dirname "$REMEM")/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no builtin model"
	"$REMEM" -q index
	libs=$(libraries "$REMEM" search gateway)
	needs_none_of_the_heavy
	# Linux counts private memory that can be written to: heap, stacks.
	run_split bash -c 'ulimit -d 51200; exec "$0" -j search gateway' "$REMEM"
	[ "$status" = 0 ]
	[[ $output == *'"mode":"hybrid"'* && $output == *'"degraded":null'* ]]
}
