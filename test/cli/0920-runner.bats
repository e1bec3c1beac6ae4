#!/usr/bin/env bats
# The test runner counts what ran, and does not pass over what did not.

setup() {
	tree="$BATS_TEST_TMPDIR/tree"
	mkdir -p "$tree/tools" "$tree/build/debug" "$tree/test/unit" "$tree/test/cli" "$tree/test/golden/upper"
	cp "$REMEM_SOURCE_ROOT/tools/run-tests.py" "$REMEM_SOURCE_ROOT/tools/gen-test-main.py" "$tree/tools/"
	cd "$tree"
}

# unit NAME LINE...: a program that answers --list with its first argument.
unit() {
	local name=$1 list=$2
	shift 2
	: >"test/unit/u_$name.c"
	{
		echo '#!/bin/sh'
		echo "[ \"\$1\" = --list ] && { echo '$list' | tr ' ' '\n'; exit 0; }"
		printf '%s\n' "$@"
	} >"build/debug/u_$name"
	chmod +x "build/debug/u_$name"
}

@test "functions, cases and golden files are counted" {
	unit a "test_a__x test_a__y" 'echo "ok 1 - test_a__x"' 'echo "ok 2 - test_a__y"'
	printf '@test "one" { true; }\n@test "two" { skip; }\n' >test/cli/0001-a.bats
	printf '#!/bin/sh\ntr a-z A-Z <"$1"\n' >test/golden/upper/run
	chmod +x test/golden/upper/run
	echo abc >test/golden/upper/1.in
	echo ABC >test/golden/upper/1.out
	run python3 tools/run-tests.py
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "4 passed, 0 failed, 1 skipped" ]
}

@test "a program that dies leaves failures" {
	unit a "test_a__x test_a__y test_a__z" 'echo "ok 1 - test_a__x"' 'kill -9 $$'
	run python3 tools/run-tests.py
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "1 passed, 2 failed" ]
}

@test "an exit code after the last test is a failure" {
	unit a "test_a__x" 'echo "ok 1 - test_a__x"' 'exit 23'
	run python3 tools/run-tests.py
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "1 passed, 1 failed" ]
}

@test "nothing that ran is no success" {
	run python3 tools/run-tests.py
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "0 passed, 0 failed" ]
}

@test "a golden file that differs fails" {
	printf '#!/bin/sh\ncat "$1"\n' >test/golden/upper/run
	chmod +x test/golden/upper/run
	echo 汉字 >test/golden/upper/1.in
	echo 漢字 >test/golden/upper/1.out
	run python3 tools/run-tests.py
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "a known bug passes while it is one" {
	unit a "broken_a__x" 'echo "not ok 1 - broken_a__x"' 'exit 1'
	run python3 tools/run-tests.py
	[ "$status" -eq 0 ]
	unit a "broken_a__x" 'echo "ok 1 - broken_a__x"'
	run python3 tools/run-tests.py
	[ "$status" -eq 1 ]
}

@test "the main of a test file names all its functions" {
	printf '%s\n' 'static void test_a__x(void **state)' '{' '}' \
		'static void helper(void)' 'static void test_a__y(void **state)' >u_a.c
	python3 tools/gen-test-main.py u_a.c main.c
	[ "$(grep -c 'cmocka_unit_test(test_a__' main.c)" -eq 2 ]
	echo 'static void helper(void)' >u_b.c
	run python3 tools/gen-test-main.py u_b.c main.c
	[ "$status" -ne 0 ]
}
