/* Which word was meant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/nearest.h"

static const char *name(void *ctx, int i)
{
	return ((const char *const *)ctx)[i];
}

static const char *near(const char *word)
{
	static const char *const names[] = { "query", "", "maxResults",
					     "minScore", "after", NULL };

	return word_nearest(word, name, (void *)(uintptr_t)names);
}

static void test_nearest__one_or_two_letters_may_be_wrong(void **state)
{
	(void)state;
	assert_string_equal(near("querry"), "query");
	assert_string_equal(near("qury"), "query");
	assert_string_equal(near("maxresults"), "maxResults");
	assert_string_equal(near("MaxResult"), "maxResults");
	assert_string_equal(near("minScoer"), "minScore");
	assert_null(near("collection"));
	assert_null(near("zzz"));
}

static void test_nearest__words_of_any_length_are_safe(void **state)
{
	char word[4000];

	(void)state;
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_null(near(word));
	assert_int_equal(word_distance(word, 3999, "a", 1), NEAREST_MAX);
	assert_int_equal(word_distance("", 0, "abc", 3), 3);
	assert_int_equal(word_distance("記憶", 6, "記憶", 6), 0);
}
