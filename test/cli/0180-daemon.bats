load common
setup() {
	begin
	run_dir="$HOME/.local/state/remem/run"
}

teardown() {
	"$REMEM" daemon stop >/dev/null 2>&1 || true
	[ -z "${other:-}" ] || kill -9 "$other" 2>/dev/null || true
}

pid_of_helper() {
	run_split "$REMEM" daemon status --json
	json 'd.get("pid", 0)'
}

requests() {
	run_split "$REMEM" daemon status --json
	json 'd["requests"]'
}

# Waits for a state without a clock of its own: "running" true or false.
until_running() {
	for _ in $(seq 500); do
		run_split "$REMEM" daemon status --json
		[ "$(json 'd["running"]')" != "$1" ] || return 0
	done
	echo "running is not $1: $output" >&2
	return 1
}

same_answer() { # QUESTION...
	"$REMEM" search --json "$@" | sed 's/"tookMs":[0-9]*//' >../by-helper
	"$REMEM" search --json --set daemon.autoStart=false --read-only "$@" |
		sed 's/"tookMs":[0-9]*//' >../plain
	diff ../plain ../by-helper
}

@test "daemon: answers are the same byte for byte" {
	"$REMEM" index
	run_split "$REMEM" daemon start
	[ "$status" = 0 ]
	same_answer "how long does the gateway wait"
	same_answer 谁负责支付网关
	same_answer --explain -n 3 Berlin
	same_answer --min-score 0 --path memory Ann
	same_answer --mode vector --now 2026-03-02 "which town"
	same_answer "ERR_NOT_THERE"
	same_answer --mode text "how long does the gateway wait"
	[ "$(requests)" -ge 7 ]
	"$REMEM" search "how long does the gateway wait" >../by-helper
	"$REMEM" search --read-only "how long does the gateway wait" >../plain
	diff ../plain ../by-helper
}

@test "daemon: a workspace without vectors is not given to it" {
	"$REMEM" index
	"$REMEM" daemon start
	before=$(requests)
	"$REMEM" search --set memorySearch.provider=none Berlin
	"$REMEM" get MEMORY.md
	"$REMEM" status
	[ "$(requests)" = $((before + 1)) ] # of the count itself
}

@test "daemon: it starts by itself when that is wanted, and only then" {
	"$REMEM" index
	"$REMEM" search Berlin
	run_split "$REMEM" daemon status --json
	is 'd["running"]' false
	export REMEM_DAEMON_AUTO_START=true
	"$REMEM" search --mode text Berlin
	"$REMEM" search --read-only Berlin
	"$REMEM" search --set memorySearch.provider=none Berlin
	run_split "$REMEM" daemon status --json
	is 'd["running"]' false
	"$REMEM" search Berlin
	until_running true
}

@test "daemon: a conversation that begins starts it" {
	"$REMEM" index
	export REMEM_MEMORY_SEARCH_SYNC_ON_SESSION_START=false
	echo '{}' | "$REMEM" hook codex session-start >/dev/null
	run_split "$REMEM" daemon status --json
	is 'd["running"]' false
	export REMEM_DAEMON_AUTO_START=true
	echo '{}' | "$REMEM" hook codex session-start >/dev/null
	until_running true
}

@test "daemon: what was saved a moment ago is in the next answer" {
	"$REMEM" daemon start
	for i in 1 2 3 4 5; do
		echo "- Fact $i: the ferry to Samarkand$i leaves" >memory/new.md
		run_split "$REMEM" search --json "ferry to Samarkand$i"
		is 'd["results"][0]["path"]' memory/new.md
		says "$output" "Samarkand$i leaves"
		is 'd["stale"]' false
	done
	rm memory/new.md
	run_split "$REMEM" search --json "ferry to Samarkand5"
	silent "$output" "Samarkand5 leaves"
	[ "$(requests)" -ge 6 ]
}

@test "daemon: it spares a search by keywords the look at the files" {
	"$REMEM" index
	"$REMEM" daemon start
	for i in 1 2 3; do
		echo "- Fact $i: the ferry to Samarkand$i leaves" >memory/new.md
		before=$(requests)
		run_split "$REMEM" search --mode text --json \
			"ferry to Samarkand$i"
		is 'd["results"][0]["path"]' memory/new.md
		says "$output" "Samarkand$i leaves"
		is 'd["mode"]' text
		[ "$(requests)" = $((before + 2)) ] # one is the count's own
	done
}

@test "daemon: other settings, other answers" {
	"$REMEM" index
	"$REMEM" daemon start
	run_split "$REMEM" search --json -- "gateway"
	echo 'memorySearch: {query: {maxResults: 1}}' >"$config"
	echo '- the gateway again' >>MEMORY.md
	echo '- the gateway once more' >>memory/2026-03-01.md
	run_split "$REMEM" search --json "gateway"
	is 'len(d["results"])' 1
	run_split "$REMEM" daemon status --json
	is 'len(d["workspaces"])' 2
}

@test "daemon: one at a time, and a stopped one is gone" {
	"$REMEM" daemon start
	first=$(pid_of_helper)
	for i in 1 2 3 4 5 6 7 8; do
		"$REMEM" daemon start >/dev/null &
	done
	wait
	[ "$(pid_of_helper)" = "$first" ]
	run_split "$REMEM" daemon run
	[ "$status" = 0 ]
	run_split "$REMEM" daemon stop
	[ "$status" = 0 ]
	until_running false
	[ ! -S "$run_dir"/*.sock ]
	run_split "$REMEM" daemon status
	[ "$status" = 1 ]
	run_split "$REMEM" daemon stop
	[ "$status" = 0 ]
	run_split "$REMEM" daemon
	[ "$status" = 2 ]
}

@test "daemon: killed with clients connected, nobody notices" {
	"$REMEM" index
	for round in 1 2 3; do
		"$REMEM" daemon start
		for i in 1 2 3 4; do
			(
				for k in $(seq 10); do
					"$REMEM" search --json Berlin
				done >"../answers-$i" 2>"../errors-$i"
				echo done >>"../answers-$i"
			) &
		done
		"$REMEM" search Berlin >/dev/null
		kill -9 "$(pid_of_helper)"
		wait
		for i in 1 2 3 4; do
			[ "$(grep -c '"citation":"memory/2026-03-01.md' "../answers-$i")" = 10 ]
			[ "$(tail -n 1 "../answers-$i")" = done ]
			[ ! -s "../errors-$i" ]
		done
	done
	[ -S "$run_dir"/*.sock ] # of the dead one
	"$REMEM" daemon start
	run_split "$REMEM" search --json Berlin
	[ "$(requests)" -ge 1 ]
}

@test "daemon: sixteen clients at once" {
	"$REMEM" index
	"$REMEM" daemon start
	for i in $(seq 16); do
		for k in 1 2 3; do
			"$REMEM" search --json Berlin
		done >"../answers-$i" 2>"../errors-$i" &
	done
	wait
	for i in $(seq 16); do
		[ "$(grep -c '"citation":"memory/2026-03-01.md' "../answers-$i")" = 3 ]
		[ ! -s "../errors-$i" ]
	done
	[ "$(requests)" -ge 48 ]
}

listener() { # WHAT IT SAYS
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
print("ready", flush=True)
kept = []
while True:
    c, _ = s.accept()
    kept.append(c)
    c.sendall(sys.argv[2].encode())' "$@"
}

@test "daemon: a socket held by somebody else" {
	"$REMEM" index
	"$REMEM" daemon start
	"$REMEM" daemon stop
	until_running false
	name="$run_dir/$(hostname).sock"
	for text in "" "hello" '{"ok":false}
' '{"ok":true}
{"ok":true}
{}
'; do
		rm -f "$name" ../ready
		mkfifo ../ready
		listener "$name" "$text" >../ready 3>&- &
		other=$!
		read -r _ <../ready
		run_split "$REMEM" search --json Berlin
		[ "$status" = 0 ]
		is 'd["results"][0]["path"]' memory/2026-03-01.md
		[ -z "$errors" ]
		"$REMEM" daemon start
		until_running true
		"$REMEM" daemon stop
		kill -9 $other
		wait $other || true
		other=
		until_running false
	done
}

@test "daemon: a folder that others may write to is not used" {
	"$REMEM" index
	"$REMEM" daemon start
	chmod 777 "$run_dir"
	run_split "$REMEM" search --json Berlin
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	run_split "$REMEM" daemon start
	[ "$status" = 1 ]
	says "$errors" "chmod 700"
	chmod 700 "$run_dir"
}

@test "daemon: it ends when its folder goes" {
	"$REMEM" daemon start
	pid=$(pid_of_helper)
	rm -rf "$run_dir"
	for _ in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$pid" 2>/dev/null
}

@test "daemon: a replaced program takes the place of the old one" {
	mkdir -p ../prefix/bin ../prefix/share
	cp "$REMEM" ../prefix/bin/remem
	cp -r "$(dirname "$REMEM")/share/remem" ../prefix/share/ 2>/dev/null || true
	new=$(cd ../prefix/bin && pwd)/remem
	"$new" index
	"$new" daemon start
	old=$(pid_of_helper)
	[ "$old" != 0 ]
	cp "$REMEM" ../prefix/bin/other
	touch -d 2020-01-01 ../prefix/bin/other
	mv ../prefix/bin/other ../prefix/bin/remem
	run_split "$new" search --json Berlin
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	until_running false
	run_split "$new" daemon start
	[ "$status" = 0 ]
	[ "$(pid_of_helper)" != "$old" ]
}

@test "daemon: eight processes of which three rebuild, and one generation stays" {
	for i in $(seq 40); do
		echo "- fact $i of Kathmandu, 第 $i 条" >memory/note-$i.md
	done
	"$REMEM" index
	"$REMEM" daemon start
	"$REMEM" search Kathmandu >/dev/null
	for i in 1 2 3; do
		"$REMEM" index --force --wait >"../force-$i" 2>&1 &
	done
	for i in 1 2 3 4 5; do
		for k in 1 2 3 4; do
			"$REMEM" search --json Kathmandu
		done >"../answers-$i" 2>"../errors-$i" &
	done
	wait
	for i in 1 2 3 4 5; do
		[ "$(grep -c '"citation":"memory/note-' "../answers-$i")" = 4 ]
		[ ! -s "../errors-$i" ]
	done
	silent "$(cat ../force-?)" locked
	# The helper moves to the new generation at the next question.
	run_split "$REMEM" search --json Kathmandu
	is 'len(d["results"])' 6
	[ "$(ls -d "$HOME"/.cache/remem/*/gen-* | wc -l)" = 1 ]
	echo '- Zagreb 萨格勒布' >memory/new.md
	run_split "$REMEM" search --json Zagreb
	is 'd["results"][0]["path"]' memory/new.md
	run_split "$REMEM" status --deep --json
	is 'd["check"]["ok"]' true
	is 'd["disk"]["changed"]' 0
}

# Files of old generations that a process holds, once it is through.
until_old_is_gone() { # PID
	for _ in $(seq 2000); do
		ls -l "/proc/$1/fd" | grep -q 'gen-.*(deleted)' || return 0
	done
	ls -l "/proc/$1/fd" >&2
	return 1
}

@test "daemon: what nobody asks moves to a new generation as well" {
	"$REMEM" index
	"$REMEM" daemon start
	for i in 1 2 3 4; do
		"$REMEM" search Berlin >/dev/null &
	done
	wait
	"$REMEM" index --force
	until_old_is_gone "$(pid_of_helper)"
	[ "$(ls -d "$HOME"/.cache/remem/*/gen-* | wc -l)" = 1 ]
	same_answer Berlin
}

@test "daemon: a reader kept open moves to the new generation" {
	"$REMEM" index
	mkfifo ../in ../out
	"$REMEM" search --batch --mode text <../in >../out 3>&- &
	other=$!
	exec 6>../in 7<../out
	for i in 1 2 3; do
		echo '{"query":"Berlin"}' >&6
		read -r -t 30 output <&7
		is 'd["results"][0]["path"]' memory/2026-03-01.md
		"$REMEM" index --force
		[ "$(ls -d "$HOME"/.cache/remem/*/gen-* | wc -l)" = 1 ]
	done
	echo '{"query":"Berlin"}' >&6
	read -r -t 30 output <&7
	is 'd["results"][0]["path"]' memory/2026-03-01.md
	until_old_is_gone $other
	exec 6>&-
	wait $other
	other=
}
