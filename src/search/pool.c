/*
 * From the question to candidate passages. Two pools: the passages of the
 * best chunks by text, and the best passages by vector. For every chunk that
 * either names, all passages become candidates, so that both legs can be
 * computed in full for each and neighbours can lend.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "search/work.h"
#include "text/term.h"

#define NAME_MAX_BYTES 64
#define NAME_MAX_WORDS 4
#define FULL_COLON "\xEF\xBC\x9A" /* U+FF1A */
#define NAMED_FILES 20 /* more files with a matching name say nothing */
#define NAMED_CHUNKS 16 /* of a file that the question is addressed to */

/* A stop word in the pool's scores, and its share of the coverage: nearly
 * nothing, but it separates what is equal otherwise (terms.md: none .667,
 * .15 .664, .3 .657 on commands; none .917, .3 .949 on prose). */
#define STOP_WEIGHT 0.1f
#define STOP_SHARE 0.2f

int pool_terms(struct work *w, struct remem_err *err)
{
	const struct query *q = &w->q;
	int i;

	w->terms = ARENA_ARRAY(w->a, struct store_term, (size_t)q->term_count);
	w->group_idf = ARENA_ARRAY(w->a, float, (size_t)q->group_count);
	if (w->a->failed)
		return fail_nomem(err);
	for (i = 0; i < q->term_count; i++) {
		const struct query_term *t = &q->terms[i];

		w->terms[i].text = t->text;
		w->terms[i].prefix = t->prefix;
		w->terms[i].group = t->group;
		w->terms[i].weight =
			t->stop && !q->all_stop ? STOP_WEIGHT : 1.0f;
	}
	return 0;
}

/*
 * The weight of a group is the idf of its most frequent member: a word that
 * occurs nowhere as written but whose stem does is no missing word.
 */
static void weigh_groups(struct work *w)
{
	const struct query *q = &w->q;
	int i;

	w->total_idf = 0;
	for (i = 0; i < q->group_count; i++)
		w->group_idf[i] = -1;
	for (i = 0; i < q->term_count; i++) {
		const struct store_term *t = &w->terms[i];
		float *g = &w->group_idf[t->group];

		float x = t->weight < 1 ? STOP_SHARE * t->idf : t->idf;

		if (*g < 0 || x < *g)
			*g = x;
	}
	for (i = 0; i < q->group_count; i++) {
		if (w->group_idf[i] < 0)
			w->group_idf[i] = 0;
		w->total_idf += w->group_idf[i];
	}
}

static int cmp_id(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

static int sort_unique(int64_t *ids, int n)
{
	int i, k = 0;

	if (n > 1)
		qsort(ids, (size_t)n, sizeof(*ids), cmp_id);
	for (i = 0; i < n; i++)
		if (ids[i] && (!k || ids[k - 1] != ids[i]))
			ids[k++] = ids[i];
	return k;
}

static struct store_file *find_file(struct work *w, int64_t id)
{
	int i;

	/* From the back: chunks of one file come in a row. */
	for (i = w->file_count - 1; i >= 0; i--)
		if (w->files[i].id == id)
			return &w->files[i];
	return NULL;
}

static int load_files(struct work *w, const int64_t *chunk_files, int n,
		      struct remem_err *err)
{
	int64_t *ids = ARENA_ARRAY(w->a, int64_t, (size_t)n);
	struct store_file *all;
	int i, count, rc;

	if (!ids)
		return fail_nomem(err);
	memcpy(ids, chunk_files, (size_t)n * sizeof(*ids));
	count = sort_unique(ids, n);
	all = ARENA_ARRAY(w->a, struct store_file,
			  (size_t)(w->file_count + count));
	if (!all)
		return fail_nomem(err);
	if (w->file_count)
		memcpy(all, w->files,
		       (size_t)w->file_count * sizeof(*all));
	w->files = all;
	for (i = 0; i < count; i++) {
		bool found;

		if (find_file(w, ids[i]))
			continue;
		rc = w->s->ops->file_brief(w->s, w->a, ids[i],
					   &all[w->file_count], &found, err);
		if (rc)
			return rc;
		if (found)
			w->file_count++;
	}
	return 0;
}

static int cmp_file(const void *x, const void *y)
{
	const struct store_file *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static const struct store_file *file_of(const struct work *w, int64_t id)
{
	struct store_file key = { .id = id };

	return bsearch(&key, w->files, (size_t)w->file_count, sizeof(key),
		       cmp_file);
}

/* A chunk passes the filter by any of its passages: each has to itself. */
static bool passes(const struct work *w, const struct store_passage *p)
{
	const struct store_filter *f = &w->o->filter;

	return !f->origin || (p->origin && !strcmp(p->origin, f->origin));
}

/* Every passage of chunk c becomes a candidate. */
static void add_candidates(struct work *w, const struct store_chunk *c)
{
	const struct store_file *f = file_of(w, c->file);
	int i;

	for (i = 0; f && i < c->passage_count; i++) {
		const struct store_passage *p = &c->passages[i];
		struct cand *k = &w->cands[w->cand_count];

		if (p->start > c->len || p->len > c->len - p->start ||
		    !passes(w, p))
			continue;
		memset(k, 0, sizeof(*k));
		k->p = p;
		k->c = c;
		k->f = f;
		k->text = c->text + p->start;
		k->cosine = NAN;
		k->date = p->observed != DATE_NONE ? p->observed : f->date;
		w->cand_count++;
	}
}

static int load_vectors(struct work *w, int first, struct remem_err *err)
{
	int n = w->cand_count - first, i, rc;
	uint32_t *slots;
	float *scores;

	if (!w->fp || n <= 0)
		return 0;
	slots = ARENA_ARRAY(w->a, uint32_t, (size_t)n);
	scores = ARENA_ARRAY(w->a, float, (size_t)n);
	if (w->a->failed)
		return fail_nomem(err);
	for (i = 0; i < n; i++)
		slots[i] = w->cands[first + i].p->slot;
	rc = w->s->ops->vector_scores(w->s, w->fp, w->qvec, w->mean_q,
				      w->means, slots, n, scores, err);
	if (rc)
		return rc;
	for (i = 0; i < n; i++)
		w->cands[first + i].cosine = scores[i];
	return 0;
}

int pool_add_chunks(struct work *w, const int64_t *ids, int n,
		    struct remem_err *err)
{
	struct store_chunk *chunks = ARENA_ARRAY(w->a, struct store_chunk,
						 (size_t)n);
	int64_t *files = ARENA_ARRAY(w->a, int64_t, (size_t)n);
	struct cand *cands;
	int i, first = w->cand_count, passages = 0, rc;

	if (w->a->failed)
		return fail_nomem(err);
	rc = w->s->ops->chunks_get(w->s, w->a, w->fp, ids, n, chunks, err);
	if (rc)
		return rc;
	for (i = 0; i < n; i++) {
		files[i] = chunks[i].id ? chunks[i].file : 0;
		passages += chunks[i].passage_count;
	}
	if ((rc = load_files(w, files, n, err)))
		return rc;
	qsort(w->files, (size_t)w->file_count, sizeof(*w->files), cmp_file);
	cands = ARENA_ARRAY(w->a, struct cand,
			    (size_t)(w->cand_count + passages));
	if (!cands)
		return fail_nomem(err);
	if (w->cand_count)
		memcpy(cands, w->cands,
		       (size_t)w->cand_count * sizeof(*cands));
	w->cands = cands;
	for (i = 0; i < first; i++) /* files moved when they were sorted */
		cands[i].f = file_of(w, cands[i].p->file);
	for (i = 0; i < n; i++)
		if (chunks[i].id)
			add_candidates(w, &chunks[i]);
	w->chunks = chunks;
	w->chunk_count = n;
	return load_vectors(w, first, err);
}

/* Chunk ids of the best passages by vector. */
static int vector_leg(struct work *w, int k, int64_t *ids, int *n,
		      struct remem_err *err)
{
	struct store_scored *hits = ARENA_ARRAY(w->a, struct store_scored,
						(size_t)k);
	int64_t *passages = ARENA_ARRAY(w->a, int64_t, (size_t)k);
	int i, count = 0, rc;

	if (w->a->failed)
		return fail_nomem(err);
	rc = w->s->ops->vector_pool(w->s, w->fp, w->qvec, w->mean_q, w->means,
				    w->set, k, hits, &count, err);
	if (rc)
		return rc;
	for (i = 0; i < count; i++)
		passages[i] = hits[i].id;
	rc = w->s->ops->passage_chunks(w->s, passages, count, ids, err);
	*n = rc ? 0 : count;
	return rc;
}

static int text_leg(struct work *w, int k, int64_t *ids, int *n,
		    struct remem_err *err)
{
	struct store_scored *hits = ARENA_ARRAY(w->a, struct store_scored,
						(size_t)k);
	int i, count = 0, rc;

	if (!hits)
		return fail_nomem(err);
	rc = w->s->ops->text_pool(w->s, w->terms, w->q.term_count, w->set, k,
				  hits, &count, err);
	if (rc)
		return rc;
	weigh_groups(w);
	for (i = 0; i < count; i++)
		ids[i] = hits[i].id;
	*n = count;
	return 0;
}

/*
 * What a question is addressed to: "tar: how to unpack", "git add：…". Bytes
 * before the colon, 0 if there is none near the beginning.
 */
static size_t addressee(const struct query *q)
{
	size_t i, most = q->len < NAME_MAX_BYTES ? q->len : NAME_MAX_BYTES;
	int blanks = 0;

	for (i = 0; i < most && blanks < NAME_MAX_WORDS; i++) {
		if (q->text[i] == ':' && i + 1 < q->len)
			return q->text[i + 1] == ' ' ? i : 0;
		if (i + 3 <= most && !memcmp(q->text + i, FULL_COLON, 3))
			return i;
		blanks += q->text[i] == ' ';
	}
	return 0;
}

/* Folded, blanks and joining signs all the same. */
static size_t plain_name(char out[NAME_MAX_BYTES], const char *s, size_t len)
{
	size_t n = term_fold(out, NAME_MAX_BYTES, s, len), i;

	for (i = 0; i < n; i++)
		if (out[i] == ' ' || out[i] == '_')
			out[i] = '-';
	return n;
}

/* Is it the name of the file, without its ending? */
static bool addressed(const struct query *q, const char *path)
{
	char name[NAME_MAX_BYTES], word[NAME_MAX_BYTES];
	const char *base = path_base(path), *dot = strrchr(base, '.');
	size_t stem = dot && dot > base ? (size_t)(dot - base) : strlen(base);
	size_t n = addressee(q), a, b;

	if (!n)
		return false;
	a = plain_name(word, q->text, n);
	b = plain_name(name, base, stem);
	return a && a == b && !memcmp(word, name, a);
}

/* All chunks of a file that is addressed, else its first. */
static int add_named(struct work *w, struct store_scored *name, int64_t *ids,
		     int *n, struct remem_err *err)
{
	struct store_file f;
	int64_t *chunks;
	bool found;
	int count, i, rc;

	rc = w->s->ops->file_brief(w->s, w->a, name->id, &f, &found,
				   err);
	if (rc || !found)
		return rc;
	if (addressed(&w->q, f.path))
		name->score = NAME_ADDRESSED;
	else if (name->score < 0.5f)
		return 0;
	rc = w->s->ops->file_chunks(w->s, w->a, name->id, &chunks, &count, err);
	if (!rc && name->score < NAME_ADDRESSED && count > 1)
		count = 1;
	for (i = 0; !rc && i < count && i < NAMED_CHUNKS; i++)
		ids[(*n)++] = chunks[i];
	return rc;
}

/* Files that the question names; their first chunks join the pool. */
static int name_leg(struct work *w, int64_t *ids, int *n,
		    struct remem_err *err)
{
	int k = NAMED_FILES, i, rc;

	w->names = ARENA_ARRAY(w->a, struct store_scored, (size_t)k);
	if (!w->names)
		return fail_nomem(err);
	rc = w->s->ops->name_pool(w->s, w->terms, w->q.term_count, w->set, k,
				  w->names, &w->name_count, err);
	for (i = 0; !rc && i < w->name_count; i++)
		rc = add_named(w, &w->names[i], ids, n, err);
	return rc;
}

/* Chunks of the best vectors that the words have not brought already. */
static int add_by_vector(struct work *w, int k, const int64_t *have, int n,
			 int64_t *ids, struct remem_err *err)
{
	int first = w->cand_count, m = 0, i, fresh = 0, rc;

	rc = vector_leg(w, k, ids, &m, err);
	w->scanning = false;
	if (rc)
		return rc;
	if (!m && !w->set) /* not one vector yet */
		w->fp = 0;
	m = sort_unique(ids, m);
	for (i = 0; i < m; i++)
		if (!n || !bsearch(&ids[i], have, (size_t)n, sizeof(*have),
				   cmp_id))
			ids[fresh++] = ids[i];
	if (!fresh)
		return 0;
	rc = pool_add_chunks(w, ids, fresh, err);
	return rc ? rc : coverage_from(w, first, err);
}

int pool_collect(struct work *w, struct remem_err *err)
{
	int k = w->o->max_results * w->o->candidate_multiplier;
	int64_t *ids;
	int n = 0, rc;

	if (k < POOL_MIN)
		k = POOL_MIN;
	ids = ARENA_ARRAY(w->a, int64_t,
			  (size_t)(2 * k + NAMED_FILES * NAMED_CHUNKS));
	if (!ids)
		return fail_nomem(err);
	w->scanning = w->fp != 0;
	if (w->fp)
		w->s->ops->vector_begin(w->s, w->fp, w->qvec, w->mean_q,
					w->means, w->set, k);
	/* Also in vector mode: the idf of the terms is needed to explain. */
	if ((rc = text_leg(w, k, ids, &n, err)))
		return rc;
	if (w->o->mode == REMEM_MODE_VECTOR)
		n = 0;
	else if ((rc = name_leg(w, ids, &n, err)))
		return rc;
	n = sort_unique(ids, n);
	if (n && ((rc = pool_add_chunks(w, ids, n, err)) ||
		  (rc = coverage_from(w, 0, err))))
		return rc;
	return w->fp ? add_by_vector(w, k, ids, n, ids + n, err) : 0;
}
