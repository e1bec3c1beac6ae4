/*
 * Transcripts in step with the index. Each talk has its state in meta
 * ("talk:NAME"): the stamps of its file, the part that is open and the mark up
 * to which it was read, written in the transaction of the parts themselves.
 * What was appended is read from the mark on; the open part is taken from the
 * store, added to and put again, so that the transcript before it is not read.
 * A talk whose earlier lines changed is read anew, and its parts are replaced
 * one by one. Nothing is removed on the word of a place that could not be
 * read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "index/sync.h"
#include "index/writes.h"
#include "source/list.h"
#include "source/secret.h"
#include "source/sessions.h"
#include "text/talk.h"

#define PART_BYTES (32u << 10) /* of text: put again in about 2 ms */
#define BATCH_BYTES (8u << 20)
#define BATCH_TALKS 256
#define KEY_PREFIX "talk:"
#define DIGEST_KEY "talks"

struct row { /* a part in the store */
	const char *path;
	size_t name_len;
	int part;
	int64_t id;
	bool skipped, seen;
};

struct talks {
	struct sync *y;
	const struct session_opts *o;
	struct row *rows; /* by path */
	size_t row_count, row_cap;
	struct arena one; /* of a talk */
	struct writes batch;
	int64_t failures;
	int64_t masked; /* secrets, in this run */
	struct list_ids names; /* of talks that stores hold, by hash */
	char wants[32]; /* front of stamps: what is wanted, of whom */
	/* A dry run: parts go here and nothing is written. */
	int (*count)(void *ctx, const struct note *n, struct remem_err *err);
	void *ctx;
	bool anew; /* what the store has does not count */
};

/* A talk that is being read. */
struct talk_run {
	struct talks *t;
	const char *name;
	const struct session_file *file;
	const char *stamp;
	struct transcript *in;
	int part; /* the open one, from 1 */
	int32_t day; /* its date */
	size_t bytes; /* its text; 0: nothing is in it yet */
	bool loaded; /* its messages are here */
	struct arena a; /* of the part */
	struct talk_message *m;
	size_t count, cap;
	bool dirty;
	struct buf text;
};

static int meta_put(struct talks *t, const char *key, const char *value,
		    struct remem_err *err)
{
	int rc;

	if (t->count)
		return 0;
	rc = writes_begin(&t->batch, err);
	return rc ? rc : t->y->s->ops->meta_set(t->y->s, key, value, err);
}

/* ---- rows of the store ------------------------------------------------ */

static int add_row(void *ctx, const struct store_file *f)
{
	struct talks *t = ctx;
	struct arena *a = &t->y->round;
	struct row *r;

	if (f->source != STORE_SESSIONS)
		return 0;
	t->rows = arena_grow(a, t->rows, &t->row_cap, t->row_count + 1,
			     sizeof(*r));
	if (!t->rows)
		return REMEM_ENOMEM;
	r = &t->rows[t->row_count++];
	memset(r, 0, sizeof(*r));
	r->path = arena_strdup(a, f->path);
	r->id = f->id;
	r->skipped = f->skipped;
	if (!r->path)
		return REMEM_ENOMEM;
	r->name_len = talk_name_len(r->path, &r->part);
	return 0;
}

static int name_order(const char *a, size_t n, const char *b, size_t m)
{
	int c = memcmp(a, b, n < m ? n : m);

	return c ? c : (n > m) - (n < m);
}

static int by_name(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int c = name_order(a->path, a->name_len, b->path, b->name_len);

	return c ? c : a->part - b->part;
}

static int load_rows(struct talks *t, struct remem_err *err)
{
	struct store *s = t->y->s;
	int rc = s->ops->file_stamps(s, NULL, add_row, t, err);

	if (t->y->round.failed)
		return fail_nomem(err);
	if (!rc && t->row_count)
		qsort(t->rows, t->row_count, sizeof(*t->rows), by_name);
	return rc;
}

/* The first row of a talk; the count if there is none. */
static size_t first_row(const struct talks *t, const char *name)
{
	size_t lo = 0, hi = t->row_count, n = strlen(name);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct row *r = &t->rows[mid];

		if (name_order(r->path, r->name_len, name, n) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_of(const struct talks *t, size_t i, const char *name)
{
	return i < t->row_count && t->rows[i].name_len == strlen(name) &&
	       !memcmp(t->rows[i].path, name, t->rows[i].name_len);
}

/* Marks the rows of a talk as accounted for. */
static void see(struct talks *t, const char *name)
{
	for (size_t i = first_row(t, name); is_of(t, i, name); i++)
		t->rows[i].seen = true;
}

static int remove_row(struct talks *t, struct row *r, struct remem_err *err)
{
	int rc = t->count ? 0 : writes_begin(&t->batch, err);

	if (!rc && !t->count) {
		rc = t->y->s->ops->file_remove(t->y->s, r->id, err);
		t->y->writes++;
	}
	if (!rc && !r->skipped)
		t->y->r->removed++;
	return rc;
}

static int remove_after(struct talks *t, const char *name, int part,
			struct remem_err *err)
{
	int rc = 0;

	for (size_t i = first_row(t, name); is_of(t, i, name) && !rc; i++)
		if (t->rows[i].part > part)
			rc = remove_row(t, &t->rows[i], err);
	return rc;
}

/* ---- state ------------------------------------------------------------ */

static const char *state_key(struct arena *a, const char *name)
{
	return arena_printf(a, KEY_PREFIX "%s", name);
}

static const char *file_stamp(struct arena *a, const struct talks *t,
			      const struct session_file *f)
{
	return arena_printf(a, "%s:%" PRIu64 ":%" PRIu64 ":%" PRId64
			    ":%" PRId64 ":%" PRId64, t->wants, f->dev,
			    f->inode, f->size, f->mtime_ns, f->ctime_ns);
}

static void make_wants(struct talks *t)
{
	const char *project = t->o->project ? t->o->project : "";
	unsigned char sum[SHA256_BYTES];
	char hex[9];

	sha256_of(sum, project, strlen(project));
	hex_encode(hex, sum, 4);
	snprintf(t->wants, sizeof(t->wants), "%u%c%s", t->o->want,
		 t->o->personal ? 'p' : '-', hex);
}

/* Not the same: what is wanted of talks has changed, so nothing holds. */
static bool same_wants(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return n == strcspn(b, ":") && !memcmp(a, b, n);
}

struct state {
	const char *stamp;
	int part;
	int32_t day;
	size_t bytes;
	struct transcript_mark mark;
	bool valid; /* of a talk that was read */
};

static void read_state(struct state *s, struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text ? text : ""), *tab;

	memset(s, 0, sizeof(*s));
	s->stamp = "";
	if (!copy || !(tab = strchr(copy, '\t')))
		return;
	*tab = 0;
	s->stamp = copy;
	s->part = (int)strtol(tab + 1, &tab, 10);
	s->day = (int32_t)strtol(tab, &tab, 10);
	s->bytes = (size_t)strtoull(tab, &tab, 10);
	s->valid = *tab == '\t' && s->part > 0 &&
		   transcript_mark_read(&s->mark, tab + 1);
}

static int write_state(struct talk_run *r, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct transcript_mark m;
	const char *key = state_key(&r->t->one, r->name);
	int rc = transcript_mark(r->in, &m, err);

	if (rc)
		return rc;
	buf_addf(&b, "%s\t%d %" PRId32 " %zu\t", r->stamp, r->part, r->day,
		 r->bytes);
	transcript_mark_write(&b, &m);
	if (!key)
		rc = fail_nomem(err);
	else if (!(rc = buf_check(&b, err)))
		rc = meta_put(r->t, key, buf_str(&b), err);
	buf_release(&b);
	return rc;
}

/* Only that it was looked at: another project's, or not to be read. */
static int write_stamp(struct talks *t, const char *name, const char *stamp,
		       struct remem_err *err)
{
	const char *key = state_key(&t->one, name);
	const char *value = arena_printf(&t->one, "%s\t", stamp);

	if (!key || !value)
		return fail_nomem(err);
	return meta_put(t, key, value, err);
}

/* ---- the open part ---------------------------------------------------- */

static void add_message(struct talk_run *r, const char *who, const char *text,
			size_t len, int line, const char *origin)
{
	struct talk_message *m;

	r->m = arena_grow(&r->a, r->m, &r->cap, r->count + 1, sizeof(*m));
	if (!r->m)
		return;
	m = &r->m[r->count++];
	m->who = arena_strdup(&r->a, who);
	m->text = arena_strndup(&r->a, text, len);
	m->len = len;
	m->line = line;
	m->origin = origin ? arena_strdup(&r->a, origin) : NULL;
}

/* Who spoke stands before the words, from the start of the line on. */
static const char *who_spoke(struct arena *a, const char *text, size_t start)
{
	size_t from = start;

	while (from && text[from - 1] != '\n')
		from--;
	if (start < from + 2)
		return "";
	return arena_strndup(a, text + from, start - from - 2);
}

struct stored {
	const char *text;
	const struct store_passage **p;
	size_t *base; /* of the passage's chunk in text */
	size_t count;
};

static void add_stored(struct talk_run *r, const struct stored *s)
{
	for (size_t i = 0; i < s->count;) {
		const struct store_passage *p = s->p[i];
		size_t start = s->base[i] + p->start, end = start + p->len;

		for (i++; i < s->count && s->p[i]->continues; i++)
			end = s->base[i] + s->p[i]->start + s->p[i]->len;
		add_message(r, who_spoke(&r->a, s->text, start),
			    s->text + start, end - start, p->line_first,
			    p->origin);
	}
}

static int gather(struct talk_run *r, struct store_chunk *c, int n,
		  struct remem_err *err)
{
	struct buf text = BUF_INIT(0);
	struct stored s = { 0 };
	size_t total = 0;
	int rc;

	for (int i = 0; i < n; i++)
		total += (size_t)c[i].passage_count;
	s.p = ARENA_ARRAY(&r->a, const struct store_passage *, total + 1);
	s.base = ARENA_ARRAY(&r->a, size_t, total + 1);
	for (int i = 0; i < n && s.base; i++) {
		for (int k = 0; k < c[i].passage_count; k++) {
			s.base[s.count] = text.len;
			s.p[s.count++] = &c[i].passages[k];
		}
		buf_add(&text, c[i].text, c[i].len);
	}
	if (!(rc = buf_check(&text, err))) {
		s.text = buf_str(&text);
		add_stored(r, &s);
		rc = r->a.failed ? fail_nomem(err) : 0;
	}
	buf_release(&text);
	return rc;
}

static int load_part(struct talk_run *r, struct remem_err *err)
{
	struct store *s = r->t->y->s;
	struct store_file f;
	struct store_chunk *c;
	const char *path;
	int64_t *ids;
	bool found;
	int n, rc;

	r->loaded = true;
	if (!r->bytes)
		return 0;
	path = talk_part_name(&r->a, r->name, r->part);
	if (!path)
		return fail_nomem(err);
	rc = s->ops->file_find(s, &r->a, path, &f, &found, err);
	if (rc || !found || f.skipped)
		return rc;
	if ((rc = s->ops->file_chunks(s, &r->a, f.id, &ids, &n, err)))
		return rc;
	c = ARENA_ARRAY(&r->a, struct store_chunk, (size_t)n + 1);
	if (!c)
		return fail_nomem(err);
	if ((rc = s->ops->chunks_get(s, &r->a, 0, ids, n, c, err)))
		return rc;
	return gather(r, c, n, err);
}

static void fill_part(struct store_file *f, struct talk_run *r)
{
	const struct transcript_info *i = transcript_info(r->in);

	memset(f, 0, sizeof(*f));
	f->path = talk_part_name(&r->a, r->name, r->part);
	f->source = STORE_SESSIONS;
	/* Not its size and times: a part that is full does not change. */
	f->dev = i->dev;
	f->inode = i->inode;
	f->size = (int64_t)r->bytes;
	f->date = r->day;
	if (i->bad_lines)
		f->reason = arena_printf(&r->a, "%" PRId64 " lines are left "
					 "out, the first is line %" PRId64
					 ": %s", i->bad_lines, i->bad_line,
					 i->bad_reason);
}

/* Puts the open part into the store as it is now. */
static int put_part(struct talk_run *r, struct remem_err *err)
{
	struct talks *t = r->t;
	struct store *s = t->y->s;
	struct store_file f;
	struct note n;
	int rc;

	if (!r->dirty)
		return 0;
	if ((rc = talk_cut(&n, &r->a, r->m, r->count, &t->y->o->note, err)))
		return rc;
	if (t->count) {
		r->dirty = false;
		return t->count(t->ctx, &n, err);
	}
	fill_part(&f, r);
	sha256_of(f.hash, n.text, n.len);
	if (r->a.failed)
		return fail_nomem(err);
	if ((rc = writes_begin(&t->batch, err)) ||
	    (rc = s->ops->file_put(s, &f, &n, err)))
		return rc;
	t->y->writes++;
	t->batch.bytes += n.len;
	r->dirty = false;
	return 0;
}

static void next_part(struct talk_run *r)
{
	arena_reset(&r->a);
	r->m = NULL;
	r->count = r->cap = 0;
	r->bytes = 0;
	r->part++;
	r->loaded = true;
}

/* ---- reading ---------------------------------------------------------- */

static const char *who_of(const struct transcript_message *m)
{
	if (m->kind == TRANSCRIPT_THINKING)
		return "Thinking";
	if (m->kind == TRANSCRIPT_COMPACTION)
		return "Summary";
	switch (m->role) {
	case TRANSCRIPT_USER:
		return "User";
	case TRANSCRIPT_ASSISTANT:
		return m->kind == TRANSCRIPT_CALL ? "Tool" : "Assistant";
	case TRANSCRIPT_TOOL:
		return "Tool";
	case TRANSCRIPT_SYSTEM:
		break;
	}
	return "System";
}

/* What an assistant says after foreign text is trusted no more than that. */
static const char *origin_of(const struct transcript_message *m)
{
	if (m->tainted && m->role == TRANSCRIPT_ASSISTANT)
		return transcript_origin_name(TRANSCRIPT_UNTRUSTED);
	return transcript_origin_name(m->origin);
}

static int32_t day_of(const struct talk_run *r,
		      const struct transcript_message *m)
{
	if (m->time_ms)
		return clock_local_day(m->time_ms);
	if (r->day != DATE_NONE)
		return r->day;
	return clock_local_day(transcript_info(r->in)->mtime_ns / 1000000);
}

static int take(struct talk_run *r, const struct transcript_message *m,
		struct remem_err *err)
{
	int32_t day = day_of(r, m);
	int rc;

	if (m->recalled)
		return 0;
	if (r->bytes && (day != r->day || r->bytes >= PART_BYTES)) {
		if ((rc = put_part(r, err)))
			return rc;
		next_part(r);
	}
	if (!r->loaded && (rc = load_part(r, err)))
		return rc;
	r->day = day;
	buf_reset(&r->text);
	r->t->masked += (int64_t)secret_mask(&r->text, m->text, m->len,
					     r->t->o->personal ?
					     SECRET_PERSONAL : 0);
	if ((rc = buf_check(&r->text, err)))
		return rc;
	add_message(r, who_of(m), buf_str(&r->text), r->text.len, (int)m->line,
		    origin_of(m));
	r->bytes += r->text.len;
	r->dirty = true;
	return r->a.failed ? fail_nomem(err) : 0;
}

static int read_all(struct talk_run *r, struct remem_err *err)
{
	const struct transcript_message *m;
	struct talks *t = r->t;
	int rc;

	for (;;) {
		if (t->batch.bytes >= BATCH_BYTES && transcript_rests(r->in)) {
			if ((rc = put_part(r, err)) ||
			    (rc = write_state(r, err)) ||
			    (rc = writes_commit(&t->batch, err)))
				return rc;
			if (progress_step(&t->y->progress, 0))
				return fail(err, REMEM_ECANCELLED,
					    "stopped on request");
		}
		if ((rc = transcript_next(r->in, &m, err)))
			return rc;
		if (!m)
			break;
		if ((rc = take(r, m, err)))
			return rc;
	}
	if ((rc = put_part(r, err)))
		return rc;
	return write_state(r, err);
}

static void count_talk(struct talk_run *r, bool had)
{
	const struct transcript_info *i = transcript_info(r->in);
	struct sync *y = r->t->y;

	if (had)
		y->r->changed++;
	else
		y->r->added++;
	if (i->bad_lines)
		sync_skip(y, r->name, arena_printf(
			&y->round, "%" PRId64 " lines are left out, the first "
			"is line %" PRId64 ": %s", i->bad_lines, i->bad_line,
			i->bad_reason));
}

/* Listed with its reason. What the index has of it stays. */
static int list_bad(struct talks *t, const struct session_file *f,
		    const char *name, const char *reason,
		    struct remem_err *err)
{
	struct store_file row = { .path = name, .source = STORE_SESSIONS,
				  .skipped = true, .reason = reason,
				  .dev = f->dev, .inode = f->inode,
				  .size = f->size, .date = DATE_NONE };
	size_t i = first_row(t, name);
	int rc;

	sync_skip(t->y, name, reason);
	if (t->count || (is_of(t, i, name) && !t->rows[i].skipped))
		return 0;
	if ((rc = writes_begin(&t->batch, err)))
		return rc;
	t->y->writes++;
	return t->y->s->ops->file_put(t->y->s, &row, NULL, err);
}

static int cannot_open(struct talks *t, const struct session_file *f,
		       const char *name, const char *stamp, int why,
		       const char *message, struct remem_err *err)
{
	int rc;

	if (why == REMEM_ENOMEM)
		return fail_nomem(err);
	if (why == REMEM_ENOTFOUND)
		return 0; /* the next round sees that it is gone */
	if ((rc = list_bad(t, f, name, message, err)))
		return rc;
	/* What it is will not change before its bytes do. */
	if (why == REMEM_EFORMAT || why == REMEM_EVERSION)
		return write_stamp(t, name, stamp, err);
	t->failures++;
	return 0;
}

static int read_talk(struct talk_run *r, const struct state *st,
		     struct remem_err *err)
{
	const struct transcript_info *i = transcript_info(r->in);
	struct talks *t = r->t;
	bool had = is_of(t, first_row(t, r->name), r->name);
	int rc;

	if (!session_in_scope(t->o, r->file, i)) {
		if ((rc = remove_after(t, r->name, 0, err)))
			return rc;
		return write_stamp(t, r->name, r->stamp, err);
	}
	r->part = 1;
	r->day = DATE_NONE;
	if (st->valid && !i->rewritten) {
		r->part = st->part;
		r->day = st->day;
		r->bytes = st->bytes;
	}
	r->loaded = !r->bytes;
	if ((rc = read_all(r, err)))
		return rc;
	count_talk(r, had);
	return remove_after(t, r->name, r->bytes ? r->part : r->part - 1, err);
}

/* One talk: a file, or a session of a store. */
static int sync_talk(struct talks *t, const struct session_file *f,
		     const char *name, const char *session, const char *stamp,
		     struct remem_err *err)
{
	struct talk_run r = { .t = t, .name = name, .file = f, .stamp = stamp,
			      .text = BUF_INIT(0) };
	struct transcript_opts o = { .format = f->format, .session = session,
				     .want = t->o->want };
	struct remem_err why = { 0 };
	struct store *s = t->y->s;
	const char *key = state_key(&t->one, name);
	struct state st;
	int rc;

	see(t, name);
	if (!key)
		return fail_nomem(err);
	read_state(&st, &t->one, t->anew ? NULL :
		   s->ops->meta_get(s, &t->one, key));
	if (t->one.failed)
		return fail_nomem(err);
	if (!strcmp(st.stamp, stamp)) {
		t->y->r->unchanged += st.valid && t->y->rounds == 1;
		return 0;
	}
	if (!same_wants(st.stamp, stamp))
		st.valid = false;
	if (st.valid)
		o.from = &st.mark;
	rc = transcript_open(&r.in, f->path, &o, &why);
	if (rc)
		return cannot_open(t, f, name, stamp, rc, why.message, err);
	rc = read_talk(&r, &st, err);
	transcript_close(r.in);
	buf_release(&r.text);
	arena_release(&r.a);
	t->batch.items++;
	return rc;
}

static int sync_store(struct talks *t, const struct session_file *f,
		      struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct arena a = ARENA_INIT;
	struct transcript_talk *talks;
	size_t count;
	int rc = transcript_talks(&talks, &count, &a, f->path, f->format, &why);

	if (rc) {
		/* Its talks stay as they are. */
		for (size_t i = 0; i < t->row_count; i++)
			if (!strncmp(t->rows[i].path, f->name,
				     strlen(f->name)) &&
			    t->rows[i].path[strlen(f->name)] == '/')
				t->rows[i].seen = true;
		see(t, f->name);
		rc = cannot_open(t, f, f->name, file_stamp(&t->one, t, f), rc,
				 why.message, err);
	}
	for (size_t i = 0; i < count && !rc; i++) {
		const char *name, *stamp;

		arena_reset(&t->one);
		name = arena_printf(&a, "%s/%s", f->name, talks[i].session);
		if (name)
			list_ids_add(&t->names, hash64(name, strlen(name), 0),
				     1, 1);
		if (talks[i].skip)
			continue; /* not to be known: what we had goes */
		stamp = arena_printf(&a, "%s:%s", t->wants, talks[i].stamp);
		if (!name || !stamp)
			rc = fail_nomem(err);
		else
			rc = sync_talk(t, f, name, talks[i].session, stamp,
				       err);
	}
	arena_release(&a);
	return rc;
}

static int sync_file(struct talks *t, const struct session_file *f,
		     struct remem_err *err)
{
	const char *stamp;

	arena_reset(&t->one);
	if (f->skip) {
		see(t, f->name);
		sync_skip(t->y, f->name, f->skip);
		return 0;
	}
	if (f->store)
		return sync_store(t, f, err);
	stamp = file_stamp(&t->one, t, f);
	if (!stamp)
		return fail_nomem(err);
	/* The one in a store is the newer form of the same talk. */
	if (list_ids_add(&t->names, hash64(f->name, strlen(f->name), 0), 1,
			 1) != LIST_NEW)
		return 0;
	return sync_talk(t, f, f->name, NULL, stamp, err);
}

/* ---- all of them ------------------------------------------------------ */

static int remove_gone(struct talks *t, const struct session_list *l,
		       struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->row_count && !rc; i++) {
		struct row *r = &t->rows[i];
		const char *key;

		if (r->seen)
			continue;
		if (l && session_is_kept(l, r->path)) {
			t->y->r->kept++;
			continue;
		}
		rc = remove_row(t, r, err);
		key = arena_printf(&t->one, KEY_PREFIX "%.*s",
				   (int)r->name_len, r->path);
		if (!rc)
			rc = key ? meta_put(t, key, NULL, err) :
				   fail_nomem(err);
	}
	return rc;
}

static int sync_files(struct talks *t, const struct session_list *l,
		      struct remem_err *err)
{
	struct progress *p = &t->y->progress;
	int rc = 0;

	progress_phase(p, "sessions", (int64_t)l->count);
	for (size_t k = 0; k < 2 * l->count && !rc; k++) {
		const struct session_file *f = &l->files[k % l->count];

		if (f->store != (k < l->count))
			continue;
		rc = sync_file(t, f, err);
		if (!rc && (t->batch.items >= BATCH_TALKS ||
			    t->batch.bytes >= BATCH_BYTES))
			rc = writes_commit(&t->batch, err);
		if (!rc && progress_step(p, 1))
			rc = fail(err, REMEM_ECANCELLED, "stopped on request");
	}
	return rc;
}

static int keep_digest(struct talks *t, const char *digest,
		       struct remem_err *err)
{
	const char *key = t->failures ? NULL : digest;
	int rc = meta_put(t, DIGEST_KEY, key, err);

	return rc ? rc : writes_commit(&t->batch, err);
}

static void digest_text(char out[TALKS_DIGEST],
			const struct session_list *l,
			const struct session_opts *o)
{
	unsigned char sum[SHA256_BYTES];

	sessions_digest(sum, l, o);
	hex_encode(out, sum, SHA256_BYTES);
}

/* Whether the store has what the list says; off: and nothing else. */
static bool is_settled(struct arena *a, struct store *s, const char *digest)
{
	const char *kept = s ? s->ops->meta_get(s, a, DIGEST_KEY) : NULL;

	return digest ? kept && !strcmp(kept, digest) : !kept;
}

bool talks_look(char digest[TALKS_DIGEST], struct arena *a,
		const struct session_opts *o)
{
	struct session_list l;

	digest[0] = '\0';
	if (!o)
		return true;
	if (sessions_find(&l, a, o, NULL))
		return false;
	digest_text(digest, &l, o);
	return true;
}

const char *talks_kept(struct arena *a, struct store *s)
{
	const char *kept = s->ops->meta_get(s, a, DIGEST_KEY);

	return kept ? kept : "";
}

bool talks_settled(struct arena *a, struct store *s,
		   const struct session_opts *o)
{
	char digest[TALKS_DIGEST];

	return talks_look(digest, a, o) &&
	       is_settled(a, s, digest[0] ? digest : NULL);
}

int sync_talks(struct sync *y, struct remem_err *err)
{
	struct talks t = { .y = y, .o = y->o->source->sessions,
			   .batch = { .s = y->s } };
	char digest[2 * SHA256_BYTES + 1];
	struct session_list l = { 0 };
	int rc = 0;

	if (t.o && (rc = sessions_find(&l, &y->round, t.o, err)))
		return rc;
	if (t.o) {
		digest_text(digest, &l, t.o);
		make_wants(&t);
	}
	if (is_settled(&y->round, y->s, t.o ? digest : NULL))
		return 0;
	if ((rc = load_rows(&t, err)))
		return rc;
	if (t.o)
		rc = sync_files(&t, &l, err);
	if (!rc)
		rc = remove_gone(&t, t.o ? &l : NULL, err);
	if (!rc)
		rc = keep_digest(&t, t.o ? digest : NULL, err);
	rc = writes_end(&t.batch, rc, err);
	y->failures += t.failures;
	y->r->masked += t.masked;
	list_ids_release(&t.names);
	arena_release(&t.one);
	return rc;
}

int sync_talks_dry(struct sync *y, bool anew,
		   int (*count)(void *ctx, const struct note *n,
				struct remem_err *err), void *ctx,
		   struct remem_err *err)
{
	struct talks t = { .y = y, .o = y->o->source->sessions, .count = count,
			   .ctx = ctx, .anew = anew || !y->s };
	struct session_list l = { 0 };
	int rc;

	if (!t.o)
		return 0;
	make_wants(&t);
	if ((rc = sessions_find(&l, &y->round, t.o, err)) ||
	    (!t.anew && (rc = load_rows(&t, err))) ||
	    (rc = sync_files(&t, &l, err)) ||
	    (rc = remove_gone(&t, &l, err)))
		goto out;
	y->failures += t.failures;
out:
	list_ids_release(&t.names);
	arena_release(&t.one);
	return rc;
}
