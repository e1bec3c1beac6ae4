/* The pool of files by name: which share of the question's weight the name,
 * path, title, aliases and tags cover. */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"
#include "store/topk.h"
#include "text/term.h"

#define NAMES_MAX 200000 /* postings read for one question */
#define MATCH_BYTES (2 * TERM_MAX_BYTES + 8)

struct names {
	struct sq *s;
	const struct store_set *set;
	float *score, *best; /* by file id */
	int *group; /* that best is of, counted from 1 */
	size_t cap, caps[2]; /* of all three arrays */
	int64_t budget;
};

static bool names_room(struct names *m, size_t want)
{
	size_t old = m->cap;

	if (want <= old)
		return true;
	if (!mem_grow(&m->score, &m->cap, want, sizeof(*m->score)) ||
	    !mem_grow(&m->best, &m->caps[0], m->cap, sizeof(*m->best)) ||
	    !mem_grow(&m->group, &m->caps[1], m->cap, sizeof(*m->group)))
		return false;
	memset(m->score + old, 0, (m->cap - old) * sizeof(*m->score));
	memset(m->best + old, 0, (m->cap - old) * sizeof(*m->best));
	memset(m->group + old, 0, (m->cap - old) * sizeof(*m->group));
	return true;
}

static int read_name(struct names *m, const struct store_term *t, int group,
		     struct remem_err *err)
{
	char match[MATCH_BYTES];
	float v = t->idf * t->weight;
	sqlite3_stmt *st;
	int rc = sq_get(m->s, S_NAME_MATCH, &st, err);

	if (rc || !t->text[0] || v <= 0)
		return rc;
	sq_match_text(match, sizeof(match), t->text, t->prefix, '\0');
	sq_bind_text(st, 1, match);
	while (m->budget-- > 0 && (rc = sq_step(m->s, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (id <= 0 || id > UINT32_MAX ||
		    (m->set && !set_has_file(m->set, (uint32_t)id)))
			continue;
		if (!names_room(m, (size_t)id + 1)) {
			rc = fail_nomem(err);
			break;
		}
		if (m->group[id] != group) {
			m->group[id] = group;
			m->best[id] = 0;
		}
		if (v > m->best[id]) {
			m->score[id] += v - m->best[id];
			m->best[id] = v;
		}
	}
	sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

/* Weight of the whole question: every group by its strongest term. */
static float whole(const struct store_term *terms, int n, const int *seen)
{
	float sum = 0;

	for (int i = 0; i < n; i++) {
		float best = 0;

		if (!seen[i])
			continue;
		for (int k = 0; k < n; k++)
			if (terms[k].group == terms[i].group &&
			    terms[k].idf * terms[k].weight > best)
				best = terms[k].idf * terms[k].weight;
		sum += best;
	}
	return sum;
}

static int read_groups(struct names *m, const struct store_term *terms, int n,
		       int *seen, struct remem_err *err)
{
	int groups = 0, rc = 0;

	for (int i = 0; !rc && i < n; i++) {
		bool first = true;

		for (int k = 0; k < i && first; k++)
			first = terms[k].group != terms[i].group;
		if (!first)
			continue;
		seen[i] = ++groups;
		for (int k = i; !rc && k < n; k++)
			if (terms[k].group == terms[i].group)
				rc = read_name(m, &terms[k], groups, err);
	}
	return rc;
}

int sq_name_pool(struct store *store, const struct store_term *terms, int n,
		 const struct store_set *set, int k, struct store_scored *out,
		 int *count, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct names m = { .s = s, .set = set, .budget = NAMES_MAX };
	int *seen = mem_zarray((size_t)n + 1, sizeof(*seen));
	struct topk top;
	float all;
	int rc;

	*count = 0;
	if (!seen)
		return fail_nomem(err);
	if ((rc = sq_op_begin(s, err))) {
		mem_free(seen);
		return rc;
	}
	if ((rc = read_groups(&m, terms, n, seen, err)))
		goto out;
	all = whole(terms, n, seen);
	topk_init(&top, out, k);
	for (size_t i = 1; i < m.cap; i++)
		if (m.score[i] > 0)
			topk_push(&top, (int64_t)i, m.score[i] / all);
	topk_finish(&top);
	*count = top.count;
out:
	sq_op_end(s);
	mem_free(m.score);
	mem_free(m.best);
	mem_free(m.group);
	mem_free(seen);
	return rc;
}
