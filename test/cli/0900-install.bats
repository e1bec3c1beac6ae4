#!/usr/bin/env bats
# What `make install` puts in place works from there: program, library, header,
# pkg-config file, manual pages, completions.

setup_file() {
	export PLACE="$BATS_FILE_TMPDIR/place"
	PREFIX=/opt/remem DESTDIR="$PLACE" "$REMEM_SOURCE_ROOT/tools/install.sh"
}

setup() {
	here="$PLACE/opt/remem"
	work="$BATS_TEST_TMPDIR"
	export PKG_CONFIG_PATH="$here/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$PLACE"
}

@test "the files are where they belong" {
	for f in bin/remem lib/libremem.so lib/libremem.so.0 lib/libremem.a \
		include/remem.h lib/pkgconfig/remem.pc share/man/man1/remem.1 \
		share/man/man5/remem-config.5 share/zsh/site-functions/_remem \
		share/bash-completion/completions/remem \
		share/fish/vendor_completions.d/remem.fish \
		lib/systemd/user/remem.service share/remem/launchd/remem.plist; do
		[ -f "$here/$f" ] || { echo "no $f"; false; }
	done
}

@test "the model comes with its licence" {
	[ -f "$here/share/remem/models/multilingual-e5-small-q4_0.gguf" ] ||
		skip "no model file on this machine"
	grep -q "MIT License" "$here/share/remem/models/LICENSE-multilingual-e5-small.txt"
}

@test "the library exports the names of remem.h and no others" {
	nm -D --defined-only "$here/lib/libremem.so" | awk '{print $3}' |
		sort >"$work/exported"
	sed 's#/\*.*\*/##' "$here/include/remem.h" |
		grep -o '\bremem_[a-z_]*(' | tr -d '(' | sort -u >"$work/declared"
	# Types of callbacks are declared with a name in brackets, not before them.
	diff "$work/declared" "$work/exported"
}

@test "the example compiles against the installed library and answers" {
	cc -std=c11 -Wall -o "$work/ask" "$REMEM_SOURCE_ROOT/examples/ask.c" \
		$(pkg-config --cflags --libs remem)
	mkdir -p "$work/notes/memory"
	echo "# Memory" >"$work/notes/MEMORY.md"
	printf '# Day\n\n- the deploy key is rotated by Lin every May\n- 会议室的投影仪坏了，找王磊修\n' \
		>"$work/notes/memory/2026-03-02.md"
	run env LD_LIBRARY_PATH="$here/lib" "$work/ask" "$work/notes" "deploy key"
	[ "$status" -eq 0 ]
	[[ "$output" == *"memory/2026-03-02.md#L"* ]]
	run env LD_LIBRARY_PATH="$here/lib" "$work/ask" "$work/notes" "投影仪找谁修"
	[ "$status" -eq 0 ]
	[[ "$output" == *"王磊"* ]]
}

@test "the header is C++ as well" {
	command -v c++ >/dev/null || skip "no C++ compiler"
	echo '#include <remem.h>' >"$work/a.cc"
	c++ -std=c++11 -Wall -Werror -c -o "$work/a.o" "$work/a.cc" \
		$(pkg-config --cflags remem)
}

@test "the installed program runs and finds its model" {
	mkdir -p "$work/notes/memory"
	echo "# Memory" >"$work/notes/MEMORY.md"
	run "$here/bin/remem" version
	[ "$status" -eq 0 ]
	[ -d "$here/share/remem/models" ] || skip "no model file on this machine"
	run "$here/bin/remem" --workspace "$work/notes" models list
	[ "$status" -eq 0 ]
	[[ "$output" == *"$here/share/remem/models"* ]]
}

@test "every verb has its page and its completion" {
	"$here/bin/remem" --help >/dev/null
	for verb in init index search get embed status doctor config trust \
		models bench version; do
		grep -q "^.SS remem $verb" "$here/share/man/man1/remem.1" ||
			{ echo "no page of $verb"; false; }
		grep -q "\b$verb\b" "$here/share/bash-completion/completions/remem"
	done
}

@test "the completion of bash offers verbs and options" {
	source "$here/share/bash-completion/completions/remem"
	COMP_WORDS=(remem se) COMP_CWORD=1
	_remem
	[[ " ${COMPREPLY[*]} " == *" search "* ]]
	COMP_WORDS=(remem --workspace notes search --m) COMP_CWORD=4
	_remem
	[[ " ${COMPREPLY[*]} " == *" --mode "* ]]
}
