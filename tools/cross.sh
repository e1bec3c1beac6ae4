#!/usr/bin/env bash
# cross.sh [TEST...]: the tests of the vector kernels for 64-bit ARM, built here
# and run under emulation, on a processor with sdot and on one without it.
# TEST is cpu, kernel, scan, thr_encoder or encoder; all of them if none is said.
#
# Of encoder only the comparisons with the reference run, over a tenth of its
# texts as under the sanitizers: the machine is 100 times slower here.
#
# Needs Debian's gcc-aarch64-linux-gnu and qemu-user, which it does not install,
# and fetches a few libraries for ARM into build/cross without installing them:
# base, encoder and the scan need no more. Not part of `make test`: the whole
# takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/cross
cc=aarch64-linux-gnu-gcc
packages="libcmocka-dev libcmocka0 libutf8proc-dev libutf8proc2 nettle-dev libnettle8"
tests=${*:-cpu kernel scan thr_encoder encoder}

for program in $cc qemu-aarch64 apt-get; do
	command -v $program >/dev/null || {
		echo "cross: no '$program': apt install gcc-aarch64-linux-gnu qemu-user" >&2
		exit 1
	}
done

# A package list of our own, so that this machine's is left alone.
fetch() {
	local opts=(-qq -o "Dir::State::Lists=$out/lists" -o "Dir::Cache=$out/cache"
		-o APT::Architecture=arm64 -o APT::Architectures=arm64
		-o Dir::State::status=/dev/null)

	mkdir -p "$out/lists/partial" "$out/cache/archives/partial" "$out/deb"
	apt-get "${opts[@]}" update
	# shellcheck disable=SC2086
	(cd "$out/deb" && apt-get "${opts[@]}" download $packages 2>/dev/null)
	for deb in "$out"/deb/*.deb; do
		dpkg-deb -x "$deb" "$out/root"
	done
	touch "$out/fetched"
}

# Files that need other libraries stay out; none of the tests needs them.
sources() {
	grep -L '<curl/\|/curl.h\|<yaml.h>' src/base/*.c
	ls src/encoder/*.c src/store/scan*.c src/store/topk.c
	ls test/unit/*.c | grep -v '/u_\|/f_'
	echo build/deps/yyjson/yyjson.c
}

compile() { # SOURCE OBJECT
	[ "$2" -nt "$1" ] && [ "$2" -nt src/encoder/kernel_vector.h ] && return
	mkdir -p "$(dirname "$2")"
	$cc -std=c11 -g -O2 -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -Wall -Wextra \
		-DSPARSE=10 -Iinclude -Isrc -Itest/unit -isystem build/deps/yyjson \
		-isystem "$out/root/usr/include" \
		-isystem "$out/root/usr/include/aarch64-linux-gnu" -c "$1" -o "$2"
}

run() { # CPU TEST [FUNCTION]
	local rc=0 log="$out/u_$2.$1.log"

	echo "== u_$2 ${3:-} on $1"
	qemu-aarch64 -cpu "$1" -L /usr/aarch64-linux-gnu \
		-E "LD_LIBRARY_PATH=$out/root/usr/lib/aarch64-linux-gnu" \
		"$out/u_$2" ${3:+"$3"} >"$log" 2>&1 || rc=$?
	grep '^\[  PASSED  \]\|^\[  FAILED  \]\|: error\|Error' "$log" ||
		tail -5 "$log"
	return $rc
}

[ -f "$out/fetched" ] || fetch
objects=()
for source in $(sources); do
	compile "$source" "$out/obj/${source%.c}.o"
	objects+=("$out/obj/${source%.c}.o")
done
rm -f "$out/code.a"
aarch64-linux-gnu-ar -rcs "$out/code.a" "${objects[@]}"
failed=0
for name in $tests; do
	python3 tools/gen-test-main.py "test/unit/u_$name.c" "$out/u_${name}_main.c"
	compile "$out/u_${name}_main.c" "$out/u_${name}_main.o"
	$cc -o "$out/u_$name" "$out/u_${name}_main.o" "$out/code.a" \
		-L"$out/root/usr/lib/aarch64-linux-gnu" \
		-lcmocka -lutf8proc -lnettle -lm -lpthread
	for cpu in neoverse-n1 cortex-a72; do
		functions=
		[ "$name" = encoder ] && functions="test_encoder__vectors_are_those_of_the_reference
			test_encoder__every_kernel_gives_them"
		for function in ${functions:-""}; do
			run $cpu "$name" "$function" || failed=1
		done
	done
done
exit $failed
