# What the scripts share: a home and a workspace of a few notes for each test.
# REMEM names the program.

: "${REMEM:=build/remem}"
case $REMEM in /*) ;; *) REMEM=$PWD/$REMEM ;; esac

begin() {
	unset "${!REMEM_@}" "${!XDG_@}" NO_COLOR
	# Tests that want the background process ask for it.
	export REMEM_DAEMON_AUTO_START=false
	export HOME="$BATS_TEST_TMPDIR/home"
	ws="$BATS_TEST_TMPDIR/notes"
	config="$HOME/.config/remem/config.yaml"
	mkdir -p "$HOME" "$ws/memory" "$(dirname "$config")"
	cat >"$ws/MEMORY.md" <<-'END'
	# Memory

	- The gateway waits 30 seconds, key gateway.timeout_ms
	- 小王负责支付网关，出错码 ERR_PAY_4021
	END
	cat >"$ws/memory/2026-03-01.md" <<-'END'
	# 2026-03-01

	- Ann moved to Berlin
	- 周会决定下周一上线新的索引服务
	END
	cd "$ws"
}

# listen PORT_FILE COMMAND...: a server in the background, which writes its port
# when it listens; sets server and port. unlisten ends it.
listen() {
	local file=$1
	shift
	"$@" >/dev/null 2>&1 3>&- &
	server=$!
	until [ -s "$file" ]; do
		kill -0 "$server"
		read -rt .05 <> <(:) || true
	done
	port=$(cat "$file")
}

unlisten() {
	[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}

# log_is EXPRESSION over rows, the requests that a server has written to $log.
log_is() {
	python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
sys.exit(0 if eval(sys.argv[2]) else "%s: %s" % (sys.argv[2], rows[:4]))
' "$log" "$1"
}

# many N: so many notes of one passage.
many() {
	local i
	for i in $(seq "$1"); do
		printf '# %s\n\nThe %s-th thing is number%s and 编号%s号事情\n' \
			"$i" "$i" "$i" "$i" >"$ws/memory/note-$i.md"
	done
}

# Most of what is tested here needs no vectors.
no_vectors() {
	echo 'memorySearch: {provider: none}' >"$config"
}

# run_split COMMAND...: status, output (standard output) and errors.
run_split() {
	status=0
	"$@" >"$BATS_TEST_TMPDIR/.out" 2>"$BATS_TEST_TMPDIR/.err" || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/.out")
	errors=$(cat "$BATS_TEST_TMPDIR/.err")
}

# Runs a command to whom permissions apply, also where root runs the tests.
as_user() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		"$@"
	fi
}

needs_permissions() {
	mkdir "$BATS_TEST_TMPDIR/closed"
	chmod 0 "$BATS_TEST_TMPDIR/closed"
	! as_user ls "$BATS_TEST_TMPDIR/closed" >/dev/null 2>&1 ||
		skip "permissions mean nothing here"
}

says() { # TEXT PART
	case $1 in
	*"$2"*) ;;
	*)
		printf '%s\n  does not say\n%s\n' "$1" "$2" >&2
		return 1
		;;
	esac
}

silent() { # TEXT PART
	case $1 in
	*"$2"*)
		printf '%s\n  says\n%s\n' "$1" "$2" >&2
		return 1
		;;
	esac
}

# The value of a Python expression over the JSON document d in $output.
json() {
	printf '%s' "$output" | python3 -c '
import json, sys
d = json.load(sys.stdin)
v = eval(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v, ensure_ascii=False))' "$1"
}

is() { # EXPRESSION VALUE
	local got
	got=$(json "$1")
	if [ "$got" != "$2" ]; then
		printf '%s is %s and not %s in\n%s\n' "$1" "$got" "$2" \
			"$output" >&2
		return 1
	fi
}

# All files of a folder with size, time of change and contents; what SQLite
# keeps in shared memory while it reads does not count.
picture() {
	find "$1" -type f ! -name '*-shm' -printf '%p %s %T@\n' -exec sha256sum {} + | sort
}

# claw_stores TEXT: a message of the user in OpenClaw's store of today, which is
# made at first.
claw_stores() {
	python3 - "$HOME/.openclaw/agents/main/agent/openclaw-agent.sqlite" "$ws" "$1" <<-'END'
	import os, sqlite3, sys
	path, ws, text = sys.argv[1:]
	os.makedirs(os.path.dirname(path), exist_ok=True)
	db = sqlite3.connect(path)
	db.execute("PRAGMA journal_mode = WAL")
	db.executescript("""
	CREATE TABLE IF NOT EXISTS schema_meta(meta_key TEXT PRIMARY KEY, role TEXT, schema_version INTEGER);
	CREATE TABLE IF NOT EXISTS transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
	  event_utf8_bytes INTEGER, navigation_json TEXT, created_at INTEGER, PRIMARY KEY(session_id, seq));
	CREATE TABLE IF NOT EXISTS session_transcript_active_events(session_id TEXT, active_position INTEGER,
	  event_seq INTEGER, message_position INTEGER, context_eligible INTEGER);
	""")
	n = db.execute("SELECT count(*) FROM transcript_events").fetchone()[0]
	def event(n, record):
	    db.execute("INSERT INTO transcript_events VALUES('s9', ?, ?, NULL, 0, NULL, 1795939200000)", (n, record))
	    db.execute("INSERT INTO session_transcript_active_events VALUES('s9', ?, ?, ?, 1)", (n, n, n))
	if not n:
	    event(0, '{"type":"session","id":"s9","cwd":"%s","timestamp":"2026-11-29T08:00:00Z"}' % ws)
	    n = 1
	event(n, '{"type":"message","id":"e%d","message":{"role":"user","content":"%s"}}' % (n, text))
	db.commit()
	END
}
