/* Lines of a file, read as a stream. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/lines.h"
#include "base_tmp.h"

struct got {
	struct lines l;
	struct buf text;
	int rc;
};

static struct tmp tmp;

static void put(const char *bytes, size_t len)
{
	FILE *f = fopen(tmp_path(&tmp, "f"), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void get(struct got *g, int64_t from, int64_t count, int64_t offset,
		int64_t max_chars)
{
	int fd = open(tmp_path(&tmp, "f"), O_RDONLY);

	memset(g, 0, sizeof(*g));
	buf_init(&g->text, 0);
	g->l.from = from;
	g->l.count = count;
	g->l.offset = offset;
	g->l.max_chars = max_chars;
	g->rc = lines_read(&g->l, &g->text, fd, "f", NULL);
	close(fd);
	assert_int_equal(g->rc, 0);
}

#define CHECK(bytes, from, count, want)                        \
	do {                                                   \
		struct got g_;                                 \
		tmp_begin(&tmp);                               \
		put(bytes, sizeof(bytes) - 1);                 \
		get(&g_, from, count, 0, 1000);                \
		assert_string_equal(buf_str(&g_.text), want);  \
		buf_release(&g_.text);                         \
		tmp_end(&tmp);                                 \
	} while (0)

static void test_lines__are_those_of_the_file(void **state)
{
	(void)state;
	CHECK("a\nb\nc\n", 1, 9, "a\nb\nc");
	CHECK("a\nb\nc\n", 2, 1, "b");
	CHECK("a\n\n\nd", 2, 3, "\n\nd");
	CHECK("第一\n第二\n", 2, 1, "第二");
	CHECK("\xef\xbb\xbf" "a\r\nb\r\n", 1, 9, "a\nb");
	CHECK("a\rb\rc", 2, 1, "b");
	CHECK("a\rb\nc", 1, 1, "a\rb");
	CHECK("a\xff\nb\xe4\xb8\n", 1, 9, "a\xef\xbf\xbd\nb\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xff\xfe\x2d\x4e\n\0b\0", 1, 9, "中\nb");
	CHECK("\xfe\xff\x4e\x2d\0\n\xd8\x3d\xde\x00", 2, 1, "😀");
}

static void test_lines__the_end_is_told_from_a_cut(void **state)
{
	struct got g;

	(void)state;
	tmp_begin(&tmp);
	put("a\nb\nc\n", 6);
	get(&g, 2, 1, 0, 100);
	assert_true(g.l.truncated && !g.l.at_end);
	assert_int_equal(g.l.next_from, 3);
	buf_release(&g.text);
	get(&g, 2, 2, 0, 100);
	assert_true(!g.l.truncated && g.l.at_end);
	assert_int_equal(g.l.total, 3);
	assert_int_equal(g.l.given, 2);
	buf_release(&g.text);
	get(&g, 9, 2, 0, 100);
	assert_true(g.l.at_end);
	assert_int_equal(g.l.given, 0);
	put("", 0);
	get(&g, 1, 2, 0, 100);
	assert_true(g.l.at_end && g.l.total == 0);
	buf_release(&g.text);
	tmp_end(&tmp);
}

/* Pages of every size put together give the file back. */
static void test_lines__pages_give_the_file_back(void **state)
{
	static const char text[] = "一二三四五六七\n\nabc😀def\n八\n";
	struct buf all = BUF_INIT(0);
	struct got g;

	(void)state;
	tmp_begin(&tmp);
	put(text, sizeof(text) - 1);
	for (int64_t page = 1; page < 25; page++) {
		int64_t from = 1, offset = 0;
		int turns = 0;

		buf_reset(&all);
		do {
			get(&g, from, 2, offset, page);
			buf_add(&all, buf_str(&g.text), g.text.len);
			/* A page that ends with its line leaves out the break. */
			if (g.l.truncated && !g.l.next_offset)
				buf_addc(&all, '\n');
			from = g.l.next_from;
			offset = g.l.next_offset;
			buf_release(&g.text);
			assert_true(++turns < 60);
		} while (g.l.truncated);
		buf_addc(&all, '\n');
		assert_string_equal(buf_str(&all), text);
	}
	buf_release(&all);
	tmp_end(&tmp);
}

/* Characters and CR LF that fall on the border of what is read at once. */
static void test_lines__borders_of_blocks_do_not_show(void **state)
{
	static char text[70000];
	struct got g;

	(void)state;
	tmp_begin(&tmp);
	for (size_t shift = 65530; shift < 65538; shift++) {
		memset(text, 'x', sizeof(text));
		text[0] = '\n';
		memcpy(text + shift, "中\r\n文", 8);
		put(text, shift + 8);
		get(&g, 2, 5, (int64_t)shift - 1, 100);
		assert_string_equal(buf_str(&g.text), "中\n文");
		buf_release(&g.text);
	}
	tmp_end(&tmp);
}
