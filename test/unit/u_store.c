/* The store as its users see it: every backend of the table is run through
 * the same tests. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store.h"
#include "store_box.h"

static const char daily[] =
	"# Monday\n\n"
	"- Deployed the gateway with timeout 4021\n"
	"- 支付网关超时改为三十秒\n\n"
	"## Afternoon\n\n"
	"Talked to Ana about the quarterly budget.\n";

static void test_store__text_is_found_and_forgotten(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int64_t id;

		begin(b);
		id = put(b, "memory/2026-03-02.md", daily);
		put(b, "memory/other.md", "Nothing of interest here.\n");
		commit(b);
		assert_int_equal(find(b, "gateway"), 1);
		assert_int_equal(find(b, "网关"), 1);
		assert_int_equal(find(b, "支"), 0);
		assert_int_equal(find_in(b, "支", true, NULL, NULL), 1);
		assert_int_equal(find(b, "nowhere"), 0);
		no_problems(b);
		begin(b);
		must(b, b->o->file_remove(b->s, id, &b->err));
		commit(b);
		assert_int_equal(find(b, "gateway"), 0);
		assert_int_equal(find(b, "网关"), 0);
		no_problems(b);
	}
}


static void test_store__nearest_vector_is_its_own(void **state)
{
	static const char text[] = "支付网关超时改为三十秒";

	(void)state;
	EACH_BACKEND(b) {
		struct store_scored hit[4];
		struct store_chunk c;
		int64_t chunk;
		int fp, n;

		put_alone(b, "memory/2026-03-02.md", daily);
		put_alone(b, "memory/b.md", "One.\n\nTwo.\n\nThree.\n");
		fp = fingerprint(b, "model:64");
		assert_int_equal(pending(b, fp), info(b).passages);
		assert_int_equal(embed_all(b, fp), info(b).passages);
		assert_int_equal(pending(b, fp), 0);
		n = nearest(b, fp, text, NULL, hit, 4);
		assert_int_equal(n, 4);
		assert_true(hit[0].score > 0.99f && hit[0].score < 1.01f);
		assert_true(hit[1].score < 0.9f);
		must(b, b->o->passage_chunks(b->s, &hit[0].id, 1, &chunk,
					     &b->err));
		must(b, b->o->chunks_get(b->s, &b->a, fp, &chunk, 1, &c,
					 &b->err));
		assert_non_null(strstr(c.text, text));
		for (int i = 0; i < c.passage_count; i++)
			assert_true(c.passages[i].slot != STORE_NO_SLOT);
		no_problems(b);
	}
}

/* ---- life ---- */

static void test_store__what_was_committed_is_there_again(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int fp;

		put_alone(b, "memory/2026-03-02.md", daily);
		fp = fingerprint(b, "model:64");
		embed_all(b, fp);
		begin(b);
		put(b, "memory/never.md", "unfinished\n");
		box_reopen(b, STORE_READ);
		assert_int_equal(find(b, "gateway"), 1);
		assert_int_equal(find(b, "unfinished"), 0);
		assert_int_equal(info(b).embedded, info(b).passages);
		no_problems(b);
	}
}

static struct store_chunk first_chunk(struct box *b, int64_t file)
{
	struct store_chunk c;
	int64_t *ids;
	int n;

	must(b, b->o->file_chunks(b->s, &b->a, file, &ids, &n, &b->err));
	assert_true(n > 0);
	must(b, b->o->chunks_get(b->s, &b->a, 0, ids, 1, &c, &b->err));
	return c;
}

static void test_store__chunks_laid_end_to_end_are_the_text(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct buf text = BUF_INIT(0), back = BUF_INIT(0);
		struct store_chunk *c;
		int64_t id, *ids;
		int n, line = 1;

		for (int i = 0; i < 60; i++)
			buf_addf(&text, "## Part %d\n\nLine %d of words.\n\n"
				 "- 第%d条：网关超时\n- two\n\n", i, i, i);
		begin(b);
		id = put(b, "memory/long.md", buf_str(&text));
		commit(b);
		must(b, b->o->file_chunks(b->s, &b->a, id, &ids, &n, &b->err));
		assert_true(n > 3);
		c = ARENA_ARRAY(&b->a, struct store_chunk, (size_t)n);
		must(b, b->o->chunks_get(b->s, &b->a, 0, ids, n, c, &b->err));
		for (int i = 0; i < n; i++) {
			assert_int_equal(c[i].ord, i);
			assert_int_equal(c[i].first_line, line);
			assert_true(c[i].terms > 0);
			for (const char *p = c[i].text; *p; p++)
				line += *p == '\n';
			buf_add(&back, c[i].text, c[i].len);
			for (int k = 0; k < c[i].passage_count; k++) {
				struct store_passage *p = &c[i].passages[k];

				assert_true(p->line_first >= c[i].first_line);
				assert_true(p->line_last >= p->line_first);
				assert_true(p->len <= c[i].len - p->start);
				assert_int_equal(p->file, id);
				assert_int_equal(p->slot, STORE_NO_SLOT);
				assert_non_null(p->heading);
				assert_int_equal(p->heading_files, 1);
			}
		}
		assert_string_equal(buf_str(&back), buf_str(&text));
		assert_int_equal(info(b).text_bytes, text.len);
		no_problems(b);
		buf_release(&text);
		buf_release(&back);
	}
}

/* A reader lives long: what it lacked once it does not lack for ever. */
static void test_store__a_reader_gets_over_missing_memory(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_chunk c;
		int64_t id;
		int rc = -1;

		put_alone(b, "a.md", "# One\n\nLine of words 第一条.\n");
		for (long n = 1; rc && n < 1000; n++) {
			box_reopen(b, STORE_READ);
			must(b, b->o->chunks_get(b->s, &b->a, 0, &(int64_t){ 99 },
						 1, &c, &b->err));
			id = 1;
			alloc_fail_at(n);
			rc = b->o->chunks_get(b->s, &b->a, 0, &id, 1, &c,
					      &b->err);
			alloc_fail_at(0);
			arena_reset(&b->a);
			must(b, b->o->chunks_get(b->s, &b->a, 0, &id, 1, &c,
						 &b->err));
			assert_string_equal(c.passages[0].heading, "One");
		}
		assert_int_equal(rc, 0);
	}
}

static void test_store__missing_chunks_have_no_id(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int64_t ids[3] = { 99, -1, 0 }, out[3];
		struct store_chunk c[3];

		must(b, b->o->chunks_get(b->s, &b->a, 0, ids, 3, c, &b->err));
		must(b, b->o->passage_chunks(b->s, ids, 3, out, &b->err));
		for (int i = 0; i < 3; i++) {
			assert_int_equal(c[i].id, 0);
			assert_int_equal(out[i], 0);
		}
	}
}

static void test_store__a_line_on_top_moves_only_lines(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f = { 0 };
		struct buf text = BUF_INIT(0);
		struct store_chunk c;
		int64_t id, *ids, *old;
		int n, m, fp, kept = 0;

		for (int i = 0; i < 40; i++)
			buf_addf(&text, "## 第 %d 节\n\nSome words about %d, "
				 "then a few more of them.\n\n", i, i);
		begin(b);
		id = put(b, "a.md", buf_str(&text));
		commit(b);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		must(b, b->o->file_chunks(b->s, &b->a, id, &old, &m, &b->err));
		buf_reset(&text);
		buf_adds(&text, "A new first line.\n\n");
		for (int i = 0; i < 40; i++)
			buf_addf(&text, "## 第 %d 节\n\nSome words about %d, "
				 "then a few more of them.\n\n", i, i);
		begin(b);
		assert_int_equal(put(b, "a.md", buf_str(&text)), id);
		commit(b);
		assert_int_equal(pending(b, fp), 1);
		must(b, b->o->file_chunks(b->s, &b->a, id, &ids, &n, &b->err));
		must(b, b->o->chunks_get(b->s, &b->a, 0, &ids[n - 1], 1, &c,
					 &b->err));
		assert_int_equal(c.passages[c.passage_count - 1].line_last,
				 2 + 4 * 39 + 3);
		for (int i = 0; i < n; i++)
			for (int k = 0; k < m; k++)
				kept += ids[i] == old[k];
		assert_true(kept >= m - 2);
		no_problems(b);
		(void)f;
		buf_release(&text);
	}
}

static void test_store__touching_changes_only_the_row(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f;
		bool found;
		int64_t id;

		begin(b);
		id = put(b, "memory/笔记.md", "# 标题\n\ngateway\n");
		commit(b);
		must(b, b->o->file_get(b->s, &b->a, id, &f, &found, &b->err));
		assert_true(found);
		assert_string_equal(f.title, "标题");
		f.mtime_ns = 77;
		f.inode = UINT64_MAX;
		f.path = "memory/renamed.md";
		begin(b);
		must(b, b->o->file_touch(b->s, &f, &b->err));
		commit(b);
		must(b, b->o->file_find(b->s, &b->a, "memory/笔记.md", &f,
					&found, &b->err));
		assert_false(found);
		must(b, b->o->file_find(b->s, &b->a, "memory/renamed.md", &f,
					&found, &b->err));
		assert_true(found && f.id == id && f.mtime_ns == 77);
		assert_true(f.inode == UINT64_MAX);
		assert_string_equal(f.title, "标题");
		assert_int_equal(f.passages, 1);
		assert_int_equal(find(b, "gateway"), 1);
		no_problems(b);
	}
}

static void test_store__a_new_date_is_posted(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f;
		int64_t id;
		bool found;

		begin(b);
		id = put_at(b, "a.md", "gateway\n", date_from_ymd(2026, 3, 2));
		commit(b);
		assert_int_equal(find(b, "2026-03-02"), 1);
		must(b, b->o->file_get(b->s, &b->a, id, &f, &found, &b->err));
		assert_int_equal(f.date, date_from_ymd(2026, 3, 2));
		f.date = date_from_ymd(2026, 4, 5);
		begin(b);
		must(b, b->o->file_touch(b->s, &f, &b->err));
		commit(b);
		assert_int_equal(find(b, "2026-03-02"), 0);
		assert_int_equal(find(b, "2026-04-05"), 1);
		begin(b);
		must(b, b->o->file_remove(b->s, id, &b->err));
		commit(b);
		assert_int_equal(find(b, "2026-04-05"), 0);
	}
}

static void test_store__two_files_may_change_names(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file x, y;
		int64_t one, two;
		bool found;

		begin(b);
		one = put(b, "a.md", "alpha\n");
		two = put(b, "b.md", "beta\n");
		commit(b);
		must(b, b->o->file_get(b->s, &b->a, one, &x, &found, &b->err));
		must(b, b->o->file_get(b->s, &b->a, two, &y, &found, &b->err));
		x.path = "b.md";
		y.path = "a.md";
		begin(b);
		must(b, b->o->file_touch(b->s, &x, &b->err));
		must(b, b->o->file_touch(b->s, &y, &b->err));
		commit(b);
		must(b, b->o->file_find(b->s, &b->a, "b.md", &x, &found,
					&b->err));
		assert_int_equal(x.id, one);
		must(b, b->o->file_find(b->s, &b->a, "a.md", &x, &found,
					&b->err));
		assert_int_equal(x.id, two);
		no_problems(b);
	}
}

static int list(void *ctx, const struct store_file *f)
{
	struct buf *out = ctx;

	buf_addf(out, "%s%s ", f->path, f->skipped ? "!" : "");
	return 0;
}

static void test_store__skipped_files_are_listed(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f = { .path = "memory/图.bin",
					.reason = "is binary",
					.date = DATE_NONE };
		struct buf out = BUF_INIT(0);

		begin(b);
		put(b, "memory/a.md", "alpha\n");
		must(b, b->o->file_put(b->s, &f, NULL, &b->err));
		put(b, "b\xff\xfe.md", "name of bytes\n");
		commit(b);
		must(b, b->o->files_each(b->s, list, &out, &b->err));
		assert_string_equal(buf_str(&out),
				    "b\xff\xfe.md memory/a.md memory/图.bin! ");
		assert_int_equal(info(b).files, 3);
		assert_int_equal(info(b).indexed, 2);
		assert_int_equal(info(b).skipped, 1);
		/* What was text is skipped, and is text again. */
		f.id = 0;
		f.path = "memory/a.md";
		begin(b);
		must(b, b->o->file_put(b->s, &f, NULL, &b->err));
		commit(b);
		assert_int_equal(info(b).indexed, 1);
		assert_int_equal(find(b, "alpha"), 0);
		put_alone(b, "memory/a.md", "alpha\n");
		assert_int_equal(info(b).indexed, 2);
		assert_int_equal(find(b, "alpha"), 1);
		no_problems(b);
		buf_release(&out);
	}
}

static void test_store__names_are_found_by_their_parts(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_term t[] = {
			{ .text = "budget", .group = 0, .weight = 1 },
			{ .text = "预算", .group = 1, .weight = 1 },
			{ .text = "nowhere", .group = 2, .weight = 1 },
		};
		struct store_scored out[4];
		int64_t id;
		int n;

		begin(b);
		put(b, "memory/other.md", "budget here in the text\n");
		id = put(b, "projects/2026-budget.md",
			 "---\naliases: [年度预算]\n---\nx\n");
		commit(b);
		must(b, b->o->text_pool(b->s, t, 3, NULL, 4, out, &n, &b->err));
		must(b, b->o->name_pool(b->s, t, 3, NULL, 4, out, &n, &b->err));
		assert_int_equal(n, 1);
		assert_int_equal(out[0].id, id);
		assert_true(out[0].score > 0.3f && out[0].score < 0.9f);
		begin(b);
		must(b, b->o->file_remove(b->s, id, &b->err));
		commit(b);
		must(b, b->o->name_pool(b->s, t, 3, NULL, 4, out, &n, &b->err));
		assert_int_equal(n, 0);
	}
}

static void test_store__rare_terms_rank_before_common_ones(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_term t[] = {
			{ .text = "common", .group = 0, .weight = 1 },
			{ .text = "稀有", .group = 1, .weight = 1 },
			{ .text = "stem", .group = 2, .weight = 1 },
			{ .text = "stems", .group = 2, .weight = 1 },
		};
		struct store_scored out[64];
		char path[32];
		int n;

		begin(b);
		for (int i = 0; i < 40; i++) {
			snprintf(path, sizeof(path), "%02d.md", i);
			put(b, path, i == 17 ? "稀有\n" : i == 5 ?
			    "common stems stem\n" : "common words\n");
		}
		commit(b);
		must(b, b->o->text_pool(b->s, t, 4, NULL, 64, out, &n,
					&b->err));
		assert_int_equal(n, 40);
		assert_int_equal(t[0].df, 39);
		assert_int_equal(t[1].df, 1);
		assert_true(t[1].idf > t[0].idf);
		assert_true(fabsf(t[0].idf - logf(1 + 1.5f / 39.5f)) < 1e-5f);
		/* A word and its stem count once. */
		assert_true(out[0].score < t[2].idf + t[0].idf + 1e-4f);
		for (int i = 1; i < n; i++)
			assert_true(out[i - 1].score > out[i].score ||
				    (out[i - 1].score == out[i].score &&
				     out[i - 1].id < out[i].id));
		must(b, b->o->text_pool(b->s, t, 4, NULL, 0, out, &n, &b->err));
		assert_int_equal(n, 0);
		/* Neither the common nor the lone one. */
		t[0].most = 7;
		t[1].most = 7;
		t[2].most = t[3].most = 100;
		t[3].text = "没有";
		must(b, b->o->text_pool(b->s, t, 4, NULL, 8, out, &n, &b->err));
		assert_int_equal(t[0].df, 8);
		assert_int_equal(t[1].df, 1);
		assert_int_equal(t[3].df, 0);
		for (int i = 0; i < n; i++)
			assert_true(b->o->text_held(b->s, out[i].id));
		assert_false(b->o->text_held(b->s, 0));
	}
}

static void test_store__no_term_is_query_syntax(void **state)
{
	static const char *const nasty[] = {
		"\"", "a\"b", "*", "AND", "NEAR(a b)", "-x", "body:x", "'",
		"^", "(", "{", "\x01", "", "\"\"\"\"", "引号\"", "a OR b",
	};

	(void)state;
	EACH_BACKEND(b) {
		put_alone(b, "a.md", "text AND more OR less NOT body x\n");
		for (size_t i = 0; i < ARRAY_LEN(nasty); i++) {
			find_in(b, nasty[i], false, NULL, NULL);
			find_in(b, nasty[i], true, NULL, NULL);
		}
		assert_int_equal(find(b, "x"), 1);
	}
}

/* ---- filters ---- */

static int filtered(struct box *b, const struct store_filter *f)
{
	struct store_set *set;
	int n;

	must(b, b->o->filter(b->s, f, &set, &b->err));
	n = find_in(b, "word", false, set, NULL);
	b->o->filter_free(set);
	return n;
}

static void test_store__filters_act_in_the_pools(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int32_t day = date_from_ymd(2026, 3, 2);
		struct store_scored hit[8];
		struct store_set *set;
		int fp, n;

		begin(b);
		put_at(b, "memory/2026-03-02.md", "word\n", day);
		put_at(b, "memory/sub/b.md",
		       "---\ntags: [Träger, 标签]\n---\nword\n", DATE_NONE);
		put_of(b, "c.md", "word\n\n"
		       "word two <!-- project: apollo -->\n", day + 10,
		       "agent");
		commit(b);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		assert_int_equal(filtered(b, &(struct store_filter){ 0 }), 3);
		assert_int_equal(filtered(b, &(struct store_filter){
			.path = "memory/" }), 2);
		assert_int_equal(filtered(b, &(struct store_filter){
			.path = "c.md" }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.path = "**/b.*" }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.path = "memo" }), 0);
		assert_int_equal(filtered(b, &(struct store_filter){
			.tag = "标签" }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.tag = "标" }), 0);
		assert_int_equal(filtered(b, &(struct store_filter){
			.after = day, .before = day }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.after = day + 1, .before = DATE_NONE }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.sources = 1u << STORE_SESSIONS }), 0);
		assert_int_equal(filtered(b, &(struct store_filter){
			.sources = 1u << STORE_MEMORY }), 3);
		assert_int_equal(filtered(b, &(struct store_filter){
			.origin = "agent" }), 1);
		assert_int_equal(filtered(b, &(struct store_filter){
			.project = "none" }), 0);
		must(b, b->o->filter(b->s, &(struct store_filter){
			.project = "apollo" }, &set, &b->err));
		n = nearest(b, fp, "word", set, hit, 8);
		assert_int_equal(n, 1);
		b->o->filter_free(set);
		must(b, b->o->filter(b->s, &(struct store_filter){
			.path = "memory/" }, &set, &b->err));
		assert_int_equal(nearest(b, fp, "word", set, hit, 8), 2);
		b->o->filter_free(set);
	}
}

/* ---- edges ---- */

static void test_store__empty_index_answers(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_mean *means;
		int n, fp, dims;
		const char *text;

		assert_int_equal(find(b, "x"), 0);
		assert_int_equal(info(b).files, 0);
		must(b, b->o->fingerprint_active(b->s, &fp, &dims, &text,
						 &b->err));
		assert_int_equal(fp, 0);
		must(b, b->o->means(b->s, &b->a, 7, &means, &n, &b->err));
		assert_int_equal(n, 0);
		must(b, b->o->maintain(b->s, 10, &b->err));
		box_reopen(b, STORE_READ);
		assert_int_equal(find(b, "x"), 0);
		assert_int_equal(b->o->begin(b->s, &b->err), REMEM_EINVAL);
		no_problems(b);
	}
}

static void test_store__writing_needs_a_transaction(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f = { .path = "a" };

		assert_int_equal(b->o->file_put(b->s, &f, NULL, &b->err),
				 REMEM_EINVAL);
		assert_int_equal(b->o->commit(b->s, &b->err), REMEM_EINVAL);
		b->o->rollback(b->s);
		begin(b);
		assert_int_equal(b->o->begin(b->s, &b->err), REMEM_EINVAL);
		b->o->rollback(b->s);
	}
}

static void test_store__rollback_leaves_nothing(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int fp;

		put_alone(b, "a.md", "alpha\n\nbeta\n");
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		begin(b);
		put(b, "a.md", "alpha\n\n别的\n");
		put(b, "b.md", "gamma\n");
		assert_int_equal(find(b, "alpha"), 1); /* in its midst too */
		b->o->rollback(b->s);
		assert_int_equal(find(b, "gamma"), 0);
		assert_int_equal(find(b, "beta"), 1);
		assert_int_equal(pending(b, fp), 0);
		no_problems(b);
		put_alone(b, "b.md", "gamma\n");
		assert_int_equal(find(b, "gamma"), 1);
		assert_int_equal(pending(b, fp), 1);
		no_problems(b);
	}
}

static void test_store__text_with_nul_is_whole(void **state)
{
	static const char text[] = "before\0after 之后\n\nsecond\n";

	(void)state;
	EACH_BACKEND(b) {
		struct note_opts o = NOTE_OPTS_DEFAULT;
		struct store_file f = { .path = "n.md", .date = DATE_NONE };
		struct store_chunk c;
		struct note n;

		must(b, note_parse(&n, &b->a, text, sizeof(text) - 1, &o,
				   &b->err));
		begin(b);
		must(b, b->o->file_put(b->s, &f, &n, &b->err));
		commit(b);
		c = first_chunk(b, f.id);
		assert_int_equal(c.len, n.len);
		assert_memory_equal(c.text, n.text, n.len);
		assert_int_equal(find(b, "second"), 1);
		no_problems(b);
		begin(b);
		must(b, b->o->file_remove(b->s, f.id, &b->err));
		commit(b);
		assert_int_equal(find(b, "second"), 0);
	}
}

static void test_store__meta_is_kept(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		begin(b);
		must(b, b->o->meta_set(b->s, "settings", "值", &b->err));
		must(b, b->o->meta_set(b->s, "indexed_at_ms", "12", &b->err));
		commit(b);
		box_reopen(b, STORE_READ);
		assert_string_equal(b->o->meta_get(b->s, &b->a, "settings"),
				    "值");
		assert_null(b->o->meta_get(b->s, &b->a, "nothing"));
		assert_int_equal(info(b).indexed_at_ms, 12);
	}
}

static void test_store__thousand_edits_do_not_grow_it(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int64_t early = 0;
		char text[400];
		int fp = 0;

		for (int i = 0; i < 1000; i++) {
			snprintf(text, sizeof(text), "# 日记\n\nWord%d and "
				 "%d other%d things.\n\n- 第%d条 x%d\n", i,
				 i * 7, i * 3, i, i);
			put_alone(b, "a.md", text);
			if (!fp)
				fp = fingerprint(b, "m");
			embed_all(b, fp);
			must(b, b->o->maintain(b->s, 100, &b->err));
			if (i == 300)
				early = info(b).bytes_database;
			arena_reset(&b->a);
		}
		assert_true(info(b).bytes_database < early + early / 4);
		assert_true(info(b).bytes_vectors < 600000);
		assert_int_equal(info(b).passages, 2);
		assert_int_equal(find(b, "word999"), 1);
		assert_int_equal(find(b, "word5"), 0);
		no_problems(b);
	}
}
