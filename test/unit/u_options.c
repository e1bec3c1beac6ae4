/* The command line, and what holds for every row of verbs.def. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/cli.h"

static int parse(struct cli *c, const char *const *words)
{
	static char name[] = "remem";
	char *argv[16] = { name };
	int argc = 1;

	memset(c, 0, sizeof(*c));
	c->json = true; /* complaints go to standard output */
	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	return cli_parse(c, argc, argv);
}

#define PARSE(c, ...) parse(c, (const char *const[]){ __VA_ARGS__, NULL })

static void test_options__all_forms_are_understood(void **state)
{
	struct cli c;
	int n = 0;

	(void)state;
	assert_int_equal(PARSE(&c, "-qw", "/x", "search", "-n5", "--mode=text",
			       "两个", "--explain", "--", "-x", "--y"), 0);
	assert_string_equal(c.verb->name, "search");
	assert_string_equal(cli_value(&c, "workspace"), "/x");
	assert_true(cli_int(&c, "limit", 1, 9, &n));
	assert_int_equal(n, 5);
	assert_string_equal(cli_value(&c, "mode"), "text");
	assert_true(cli_flag(&c, "explain") && c.quiet);
	assert_int_equal(c.arg_count, 3);
	assert_string_equal(c.args[0], "两个");
	assert_string_equal(c.args[1], "-x");
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "-"), 0);
	assert_string_equal(c.args[0], "-");
	arena_release(&c.a);
}

static void test_options__aliases_bring_their_options(void **state)
{
	struct cli c;

	(void)state;
	assert_int_equal(PARSE(&c, "grep", "x"), 0);
	assert_string_equal(c.verb->name, "search");
	assert_string_equal(cli_value(&c, "mode"), "text");
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "query", "x"), 0);
	assert_null(cli_value(&c, "mode"));
	arena_release(&c.a);
}

static void test_options__a_verb_may_have_a_name_of_all(void **state)
{
	struct cli c;

	(void)state;
	assert_int_equal(PARSE(&c, "--set", "a=b", "bench", "--set", "dir"), 0);
	assert_string_equal(cli_value(&c, "set"), "dir");
	assert_string_equal(c.options[0].opt->verb, "all");
	assert_string_equal(c.options[1].opt->verb, "bench");
	arena_release(&c.a);
}

static void test_options__mistakes_are_usage(void **state)
{
	struct cli c;
	int n = 0;

	(void)state;
	assert_int_equal(PARSE(&c, "serach"), EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "--limti", "3"), EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "-n"), EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "--json=1"), EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "-Z"), EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "index", "--force", "--progress", "maybe"),
			 EXIT_USAGE);
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "--limit", "7x"), 0);
	assert_false(cli_int(&c, "limit", 1, 9, &n));
	arena_release(&c.a);
	assert_int_equal(PARSE(&c, "search", "--limit", "99999999999999999999"),
			 0);
	assert_false(cli_int(&c, "limit", 1, 9, &n));
	arena_release(&c.a);
}

static const char *name_at(int i)
{
	return verb_at(i) ? verb_at(i)->name : NULL;
}

static void test_options__the_nearest_word_is_found(void **state)
{
	(void)state;
	assert_string_equal(cli_nearest("serach", name_at), "search");
	assert_string_equal(cli_nearest("indx", name_at), "index");
	assert_null(cli_nearest("搜索一下吧", name_at));
	assert_null(cli_nearest("frobnicate", name_at));
}
