/*
 * The text phase: files that are new or changed are read, cut and stored, in
 * transactions of bounded size, so that readers see progress and a killed run
 * has little to do again. Removals come last: a note that was moved is never
 * missing in between, and nothing is removed on the word of half a walk.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "index/media.h"
#include "index/stamp.h"
#include "index/sync.h"
#include "index/writes.h"
#include "text/term.h"

#define BATCH_FILES 2048
#define BATCH_BYTES (8u << 20)
#define KEEP_BYTES (4u << 20) /* larger buffers are given back */
#define LARGE_BYTES (1 << 20) /* may be what memory is missing for */
#define SETTLE_MS 60 /* to wait for stamps, in one run */

struct text_run {
	struct sync *y;
	struct arena file; /* of one file */
	struct buf bytes;
	struct writes batch;
	int settle_ms;
};

static int batch_step(struct text_run *t, size_t bytes, struct remem_err *err)
{
	t->y->writes++;
	t->batch.items++;
	t->batch.bytes += bytes;
	if (t->batch.items < BATCH_FILES && t->batch.bytes < BATCH_BYTES)
		return 0;
	return writes_commit(&t->batch, err);
}

static void fill(struct store_file *out, const struct source_file *f)
{
	memset(out, 0, sizeof(*out));
	out->path = f->path;
	out->source = STORE_MEMORY;
	out->reason = f->skip ? f->skip : f->warning;
	out->skipped = f->skip != NULL;
	out->curated = f->curated;
	out->dev = f->dev;
	out->inode = f->inode;
	out->size = f->size;
	out->mtime_ns = f->mtime_ns;
	out->ctime_ns = f->ctime_ns;
	out->date = DATE_NONE;
}

/* ",a,b," folded; NULL if there are none. */
static const char *join_tags(struct arena *a, const struct note *n)
{
	struct buf b = BUF_INIT(64u << 10);
	char folded[256];
	const char *out = NULL;

	for (int i = 0; i < n->tag_count; i++) {
		size_t k = term_fold(folded, sizeof(folded), n->tags[i],
				     strlen(n->tags[i]));

		for (size_t j = 0; j < k; j++)
			if (folded[j] == ',')
				folded[j] = ' ';
		if (!k)
			continue;
		if (!b.len)
			buf_addc(&b, ',');
		buf_add(&b, folded, k);
		buf_addc(&b, ',');
	}
	if (b.failed == REMEM_ENOMEM)
		a->failed = true;
	else if (b.len)
		out = arena_strndup(a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}

static const char *join_aliases(struct arena *a, const struct note *n)
{
	const char *out = NULL;

	for (int i = 0; i < n->alias_count; i++)
		out = out ? arena_printf(a, "%s\n%s", out, n->aliases[i]) :
			    n->aliases[i];
	return out;
}

/* What a note says of itself. The date in the path goes before it. */
static void fill_note(struct store_file *out, struct arena *a,
		      const struct source_file *f, const struct note *n)
{
	if (!f->curated) {
		out->date = note_path_date(f->rel);
		if (out->date == DATE_NONE)
			out->date = n->date;
		out->undated_reference = out->date == DATE_NONE;
	}
	out->title = n->title;
	out->tags = join_tags(a, n);
	out->aliases = join_aliases(a, n);
	out->warnings = n->warnings;
	out->lines = n->line_count;
	out->chunks = n->chunk_count;
	out->passages = n->passage_count;
}

/* ---- one file --------------------------------------------------------- */

static int put_listed(struct text_run *t, const struct plan_item *it,
		      int64_t *id, struct remem_err *err)
{
	struct store *s = t->y->s;
	struct store_file sf;
	int rc;

	fill(&sf, it->file);
	sf.id = it->row ? it->row->id : 0;
	if ((rc = writes_begin(&t->batch, err)) ||
	    (rc = s->ops->file_put(s, &sf, NULL, err)))
		return rc;
	*id = sf.id;
	if (it->row && !it->row->skipped)
		t->y->r->removed++;
	return batch_step(t, 0, err);
}

/* Stores the row again with another reason. */
static int touch(struct text_run *t, const struct plan_row *row,
		 const char *reason, bool forget_stamps,
		 struct remem_err *err)
{
	struct store *s = t->y->s;
	struct store_file sf;
	bool found;
	int rc;

	if ((rc = writes_begin(&t->batch, err)) ||
	    (rc = s->ops->file_get(s, &t->file, row->id, &sf, &found, err)))
		return rc;
	if (!found)
		return 0;
	sf.reason = reason;
	if (forget_stamps)
		sf.mtime_ns = sf.ctime_ns = 0;
	if ((rc = s->ops->file_touch(s, &sf, err)))
		return rc;
	return batch_step(t, 0, err);
}

/* A file that should be read and cannot: what the index has of it stays, and
 * it is tried again each time. */
static int put_unreadable(struct text_run *t, const struct plan_item *it,
			  const char *why, struct remem_err *err)
{
	struct plan_row *row = it->row;
	bool has_rows = row && !row->skipped;
	const char *reason = has_rows ?
		arena_printf(&t->y->round, "%s; the index has it as it was "
			     "before", why) :
		arena_strdup(&t->y->round, why);
	struct source_file listed = *it->file;
	struct plan_item as_listed = { PLAN_LIST, &listed, row };
	int64_t id;
	int rc;

	if (!reason)
		return fail_nomem(err);
	t->y->failures++;
	it->file->unread = true;
	if (row)
		kept_again(&t->y->kept, row->id);
	sync_skip(t->y, it->file->path, reason);
	if (row && row->reason && !strcmp(row->reason, reason))
		return 0;
	if (has_rows)
		return touch(t, row, reason, true, err);
	listed.skip = reason;
	listed.mtime_ns = listed.ctime_ns = 0;
	rc = put_listed(t, &as_listed, &id, err);
	if (!rc && !row)
		kept_again(&t->y->kept, id);
	return rc;
}

static int put_same(struct text_run *t, const struct plan_item *it,
		    struct store_file *sf, struct remem_err *err)
{
	struct store *s = t->y->s;
	struct store_file old;
	bool found;
	int rc;

	if ((rc = writes_begin(&t->batch, err)) ||
	    (rc = s->ops->file_get(s, &t->file, it->row->id, &old, &found,
				   err)))
		return rc;
	old.reason = sf->reason;
	old.dev = sf->dev;
	old.inode = sf->inode;
	old.size = sf->size;
	old.mtime_ns = sf->mtime_ns;
	old.ctime_ns = sf->ctime_ns;
	if ((rc = s->ops->file_touch(s, &old, err)))
		return rc;
	if (t->y->rounds == 1)
		t->y->r->unchanged++;
	return batch_step(t, 0, err);
}

/* An image or sound that is none by its bytes: listed, with the reason. */
static int put_refused(struct text_run *t, const struct plan_item *it,
		       const char *why, struct remem_err *err)
{
	struct source_file listed = *it->file;
	struct plan_item as_listed = { PLAN_LIST, &listed, it->row };
	int64_t id;

	sync_skip(t->y, it->file->path, why);
	listed.skip = why;
	if (it->row && it->row->skipped && it->row->reason &&
	    !strcmp(it->row->reason, why))
		return 0;
	return put_listed(t, &as_listed, &id, err);
}

static int put_note(struct text_run *t, const struct plan_item *it,
		    struct store_file *sf, struct remem_err *err)
{
	struct note_opts no = t->y->o->note;
	struct index_report *r = t->y->r;
	struct store *s = t->y->s;
	struct plan_row *moved = NULL;
	const char *why = NULL;
	struct note n;
	int rc;

	no.curated = it->file->curated;
	rc = it->file->media ?
		     media_note(&n, &t->file, t->y->o->source, it->file,
				buf_str(&t->bytes), t->bytes.len, &why, err) :
		     note_parse(&n, &t->file, buf_str(&t->bytes), t->bytes.len,
				&no, err);
	if (rc)
		return rc;
	if (why)
		return put_refused(t, it, why, err);
	if ((rc = sync_origins_fill(t->y, &t->file, it->file->path, &n, err)))
		return rc;
	fill_note(sf, &t->file, it->file, &n);
	if (t->file.failed)
		return fail_nomem(err);
	if (!it->row || it->row->skipped)
		moved = plan_find_gone(&t->y->plan, sf->hash, sf->curated);
	if ((rc = writes_begin(&t->batch, err)))
		return rc;
	if (moved && !it->row) {
		sf->id = moved->id;
		rc = s->ops->file_touch(s, sf, err);
		moved->taken = true;
		r->renamed++;
	} else {
		rc = s->ops->file_put(s, sf, &n, err);
		if (it->row && !it->row->skipped)
			r->changed++;
		else
			r->added++;
	}
	return rc ? rc : batch_step(t, t->bytes.len, err);
}

static int put_read(struct text_run *t, const struct plan_item *it,
		    struct remem_err *err)
{
	const struct plan_row *row = it->row;
	struct store_file sf;

	if (!stamp_settle(it->file->ctime_ns, &t->settle_ms)) {
		it->file->ctime_ns = 0;
		t->y->untrusted = true;
	}
	fill(&sf, it->file);
	sf.id = row ? row->id : 0;
	if (it->file->media)
		media_hash(sf.hash, it->file, buf_str(&t->bytes),
			   t->bytes.len);
	else
		sha256_of(sf.hash, buf_str(&t->bytes), t->bytes.len);
	if (row && !row->skipped && row->curated == sf.curated &&
	    !it->file->again &&
	    !memcmp(row->hash, sf.hash, SHA256_BYTES))
		return put_same(t, it, &sf, err);
	return put_note(t, it, &sf, err);
}

/* A file that is gone by now is dealt with as if it had not been listed. */
static int vanished(struct text_run *t, const struct plan_item *it)
{
	struct plan *p = &t->y->plan;

	if (it->row && p->gone_count < p->row_count)
		p->gone[p->gone_count++] = it->row;
	return 0;
}

static int put_file(struct text_run *t, const struct plan_item *it,
		    struct remem_err *err)
{
	const struct index_opts *o = t->y->o;
	struct remem_err why = { 0 };
	int64_t max = o->source->max_file_bytes;
	int rc;

	buf_reset(&t->bytes);
	t->bytes.limit = max > 0 ? (size_t)max : SOURCE_MAX_FILE_BYTES;
	rc = source_read(&t->bytes, &t->y->list, it->file,
			 o->source->follow_links, &why);
	if (rc == REMEM_ENOTFOUND)
		return vanished(t, it);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		return put_unreadable(t, it, why.message, err);
	return put_read(t, it, err);
}

static int put_item(struct text_run *t, const struct plan_item *it,
		    struct remem_err *err)
{
	int64_t id;

	switch (it->act) {
	case PLAN_READ:
		return put_file(t, it, err);
	case PLAN_LIST:
		return put_listed(t, it, &id, err);
	case PLAN_WARN:
		return touch(t, it->row, it->file->warning, false, err);
	}
	return 0;
}

/* ---- all of them ------------------------------------------------------ */

/* Which file was too large for the memory there is, and what helps. */
static int say_nomem(const struct plan_item *it, struct remem_err *err)
{
	if (it->file->size < LARGE_BYTES)
		return REMEM_ENOMEM;
	fail(err, REMEM_ENOMEM, "out of memory at '%s' of %lld bytes",
	     it->file->path, (long long)it->file->size);
	fail_action(err, "give it more memory, or set memorySearch.maxFileBytes "
			 "lower, which leaves such files out");
	return REMEM_ENOMEM;
}

static int put_all(struct text_run *t, struct remem_err *err)
{
	struct plan *p = &t->y->plan;
	int rc = 0;

	progress_phase(&t->y->progress, "text", (int64_t)p->item_count);
	for (size_t i = 0; i < p->item_count && !rc; i++) {
		arena_reset(&t->file);
		if (t->bytes.cap > KEEP_BYTES)
			buf_release(&t->bytes);
		rc = put_item(t, &p->items[i], err);
		if (rc == REMEM_ENOMEM)
			rc = say_nomem(&p->items[i], err);
		if (!rc && progress_step(&t->y->progress, 1))
			rc = fail(err, REMEM_ECANCELLED, "stopped on request");
	}
	return rc;
}

static int remove_gone(struct text_run *t, struct remem_err *err)
{
	struct plan *p = &t->y->plan;
	struct store *s = t->y->s;
	int rc = 0;

	for (size_t i = 0; i < p->gone_count && !rc; i++) {
		struct plan_row *r = p->gone[i];

		if (r->taken)
			continue;
		r->taken = true;
		if ((rc = writes_begin(&t->batch, err)) ||
		    (rc = s->ops->file_remove(s, r->id, err)))
			break;
		if (!r->skipped)
			t->y->r->removed++;
		rc = batch_step(t, 0, err);
	}
	return rc;
}

int sync_text(struct sync *y, struct remem_err *err)
{
	struct text_run t = { .y = y, .batch = { .s = y->s },
			      .settle_ms = SETTLE_MS };
	int rc;

	arena_init(&t.file, 0);
	buf_init(&t.bytes, 0);
	rc = put_all(&t, err);
	if (!rc)
		rc = remove_gone(&t, err);
	rc = writes_end(&t.batch, rc, err);
	buf_release(&t.bytes);
	arena_release(&t.file);
	return rc;
}
