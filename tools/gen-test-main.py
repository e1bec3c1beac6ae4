#!/usr/bin/env python3
"""gen-test-main.py TEST.c MAIN.c: a main for one unit test file.

Every `static void test_NAME__what_holds(void **state)` is run. A function
named broken_NAME__... shows a known bug: it counts as passed while it fails.
The program lists them with --list and runs one with its name as argument.
"""
import os
import re
import sys

FOUND = re.compile(r"^static\s+void\s+((?:test|broken)_\w+)\s*\(\s*void\s*\*\*\s*\w+\s*\)", re.M)

MAIN = """#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
/* fail() is base/err.h's here; cmocka's macro of that name gives way. */
#undef fail
#undef fail_msg
#define fail_msg(...) \\
	do { \\
		print_error(__VA_ARGS__); \\
		print_error("\\n"); \\
		_fail(__FILE__, __LINE__); \\
	} while (0)
#include "%(path)s"

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
%(rows)s
	};
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "--list")) {
		for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
			puts(tests[i].name);
		return 0;
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	else
		cmocka_set_skip_filter("broken_*");
	return cmocka_run_group_tests_name("%(name)s", tests, NULL, NULL);
}
"""


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        text = f.read()
    names = []
    for name in FOUND.findall(text):
        if name not in names:
            names.append(name)
    if not names:
        sys.exit("%s: no test functions" % source)
    rows = "\n".join("\t\tcmocka_unit_test(%s)," % n for n in names)
    path = os.path.abspath(source).replace("\\", "/")
    stem = os.path.splitext(os.path.basename(source))[0]
    with open(target, "w", encoding="utf-8") as f:
        f.write(MAIN % {"path": path, "rows": rows, "name": stem})


if __name__ == "__main__":
    main()
