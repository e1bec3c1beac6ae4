#!/usr/bin/env bats
# The quick start answers across languages, and leaves nothing behind.

@test "an English question finds a Chinese note and the reverse" {
	[ -f "$REMEM_SOURCE_ROOT/build/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no model file on this machine"
	run "$REMEM_SOURCE_ROOT/tools/try.sh"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"why is there no phone app'"*$'\n1. memory/决定.md#L'* ]]
	[[ "$output" == *"女儿对什么过敏'"*$'\n1. MEMORY.md#L'* ]]
	[ "$(ls -A "$TMPDIR" | grep -c remem-try)" -eq 0 ]
}
