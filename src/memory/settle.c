/*
 * Writes that were begun and not confirmed: their process was killed, or the
 * disk was full. The note itself tells what became of each. A text that is all
 * there counts as written; what is there of half a text is taken away again;
 * of what never arrived the record is taken back by another one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "memory/journal.h"
#include "memory/memory.h"
#include "memory/target.h"

struct list {
	struct arena *a;
	struct pending_row *rows;
	size_t count, cap;
};

static int take(void *ctx, const struct pending_row *row)
{
	struct list *l = ctx;
	struct pending_row *r;

	l->rows = arena_grow(l->a, l->rows, &l->cap, l->count + 1,
			     sizeof(*l->rows));
	if (!l->rows)
		return REMEM_ENOMEM;
	r = &l->rows[l->count++];
	*r = *row;
	r->path = arena_strdup(l->a, row->path);
	r->bytes = arena_strndup(l->a, row->bytes ? row->bytes : "", row->len);
	return l->a->failed ? REMEM_ENOMEM : 0;
}

/* How many of the bytes stand where they were to go; -1: something else. */
static int64_t arrived(const struct target *t, const struct pending_row *p,
		       struct arena *a)
{
	int64_t there = (int64_t)t->st.st_size - p->size;
	size_t n = there > (int64_t)p->len ? p->len : (size_t)there;
	char *have;

	if (t->absent || there <= 0)
		return 0;
	have = arena_alloc(a, n + 1);
	if (!have || pread(t->fd, have, n, p->size) != (ssize_t)n ||
	    memcmp(have, p->bytes, n))
		return -1;
	return (int64_t)n;
}

static int settle_append(bool *done, struct memory *m, struct arena *a,
			 const struct target *t, const struct pending_row *p,
			 struct remem_err *err)
{
	int64_t n = arrived(t, p, a);

	(void)m;
	*done = n == (int64_t)p->len;
	if (n <= 0 || *done)
		return 0;
	file_fault_step();
	if (ftruncate(t->fd, p->size))
		return file_fail(err, errno, "shorten", p->path);
	return file_fsync(t->fd, p->path, err);
}

static int settle_rewrite(bool *done, struct memory *m, const struct target *t,
			  const struct pending_row *p, struct remem_err *err)
{
	unsigned char hash[SHA256_BYTES];
	struct buf b = BUF_INIT(0);
	int rc = 0;

	memset(hash, 0, sizeof(hash));
	if (!t->absent && !(rc = target_read(&b, t, m, err)))
		sha256_of(hash, buf_str(&b), b.len);
	buf_release(&b);
	*done = !rc && !memcmp(hash, p->after, SHA256_BYTES);
	return rc;
}

static int take_back(struct memory *m, const struct pending_row *p,
		     struct remem_err *err)
{
	struct remem_actor us = { .size = sizeof(us), .via = "remem" };
	char detail[64];
	int rc;

	snprintf(detail, sizeof(detail), "{\"of\":%lld}",
		 (long long)p->journal);
	rc = journal_add(NULL, m, &us, "void", p->path, NULL, NULL, 0,
			 REMEM_ORIGIN_SYSTEM, detail, err);
	return rc ? rc : state_line_remove(m->state, NULL, p->journal, err);
}

/* A note that cannot be opened stays as it is, and so does the record. */
static int settle_one(struct memory *m, struct arena *a,
		      const struct pending_row *p, struct remem_err *err)
{
	struct remem_err why = { 0 };
	bool done = false;
	struct target t;
	int rc = target_open(&t, m, p->path, false, &why);

	if (!rc)
		rc = p->rewrite ? settle_rewrite(&done, m, &t, p, &why) :
		     settle_append(&done, m, a, &t, p, &why);
	target_close(&t);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if ((rc = state_begin(m->state, true, err)))
		return rc;
	if ((!done && (rc = take_back(m, p, err))) ||
	    (rc = state_pending_remove(m->state, p->journal, err))) {
		state_rollback(m->state);
		return rc;
	}
	return state_commit(m->state, err);
}

int memory_settle(struct memory *m, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct list l = { .a = &a };
	int rc = state_pending_each(m->state, take, &l, err);

	if (rc == REMEM_ENOMEM)
		fail_nomem(err);
	for (size_t i = 0; i < l.count && !rc; i++)
		rc = settle_one(m, &a, &l.rows[i], err);
	arena_release(&a);
	return rc;
}
