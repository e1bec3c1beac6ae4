/* The pool of files by name: which share of the question's weight the name,
 * path, title, aliases and tags cover. */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"
#include "store/topk.h"

/* A page as question names a file at its beginning if at all; all its words
 * looked up took a third of the time it took. */
#define TERMS_MANY 64
#define TERMS_FIRST 32
#define NAMES_MAX 200000 /* postings read for one question */

struct names {
	struct sq *s;
	const struct store_set *set;
	float *score, *best; /* by file id */
	int *group; /* that best is of, counted from 1 */
	size_t cap, caps[2]; /* of all three arrays */
	struct id_list list;
	uint32_t bound;
	size_t budget;
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

static int add_name(struct names *m, uint32_t id, float v, int group,
		    struct remem_err *err)
{
	if (m->set && !set_has_file(m->set, id))
		return 0;
	if (!names_room(m, (size_t)id + 1))
		return fail_nomem(err);
	if (m->group[id] != group) {
		m->group[id] = group;
		m->best[id] = 0;
	}
	if (v > m->best[id]) {
		m->score[id] += v - m->best[id];
		m->best[id] = v;
	}
	return 0;
}

static int read_name(struct names *m, const struct store_term *t, int group,
		     struct remem_err *err)
{
	bool classes;
	struct list_ask q = { LIST_NAMES, t->text, 0, t->prefix, m->bound,
			      m->budget, &classes };
	float v = t->idf * t->weight;
	int rc;

	if (!t->text[0] || v <= 0 || !m->budget)
		return 0;
	rc = list_read(m->s, &q, &m->list, err);
	for (size_t i = 0; !rc && i < m->list.count; i++)
		rc = add_name(m, m->list.ids[i], v, group, err);
	m->budget -= m->list.count < m->budget ? m->list.count : m->budget;
	return rc;
}

/* Behind the highest id of a file. */
static int find_bound(struct names *m, struct remem_err *err)
{
	int64_t most;
	int rc = sq_int(m->s, S_FILE_MAX, &most, err);

	m->bound = most >= 0 && most < UINT32_MAX ? (uint32_t)most + 1 :
						    UINT32_MAX;
	return rc;
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
	int look = n > TERMS_MANY ? TERMS_FIRST : n, groups = 0, rc = 0;

	for (int i = 0; !rc && i < n; i++) {
		bool first = true;

		for (int k = 0; k < i && first; k++)
			first = terms[k].group != terms[i].group;
		if (!first)
			continue;
		seen[i] = ++groups;
		for (int k = i; !rc && k < look; k++)
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
	if ((rc = find_bound(&m, err)) ||
	    (rc = read_groups(&m, terms, n, seen, err)))
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
	mem_free(m.list.ids);
	mem_free(seen);
	return rc;
}
