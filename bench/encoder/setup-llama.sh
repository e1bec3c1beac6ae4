#!/bin/sh
# Fetches llama.cpp's libraries and headers for the encoder's benchmark:
# setup-llama.sh [DIR], DIR is build/llama when not said. Never used by the
# program or its tests. Needs npm, git, tar and openssl.
set -eu

version=3.21.1
libs_sum=Totj6RTDMGo3FoK2yNUaz/oGmZD0olAqTrRluFUWmu0kW2i9TOzHSW0OWCAiGkzRCVX0WsU2CyUQo/W2NYtdPA==
headers_sum=E3N0Ev2Va0wzydvXYFwM9Hvyo07PoWjt8T/9GMc43Cvt8YkV/NU/tYUgEMC1grTPv2o9PRjQi0G3Wb5P/awiMg==
dir=${1:-build/llama}

fetch() { # package, file, sum
	npm pack --silent "$1@$version" >/dev/null
	sum=$(openssl dgst -sha512 -binary "$2" | openssl base64 -A)
	if [ "$sum" != "$3" ]; then
		echo "setup-llama.sh: '$2' has a wrong checksum" >&2
		rm -f "$2"
		exit 1
	fi
}

[ -f "$dir/done" ] && exit 0
mkdir -p "$dir"
cd "$dir"
fetch @node-llama-cpp/linux-x64 node-llama-cpp-linux-x64-$version.tgz "$libs_sum"
fetch node-llama-cpp node-llama-cpp-$version.tgz "$headers_sum"
rm -rf lib package source include
tar xzf node-llama-cpp-linux-x64-$version.tgz package/bins/linux-x64
mv package/bins/linux-x64 lib
tar xzf node-llama-cpp-$version.tgz package/llama/gitRelease.bundle
git -c advice.detachedHead=false clone -q package/llama/gitRelease.bundle source
mkdir include
cp source/include/*.h source/ggml/include/*.h include/
rm -rf package source ./*.tgz
touch done
