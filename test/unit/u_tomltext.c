/* Settings in TOML, changed as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "hosts/tomltext.h"

static struct arena a;

static int find(const char *text, const char *want)
{
	size_t start = 0, end = 0;
	bool found;
	int rc;

	arena_release(&a);
	arena_init(&a, 0);
	rc = tomltext_find(&found, &start, &end, &a, text, strlen(text),
			   "mcp_servers.remem", "config.toml", NULL);
	if (rc)
		return rc;
	assert_int_equal(found, want != NULL);
	if (want) {
		assert_int_equal(end - start, strlen(want));
		assert_memory_equal(text + start, want, strlen(want));
	}
	return 0;
}

static void test_tomltext__a_table_is_found_with_its_subtables(void **state)
{
	(void)state;
	assert_int_equal(find("", NULL), 0);
	assert_int_equal(find("a = 1\n[mcp_servers.remem]\ncommand = 'x'\n",
			      "[mcp_servers.remem]\ncommand = 'x'\n"), 0);
	assert_int_equal(find("[ mcp_servers . \"remem\" ] # ours\r\n"
			      "args = [\n  \"]\", # no\n]\r\n"
			      "[mcp_servers.remem.env]\nA = \"b\"\n[other]\n",
			      "[ mcp_servers . \"remem\" ] # ours\r\n"
			      "args = [\n  \"]\", # no\n]\r\n"
			      "[mcp_servers.remem.env]\nA = \"b\"\n"), 0);
	assert_int_equal(find("[mcp_servers.remember]\nx = 1\n", NULL), 0);
	assert_int_equal(find("t = \"\"\"\n[mcp_servers.remem]\n\"\"\"\n"
			      "l = '''\n[mcp_servers.remem]'''\n"
			      "d = 2026-11-30T10:00:00Z\n[[a.b]]\n", NULL), 0);
}

static void test_tomltext__other_forms_and_broken_files_are_refused(void **state)
{
	static const char *const bad[] = {
		"[mcp_servers]\nremem = { command = 'x' }\n",
		"mcp_servers.remem.command = 'x'\n",
		"[mcp_servers.remem\n", "a = \"x\n", "a = [1, 2\n", "a = 1]\n",
		"just words\n", "a =\n", "a = '''x", "[a] b\n", "{}\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (find(bad[i], NULL) != REMEM_EFORMAT)
			fail_msg("'%s' is taken", bad[i]);
}

static void test_tomltext__strings_are_quoted(void **state)
{
	(void)state;
	assert_string_equal(tomltext_string(&a, "C:\\a \"b\"\n"),
			    "\"C:\\\\a \\\"b\\\"\\u000a\"");
}
