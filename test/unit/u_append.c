/* Adding to notes: what is written, and what is refused. */
#include "memory_box.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void test_append__goes_into_the_note_of_the_day(void **state)
{
	struct append_done d;
	struct box b;

	(void)state;
	box_begin(&b);
	assert_int_equal(box_append(&b, &d, NULL, "- first\n"), 0);
	assert_string_equal(d.path, "memory/2026-03-20.md");
	assert_string_equal(d.citation, "memory/2026-03-20.md#L1");
	assert_true(d.created);
	assert_int_equal(box_append(&b, &d, "today", "- 第二行"), 0);
	assert_string_equal(d.citation, "memory/2026-03-20.md#L2");
	assert_false(d.created);
	assert_string_equal(box_read(&b, "memory/2026-03-20.md"),
			    "- first\n- 第二行\n");
	box_end(&b);
}

static void test_append__mends_a_missing_line_end(void **state)
{
	struct append_done d;
	struct box b;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "# M\n\n- old");
	assert_int_equal(box_append(&b, &d, "MEMORY", "- new\n"), 0);
	assert_string_equal(d.citation, "MEMORY.md#L4");
	assert_string_equal(box_read(&b, "MEMORY.md"),
			    "# M\n\n- old\n- new\n");
	box_end(&b);
}

/* Descriptor 0 is somebody's standard input. */
static void test_append__a_refusal_closes_nothing_of_others(void **state)
{
	struct append_done d;
	struct box b;
	int fd = fcntl(0, F_GETFD) < 0 ? open("/dev/null", O_RDONLY) : -1;

	(void)state;
	box_begin(&b);
	assert_int_equal(box_append(&b, &d, "../x.md", "- x\n"), REMEM_EPERM);
	assert_true(fcntl(0, F_GETFD) >= 0);
	box_end(&b);
	if (fd >= 0)
		close(fd);
}

static void test_append__adds_the_same_once(void **state)
{
	struct append_done d;
	struct box b;
	int64_t first;

	(void)state;
	box_begin(&b);
	assert_int_equal(box_append(&b, &d, NULL, "- Ann likes tea.\n"), 0);
	first = d.journal;
	assert_int_equal(box_append(&b, &d, NULL, "* ann  LIKES tea\n"), 0);
	assert_true(d.duplicate);
	assert_int_equal(d.journal, first);
	/* What was written by hand counts too, and what is gone does not. */
	ws_put(&b.ws, "memory/2026-03-20.md", "- by hand\n");
	assert_int_equal(box_append(&b, &d, NULL, "- By hand.\n"), 0);
	assert_true(d.duplicate);
	assert_int_equal(box_append(&b, &d, NULL, "- Ann likes tea.\n"), 0);
	assert_false(d.duplicate);
	/* Another number is another fact. */
	assert_int_equal(box_append(&b, &d, NULL, "- costs 3.5\n"), 0);
	assert_int_equal(box_append(&b, &d, NULL, "- costs 35\n"), 0);
	assert_false(d.duplicate);
	box_end(&b);
}
