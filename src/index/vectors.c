/*
 * The vectors phase. Passages without a vector come from the store in
 * portions, newest first. Those whose input was embedded before are linked;
 * the others go to the embedder, which packs requests over the whole portion.
 * Each answered request is one transaction: what was paid for is kept. Equal
 * inputs share one vector.
 *
 * Both inputs are looked up, with the heading and without: whether a heading
 * is common may have changed since, and that alone embeds nothing again.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "index/jobs.h"
#include "index/media.h"
#include "index/vectors.h"
#include "source/secret.h"

#define PORTION 8192 /* passages; large, so that few requests go half empty */
#define LINK_BATCH 2048 /* links in one transaction */

/* ---- grouping --------------------------------------------------------- */

struct choice { /* of one passage */
	unsigned char key[SHA256_BYTES];
	const char *input;
	size_t len;
	int passage;
	bool have;
};

static int by_key(const void *x, const void *y)
{
	const struct choice *a = x, *b = y;
	int c = memcmp(a->key, b->key, SHA256_BYTES);

	return c ? c : a->passage - b->passage;
}

static int by_newest(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	return a->newest - b->newest;
}

/* Both inputs of each passage: keys[2i] the one to be embedded now, and
 * keys[2i + 1] the other (the same where there is no other). */
static int choose(struct vector_run *v, struct choice *c,
		  unsigned char (*keys)[SHA256_BYTES], struct remem_err *err)
{
	struct portion *p = &v->p;
	struct store *s = v->y->s;
	bool *have = ARENA_ARRAY(&p->a, bool, (size_t)p->count * 2);
	int rc;

	for (int i = 0; i < p->count && !p->a.failed; i++) {
		const struct store_passage *sp = &p->passages[i];
		bool with = sync_heading_counts(sp, v->files);
		/* heading_files 0 asks about the words alone. */
		struct store_passage rare = *sp;
		const char *other;
		size_t len;

		rare.heading_files = 0;
		c[i].passage = i;
		c[i].input = sync_input(&p->a, sp, p->texts[i], with,
					&c[i].len);
		if (!c[i].input)
			break;
		index_key(keys[2 * i], v->info->fingerprint,
			  v->info->document_prefix, c[i].input, c[i].len);
		memcpy(keys[2 * i + 1], keys[2 * i], SHA256_BYTES);
		if (!sync_heading_counts(&rare, v->files))
			continue;
		other = sync_input(&p->a, sp, p->texts[i], !with, &len);
		if (other)
			index_key(keys[2 * i + 1], v->info->fingerprint,
				  v->info->document_prefix, other, len);
	}
	if (p->a.failed)
		return fail_nomem(err);
	rc = s->ops->vectors_have(s, v->fp,
				  (const unsigned char (*)[SHA256_BYTES])keys,
				  p->count * 2, have, err);
	for (int i = 0; i < p->count && !rc; i++) {
		int k = 2 * i + (!have[2 * i] && have[2 * i + 1]);

		memcpy(c[i].key, keys[k], SHA256_BYTES);
		c[i].have = have[k];
	}
	return rc;
}

static int make_groups(struct vector_run *v, struct remem_err *err)
{
	struct portion *p = &v->p;
	size_t n = (size_t)p->count;
	struct choice *c = ARENA_ARRAY(&p->a, struct choice, n);
	unsigned char (*keys)[SHA256_BYTES] =
		arena_array(&p->a, n * 2, SHA256_BYTES);
	int rc;

	p->groups = ARENA_ARRAY(&p->a, struct group, n);
	p->members = ARENA_ARRAY(&p->a, int64_t, n);
	p->group_count = 0;
	if (p->a.failed)
		return fail_nomem(err);
	if ((rc = choose(v, c, keys, err)))
		return rc;
	qsort(c, n, sizeof(*c), by_key);
	for (int i = 0; i < p->count; i++) {
		struct group *g = &p->groups[p->group_count];

		p->members[i] = p->passages[c[i].passage].id;
		if (i && !memcmp(c[i].key, g[-1].key, SHA256_BYTES)) {
			g[-1].count++;
			continue;
		}
		memcpy(g->key, c[i].key, SHA256_BYTES);
		g->input = c[i].input;
		g->len = c[i].len;
		g->have = c[i].have;
		g->busy = !g->have && jobs_hold(v->jobs, g->key);
		g->script = p->passages[c[i].passage].script;
		g->newest = c[i].passage;
		g->first = i;
		g->count = 1;
		p->group_count++;
	}
	qsort(p->groups, (size_t)p->group_count, sizeof(*p->groups),
	      by_newest);
	for (int i = 0; i < p->group_count && !rc; i++)
		rc = media_find(v->y->s, &p->a,
				&p->passages[p->groups[i].newest],
				p->texts[p->groups[i].newest],
				&p->groups[i].media, err);
	return rc;
}

/* ---- storing ---------------------------------------------------------- */

int vectors_store(struct vector_run *v, const struct store_vec_item *items,
		  int n, struct remem_err *err)
{
	struct store *s = v->y->s;
	int rc;

	file_fault_step();
	if ((rc = s->ops->begin(s, err)))
		return rc;
	rc = s->ops->vectors_put(s, v->fp, items, n, err);
	file_fault_step();
	if (rc)
		s->ops->rollback(s);
	else
		rc = s->ops->commit(s, err);
	for (int i = 0; i < n && !rc; i++)
		v->moved += items[i].passage_count;
	v->y->writes++;
	return rc;
}

static void fill_item(struct store_vec_item *it, const struct portion *p,
		      const struct group *g, const float *vec)
{
	it->passages = p->members + g->first;
	it->passage_count = g->count;
	memcpy(it->key, g->key, SHA256_BYTES);
	it->script = g->script;
	it->vec = vec;
}

int vectors_link(struct vector_run *v, struct remem_err *err)
{
	struct portion *p = &v->p;
	struct store_vec_item *items =
		ARENA_ARRAY(&p->a, struct store_vec_item, LINK_BATCH);
	int n = 0, rc = 0;

	if (!items)
		return fail_nomem(err);
	for (int i = 0; i < p->group_count && !rc; i++) {
		if (!p->groups[i].have)
			continue;
		fill_item(&items[n++], p, &p->groups[i], NULL);
		v->y->r->vectors_cached += p->groups[i].count;
		if (n < LINK_BATCH)
			continue;
		rc = vectors_store(v, items, n, err);
		n = 0;
	}
	return rc || !n ? rc : vectors_store(v, items, n, err);
}

bool vectors_stop(void *ctx)
{
	struct vector_run *v = ctx;

	if (v->y->progress.stop)
		v->stopped = true;
	if (v->deadline_ns && clock_mono_ns() >= v->deadline_ns)
		v->out_of_time = true;
	return v->stopped || v->out_of_time;
}

static int on_done(void *ctx, const struct embed_item *const *items,
		   const float *vecs, size_t n, int dims)
{
	struct vector_run *v = ctx;
	struct arena a = ARENA_INIT;
	struct store_vec_item *out = ARENA_ARRAY(&a, struct store_vec_item, n);
	int64_t passages = 0;

	if (!out) {
		v->rc = fail_nomem(&v->err);
		goto out;
	}
	if (dims != v->dims) {
		v->rc = fail(&v->err, REMEM_EBUG, "vectors of %d dimensions "
			     "for a set of %d", dims, v->dims);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		const struct group *g = &v->p.groups[items[i]->tag];

		fill_item(&out[i], &v->p, g, vecs + i * (size_t)dims);
		passages += g->count;
	}
	v->rc = vectors_store(v, out, (int)n, &v->err);
	if (v->rc)
		goto out;
	v->y->r->vectors_done += passages;
	/* What the receiver says is asked for by vectors_stop(). */
	(void)progress_step(&v->y->progress, passages);
out:
	arena_release(&a);
	return v->rc ? 1 : 0;
}

static int refuse(struct vector_run *v, const struct group *g,
		  const char *reason, struct remem_err *err)
{
	struct store *s = v->y->s;
	int rc = s->ops->begin(s, err);

	if (rc)
		return rc;
	for (int i = 0; i < g->count && !rc; i++)
		rc = s->ops->vector_refused(s, v->fp,
					    v->p.members[g->first + i],
					    reason, err);
	if (rc)
		s->ops->rollback(s);
	else
		rc = s->ops->commit(s, err);
	if (rc)
		return rc;
	v->moved += g->count;
	v->y->writes++;
	v->y->r->vectors_refused += g->count;
	return 0;
}

static void on_refused(void *ctx, const struct embed_item *item,
		       const char *reason)
{
	struct vector_run *v = ctx;

	if (!v->rc)
		v->rc = refuse(v, &v->p.groups[item->tag], reason, &v->err);
	(void)progress_step(&v->y->progress,
			    v->p.groups[item->tag].count);
}

/* ---- embedding -------------------------------------------------------- */

void vectors_degrade(struct vector_run *v, const struct remem_err *why)
{
	struct index_report *r = v->y->r;

	r->degraded = why->action[0] ?
		arena_printf(v->y->a, "%s (%s)", why->message, why->action) :
		arena_strdup(v->y->a, why->message);
}

/* What leaves the machine goes without keys and tokens. The key is of the text
 * as it stands in the note: that of an unmasked text never changes. */
int vectors_text(struct embed_item *it, struct vector_run *v,
		 const struct group *g, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	it->text = g->input;
	it->len = g->len;
	if (!v->info->remote)
		return 0;
	if (secret_mask(&b, g->input, g->len, 0)) {
		it->len = b.len;
		it->text = arena_strndup(&v->p.a, buf_str(&b), b.len);
	}
	rc = b.failed || !it->text ? fail_nomem(err) : 0;
	buf_release(&b);
	return rc;
}

/* One at a time: each may have megabytes. A file that has changed waits for
 * the next look at the files. */
static int send_media(struct vector_run *v, size_t *sent,
		      struct remem_err *why)
{
	struct portion *p = &v->p;
	struct buf data = BUF_INIT(0);
	int rc = 0;

	for (int i = 0; i < p->group_count && !rc && !v->rc; i++) {
		const struct group *g = &p->groups[i];
		struct embed_item item = { .text = g->input, .len = g->len,
					   .tag = i };
		struct embed_media m;

		if (!g->media || g->have)
			continue;
		buf_reset(&data);
		if (!media_load(&m, &data, &p->a, v->y->o->source, g->media,
				g->input, g->len))
			continue;
		item.len = strcspn(g->input, "\n");
		item.media = &m;
		++*sent;
		rc = v->y->embed->documents(v->e, &item, 1, on_done,
					    on_refused, vectors_stop, v, why);
	}
	buf_release(&data);
	return rc;
}

/* 0 also when the provider failed: that is said in the report. */
static int embed_rest(struct vector_run *v, bool *more, struct remem_err *err)
{
	struct portion *p = &v->p;
	struct embed_item *items = ARENA_ARRAY(&p->a, struct embed_item,
					       (size_t)p->group_count);
	size_t sent = 0;
	struct remem_err why = { 0 };
	size_t n = 0;
	int rc;

	if (!items)
		return fail_nomem(err);
	for (int i = 0; i < p->group_count; i++) {
		if (p->groups[i].have || p->groups[i].busy ||
		    p->groups[i].media)
			continue;
		if ((rc = vectors_text(&items[n], v, &p->groups[i], err)))
			return rc;
		items[n++].tag = i;
	}
	rc = send_media(v, &sent, &why);
	*more = n || sent || v->moved;
	if (!n && !sent && !rc)
		return 0;
	if (n && !rc && !v->rc)
		rc = v->y->embed->documents(v->e, items, n, on_done,
					    on_refused, vectors_stop, v, &why);
	if (v->rc) {
		if (err)
			*err = v->err;
		return v->rc;
	}
	*more = rc == 0;
	if (!rc || v->out_of_time)
		return 0;
	if (v->stopped)
		return fail(err, REMEM_ECANCELLED, "stopped on request");
	if (rc == REMEM_ENOMEM) /* the words are there all the same */
		fail_nomem(&why);
	v->failed = rc != REMEM_ELIMIT && rc != REMEM_ENOMEM;
	vectors_degrade(v, &why);
	return 0;
}

int vectors_portion(struct vector_run *v, int max, struct remem_err *err)
{
	struct portion *p = &v->p;
	struct store *s = v->y->s;
	int rc;

	arena_reset(&p->a);
	p->group_count = 0;
	rc = s->ops->pending(s, &p->a, v->fp, max, &p->passages, &p->texts,
			     &p->count, err);
	return rc || !p->count ? rc : make_groups(v, err);
}

/* Whether there is anything to do in it. */
static bool all_busy(const struct portion *p)
{
	for (int i = 0; i < p->group_count; i++)
		if (!p->groups[i].busy)
			return false;
	return true;
}

/* Those that a job holds stay in the way of others: then look beyond them. */
static int take_portion(struct vector_run *v, struct remem_err *err)
{
	int max = PORTION, rc;

	while (!(rc = vectors_portion(v, max, err)) && v->p.count == max &&
	       all_busy(&v->p) && max < INT_MAX / 4)
		max *= 4;
	return rc;
}

static int one_portion(struct vector_run *v, bool only_link, bool *more,
		       struct remem_err *err)
{
	int rc;

	*more = false;
	v->moved = 0;
	if ((rc = take_portion(v, err)) || !v->p.count)
		return rc;
	if ((rc = vectors_link(v, err)))
		return rc;
	/* Linked ones make way for older ones, so another portion may link
	 * more; one that links nothing is the end of it. */
	*more = !only_link || v->moved;
	if (only_link)
		return 0;
	if ((rc = embed_rest(v, more, err)))
		return rc;
	if (*more && !v->moved) {
		*more = false;
		v->y->r->degraded = "the provider answered without vectors";
	}
	return 0;
}

static int find_set(struct vector_run *v, struct remem_err *err)
{
	struct store *s = v->y->s;
	const char *text;
	int fp, dims, rc;

	v->fp = v->dims = 0;
	v->active = "";
	if ((rc = s->ops->fingerprint_active(s, &fp, &dims, &text, err)))
		return rc;
	if (fp && !(v->active = arena_strdup(v->y->a, text)))
		return fail_nomem(err);
	return v->info->fingerprint && v->info->fingerprint[0] ?
	       s->ops->fingerprint_find(s, v->info->fingerprint, &v->fp,
					&v->dims, err) : 0;
}

/* ---- whether to begin ------------------------------------------------- */

/* Other vectors answer than those that are to be made. */
static bool is_change(const struct vector_run *v)
{
	return v->active[0] && strcmp(v->active, v->info->fingerprint) != 0;
}

static int no_vectors(void *ctx, const struct embed_item *const *items,
		      const float *vecs, size_t n, int dims)
{
	(void)ctx, (void)items, (void)vecs, (void)n, (void)dims;
	return 0;
}

/* A tiny text: nothing is unlinked and linked for a provider that is down. */
static bool answers(struct vector_run *v)
{
	const struct embed_item probe = { .text = "probe", .len = 5 };
	struct remem_err why = { 0 };
	int rc = v->y->embed->documents(v->e, &probe, 1, no_vectors, NULL,
					vectors_stop, v, &why);

	if (!rc || v->stopped || v->out_of_time)
		return !rc;
	v->failed = rc != REMEM_ELIMIT;
	vectors_degrade(v, &why);
	return false;
}

static bool is_cooling(struct vector_run *v)
{
	const struct index_embed_ops *ops = v->y->embed;
	struct remem_err why = { 0 };
	struct embed_health h;

	if (!ops->cooling || !ops->cooling(v->e, &h))
		return false;
	fail(&why, h.code, "%s", h.message);
	fail_action(&why, "%s", h.action);
	v->failed = true;
	vectors_degrade(v, &why);
	return true;
}

/* A change of the model is paid for by a person who has seen the price. */
static bool may_begin(struct vector_run *v)
{
	const struct index_opts *o = v->y->o;

	if (is_cooling(v))
		return false;
	if (!is_change(v))
		return true;
	if (!v->fp && v->info->remote && !v->spare && !o->by_hand) {
		v->y->r->degraded = arena_printf(
			v->y->a, "the model was changed to %s, which costs; "
			"vectors of the one before answer (run: remem index)",
			v->info->model ? v->info->model : v->info->provider);
		return false;
	}
	return !o->fallback || !v->info->remote || answers(v);
}

/*
 * The number of dimensions is the stored set's, else learned: the provider is
 * asked only if it must be. A model that answers another number under the same
 * name is refused; what is stored goes on answering.
 */
static int learn_dims(struct vector_run *v, struct remem_err *err)
{
	const struct index_embed_ops *e = v->y->embed;
	int64_t took;
	int rc = 0;

	if (v->dims)
		rc = e->expect(v->e, v->dims, err);
	else if (!v->info->dims)
		rc = e->probe(v->e, &took, err);
	v->info = e->info(v->e);
	v->dims = v->info->dims;
	return rc;
}

/* v->fp stays 0 where the provider does not say what it makes. */
static int make_set(struct vector_run *v, struct remem_err *err)
{
	struct store *s = v->y->s;
	struct remem_err why = { 0 };
	int rc;

	v->fp = 0;
	if (learn_dims(v, &why)) {
		v->failed = why.code != REMEM_ELIMIT;
		vectors_degrade(v, &why);
		return 0;
	}
	if ((rc = s->ops->begin(s, err)))
		return rc;
	rc = s->ops->fingerprint(s, v->info->fingerprint, v->dims, &v->fp,
				 err);
	if (rc) {
		s->ops->rollback(s);
		return rc;
	}
	v->y->writes++;
	return s->ops->commit(s, err);
}

static int count_pending(struct vector_run *v, int64_t *out,
			 struct remem_err *err)
{
	struct store *s = v->y->s;
	struct store_info info;
	int rc = s->ops->info(s, &info, err);

	if (rc)
		return rc;
	v->files = info.indexed;
	*out = info.passages;
	return v->fp ? s->ops->pending_count(s, v->fp, out, err) : 0;
}

static int embed_all(struct vector_run *v, bool only_link,
		     struct remem_err *err)
{
	bool more = true;
	int rc = 0;

	while (more && !rc && !vectors_stop(v))
		rc = one_portion(v, only_link, &more, err);
	if (!rc && v->stopped)
		rc = fail(err, REMEM_ECANCELLED, "stopped on request");
	return rc;
}

/* By jobs of a batch interface what is much, the rest at once. What jobs have
 * brought counts as made, though it is linked like what was there before. */
static int make_all(struct vector_run *v, bool only_link,
		    struct remem_err *err)
{
	int64_t *cached = &v->y->r->vectors_cached, before = *cached;
	bool rest = true;
	int rc = v->spare ? 0 : jobs_open(v, err);

	if (!rc && v->jobs && !only_link)
		rc = jobs_step(v->jobs, &rest, err);
	if (!rc)
		rc = embed_all(v, only_link || !rest, err);
	if (v->fetched > *cached - before)
		v->fetched = *cached - before;
	v->y->r->vectors_done += v->fetched;
	*cached -= v->fetched;
	jobs_close(v->jobs);
	v->jobs = NULL;
	return rc;
}

/* What waits, without writing; *work: there is something to be done. */
static int look(struct vector_run *v, bool *work, struct remem_err *err)
{
	struct sync *y = v->y;
	const char *off;
	int rc;

	*work = false;
	if (!v->e) /* nobody asked for vectors: none is waited for */
		return 0;
	v->info = y->embed->info(v->e);
	off = y->embed->off(v->e);
	if (off)
		y->r->degraded = arena_strdup(y->a, off);
	if ((rc = find_set(v, err)) ||
	    (rc = count_pending(v, &y->r->vectors_pending, err)))
		return rc;
	*work = !off && !y->o->text_only &&
		(y->r->vectors_pending || (!v->spare && jobs_wait(y)));
	return 0;
}

/* Before anything is sent: what is to be made anew, and its price. */
static int tell_change(struct vector_run *v, struct remem_err *err)
{
	struct index_report *r = v->y->r;
	const char *model = v->active + strcspn(v->active, "|");
	int rc = sync_price(v->y, v->fp, err);

	model += *model == '|';
	r->changed_from = arena_strndup(v->y->a, model, strcspn(model, "|"));
	if (rc || !r->changed_from)
		return rc ? rc : fail_nomem(err);
	if (!v->info->remote || !r->tokens)
		return 0;
	log_msg(LOG_WARN, "index", "the model was changed from %s to %s: about "
		"%lld tokens are embedded%s; the vectors there are answer "
		"until all are made", r->changed_from,
		v->info->model ? v->info->model : v->info->provider,
		(long long)r->tokens, r->price_usd < 0 ?
		", price unknown" : r->price_usd > 0 ?
		arena_printf(v->y->a, " for $%.4f by the list prices",
			     r->price_usd) : "");
	return 0;
}

int sync_vectors_look(struct sync *y, bool *work, struct remem_err *err)
{
	struct vector_run v = { .y = y, .e = y->o->embedder };

	return look(&v, work, err);
}

static int run_with(struct vector_run *v, bool only_link, struct remem_err *err)
{
	struct sync *y = v->y;
	int64_t *pending = &y->r->vectors_pending;
	bool work;
	int rc = look(v, &work, err);

	if (rc || !work)
		return rc;
	if (!only_link && !may_begin(v))
		return v->stopped ? fail(err, REMEM_ECANCELLED,
					 "stopped on request") : 0;
	if (!only_link && !v->spare && is_change(v) &&
	    (rc = tell_change(v, err)))
		return rc;
	/* Also when it is there: it may be one that was left for another. */
	if ((rc = make_set(v, err)) || !v->fp)
		return rc;
	arena_init(&v->p.a, 0);
	if (!only_link)
		progress_phase(&y->progress, "vectors", *pending);
	rc = make_all(v, only_link, err);
	arena_release(&v->p.a);
	if (!rc)
		rc = count_pending(v, pending, err);
	return rc;
}

/* The first one gave no answer, and its reason stands in the report. */
static int turn_to_fallback(struct sync *y, const struct vector_run *first,
			    struct remem_err *err)
{
	const struct index_opts *o = y->o;
	const char *reason = y->r->degraded;
	struct vector_run v = { .y = y, .spare = true,
				.deadline_ns = first->deadline_ns };
	int rc;

	if (!o->fallback || !first->failed || first->stopped ||
	    first->out_of_time || !(v.e = o->fallback(o->fallback_ctx,
						      o->by_hand)))
		return 0;
	y->r->degraded = NULL;
	if ((rc = run_with(&v, false, err)))
		return rc;
	y->r->degraded = arena_printf(
		y->a, "%s; %s: %s", reason, v.info ? v.info->provider : "",
		y->r->degraded ? y->r->degraded : "makes vectors instead");
	return y->a->failed ? fail_nomem(err) : 0;
}

int sync_vectors(struct sync *y, bool only_link, struct remem_err *err)
{
	struct vector_run v = { .y = y, .e = y->o->embedder };
	int rc;

	if (y->o->vector_budget_ms > 0)
		v.deadline_ns = clock_mono_ns() +
				(int64_t)y->o->vector_budget_ms * 1000000;
	rc = run_with(&v, only_link, err);
	return rc || only_link ? rc : turn_to_fallback(y, &v, err);
}
