#!/bin/sh
# Installs what the build made under $DESTDIR$PREFIX: program, library, header,
# pkg-config file, model, manual pages, completions.
set -eu
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
to=${DESTDIR:-}$prefix
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)

put() { install -D -m "$1" "$2" "$to/$3"; }

put 755 build/remem bin/remem
put 644 build/libremem.a lib/libremem.a
put 755 build/libremem.so "lib/libremem.so.$version"
ln -sf "libremem.so.$version" "$to/lib/libremem.so.0"
ln -sf libremem.so.0 "$to/lib/libremem.so"
put 644 include/remem.h include/remem.h

mkdir -p "$to/lib/pkgconfig"
cat >"$to/lib/pkgconfig/remem.pc" <<EOF
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: remem
Description: memory for AI agents: notes in, cited answers out
Version: $version
Requires.private: sqlite3, yaml-0.1, libutf8proc, nettle
Libs: -L\${libdir} -lremem
Libs.private: -lstemmer -pthread -ldl -lm
Cflags: -I\${includedir}
EOF

for file in build/share/remem/models/*; do
	case $file in
	*.part | *'*') ;;
	*) put 644 "$file" "share/remem/models/${file##*/}" ;;
	esac
done

python3 tools/gen-docs.py build/docs
put 644 build/docs/remem.bash share/bash-completion/completions/remem
put 644 build/docs/_remem share/zsh/site-functions/_remem
put 644 build/docs/remem.fish share/fish/vendor_completions.d/remem.fish
for page in remem.1 remem-config.5; do
	[ ! -f build/docs/$page ] ||
		put 644 build/docs/$page "share/man/man${page##*.}/$page"
done
# Units of the background process, with the place of the program in them.
unit() {
	mkdir -p "$(dirname "$to/$2")"
	sed "s|@PREFIX@|$prefix|" "$1" >"$to/$2"
	chmod 644 "$to/$2"
}
unit share/systemd/remem.service lib/systemd/user/remem.service
unit share/launchd/remem.plist share/remem/launchd/remem.plist
put 644 LICENSE share/doc/remem/LICENSE
put 644 NOTICE share/doc/remem/NOTICE
echo "installed in $to"
