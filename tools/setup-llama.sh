#!/bin/sh
# Fetches llama.cpp's libraries and headers, for the tests of local models and
# for benchmarks: setup-llama.sh [DIR], DIR is build/llama when not said. The
# package of the libraries and its SHA-512 stand in src/embed/runtime.def; the
# headers come out of the sources that the second package carries. Needs npm,
# git and tar.
set -eu
cd "$(dirname "$0")/.."

dir=${1:-build/llama}
case $(uname -s)-$(uname -m) in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64) platform=linux-arm64 ;;
*) echo "setup-llama.sh: no package for this kind of machine" >&2; exit 1 ;;
esac
row=$(sed -n "s/^RUNTIME(\"$platform\", *//p" src/embed/runtime.def | tr -d '",)')
set -- $row
package=$2 version=$3 libs_sum=$4 member=$5
headers_sum=13737412fd956b4c33c9dbd7605c0cf47bf2a34ecfa168edf13ffd18c738dc2bedf18915fcd53fb5852010c0b582b4cfbf6a3d3d18d08b41b759be4ffdac2232
[ "$(cat "$dir/done" 2>/dev/null)" = "$libs_sum" ] && exit 0

fetch() { # package, file, sum
	npm pack --silent --fetch-retries=1 "$1@$version" >/dev/null
	echo "$3  $2" | sha512sum -c --status || {
		echo "setup-llama.sh: '$2' has a wrong checksum" >&2
		rm -f "$2"
		exit 1
	}
}

rm -rf "$dir.new"
mkdir -p "$dir.new"
cd "$dir.new"
file=$(echo "$package" | sed 's/^@//; s|/|-|')-$version.tgz
fetch "$package" "$file" "$libs_sum"
tar xzf "$file" "$member"
mv "$member" lib
rm -rf package
fetch node-llama-cpp "node-llama-cpp-$version.tgz" $headers_sum
tar xzf "node-llama-cpp-$version.tgz" package/llama/gitRelease.bundle
git clone -q --bare package/llama/gitRelease.bundle source
git -C source archive HEAD include ggml/include | tar x
mv ggml/include/*.h include/
rm -rf package source ggml ./*.tgz
echo "$libs_sum" >done
cd ..
rm -rf "$(basename "$dir")"
mv "$(basename "$dir").new" "$(basename "$dir")"
