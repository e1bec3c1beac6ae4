load common

# REMEM_KILL_RUN=all: every provider at every point, which takes a minute.
@test "a run killed while its provider fails ends with the same index, paid once" {
	root=$REMEM_SOURCE_ROOT which=${REMEM_KILL_RUN:-some}
	begin
	run_split timeout 600 python3 \
		"$root/test/server/killrun.py" "$REMEM" "$which"
	echo "$output$errors" >&2
	[ "$status" = 0 ]
	says "$output" ' kills'
}
