/* Buffer: contents, limit, remembered failure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static void test_buf__is_empty_text_at_birth(void **state)
{
	struct buf b = BUF_INIT(0);
	char *s;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	buf_truncate(&b, 0);
	buf_reset(&b);
	s = buf_detach(&b);
	assert_string_equal(s, "");
	mem_free(s);
	buf_release(&b);
	buf_release(NULL);
}

static void test_buf__adds_in_every_way(void **state)
{
	struct buf b = BUF_INIT(0);

	(void)state;
	buf_add(&b, "a\0b", 3);
	buf_adds(&b, "记");
	buf_addc(&b, '!');
	buf_addf(&b, "%s=%05d", "忆", 42);
	buf_add(&b, NULL, 0);
	assert_int_equal(b.len, 3 + 3 + 1 + 9);
	assert_memory_equal(b.ptr, "a\0b记!忆=00042", b.len + 1);
	buf_truncate(&b, 3);
	assert_memory_equal(b.ptr, "a\0b", 4);
	buf_truncate(&b, 10);
	assert_int_equal(b.len, 3);
	buf_release(&b);
}

static void test_buf__limit_counts_to_the_byte(void **state)
{
	struct remem_err e;
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_adds(&b, "1234");
	assert_int_equal(buf_check(&b, &e), 0);
	buf_addc(&b, '5');
	assert_int_equal(b.failed, REMEM_ELIMIT);
	assert_int_equal(buf_check(&b, &e), REMEM_ELIMIT);
	assert_non_null(strstr(e.message, "4 bytes"));
	assert_string_equal(buf_str(&b), "1234");
	buf_reset(&b);
	buf_addf(&b, "%d", 12345);
	assert_int_equal(buf_check(&b, NULL), REMEM_ELIMIT);
	assert_int_equal(b.len, 0);
	assert_null(buf_detach(&b));
	buf_release(&b);
}

static void test_buf__reserve_gives_room_and_nul(void **state)
{
	struct buf b = BUF_INIT(0);
	char *p = buf_reserve(&b, 100);

	(void)state;
	assert_non_null(p);
	assert_true(b.cap >= 101);
	memset(p, 'x', 100);
	b.len += 100;
	b.ptr[b.len] = '\0';
	assert_int_equal(strlen(buf_str(&b)), 100);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_true(b.failed != 0);
	buf_release(&b);
}

static void test_buf__detach_hands_over(void **state)
{
	struct buf b = BUF_INIT(0);
	char *s;

	(void)state;
	buf_adds(&b, "昨天");
	s = buf_detach(&b);
	assert_string_equal(s, "昨天");
	assert_int_equal(b.len, 0);
	buf_adds(&b, "again");
	assert_string_equal(buf_str(&b), "again");
	assert_string_equal(s, "昨天");
	mem_free(s);
	buf_release(&b);
}

static void test_buf__each_failed_allocation_is_survived(void **state)
{
	bool done = false;

	(void)state;
	for (long n = 1; !done; n++) {
		struct buf b = BUF_INIT(0);
		struct remem_err e;

		alloc_fail_at(n);
		for (int i = 0; i < 200; i++) {
			buf_addf(&b, "%d 记忆\n", i);
			buf_addc(&b, 'x');
		}
		alloc_fail_at(0);
		done = buf_check(&b, &e) == 0;
		assert_true(done || e.code == REMEM_ENOMEM);
		buf_release(&b);
		assert_true(n < 100);
	}
}
