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
	    (rc = pool_terms(w, err)) || (rc = leg_open(w, err)) ||
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
	if (!w.fp && w.qvec)
		leg_no_vectors(out);
	say(&w);
	out->took_ns = clock_mono_ns() - started;
	return a->failed ? fail_nomem(err) : 0;
}
