load common
setup() { begin; no_vectors; }

@test "eight processes index and search at once" {
	for i in $(seq 30); do
		echo "- fact $i of Kathmandu, 第 $i 条" >memory/note-$i.md
	done
	for i in 1 2 3 4; do
		"$REMEM" index --json >"../index-$i" 2>"../index-$i.err" &
		"$REMEM" search --json Kathmandu >"../search-$i" 2>"../search-$i.err" &
	done
	wait
	for i in 1 2 3 4; do
		output=$(cat ../index-$i)
		is 'd["complete"]' true
		output=$(cat ../search-$i)
		json 'd["version"]' >/dev/null
		silent "$(cat ../index-$i.err ../search-$i.err)" locked
	done
	run_split "$REMEM" search --json Kathmandu
	is 'len(d["results"])' 6
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
	is 'd["index"]["indexed"]' 32
}

@test "a killed run leaves an index that answers, and the next one goes on" {
	"$REMEM" index
	python3 -c '
for i in range(300):
    with open("memory/more-%d.md" % i, "w") as f:
        f.write("- Samarkand %s\n" % ("x " * 400))'
	for wait in .01 .03 .1 .3; do
		"$REMEM" index >/dev/null 2>&1 &
		sleep $wait
		kill -9 $! 2>/dev/null || true
		wait 2>/dev/null || true
		run_split "$REMEM" search --no-sync --json Berlin
		[ "$status" = 0 ]
		is 'len(d["results"])' 1
	done
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
	is 'd["disk"]["changed"]' 0
	[ "$(cat MEMORY.md | wc -l)" = 4 ]
}

@test "a search and a status on a clean index change no file" {
	"$REMEM" index
	picture "$HOME" >../before
	"$REMEM" search Berlin >/dev/null
	"$REMEM" status --deep >/dev/null
	"$REMEM" doctor >/dev/null
	picture "$HOME" >../after
	diff ../before ../after
	[ -z "$(find "$ws" -newer ../before)" ]
}

@test "a read-only place for the index answers and says it is old" {
	needs_permissions
	"$REMEM" index
	chmod -R a-w "$HOME/.cache" "$HOME/.local"
	echo '- Zagreb' >memory/new.md
	picture "$HOME" >../before
	run_split as_user "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["stale"]' true
	run_split as_user "$REMEM" status --json
	is 'd["stale"]' true
	is 'd["disk"]["changed"]' 1
	run_split as_user "$REMEM" index --json
	[ "$status" = 1 ]
	is 'd["ok"]' false
	picture "$HOME" >../after
	diff ../before ../after
	chmod -R u+w "$HOME/.cache" "$HOME/.local"
}

many_facts() {
	python3 -c '
for i in range(150):
    with open("memory/n%d.md" % i, "w") as f:
        for j in range(100):
            f.write("- fact %d of %d word%d, 第 %d 条\n" % (i, j, i * j, j))'
}

# What is there answers, and is whole when there is room again.
after_full() {
	[ "$status" = 1 ]
	is 'd["ok"]' false
	[ "$(json 'd["error"]["action"]')" != '' ]
	run_split "$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
	is 'd["stale"]' true
	[ "$(sha256sum MEMORY.md memory/*)" = "$notes" ]
}

@test "a full disk costs what does not fit" {
	unshare -m true 2>/dev/null || skip "no mounts here"
	mkdir ../small
	export -f many_facts after_full run_split is json says
	export BATS_TEST_TMPDIR REMEM
	unshare -m bash -e <<-'END'
	mount -t tmpfs -o size=1500k tmpfs ../small
	export XDG_CACHE_HOME=$PWD/../small
	"$REMEM" index >/dev/null
	many_facts
	notes=$(sha256sum MEMORY.md memory/*)
	run_split "$REMEM" index --json
	after_full
	says "$(json 'd["message"]')" 'disk is full'
	run_split "$REMEM" doctor
	says "$output" 'nearly full'
	mount -o remount,size=100m ../small
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
	END
}

@test "a file of the index that may not grow costs what does not fit" {
	"$REMEM" index
	many_facts
	notes=$(sha256sum MEMORY.md memory/*)
	trap '' XFSZ
	(
		ulimit -f 600
		run_split "$REMEM" index --json
		[ "$status" = 1 ]
		is 'd["ok"]' false
		run_split "$REMEM" search --json Berlin
		is 'len(d["results"])' 1
		is 'd["stale"]' true
	)
	[ "$(sha256sum MEMORY.md memory/*)" = "$notes" ]
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
}

@test "an index whose first run never ended says so also without a look" {
	many_facts
	trap '' XFSZ
	(
		ulimit -f 600
		run_split "$REMEM" index --json
		[ "$status" = 1 ]
	)
	run_split "$REMEM" search --no-sync --json Berlin
	is 'd["stale"]' true
	says "$(json 'd["message"]')" 'remem index'
	"$REMEM" index
	run_split "$REMEM" search --no-sync --json Berlin
	is 'd["stale"]' false
}

@test "an unwritable temporary folder does not matter" {
	run_split env TMPDIR=/nonexistent "$REMEM" index --force --json
	[ "$status" = 0 ]
	is 'd["complete"]' true
}

@test "without any home folder there are words" {
	run_split env -u HOME XDG_CACHE_HOME="$HOME/c" XDG_STATE_HOME="$HOME/s" \
		"$REMEM" search --json Berlin
	[ "$status" = 0 ]
	is 'len(d["results"])' 1
}

@test "two copies of a workspace have two indexes, a moved one keeps its own" {
	"$REMEM" index
	run_split "$REMEM" status --json
	first=$(json 'd["id"]')
	cp -r "$ws" "$ws-copy"
	"$REMEM" -w "$ws-copy" index
	run_split "$REMEM" -w "$ws-copy" status --json
	[ "$(json 'd["id"]')" != "$first" ]
	cd ..
	mv "$ws" "$ws-moved"
	run_split "$REMEM" -w "$ws-moved" doctor
	says "$output" 'was moved here from'
	run_split "$REMEM" -w "$ws-moved" doctor --fix
	[ "$status" = 0 ]
	run_split "$REMEM" -w "$ws-moved" doctor
	silent "$output" 'was moved here from'
	run_split "$REMEM" -w "$ws-moved" search --json Berlin
	is 'len(d["results"])' 1
	run_split "$REMEM" -w "$ws-moved" status --json
	[ "$(json 'd["id"]')" = "$first" ]
}

@test "agents have indexes of their own" {
	"$REMEM" --agent work index
	run_split "$REMEM" --agent work status --json
	is 'd["agent"]' work
	is 'd["complete"]' true
	run_split "$REMEM" status --json
	is 'd["stale"]' true
}
