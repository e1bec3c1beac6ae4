/* The run: which legs there are, then the steps, then what is missing. */
#include "search/search.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "search/work.h"
#include "source/secret.h"
#include "text/term.h"

/* What is asked for by name is not there: all that was found is beside it. */
#define MISSING_FACTOR 0.6

static void degrade(struct search_answer *out, const char *reason,
		    const char *detail, const char *action)
{
	out->degraded_reason = reason;
	out->degraded_detail = detail;
	out->degraded_action = action;
}

static void no_vectors(struct search_answer *out)
{
	degrade(out, "no_vectors",
		"no vectors of this model are in the index yet",
		"run: remem index");
}

static int left_ms(const struct search_opts *o)
{
	int64_t left;

	if (!o->deadline_ns)
		return 0;
	left = (o->deadline_ns - clock_mono_ns()) / 1000000;
	return left < 1 ? 1 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static bool late(const struct search_opts *o)
{
	return o->deadline_ns && clock_mono_ns() >= o->deadline_ns;
}

/* A question goes to a remote provider without keys and tokens. */
static int ask_embedder(struct work *w, float **vec, int *dims,
			struct remem_err *err)
{
	struct embedder *e = w->o->embedder;
	struct buf b = BUF_INIT(0);
	const char *text = w->q.text;
	size_t len = w->q.len;
	int rc;

	if (embedder_info(e)->remote && secret_mask(&b, text, len, 0)) {
		text = buf_str(&b);
		len = b.len;
	}
	rc = buf_check(&b, err);
	if (!rc)
		rc = embedder_query(e, text, len, left_ms(w->o), vec, dims,
				    err);
	buf_release(&b);
	return rc;
}

/* The query's vector of w->dims: given, or made by the embedder. Sets w->qvec
 * or says why there is none: also that a model found no memory, which the
 * words may well do without. */
static int query_vector(struct work *w, struct remem_err *err)
{
	struct embedder *e = w->o->embedder;
	struct remem_err why = { 0 };
	float *vec = NULL, *own;
	int dims = 0, rc;

	if (w->o->query_vec) {
		w->qvec = w->o->query_vec;
		return 0;
	}
	rc = w->fp ? embedder_expect(e, w->dims, &why) : 0;
	if (!rc)
		rc = ask_embedder(w, &vec, &dims, &why);
	if (!rc && w->fp && dims != w->dims) {
		mem_free(vec);
		rc = fail(&why, REMEM_EREMOTE, "the provider answered a vector "
			  "of %d dimensions, not %d", dims, w->dims);
	}
	if (rc == REMEM_ENOMEM)
		fail_nomem(&why);
	if (rc == REMEM_ECANCELLED)
		return fail(err, rc, "cancelled");
	if (rc) {
		degrade(w->out, rc == REMEM_ETIMEOUT ? "deadline" : "provider",
			arena_strdup(w->a, why.message),
			arena_strdup(w->a, why.action));
		return 0;
	}
	own = ARENA_ARRAY(w->a, float, (size_t)dims);
	if (own)
		memcpy(own, vec, (size_t)dims * sizeof(*own));
	mem_free(vec);
	if (!own)
		return fail_nomem(err);
	w->qvec = own;
	return 0;
}

static int open_vector_leg(struct work *w, struct remem_err *err)
{
	struct embedder *e = w->o->embedder;
	int rc;

	if (w->o->mode == REMEM_MODE_TEXT)
		return 0;
	if (!e || embedder_off(e)) {
		degrade(w->out, "no_provider",
			e ? embedder_off(e) : "no embedding provider",
			"set memorySearch.provider: builtin");
		return 0;
	}
	w->out->provider = embedder_info(e)->provider;
	w->out->model = embedder_info(e)->model;
	if (late(w->o)) {
		degrade(w->out, "deadline", "no time was left for vectors",
			"give a longer --deadline");
		return 0;
	}
	rc = w->s->ops->fingerprint_find(w->s, embedder_info(e)->fingerprint,
					 &w->fp, &w->dims, err);
	if (rc)
		return rc;
	/* Asked also when nothing is stored: a provider that is down is the
	 * reason that helps. */
	if ((rc = query_vector(w, err)))
		return rc;
	if (w->qvec && !w->fp)
		no_vectors(w->out);
	if (!w->qvec || !w->fp) {
		w->fp = 0;
		return 0;
	}
	return means_load(w, err);
}

/* The main term of a folded word, -1 if the question has none. */
static int term_of(const struct work *w, const char *word, size_t len)
{
	char folded[TERM_MAX_BYTES];
	size_t n = term_fold(folded, sizeof(folded), word, len);
	int i;

	for (i = 0; i < w->q.term_count; i++)
		if (w->q.terms[i].len == n &&
		    !memcmp(w->q.terms[i].text, folded, n))
			return i;
	return -1;
}

/* True when no term of the group occurs anywhere. */
static bool unknown_group(const struct work *w, int group)
{
	int i;

	for (i = 0; i < w->q.term_count; i++)
		if (w->terms[i].group == group && w->terms[i].df)
			return false;
	return true;
}

static bool upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool letter(char c)
{
	return upper(c) || (c >= 'a' && c <= 'z');
}

/* "Rust", "iPad", "NATS": a capital that no sentence begins with. */
static bool named(const char *word, const char *end, bool first)
{
	if (upper(*word) && !first)
		return true;
	while (++word < end)
		if (upper(*word))
			return true;
	return false;
}

static bool is_named(const struct work *w, const char *word)
{
	int i;

	for (i = 0; i < w->out->missing_count; i++)
		if (!strcmp(w->out->missing[i], word))
			return true;
	return false;
}

/* "-", "_", digits and the like bind a word into an identifier. */
static bool binds(char c)
{
	return (c >= '0' && c <= '9') || (c && strchr("-_./:@#+", c));
}

/* Proper names: words in Latin letters with a capital that stands for more
 * than the beginning of a sentence. Names are seldom translated. */
static void missing_names(struct work *w, const char **names, int max)
{
	const char *s = w->q.text, *end = s + w->q.len;
	bool first = true;

	while (s < end && w->out->missing_count < max) {
		const char *word = s;
		int i;

		while (s < end && letter(*s))
			s++;
		if (s - word >= 3 && named(word, s, first) &&
		    !(word > w->q.text && binds(word[-1])) &&
		    !(s + 1 < end && binds(*s) && s[1] != ' ')) {
			i = term_of(w, word, (size_t)(s - word));
			word = arena_strndup(w->a, word, (size_t)(s - word));
			if (word && i >= 0 && !w->q.terms[i].stop &&
			    unknown_group(w, w->terms[i].group) &&
			    !is_named(w, word))
				names[w->out->missing_count++] = word;
		}
		first = first && s == word;
		for (; s < end && !letter(*s); s++)
			first = first && *s == ' ';
	}
}

/* Identifiers and names of the question that memory does not hold. */
static int find_missing(struct work *w, struct remem_err *err)
{
	const struct query *q = &w->q;
	int max = q->phrase_count + 8, i;
	const char **names;
	float lost = 0;

	names = ARENA_ARRAY(w->a, const char *, (size_t)max);
	if (!names)
		return fail_nomem(err);
	w->out->missing = names;
	for (i = 0; i < q->phrase_count; i++) {
		const struct query_phrase *p = &q->phrases[i];

		if (p->identifier && !w->terms[p->first].df)
			names[w->out->missing_count++] = p->text;
	}
	missing_names(w, names, max);
	for (i = 0; w->out->missing_count && i < w->out->count; i++)
		w->out->hits[i].score *= MISSING_FACTOR;
	for (i = 0; i < q->group_count; i++)
		if (unknown_group(w, i))
			lost += w->group_idf[i];
	w->out->unknown = w->total_idf > 0 ? lost / w->total_idf : 0;
	return 0;
}

static void say(struct work *w)
{
	struct search_answer *out = w->out;

	if (!w->q.term_count)
		out->message = "the question is blank";
	else if (out->missing_count && !out->count)
		out->message = arena_printf(
			w->a, "memory does not hold '%s'", out->missing[0]);
	else if (!out->count && !w->info.chunks)
		out->message = "the index is empty";
	else if (!out->count && out->degraded_reason)
		out->message = arena_printf(
			w->a, "nothing found by keywords among %lld chunks; "
			"vectors were not used: %s",
			(long long)w->info.chunks, out->degraded_detail);
	else if (!out->count)
		out->message = arena_printf(
			w->a, "nothing relevant among %lld chunks of %lld "
			"files", (long long)w->info.chunks,
			(long long)w->info.indexed);
}

static int run(struct work *w, struct remem_err *err)
{
	int rc;

	if ((rc = w->s->ops->info(w->s, &w->info, err)))
		return rc;
	if (!w->q.term_count || !w->info.chunks)
		return 0;
	if ((rc = w->s->ops->filter(w->s, &w->o->filter, &w->set, err)) ||
	    (rc = pool_terms(w, err)) || (rc = open_vector_leg(w, err)) ||
	    (rc = pool_collect(w, err)) || (rc = score_all(w, err)) || (rc = link_all(w, err)) ||
	    (rc = order_all(w, err)) || (rc = answer_all(w, err)))
		return rc;
	return find_missing(w, err);
}

int search_run(struct search_answer *out, struct arena *a, struct store *s,
	       const char *query, size_t len, const struct search_opts *o,
	       struct remem_err *err)
{
	struct work w = { .a = a, .s = s, .o = o, .out = out };
	int64_t started = clock_mono_ns();
	int rc;

	memset(out, 0, sizeof(*out));
	out->mode = o->mode;
	rc = query_parse(&w.q, a, query, len, o->today, err);
	if (rc)
		return rc;
	if ((rc = s->ops->read_begin(s, err)))
		return rc;
	rc = run(&w, err);
	s->ops->read_end(s);
	if (w.set)
		s->ops->filter_free(w.set);
	if (rc)
		return rc;
	out->text_ran = o->mode != REMEM_MODE_VECTOR;
	out->vector_ran = w.fp != 0;
	if (!w.fp)
		out->mode = REMEM_MODE_TEXT;
	if (!w.fp && w.qvec && !out->degraded_reason)
		no_vectors(out);
	say(&w);
	out->took_ns = clock_mono_ns() - started;
	return a->failed ? fail_nomem(err) : 0;
}
