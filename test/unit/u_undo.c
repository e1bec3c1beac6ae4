/* Rewrites, what they keep, and undo: back to the byte. */
#include "memory_box.h"

#include "memory/undo.h"

static int rewrite_now(struct box *b, int64_t *id, const char *path,
		       const char *text)
{
	unsigned char hash[SHA256_BYTES];
	struct buf old;
	bool found;
	struct rewrite w = { .path = path, .op = "rewrite", .bytes = text,
			     .len = text ? strlen(text) : 0,
			     .origin = REMEM_ORIGIN_AGENT };

	assert_int_equal(rewrite_read(&old, hash, &found, &b->m, path,
				      &b->err), 0);
	buf_release(&old);
	w.expect = found ? hash : NULL;
	memset(&b->err, 0, sizeof(b->err));
	return rewrite_file(id, &b->m, &w, &b->err);
}

static int undo_now(struct box *b, int64_t id)
{
	struct undo u = { .id = id };

	memset(&b->err, 0, sizeof(b->err));
	return undo_record(&u, &b->a, &b->m, &b->err);
}

static void test_undo__an_append_is_taken_out(void **state)
{
	struct append_done one, two;
	struct box b;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "# M\r\n- old"); /* no line end */
	assert_int_equal(box_append(&b, &one, "MEMORY", "- 一\n- more"), 0);
	assert_int_equal(box_append(&b, &two, "MEMORY", "- two"), 0);
	assert_int_equal(undo_now(&b, one.journal), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"), "# M\r\n- old\n- two\n");
	box_end(&b);
}

static void test_undo__the_last_append_gives_the_same_bytes(void **state)
{
	struct append_done d;
	struct box b;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "# M\r\n- old");
	assert_int_equal(box_append(&b, &d, "MEMORY", "- new"), 0);
	assert_int_equal(undo_now(&b, d.journal), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"), "# M\r\n- old");
	assert_int_equal(undo_now(&b, d.journal), REMEM_EINVAL); /* twice */
	/* A note that was made goes again. */
	assert_int_equal(box_append(&b, &d, NULL, "- new"), 0);
	assert_int_equal(undo_now(&b, d.journal), 0);
	assert_null(box_read(&b, "memory/2026-03-20.md"));
	/* And may be said again. */
	assert_int_equal(box_append(&b, &d, NULL, "- new"), 0);
	assert_false(d.duplicate);
	box_end(&b);
}

static void test_undo__finds_lines_that_moved(void **state)
{
	struct append_done d;
	struct box b;

	(void)state;
	box_begin(&b);
	assert_int_equal(box_append(&b, &d, "MEMORY", "- mine"), 0);
	ws_put(&b.ws, "MEMORY.md", "# by hand\n\n- mine\n- theirs\n");
	assert_int_equal(undo_now(&b, d.journal), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"),
			    "# by hand\n\n- theirs\n");
	box_end(&b);
}

static void test_undo__refuses_what_others_changed(void **state)
{
	struct append_done d;
	struct box b;
	int64_t id;

	(void)state;
	box_begin(&b);
	assert_int_equal(box_append(&b, &d, "MEMORY", "- mine"), 0);
	ws_put(&b.ws, "MEMORY.md", "- mine, edited\n");
	assert_int_equal(undo_now(&b, d.journal), REMEM_EBUSY);
	assert_non_null(strstr(b.err.message, "changed in that place"));
	assert_int_equal(rewrite_now(&b, &id, "MEMORY.md", "- new text\n"), 0);
	ws_put(&b.ws, "MEMORY.md", "- newer text\n");
	assert_int_equal(undo_now(&b, id), REMEM_EBUSY);
	assert_string_equal(box_read(&b, "MEMORY.md"), "- newer text\n");
	assert_int_equal(undo_now(&b, 999), REMEM_ENOTFOUND);
	box_end(&b);
}

static void test_undo__a_rewrite_gives_the_file_back(void **state)
{
	static const char old[] = "# 旧\r\n\r\n- a\n\n- b"; /* mixed ends */
	struct append_done d;
	struct stat st;
	struct box b;
	int64_t id, gone;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", old);
	assert_int_equal(chmod(ws_path(&b.ws, "MEMORY.md"), 0640), 0);
	assert_int_equal(rewrite_now(&b, &id, "MEMORY.md", "- b\n"), 0);
	assert_int_equal(stat(ws_path(&b.ws, "MEMORY.md"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(box_append(&b, &d, "MEMORY", "- later"), 0);
	/* With what was added since behind it. */
	assert_int_equal(undo_now(&b, id), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"),
			    "# 旧\r\n\r\n- a\n\n- b\n- later\n");
	assert_int_equal(rewrite_now(&b, &gone, "MEMORY.md", NULL), 0);
	assert_null(box_read(&b, "MEMORY.md"));
	assert_int_equal(undo_now(&b, gone), 0);
	assert_non_null(box_read(&b, "MEMORY.md"));
	box_end(&b);
}

static void test_undo__an_undo_can_be_undone(void **state)
{
	struct undo u = { 0 };
	struct box b;
	int64_t id;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "- a\n");
	assert_int_equal(rewrite_now(&b, &id, "MEMORY.md", "- b\n"), 0);
	u.id = id;
	assert_int_equal(undo_record(&u, &b.a, &b.m, &b.err), 0);
	assert_string_equal(u.removed, "- b\n");
	assert_string_equal(u.restored, "- a\n");
	assert_int_equal(undo_now(&b, u.journal), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"), "- b\n");
	box_end(&b);
}

static void test_undo__old_files_are_kept_within_bounds(void **state)
{
	struct preimage_row p;
	struct box b;
	int64_t ids[6];
	bool found;
	char text[16];

	(void)state;
	box_begin(&b);
	b.m.preimages = 3;
	for (int i = 0; i < 6; i++) {
		snprintf(text, sizeof(text), "- v%d\n", i);
		assert_int_equal(rewrite_now(&b, &ids[i], "MEMORY.md", text),
				 0);
	}
	for (int i = 0; i < 6; i++) {
		assert_int_equal(state_preimage_get(b.m.state, &b.a, ids[i],
						    &p, &found, &b.err), 0);
		assert_int_equal(found, i >= 3);
	}
	assert_int_equal(undo_now(&b, ids[0]), REMEM_ENOTFOUND);
	b.m.preimage_bytes = 1; /* the newest stays whatever its size */
	assert_int_equal(rewrite_now(&b, &ids[0], "MEMORY.md", "- w\n"), 0);
	assert_int_equal(undo_now(&b, ids[0]), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"), "- v5\n");
	box_end(&b);
}

static void test_undo__a_rewrite_wants_the_file_it_read(void **state)
{
	unsigned char hash[SHA256_BYTES];
	struct rewrite w = { .path = "MEMORY.md", .op = "rewrite",
			     .expect = hash, .bytes = "- b\n", .len = 4 };
	struct buf old;
	struct box b;
	bool found;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "- a\n");
	assert_int_equal(rewrite_read(&old, hash, &found, &b.m, "MEMORY.md",
				      &b.err), 0);
	buf_release(&old);
	ws_put(&b.ws, "MEMORY.md", "- c\n");
	assert_int_equal(rewrite_file(NULL, &b.m, &w, &b.err), REMEM_EBUSY);
	assert_string_equal(box_read(&b, "MEMORY.md"), "- c\n");
	w.expect = NULL; /* no file, it says */
	assert_int_equal(rewrite_file(NULL, &b.m, &w, &b.err), REMEM_EBUSY);
	ws_remove(&b.ws, "MEMORY.md");
	ws_link(&b.ws, "../elsewhere.md", "MEMORY.md");
	assert_int_equal(rewrite_file(NULL, &b.m, &w, &b.err), REMEM_EPERM);
	box_end(&b);
}
