load common

setup() {
	begin
	no_vectors
}

kinds() {
	json '[(f["kind"], f["citations"]) for f in d["findings"] if f["kind"] == "'"$1"'"]'
}

@test "each kind is found with its lines, and nothing is changed" {
	key="ghp_""Ab3De6Gh9Jk2Mn5Pq8St1Vw4Yz7Bc0Ef3Hi6"
	cat >memory/a.md <<-END
	# a

	- Ann's dog is called Rex and lives in the yard
	- the gateway timeout is 30 seconds
	- 支付网关的超时是30秒
	- [ ] send the offer by 2020-01-02
	- token $key
	- from the old plan <!-- source: memory/gone.md#L3 -->
	END
	cat >memory/b.md <<-END
	- ann's dog is called Rex, and lives in the yard.
	- The gateway timeout is 45 seconds
	- 支付网关的超时是45秒
	END
	picture "$ws" >"$BATS_TEST_TMPDIR/before"
	run_split "$REMEM" doctor --memory --json
	[ "$status" = 0 ]
	silent "$output" "$key"
	[ "$(kinds duplicate)" = '[["duplicate", ["memory/a.md#L3", "memory/b.md#L1"]]]' ]
	is 'd["counts"]["conflict"]' 2
	[ "$(kinds stale)" = '[["stale", ["memory/a.md#L6"]]]' ]
	[ "$(kinds leak)" = '[["leak", ["memory/a.md#L7"]]]' ]
	[ "$(kinds orphaned)" = '[["orphaned", ["memory/a.md#L8"]]]' ]
	picture "$ws" | cmp - "$BATS_TEST_TMPDIR/before"
	run_split "$REMEM" doctor --memory
	says "$output" "remem forget 'memory/b.md#L1'"
}

@test "notes without anything to say" {
	run_split "$REMEM" doctor --memory
	[ "$status" = 0 ]
	says "$output" 'nothing to say'
}
