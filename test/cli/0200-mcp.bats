load common

setup() {
	begin
	no_vectors
	export REMEM
	here=$BATS_TEST_DIRNAME
}

talk() { timeout 110 python3 "$here/mcp_talk.py" "$@"; }

@test "mcp: 2024-11-05" { talk legacy 2024-11-05; }
@test "mcp: 2025-03-26" { talk legacy 2025-03-26; }
@test "mcp: 2025-06-18" { talk legacy 2025-06-18; }
@test "mcp: 2025-11-25" { talk legacy 2025-11-25; }
@test "mcp: 2026-07-28, where nothing is remembered" { talk modern; }
@test "mcp: an unknown version gets our newest" { talk versions; }
@test "mcp: requests before initialize" { talk before; }
@test "mcp: ids of any kind come back as they were" { talk ids; }
@test "mcp: malformed messages are answered, and the server lives" { talk malformed; }
@test "mcp: messages in pieces and several at once" { talk split; }
@test "mcp: a message of 100 MB is refused and passed over" { talk oversized; }
@test "mcp: batches where the version has them" { talk batches; }
@test "mcp: a thousand requests at once" { talk many; }
@test "mcp: a client that writes everything before it reads" { talk writes_first; }
@test "mcp: a client that never reads" { talk never_reads; }
@test "mcp: a client that goes, and signals" { talk gone; }
@test "mcp: no helper processes" { talk alone; }
@test "mcp: progress of a long sync" { talk progress; }
@test "mcp: standard output is pure" { talk pure; }
@test "mcp: tools, and arguments that are wrong" { talk tools; }
@test "mcp: memory_add, in English and Chinese, and read-only" { talk add; }
@test "mcp: two servers write into one workspace" { talk two_writers; }
@test "mcp: memory_context, private and shared" { talk context; }
@test "mcp: long answers are cut with a word" { talk size; }
@test "mcp: notes cannot leave their string" { talk deceiving; }
@test "mcp: no workspace is an answer, with a rest of 60 s" { talk unavailable; }
@test "mcp: citations auto" { talk citations auto; }
@test "mcp: citations on" { talk citations on; }
@test "mcp: citations off" { talk citations off; }
@test "mcp: resources and the prompt" { talk resources; }
@test "mcp: OpenClaw's names and fields" { talk openclaw; }
@test "mcp: LanceDB's names and fields" { talk lancedb; }

@test "mcp: options that make no sense" {
	run_split "$REMEM" mcp --compat qmd </dev/null
	[ "$status" = 2 ]
	says "$errors" openclaw
	run_split "$REMEM" mcp --tools all </dev/null
	[ "$status" = 2 ]
	run_split "$REMEM" mcp x </dev/null
	[ "$status" = 2 ]
	[ -z "$output" ]
}

@test "mcp: cancelled requests and pings beside a provider that hangs" {
	listen "$BATS_TEST_TMPDIR/port" python3 "$here/../server/provider.py" \
		--log "$BATS_TEST_TMPDIR/log" \
		--port-file "$BATS_TEST_TMPDIR/port"
	cat >"$config" <<-END
	memorySearch:
	  provider: openai-compatible
	  model: mock
	  remote: {baseUrl: "http://127.0.0.1:$port/hang/v1"}
	END
	rc=0
	talk cancel || rc=$?
	unlisten
	[ "$rc" = 0 ]
}
