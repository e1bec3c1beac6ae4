load common

# Images and sound in extra paths, against a server that speaks Gemini's
# dialect; see test/server/batch.py and make_media.py.
setup() {
	local root=$REMEM_SOURCE_ROOT
	begin
	log="$BATS_TEST_TMPDIR/log"
	control="$BATS_TEST_TMPDIR/control"
	: >"$log"
	echo '{"sees": {"image/png": "a wombat sleeps in the garden", "image/jpeg": "红色的自行车", "audio/mpeg": "piano music", "audio/wav": "church bell"}}' >"$control"
	listen "$BATS_TEST_TMPDIR/port" python3 \
		"$root/test/server/batch.py" --log "$log" \
		--control "$control" --port-file "$BATS_TEST_TMPDIR/port"
	media="$BATS_TEST_TMPDIR/media"
	mkdir "$media"
	python3 "$root/test/cli/make_media.py" "$media"
}

teardown() {
	unlisten
}

# gemini [MULTIMODAL [MODEL [MORE]]]
gemini() {
	cat >"$config" <<-END
	memorySearch:
	  provider: gemini
	  model: ${2:-gemini-embedding-2}
	  remote: {baseUrl: "http://127.0.0.1:$port/v1beta", apiKey: sk-test-000000}
	  extraPaths: ["$media"]
	  multimodal: ${1:-{enabled: true\}}
	  ${3:-}
	END
}

sent() { # TYPE
	grep -c "media $1" "$log" || true
}

reason() { # NAME: why it is not indexed
	json "[s['reason'] for s in d['skips'] if s['path'].endswith('/$1')][0]"
}

@test "a picture is found by what is in it and by its name, cited as the file" {
	gemini
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	is 'd["vectors"]["refused"]' 0
	[ "$(sent image/png)" = 1 ]
	# The bytes themselves, all of them.
	grep -q "media image/png\", \"status\": 200, \"lines\": $(($(wc -c \
		<"$media/garden.png")))}" "$log"
	[ "$(sent image/jpeg)" = 1 ] # by its bytes, whatever its name
	[ "$(sent audio/)" = 2 ]
	run_split "$REMEM" search --json 'where does the wombat sleep'
	says "$(json 'd["results"][0]["path"]')" garden.png
	is 'd["results"][0]["media"]' image
	is 'd["results"][0]["startLine"]' 0
	is 'd["results"][0]["citation"] == d["results"][0]["path"]' true
	says "$(json 'd["results"][0]["snippet"]')" 'Image file: '
	run_split "$REMEM" search --json '红色的自行车'
	says "$(json 'd["results"][0]["path"]')" named-wrong.png
	run_split "$REMEM" search --json --mode text '夜曲'
	says "$(json 'd["results"][0]["path"]')" 夜曲.mp3
	is 'd["results"][0]["media"]' audio
	run_split "$REMEM" search --json ERR_PAY_4021
	is '"media" in d["results"][0]' false
	is 'd["results"][0]["startLine"] > 0' true
}

@test "what is none, or more than one thing, is refused with its reason" {
	gemini
	run_split "$REMEM" index --json
	is 'd["complete"]' true
	says "$(reason script.png)" 'no image and no sound'
	says "$(reason poly.png)" 'behind its end'
	says "$(reason zip.jpg)" 'behind its end'
	says "$(reason cut.jpg)" 'cut off'
	says "$(reason cut.png)" 'cut off'
	says "$(reason empty.jpg)" empty
	says "$(reason moving.gif)" 'image/gif, which the provider does not take'
	says "$(reason huge.png)" '10485761 bytes, more than the 10485760'
	run_split "$REMEM" status
	says "$output" 'poly.png: has something else behind its end'
	silent "$output$errors" sk-test
	run_split "$REMEM" search --json --mode text 'poly script'
	is 'd["results"]' '[]'
	run_split "$REMEM" index --json # known by now, and said again
	says "$(reason poly.png)" 'behind its end'
}

@test "nothing is sent unless the settings say so" {
	gemini '{enabled: false}'
	"$REMEM" index
	[ "$(sent '')" = 0 ]
	gemini '{enabled: true}' gemini-embedding-001
	run_split "$REMEM" index --json
	[ "$(sent '')" = 0 ]
	says "$(reason garden.png)" 'gemini-embedding-2 does'
	gemini '{enabled: true, modalities: [audio]}'
	run_split "$REMEM" index --json
	[ "$(sent image)" = 0 ]
	[ "$(sent audio)" = 2 ]
	says "$(reason garden.png)" modalities
	gemini '{enabled: true, maxFileBytes: 60}'
	run_split "$REMEM" index --json
	[ "$(sent image/png)" = 0 ]
	says "$(reason garden.png)" 'more than the 60'
}

@test "changed, renamed and removed files; switched off, they are gone" {
	gemini
	"$REMEM" index
	: >"$log"
	run_split "$REMEM" index --json
	is 'd["vectors"]["done"]' 0
	touch "$media/garden.png"
	"$REMEM" index
	[ "$(sent '')" = 0 ]
	cat "$media/bell.wav" >"$media/garden.png" # it is sound now
	run_split "$REMEM" index --json
	is 'd["changed"]' 1
	[ "$(sent audio/wav)" = 1 ]
	mv "$media/夜曲.mp3" "$media/nocturne.mp3"
	rm "$media/bell.wav"
	run_split "$REMEM" index --json
	run_split "$REMEM" search --json --mode text '夜曲'
	is 'd["results"]' '[]'
	run_split "$REMEM" search --json --mode text nocturne
	says "$(json 'd["results"][0]["path"]')" nocturne.mp3
	run_split "$REMEM" search --json --mode text bell
	is '[r for r in d["results"] if "bell" in r["path"]]' '[]'
	gemini '{enabled: false}'
	"$REMEM" index
	run_split "$REMEM" search --json --mode text nocturne
	is 'd["results"]' '[]'
}

@test "get does not pour out a picture, a dry run counts it" {
	gemini
	run_split "$REMEM" index --dry-run --json
	is 'd["vectors"]["pending"] >= 8' true
	[ "$(json 'd["tokens"]')" -gt 600 ] # 258 a picture
	[ ! -s "$log" ]
	"$REMEM" index
	run_split "$REMEM" get "$media/garden.png"
	[ "$status" != 0 ]
	says "$errors" 'no note'
}

@test "a new generation sends no picture again" {
	gemini
	"$REMEM" index
	: >"$log"
	"$REMEM" index --force
	[ "$(sent '')" = 0 ]
}

@test "with jobs wanted, pictures go by themselves" {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		printf '# %s\n\nthing number%s\n' $i $i >"$ws/memory/n$i.md"
	done
	gemini
	sed -i 's/apiKey: sk-test-000000/&, batch: {enabled: true, minTexts: 5, pollIntervalMs: 100}/' "$config"
	run_split "$REMEM" index --json
	is 'd["vectors"]["pending"]' 0
	[ "$(sent '')" = 4 ]
	grep -q '"call": "create", "status": 200, "lines": 12' "$log"
}
