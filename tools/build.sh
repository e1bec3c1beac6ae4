#!/bin/sh
# Builds one variant with Meson and ninja.
#
#   release  build/meson, copied to build/remem, build/libremem.*
#   debug    build/debug: asserts on, unit tests
#   asan     build/asan: unit tests and fuzz corpora, address and undefined
#   tsan     build/tsan: unit tests of threads, thread sanitizer
#   werror   build/werror: everything, a warning is an error
#   fuzz     build/fuzz: libFuzzer programs, clang
set -eu
cd "$(dirname "$0")/.."
variant=$1
shift
dir=build/$variant

case $variant in
release) dir=build/meson; set -- "$@" ;;
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

# Written only when it differs: ninja configures again when it is newer.
mkdir -p build
tools/list-files.sh all >build/files.list.$$
if cmp -s build/files.list.$$ build/files.list; then
	rm build/files.list.$$
else
	mv build/files.list.$$ build/files.list
fi

log=$dir/setup.log
if [ ! -f "$dir/build.ninja" ]; then
	mkdir -p "$dir"
	[ "$variant" != fuzz ] || export CC="${CC:-clang}"
	meson setup "$dir" ${opts:-} >"$log" 2>&1 || {
		cat "$log" >&2
		rm -f "$dir/build.ninja"
		exit 1
	}
fi
ninja -C "$dir" --quiet "$@"

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
	put include/remem.h build/include/remem.h 2>/dev/null || {
		mkdir -p build/include
		put include/remem.h build/include/remem.h
	}
fi
