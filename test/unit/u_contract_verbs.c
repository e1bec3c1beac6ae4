/* What holds for every row of verbs.def. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/cli.h"

static void test_contract_verbs__rows_are_whole(void **state)
{
	(void)state;
	for (int i = 0; verb_at(i); i++) {
		const struct verb *v = verb_at(i);

		assert_non_null(v->run);
		assert_ptr_equal(verb_find(v->name), v);
		assert_int_equal(strncmp(v->synopsis, v->name,
					 strlen(v->name)), 0);
		assert_true(strlen(v->help) > 10);
		assert_true(v->help[strlen(v->help) - 1] != '.');
	}
}

static bool is_common(const struct opt *o)
{
	return !strcmp(o->verb, "all");
}

static void test_contract_verbs__options_belong_to_verbs(void **state)
{
	(void)state;
	for (int i = 0; opt_at(i); i++) {
		const struct opt *o = opt_at(i);

		assert_true(is_common(o) || verb_find(o->verb));
		assert_true(strlen(o->help) > 5);
		assert_null(strchr(o->name, '='));
	}
}

/* One name, one meaning within a verb; letters also against those of all. */
static void test_contract_verbs__options_are_unique(void **state)
{
	(void)state;
	for (int i = 0; opt_at(i); i++) {
		for (int k = 0; k < i; k++) {
			const struct opt *x = opt_at(i), *y = opt_at(k);
			bool together = !strcmp(x->verb, y->verb);

			if (together)
				assert_string_not_equal(x->name, y->name);
			if (x->letter && x->letter == y->letter)
				assert_false(together || is_common(x) ||
					     is_common(y));
		}
	}
}
