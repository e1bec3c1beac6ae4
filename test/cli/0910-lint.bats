#!/usr/bin/env bats
# tools/lint.py sees what it is there to see, in a small tree of its own.

setup() {
	tree="$BATS_TEST_TMPDIR/tree"
	mkdir -p "$tree/tools" "$tree/src/base" "$tree/src/text" "$tree/src/cli" "$tree/include"
	cp "$REMEM_SOURCE_ROOT/tools/lint.py" "$tree/tools/"
	cp "$REMEM_SOURCE_ROOT/include/remem.h" "$tree/include/"
	cp "$REMEM_SOURCE_ROOT/meson.build" "$tree/"
	cd "$tree"
	git init -q .
	write src/base/a.h '/* a */'
	write src/text/b.c '/* b */' '#include "base/a.h"'
}

# write FILE LINE...
write() {
	local file=$1
	shift
	printf '%s\n' "$@" >"$tree/$file"
}

# says FILE TEXT: lint complains about that file with that text.
says() {
	run python3 tools/lint.py
	[ "$status" -eq 1 ]
	[[ "$output" == *"$1:"*"$2"* ]] || { echo "$output"; false; }
}

@test "a clean tree passes" {
	run python3 tools/lint.py
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a lower layer may not include a higher one" {
	write src/base/a.h '/* a */' '#include "text/b.h"'
	says src/base/a.h "base may not include from text"
}

@test "a program sees the base alone, a benchmark everything" {
	write src/cli/bench_x.c '/* bench */' '#include "text/b.h"'
	run python3 tools/lint.py
	[ "$status" -eq 0 ]
	write src/cli/verb.c '/* verb */' '#include "text/b.h"'
	says src/cli/verb.c "cli may not include from text"
}

@test "memory is taken in one place" {
	write src/text/b.c '/* malloc(1) in a comment is fine */' 'void *b(void) { return malloc(3); }'
	says src/text/b.c "malloc() outside base/alloc.c"
}

@test "the library is silent" {
	write src/text/b.c '/* b */' 'void b(void) { puts("getenv(x)"); }'
	says src/text/b.c "'puts' in library code"
	write src/cli/verb.c '/* verb */' 'void v(void) { puts("x"); }'
	rm src/text/b.c
	run python3 tools/lint.py
	[ "$status" -eq 0 ]
}

@test "functions end within 100 lines" {
	{
		printf '/* b */\nvoid b(void)\n{\n'
		for i in $(seq 101); do printf '\tb();\n'; done
		printf '}\n'
	} >src/text/b.c
	says src/text/b.c "function of 102 lines"
}

@test "lines end within 100 columns, tabs count eight, 汉字 one" {
	write src/text/b.c '/* b */' "$(printf '\t\t/* %084d */' 0)"
	says src/text/b.c "106 columns"
	write src/text/b.c '/* b */' "/* $(printf '汉%.0s' $(seq 60)) */"
	run python3 tools/lint.py
	[ "$status" -eq 0 ]
}

@test "hosts of registries and unnamed promises are found" {
	write src/text/b.c '/* from py''pi.org */'
	says src/text/b.c "the host of a package registry"
	write src/text/b.c '/* TO''DO later */'
	says src/text/b.c "unfinished work"
}

@test "a table's row stands once and leads somewhere" {
	write src/cli/verbs.def '/* v */' 'VERB(a, verb_a, "", "")' 'VERB(a, verb_a, "", "")'
	write src/cli/v.c '/* v */' '#include "verbs.def"'
	says src/cli/verbs.def "no function 'verb_a'"
	says src/cli/verbs.def "row stands twice"
}

@test "a link leads somewhere" {
	write a.md '[x](nowhere.md)'
	says a.md "link to 'nowhere.md'"
}
