/*
 * Files put, touched and removed. Postings are written last and in the order
 * of their chunk ids, each taken back before it is given again: FTS5 flushes
 * what it has gathered whenever an id is not higher than the one before.
 */
#include "store/sqlite_put.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "text/term.h"

/* ---- postings ---- */

struct post_op {
	int64_t id;
	int old, now; /* indices, -1: none */
};

static int by_id(const void *a, const void *b)
{
	const struct post_op *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->now >= 0) - (y->now >= 0); /* taken back first */
}

static int run_op(struct put *p, const struct post_op *o, struct buf *body,
		  struct remem_err *err)
{
	int rc;

	if (o->old >= 0) {
		rc = post_body(body, p->old_post, (size_t)o->old,
			       p->before.date, err);
		return rc ? rc : post_del(p->s, o->id, body, err);
	}
	rc = post_body(body, p->now_post, (size_t)o->now, p->f->date, err);
	return rc ? rc : post_add_counted(p->s, &p->now_post[o->now],
					  (uint32_t)p->f->id, body, err);
}

static int write_postings(struct put *p, struct remem_err *err)
{
	size_t n = 0, cap = (size_t)p->old_count + (size_t)p->now_count;
	struct post_op *ops = ARENA_ARRAY(p->a, struct post_op, cap + 1);
	struct buf body = BUF_INIT(0);
	int rc = 0;

	if (!ops)
		return fail_nomem(err);
	for (int i = 0; i < p->old_count; i++)
		if (!p->old[i].kept)
			ops[n++] = (struct post_op){ p->old[i].id, i, -1 };
	for (int i = 0; i < p->now_count; i++)
		if (p->now[i].old < 0)
			ops[n++] = (struct post_op){ p->now[i].id, -1, i };
	qsort(ops, n, sizeof(*ops), by_id);
	for (size_t i = 0; !rc && i < n; i++)
		rc = run_op(p, &ops[i], &body, err);
	buf_release(&body);
	return rc;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int write_names(struct put *p, struct remem_err *err)
{
	bool had = p->existed && !p->before.skipped;
	bool has = !p->f->skipped;
	int rc = 0;

	if (had && has && same(p->before.path, p->f->path) &&
	    same(p->before.title, p->f->title) &&
	    same(p->before.tags, p->f->tags) &&
	    same(p->before.aliases, p->f->aliases))
		return 0;
	if (had)
		rc = names_del(p->s, &p->before, err);
	return rc || !has ? rc : names_add(p->s, p->f, err);
}

/* ---- the file's own row ---- */

static int find_before(struct put *p, struct remem_err *err)
{
	struct store *st = &p->s->head;

	if (p->f->id)
		return sq_file_get(st, p->a, p->f->id, &p->before, &p->existed,
				   err);
	return sq_file_find(st, p->a, p->f->path, &p->before, &p->existed, err);
}

static int give_id(struct put *p, struct remem_err *err)
{
	struct sq *s = p->s;
	int rc;

	if (p->existed)
		p->f->id = p->before.id;
	if (p->f->id)
		return 0;
	if (!s->next_file) {
		if ((rc = sq_int(s, S_FILE_MAX, &s->next_file, err)))
			return rc;
		s->next_file++;
	}
	if (s->next_file > UINT32_MAX)
		return fail(err, REMEM_ELIMIT, "too many files");
	p->f->id = s->next_file++;
	return 0;
}

/* ",a,b," with every tag folded as queries are. */
static const char *join_tags(struct arena *a, const struct note *n)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	for (int i = 0; i < n->tag_count; i++) {
		size_t len = strlen(n->tags[i]), cap = 4 * len + 16;
		char *room = arena_alloc(a, cap);

		if (!room)
			break;
		if (!b.len)
			buf_addc(&b, ',');
		buf_add(&b, room, term_fold(room, cap, n->tags[i], len));
		buf_addc(&b, ',');
	}
	out = b.len ? arena_strdup(a, buf_str(&b)) : NULL;
	a->failed |= b.failed;
	buf_release(&b);
	return out;
}

static const char *join_aliases(struct arena *a, const struct note *n)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	for (int i = 0; i < n->alias_count; i++) {
		if (i)
			buf_addc(&b, '\n');
		buf_adds(&b, n->aliases[i]);
	}
	out = b.len ? arena_strdup(a, buf_str(&b)) : NULL;
	a->failed |= b.failed;
	buf_release(&b);
	return out;
}

static int complete_file(struct put *p, struct remem_err *err)
{
	const struct note *n = p->n;
	struct store_file *f = p->f;

	f->skipped = !n;
	f->chunks = n ? n->chunk_count : 0;
	f->passages = n ? n->passage_count : 0;
	if (!n)
		return 0;
	f->lines = n->line_count;
	f->warnings |= n->warnings;
	if (!f->title)
		f->title = n->title;
	if (!f->tags)
		f->tags = join_tags(p->a, n);
	if (!f->aliases)
		f->aliases = join_aliases(p->a, n);
	return p->a->failed ? fail_nomem(err) : 0;
}

static void count_file(struct put *p)
{
	if (!p->existed)
		sq_count(p->s, C_FILES, 1);
	sq_count(p->s, C_SKIPPED, p->f->skipped -
		 (p->existed && p->before.skipped));
}

/* ---- operations ---- */

static int replace_rows(struct put *p, struct remem_err *err)
{
	int rc;

	if ((rc = headings_resolve(p, err)) || (rc = old_load(p, err)) ||
	    (rc = new_prepare(p, err)) || (rc = old_texts(p, err)) ||
	    (rc = old_remove(p, err)) || (rc = new_insert(p, err)) ||
	    (rc = old_finish(p, err)) || (rc = headings_count(p, err)))
		return rc;
	return write_postings(p, err);
}

static int can_write(struct sq *s, struct remem_err *err)
{
	struct store_info info;
	int rc;

	if ((rc = sq_need_write(s, err)) || s->cut_checked)
		return rc;
	if ((rc = sq_info(&s->head, &info, err)))
		return rc;
	/* Taking back what another tokenizer posted would leave ghosts. */
	if (info.stale_cut && info.files) {
		fail(err, REMEM_EVERSION,
		     "the index was cut by another version of remem");
		fail_action(err, "run: remem index --force");
		return REMEM_EVERSION;
	}
	s->cut_checked = true;
	return 0;
}

/* Two files that change names: the one not yet told of steps aside, and gets
 * its own name when its turn comes. */
static int make_way(struct put *p, struct remem_err *err)
{
	struct put other = { .s = p->s, .a = p->a };
	struct store_file aside;
	int rc;

	if (p->existed && same(p->before.path, p->f->path))
		return 0;
	if ((rc = sq_file_find(&p->s->head, p->a, p->f->path, &other.before,
			       &other.existed, err)) ||
	    !other.existed || other.before.id == p->f->id)
		return rc;
	aside = other.before;
	aside.path = arena_printf(p->a, "%s\001%lld", aside.path,
				  (long long)aside.id);
	if (!aside.path)
		return fail_nomem(err);
	other.f = &aside;
	rc = write_names(&other, err);
	return rc ? rc : sq_file_write(p->s, &aside, err);
}

static int put_file(struct put *p, struct remem_err *err)
{
	int rc;

	if ((rc = find_before(p, err)) || (rc = give_id(p, err)) ||
	    (rc = complete_file(p, err)) || (rc = make_way(p, err)) ||
	    (rc = replace_rows(p, err)) || (rc = write_names(p, err)))
		return rc;
	count_file(p);
	return sq_file_write(p->s, p->f, err);
}

int sq_file_put(struct store *st, struct store_file *f, const struct note *n,
		struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct store_file now = *f; /* its strings may be the arena's */
	struct put p = { .s = s, .a = &s->scratch, .n = n, .f = &now };
	int rc;

	if ((rc = can_write(s, err)))
		return rc;
	arena_reset(&s->scratch);
	pending_drop(s);
	rc = put_file(&p, err);
	buf_release(&p.packed);
	if (rc)
		return rc;
	f->id = now.id;
	f->skipped = now.skipped;
	f->lines = now.lines;
	f->chunks = now.chunks;
	f->passages = now.passages;
	f->warnings = now.warnings;
	return 0;
}

static int no_file(struct remem_err *err)
{
	return fail(err, REMEM_ENOTFOUND, "the file is not in the index");
}

int sq_file_remove(struct store *st, int64_t id, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct store_file gone = { .id = id, .skipped = true };
	struct put p = { .s = s, .a = &s->scratch, .f = &gone };
	sqlite3_stmt *del;
	int rc;

	if ((rc = can_write(s, err)))
		return rc;
	arena_reset(&s->scratch);
	pending_drop(s);
	if ((rc = find_before(&p, err)))
		return rc;
	if (!p.existed)
		return no_file(err);
	gone.date = p.before.date;
	if ((rc = replace_rows(&p, err)) || (rc = write_names(&p, err)) ||
	    (rc = sq_get(s, S_FILE_DEL, &del, err)))
		return rc;
	sqlite3_bind_int64(del, 1, id);
	sq_count(s, C_FILES, -1);
	sq_count(s, C_SKIPPED, -(int64_t)p.before.skipped);
	return sq_run(s, del, err);
}

/* The same chunks under another date: only the postings change. */
static int repost(struct put *p, struct remem_err *err)
{
	struct buf body = BUF_INIT(0);
	int rc;

	if ((rc = old_load(p, err)) || (rc = old_texts(p, err)))
		return rc;
	for (int i = 0; !rc && i < p->old_count; i++) {
		int64_t id = p->old[i].id;

		if (!(rc = post_body(&body, p->old_post, (size_t)i,
				     p->before.date, err)) &&
		    !(rc = post_del(p->s, id, &body, err)) &&
		    !(rc = post_body(&body, p->old_post, (size_t)i, p->f->date,
				     err)))
			rc = post_add(p->s, id, &body, err);
	}
	buf_release(&body);
	return rc;
}

/* What comes from the contents stays. */
static void keep_contents(struct store_file *f, const struct store_file *old)
{
	static const unsigned char zero[SHA256_BYTES];

	f->skipped = old->skipped;
	f->title = old->title;
	f->tags = old->tags;
	f->aliases = old->aliases;
	f->warnings = old->warnings;
	f->lines = old->lines;
	f->chunks = old->chunks;
	f->passages = old->passages;
	if (!memcmp(f->hash, zero, SHA256_BYTES))
		memcpy(f->hash, old->hash, SHA256_BYTES);
}

int sq_file_touch(struct store *st, const struct store_file *f,
		  struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct store_file now = *f;
	struct put p = { .s = s, .a = &s->scratch, .f = &now };
	int rc;

	if ((rc = can_write(s, err)))
		return rc;
	arena_reset(&s->scratch);
	if ((rc = find_before(&p, err)))
		return rc;
	if (!p.existed)
		return no_file(err);
	now.id = p.before.id;
	keep_contents(&now, &p.before);
	if (now.date != p.before.date && !now.skipped) {
		pending_drop(s);
		if ((rc = repost(&p, err)))
			return rc;
	}
	if ((rc = make_way(&p, err)) || (rc = write_names(&p, err)))
		return rc;
	return sq_file_write(s, &now, err);
}
