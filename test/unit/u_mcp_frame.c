/* Lines of a stream, in whatever pieces they come. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "mcp/frame.h"

struct seen {
	struct buf all; /* lines with "|" behind each, "!" for a long one */
};

static void on_line(void *ctx, const char *line, size_t len, bool too_long)
{
	struct seen *s = ctx;

	if (too_long)
		buf_addc(&s->all, '!');
	else
		buf_add(&s->all, line, len);
	buf_addc(&s->all, '|');
}

static void feed(struct seen *s, const char *text, size_t len, size_t piece,
		 size_t limit)
{
	struct frame f;

	buf_reset(&s->all);
	frame_init(&f, limit);
	for (size_t i = 0; i < len; i += piece)
		assert_int_equal(frame_feed(&f, text + i, len - i < piece ?
					    len - i : piece, on_line, s, NULL),
				 0);
	frame_end(&f, on_line, s);
	frame_release(&f);
}

static void test_mcp_frame__pieces_do_not_matter(void **state)
{
	static const char text[] = "one\n\n  \r\n二\r\nthree\nlast";
	struct seen s = { BUF_INIT(0) };

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		feed(&s, text, sizeof(text) - 1, piece, 100);
		assert_string_equal(buf_str(&s.all), "one|二\r|three|last|");
	}
	buf_release(&s.all);
}

static void test_mcp_frame__a_long_line_is_told_once(void **state)
{
	static const char text[] = "12345\n123456\nab\n1234567890123\n12345\n123456";
	struct seen s = { BUF_INIT(0) };

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		feed(&s, text, sizeof(text) - 1, piece, 5);
		assert_string_equal(buf_str(&s.all), "12345|!|ab|!|12345|!|");
	}
	buf_release(&s.all);
}

static void test_mcp_frame__nul_bytes_are_bytes(void **state)
{
	struct seen s = { BUF_INIT(0) };

	(void)state;
	feed(&s, "a\0b\n\0\n", 6, 2, 10);
	assert_int_equal(s.all.len, 6);
	assert_memory_equal(buf_str(&s.all), "a\0b|\0|", 6);
	buf_release(&s.all);
}

static void test_mcp_frame__goes_on_after_memory_was_out(void **state)
{
	char text[9000];
	struct seen s = { BUF_INIT(0) };
	struct remem_err err = { 0 };
	struct frame f;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 4, "\nok\n", 4);
	frame_init(&f, 1 << 20);
	alloc_fail_at(1);
	assert_int_equal(frame_feed(&f, text, sizeof(text), on_line, &s, &err),
			 REMEM_ENOMEM);
	alloc_fail_at(0);
	assert_string_equal(buf_str(&s.all), "ok|");
	frame_release(&f);
	buf_release(&s.all);
}
