/* From how many vectors on the doctor says what to do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "api/scale.h"

static void test_scale__two_millions_are_too_many(void **state)
{
	struct arena a = ARENA_INIT;
	const char *text;

	(void)state;
	assert_null(scale_warning(&a, 0, 0));
	assert_null(scale_warning(&a, 2000000, 384));
	assert_null(scale_warning(&a, 2000000, 0));
	text = scale_warning(&a, 2000001, 384);
	assert_non_null(text);
	assert_non_null(strstr(text, "2000001 vectors"));
	assert_non_null(strstr(text, "768 MB"));
	/* Larger ones are too many sooner, smaller ones later. */
	assert_null(scale_warning(&a, 500000, 1536));
	assert_non_null(scale_warning(&a, 500001, 1536));
	assert_null(scale_warning(&a, 3000000, 256));
	assert_non_null(strstr(scale_action, "embedding.unit: chunk"));
	arena_release(&a);
}
