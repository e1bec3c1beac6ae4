#!/usr/bin/env bash
# Builds one variant with Meson and ninja.
#
#   release  build/meson, copied to build/remem, build/libremem.*
#   debug    build/debug: asserts on, unit tests
#   asan     build/asan: unit tests and fuzz corpora, address and undefined
#   tsan     build/tsan: unit tests of threads, thread sanitizer
#   werror   build/werror: everything, a warning is an error
#   fuzz     build/fuzz: libFuzzer programs, clang
set -euo pipefail
cd "$(dirname "$0")/.."
variant=$1
shift
dir=build/$variant

case $variant in
release) dir=build/meson ;;
debug) opts='-Doptimization=1 -Db_ndebug=false -Dtests=true -Dprograms=false' ;;
asan) opts='-Doptimization=1 -Db_ndebug=false -Dtests=true -Dprograms=false
	-Db_sanitize=address,undefined -Db_lundef=false -Db_pie=false' ;;
tsan) opts='-Doptimization=1 -Db_ndebug=false -Dtests=true -Dprograms=false
	-Db_sanitize=thread -Db_lundef=false -Db_pie=true' ;;
werror) opts='-Dwerror=true -Dtests=true' ;;
fuzz) opts='-Doptimization=1 -Db_ndebug=false -Dfuzzers=true -Dprograms=false
	-Db_sanitize=address,undefined -Db_lundef=false' ;;
*) echo "build: no variant '$variant'" >&2; exit 2 ;;
esac

# quietly COMMAND...: what it said is shown only if it fails.
quietly() {
	"$@" >"$dir/setup.log" 2>&1 || { cat "$dir/setup.log" >&2; return 1; }
}

mkdir -p "$dir"
tools/list-files.sh all >"$dir/files.new"
if [ ! -f "$dir/build.ninja" ]; then
	[ "$variant" != fuzz ] || export CC="${CC:-clang}"
	quietly meson setup "$dir" ${opts:-} || exit 1
elif ! cmp -s "$dir/files.new" "$dir/files.list"; then
	quietly meson setup --reconfigure "$dir" || exit 1
fi
mv "$dir/files.new" "$dir/files.list"
ninja -C "$dir" --quiet "$@" | { grep -v "^ninja: no work to do" || true; }

# A copy appears under its final name in one step: a program that runs may be
# replaced.
put() {
	if [ -f "$1" ] && ! cmp -s "$1" "$2"; then
		cp "$1" "$2.new"
		mv "$2.new" "$2"
	fi
}
if [ "$variant" = release ] && [ $# = 0 ]; then
	put build/meson/remem build/remem
	put build/meson/libremem.a build/libremem.a
	put build/meson/libremem.so build/libremem.so
	put build/meson/libremem.so build/libremem.so.0
	mkdir -p build/include
	put include/remem.h build/include/remem.h
fi
