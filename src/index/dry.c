/*
 * The dry run: reads and cuts what a run would, looks up which inputs have
 * vectors, and counts the rest. Writes nothing. Headings are taken to say
 * something wherever their words do, so the figure is, if anything, too high.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "index/media.h"

#define LOOK_UP 512 /* keys at once */

struct key_set { /* keys seen before: equal inputs share a vector */
	unsigned char (*slots)[SHA256_BYTES];
	bool *used;
	size_t count, cap;
};

struct dry_run {
	struct sync *y;
	const struct embed_info *info; /* NULL: no embedder */
	int fp;
	struct arena file;
	struct buf bytes;
	struct key_set seen;
	unsigned char keys[2 * LOOK_UP][SHA256_BYTES]; /* both inputs' */
	int64_t tokens[LOOK_UP];
	int key_count;
	bool *touched; /* by row: its pending passages are counted anew */
};

static size_t key_slot(const struct key_set *k,
		       const unsigned char key[SHA256_BYTES])
{
	uint64_t h;
	size_t i;

	memcpy(&h, key, sizeof(h));
	for (i = (size_t)h & (k->cap - 1); k->used[i];
	     i = (i + 1) & (k->cap - 1))
		if (!memcmp(k->slots[i], key, SHA256_BYTES))
			break;
	return i;
}

static bool keys_grow(struct key_set *k)
{
	struct key_set n = { NULL, NULL, k->count, k->cap ? k->cap * 2 : 1024 };

	n.slots = mem_array(n.cap, SHA256_BYTES);
	n.used = mem_zarray(n.cap, sizeof(*n.used));
	if (!n.slots || !n.used) {
		mem_free(n.slots);
		mem_free(n.used);
		return false;
	}
	for (size_t i = 0; i < k->cap; i++) {
		size_t to;

		if (!k->used[i])
			continue;
		to = key_slot(&n, k->slots[i]);
		memcpy(n.slots[to], k->slots[i], SHA256_BYTES);
		n.used[to] = true;
	}
	mem_free(k->slots);
	mem_free(k->used);
	*k = n;
	return true;
}

/* 1: new, 0: seen, or a negative code. */
static int keys_add(struct key_set *k, const unsigned char key[SHA256_BYTES])
{
	size_t i;

	if (k->count * 2 >= k->cap && !keys_grow(k))
		return REMEM_ENOMEM;
	i = key_slot(k, key);
	if (k->used[i])
		return 0;
	memcpy(k->slots[i], key, SHA256_BYTES);
	k->used[i] = true;
	k->count++;
	return 1;
}

static int look_up(struct dry_run *d, struct remem_err *err)
{
	struct index_report *r = d->y->r;
	struct store *s = d->y->s;
	bool have[2 * LOOK_UP] = { false };
	int rc = 0;

	if (s && d->fp)
		rc = s->ops->vectors_have(s, d->fp,
				(const unsigned char (*)[SHA256_BYTES])d->keys,
				2 * d->key_count, have, err);
	for (int i = 0; i < d->key_count && !rc; i++) {
		if (have[2 * i] || have[2 * i + 1]) {
			r->vectors_cached++;
		} else {
			r->vectors_pending++;
			r->tokens += d->tokens[i];
		}
	}
	d->key_count = 0;
	return rc;
}

/* Counts one passage that would have no vector yet. */
static int count_passage(struct dry_run *d, const struct store_passage *p,
			 const char *text, struct remem_err *err)
{
	unsigned char *key = d->keys[2 * d->key_count];
	const char *input, *bare;
	size_t len, bare_len;
	int rc;

	if (!d->info)
		return 0;
	input = index_input(&d->file, p, text, INT64_MAX, &len);
	bare = sync_input(&d->file, p, text, false, &bare_len);
	if (!input || !bare)
		return fail_nomem(err);
	index_key(key, d->info->fingerprint, d->info->document_prefix, input,
		  len);
	index_key(key + SHA256_BYTES, d->info->fingerprint,
		  d->info->document_prefix, bare, bare_len);
	rc = keys_add(&d->seen, key);
	if (rc < 0)
		return fail_nomem(err);
	if (!rc)
		return 0;
	d->tokens[d->key_count++] = d->y->embed->tokens(d->y->o->embedder,
							input, len) +
				    media_tokens(input, len);
	return d->key_count < LOOK_UP ? 0 : look_up(d, err);
}

static int count_note(struct dry_run *d, const struct note *n,
		      struct remem_err *err)
{
	int rc = 0;

	d->y->r->chunks += n->chunk_count;
	d->y->r->passages += n->passage_count;
	for (int i = 0; i < n->passage_count && !rc; i++) {
		const struct passage *p = &n->passages[i];
		struct store_passage sp = { .kind = p->kind };

		sp.len = (uint32_t)(p->end - p->start);
		if (p->heading >= 0)
			sp.heading = arena_strndup(&d->file,
					n->headings[p->heading].text,
					n->headings[p->heading].len);
		rc = count_passage(d, &sp, n->text + p->start, err);
	}
	return rc;
}

static int count_file(struct dry_run *d, const struct plan_item *it,
		      struct remem_err *err)
{
	struct note_opts no = d->y->o->note;
	struct index_report *r = d->y->r;
	struct remem_err why = { 0 };
	const char *refused = NULL;
	struct note n;
	int rc;

	buf_reset(&d->bytes);
	arena_reset(&d->file);
	rc = source_read(&d->bytes, &d->y->list, it->file,
			 d->y->o->source->follow_links, &why);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc) {
		if (rc != REMEM_ENOTFOUND)
			sync_skip(d->y, it->file->path, why.message);
		return 0;
	}
	if (it->row && !it->row->skipped) {
		unsigned char hash[SHA256_BYTES];

		if (it->file->media)
			media_hash(hash, it->file, buf_str(&d->bytes),
				   d->bytes.len);
		else
			sha256_of(hash, buf_str(&d->bytes), d->bytes.len);
		if (!memcmp(hash, it->row->hash, sizeof(hash))) {
			r->unchanged++;
			return 0;
		}
		d->touched[it->row - d->y->plan.rows] = true;
		r->changed++;
	} else {
		r->added++;
	}
	no.curated = it->file->curated;
	if (!it->file->media) {
		rc = note_parse(&n, &d->file, buf_str(&d->bytes), d->bytes.len,
				&no, err);
		return rc ? rc : count_note(d, &n, err);
	}
	rc = media_note(&n, &d->file, d->y->o->source, it->file,
			buf_str(&d->bytes), d->bytes.len, &refused, err);
	if (refused)
		sync_skip(d->y, it->file->path, refused);
	return rc || refused ? rc : count_note(d, &n, err);
}

static bool is_touched(const struct dry_run *d, int64_t file)
{
	const struct plan *p = &d->y->plan;

	if (!d->touched) /* text is in step */
		return false;
	for (size_t i = 0; i < p->row_count; i++)
		if (p->rows[i].id == file)
			return d->touched[i];
	return false;
}

/* Passages of unchanged files that wait for their vectors. */
static int count_waiting(struct dry_run *d, struct remem_err *err)
{
	struct store *s = d->y->s;
	struct arena a = ARENA_INIT;
	struct store_passage *p;
	const char **texts;
	bool anew = false;
	int64_t want;
	int n, rc;

	rc = s->ops->pending_count(s, d->fp, &want, err);
	if (rc || !want)
		return rc;
	rc = s->ops->pending(s, &a, d->fp, want < INT32_MAX ? (int)want :
			     INT32_MAX, &p, &texts, &n, err);
	for (int i = 0; i < n && !rc; i++) {
		arena_reset(&d->file);
		if (!i || p[i].file != p[i - 1].file)
			anew = is_touched(d, p[i].file);
		if (!anew)
			rc = count_passage(d, &p[i], texts[i], err);
	}
	arena_release(&a);
	return rc;
}

static int count_part(void *ctx, const struct note *n, struct remem_err *err)
{
	struct dry_run *d = ctx;

	arena_reset(&d->file);
	return count_note(d, n, err);
}

static int run(struct dry_run *d, struct remem_err *err)
{
	struct plan *p = &d->y->plan;
	struct store *s = d->y->s;
	int dims, rc = 0;

	d->touched = ARENA_ARRAY(&d->y->round, bool, p->row_count + 1);
	if (!d->touched)
		return fail_nomem(err);
	if (s && d->info && d->info->fingerprint[0] &&
	    (rc = s->ops->fingerprint_find(s, d->info->fingerprint, &d->fp,
					   &dims, err)))
		return rc;
	for (size_t i = 0; i < p->item_count && !rc; i++)
		if (p->items[i].act == PLAN_READ)
			rc = count_file(d, &p->items[i], err);
	if (!rc && !d->y->paths)
		rc = sync_talks_dry(d->y, d->y->r->forced, count_part, d, err);
	if (!rc && s && d->info)
		rc = count_waiting(d, err);
	return rc || !d->info ? rc : look_up(d, err);
}

static void price(struct sync *y)
{
	struct embedder *e = y->o->embedder;
	double million = e ? y->embed->price(e) : 0;

	y->r->price_usd = million < 0 ? -1 :
			  million * (double)y->r->tokens / 1e6;
}

static struct dry_run *dry_new(struct sync *y)
{
	struct embedder *e = y->o->embedder;
	struct dry_run *d = mem_zalloc(sizeof(*d));

	if (!d)
		return NULL;
	d->y = y;
	d->info = e && !y->embed->off(e) ? y->embed->info(e) : NULL;
	buf_init(&d->bytes, 0);
	return d;
}

static void dry_free(struct dry_run *d)
{
	buf_release(&d->bytes);
	arena_release(&d->file);
	mem_free(d->seen.slots);
	mem_free(d->seen.used);
	mem_free(d);
}

int sync_price(struct sync *y, int fp, struct remem_err *err)
{
	struct index_report *r = y->r;
	int64_t cached = r->vectors_cached, pending = r->vectors_pending;
	struct dry_run *d = dry_new(y);
	int rc;

	if (!d)
		return fail_nomem(err);
	d->fp = fp;
	r->tokens = 0;
	rc = count_waiting(d, err);
	if (!rc)
		rc = look_up(d, err);
	price(y);
	r->vectors_cached = cached;
	r->vectors_pending = pending;
	dry_free(d);
	return rc;
}

int sync_dry(struct sync *y, struct remem_err *err)
{
	struct dry_run *d = dry_new(y);
	int rc;

	if (!d)
		return fail_nomem(err);
	rc = run(d, err);
	for (size_t i = 0; i < y->plan.gone_count; i++)
		y->r->removed += !y->plan.gone[i]->skipped;
	price(y);
	dry_free(d);
	return rc;
}
