#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "source/ignore.h"

/* One folder's rules, tried on one path. */
static bool ignored(const char *rules, const char *path, bool folder)
{
	struct arena a = ARENA_INIT;
	struct ignore *ig = ignore_new(&a, NULL, "");
	bool yes;

	ignore_add(ig, &a, ".gitignore", rules, strlen(rules));
	yes = ignore_match(ig, path, folder) != NULL;
	arena_release(&a);
	return yes;
}

static void test_ignore__a_name_matches_at_any_depth(void **state)
{
	(void)state;
	assert_true(ignored("draft.md", "draft.md", false));
	assert_true(ignored("draft.md", "a/b/draft.md", false));
	assert_false(ignored("draft.md", "a/mydraft.md", false));
	assert_true(ignored("*.log.md", "a/x.log.md", false));
	assert_false(ignored("*.log.md", "a/x.md", false));
	assert_true(ignored("草稿*", "笔记/草稿一.md", false));
	assert_false(ignored("草稿*", "笔记/正稿.md", false));
}

static void test_ignore__a_slash_ties_to_the_folder(void **state)
{
	(void)state;
	assert_true(ignored("/x.md", "x.md", false));
	assert_false(ignored("/x.md", "a/x.md", false));
	assert_true(ignored("a/x.md", "a/x.md", false));
	assert_false(ignored("a/x.md", "b/a/x.md", false));
	assert_true(ignored("a/*.md", "a/x.md", false));
	assert_false(ignored("a/*.md", "a/b/x.md", false));
}

static void test_ignore__a_slash_at_the_end_means_folders(void **state)
{
	(void)state;
	assert_true(ignored("private/", "private", true));
	assert_true(ignored("private/", "a/private", true));
	assert_false(ignored("private/", "private", false));
	assert_true(ignored("/归档/", "归档", true));
	assert_false(ignored("/归档/", "二/归档", true));
}

static void test_ignore__two_stars_are_folders(void **state)
{
	(void)state;
	assert_true(ignored("**/x.md", "x.md", false));
	assert_true(ignored("**/x.md", "a/b/x.md", false));
	assert_true(ignored("a/**", "a/b/c.md", false));
	assert_false(ignored("a/**", "a", true));
	assert_true(ignored("a/**/x.md", "a/x.md", false));
	assert_true(ignored("a/**/x.md", "a/b/c/x.md", false));
}

static void test_ignore__the_last_rule_decides(void **state)
{
	(void)state;
	assert_false(ignored("*.md\n!keep.md", "a/keep.md", false));
	assert_true(ignored("!keep.md\n*.md", "a/keep.md", false));
	assert_true(ignored("*.md\n!keep.md\nkeep.md", "keep.md", false));
}

static void test_ignore__comments_and_blanks_are_no_rules(void **state)
{
	(void)state;
	assert_false(ignored("# x.md\n\n   \n", "x.md", false));
	assert_false(ignored("#x.md", "#x.md", false));
	assert_true(ignored("\\#x.md", "#x.md", false));
	assert_true(ignored("\\!x.md", "!x.md", false));
	assert_true(ignored("x.md   ", "x.md", false));
	assert_true(ignored("x\\ ", "x ", false));
	assert_true(ignored("x.md\r\ny.md\r\n", "x.md", false));
	assert_true(ignored("\xEF\xBB\xBFx.md", "x.md", false));
	assert_false(ignored("/", "x.md", false));
	assert_false(ignored("!", "x.md", false));
}

static void test_ignore__sets_and_question_marks(void **state)
{
	(void)state;
	assert_true(ignored("x?.md", "x1.md", false));
	assert_true(ignored("x?.md", "x甲.md", false));
	assert_false(ignored("x?.md", "x12.md", false));
	assert_true(ignored("x[0-9].md", "x7.md", false));
	assert_false(ignored("x[!0-9].md", "x7.md", false));
	assert_true(ignored("[甲-丁].md", "丁.md", false) ||
		    ignored("[甲乙丙丁].md", "丁.md", false));
}

static void test_ignore__deeper_rules_go_first(void **state)
{
	struct arena a = ARENA_INIT;
	struct ignore *top = ignore_new(&a, NULL, ""), *deep;

	(void)state;
	ignore_add(top, &a, ".gitignore", "*.md\n/one.txt", 13);
	deep = ignore_new(&a, top, "a/");
	ignore_add(deep, &a, "a/.ignore", "!keep.md\n/x.txt", 15);
	assert_null(ignore_match(deep, "a/keep.md", false));
	assert_string_equal(ignore_match(deep, "a/z.md", false), ".gitignore");
	assert_string_equal(ignore_match(deep, "a/x.txt", false), "a/.ignore");
	assert_null(ignore_match(deep, "a/b/x.txt", false));
	assert_null(ignore_match(deep, "a/one.txt", false));
	assert_null(ignore_match(NULL, "a/z.md", false));
	arena_release(&a);
}

static void test_ignore__rules_are_bounded(void **state)
{
	struct arena a = ARENA_INIT;
	struct ignore *ig = ignore_new(&a, NULL, "");

	(void)state;
	for (int i = 0; i < IGNORE_MAX_RULES + 10; i++)
		ignore_add(ig, &a, ".ignore", "zz\n", 3);
	ignore_add(ig, &a, ".ignore", "x.md", 4);
	assert_null(ignore_match(ig, "x.md", false));
	assert_non_null(ignore_match(ig, "zz", false));
	arena_release(&a);
}

static void test_ignore__survives_each_failed_allocation(void **state)
{
	static const char rules[] = "*.a\n!b\n/c/\nd\ne\nf\ng\nh\ni\nj\n";

	(void)state;
	for (long n = 1; n < 20; n++) {
		struct arena a = ARENA_INIT;
		struct ignore *ig;

		alloc_fail_at(n);
		ig = ignore_new(&a, NULL, "");
		ignore_add(ig, &a, ".ignore", rules, strlen(rules));
		ignore_match(ig, "x/d", false);
		alloc_fail_at(0);
		arena_release(&a);
	}
}
