load common
setup() {
	begin
	no_vectors
}

teardown() {
	[ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# Starts watch and waits until it has looked once.
watch() {
	mkfifo ../events
	"$REMEM" watch --json "$@" >../events 2>../errors 3>&- &
	pid=$!
	exec 5<../events
	event watching
}

# The next event of that kind, in $output.
event() {
	while read -r -t 30 output <&5; do
		case $output in *"\"event\":\"$1\""*) return 0 ;; esac
	done
	echo "no $1 within 30 seconds: $(cat ../errors)" >&2
	return 1
}

found() { # WORD COUNT, without a look at the files
	run_split "$REMEM" search --no-sync --json "$1"
	is 'len(d["results"])' "$2"
}

@test "watch: a saved note is found, a deleted one is gone" {
	watch
	is 'd["folders"]' 2
	is 'd["problem"]' null
	echo '- Samarkand 撒马尔罕' >memory/new.md
	event synced
	is 'd["reason"]' watch
	is 'd["added"]' 1
	found Samarkand 1
	rm memory/new.md
	event synced
	is 'd["removed"]' 1
	found Samarkand 0
}

@test "watch: a new folder and what is in it" {
	watch --set memorySearch.sync.watchDebounceMs=200
	mkdir -p ../a/b
	echo '- Samarkand' >../a/b/deep.md
	mv ../a memory
	event synced
	found Samarkand 1
	echo '- Bukhara' >memory/a/b/deep.md
	event synced
	found Bukhara 1
}

@test "watch: a signal ends it with success" {
	for signal in INT TERM HUP; do
		rm -f ../events
		watch
		kill -$signal $pid
		wait $pid
		pid=
		[ ! -s ../errors ]
	done
}

@test "watch: a workspace that goes away is told of, and comes back" {
	watch --set memorySearch.sync.watchDebounceMs=10
	mv "$ws" "$ws.away"
	event failed
	is 'd["error"]["type"]' not_found
	mv "$ws.away" "$ws"
	event synced
	cd "$ws"
	found Berlin 1
}

@test "watch: nothing may be written" {
	run_split "$REMEM" watch --read-only --json
	[ "$status" = 1 ]
	is 'd["error"]["type"]' not_allowed
	run_split "$REMEM" watch --set memorySearch.sync.watch=false
	[ "$status" = 2 ]
	says "$errors" memorySearch.sync.watch
	run_split "$REMEM" watch folder
	[ "$status" = 2 ]
}

@test "watch: a full disk is told of and waited for" {
	unshare -m true 2>/dev/null || skip "no mounts here"
	mkdir ../small
	export -f watch event run_split is json says found
	export BATS_TEST_TMPDIR REMEM
	unshare -m bash -e <<-'END'
	trap 'kill -9 $pid 2>/dev/null || true' EXIT
	mount -t tmpfs -o size=1500k tmpfs ../small
	export XDG_CACHE_HOME=$PWD/../small
	watch --set memorySearch.sync.watchDebounceMs=10
	python3 -c '
	for i in range(400):
	    with open("memory/more-%d.md" % i, "w") as f:
	        f.write("".join("- fact %d of Samarkand, %d\n" % (k, i) for k in range(60)))'
	event failed
	says "$(json 'd["error"]["message"]')" 'disk is full'
	mount -o remount,size=200m ../small
	event synced
	is 'd["complete"]' true
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
	is 'd["disk"]["changed"]' 0
	kill $pid
	wait $pid
	END
}
