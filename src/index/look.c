/*
 * What differs between disk and index. The look at the disk is one thing and
 * what the index holds another, so that they can be had at the same time.
 */
#include <string.h>

#include "base/err.h"
#include "index/sync.h"

struct index_known {
	struct kept kept;
	const char *talks;
};

struct index_known *index_known(struct store *s, struct arena *a)
{
	struct index_known *n = ARENA_NEW(a, struct index_known);

	if (!n)
		return NULL;
	kept_load(&n->kept, s, a);
	n->talks = talks_kept(a, s);
	return a->failed ? NULL : n;
}

int index_look(struct index_look *k, struct arena *a,
	       const struct source_opts *o, struct remem_err *err)
{
	struct source_opts any = *o;
	int rc;

	any.any_order = true;
	memset(k, 0, sizeof(*k));
	if ((rc = source_walk(&k->list, a, &any, err)))
		return rc;
	kept_sum(k->sum, &k->list);
	k->talks_found = talks_look(k->talks, a, o->sessions);
	return a->failed ? fail_nomem(err) : 0;
}

void index_look_release(struct index_look *k)
{
	source_list_release(&k->list);
}

static bool same(const struct index_known *x, const struct index_known *y)
{
	return x->kept.known == y->kept.known &&
	       !memcmp(x->kept.sum, y->kept.sum, sizeof(x->kept.sum)) &&
	       !strcmp(x->talks, y->talks);
}

int index_compare(int64_t *dirty, bool *moved, struct index_look *k,
		  const struct index_known *n, struct arena *a,
		  struct store *s, const struct source_opts *o,
		  struct remem_err *err)
{
	const struct index_known *now;
	int64_t unread;
	struct plan p;
	int rc;

	*dirty = !k->talks_found ||
		 strcmp(k->talks, n ? n->talks : "") != 0;
	*moved = false;
	if (s && n && kept_settled(&n->kept, k->sum, s, a, &k->list,
				   o->follow_links, &unread, NULL, NULL))
		return 0;
	if (s && n) {
		if (!(now = index_known(s, a)))
			return fail_nomem(err);
		*moved = !same(n, now);
	}
	if ((rc = plan_make(&p, a, &k->list, s, err)))
		return rc;
	*dirty += (int64_t)(p.item_count + p.gone_count);
	return 0;
}

int index_dirty(int64_t *dirty, struct source_list *list, struct arena *a,
		struct store *s, const struct source_opts *o,
		struct remem_err *err)
{
	struct index_known *known = NULL;
	struct index_look k;
	bool moved;
	int rc;

	*dirty = 0;
	rc = index_look(&k, a, o, err);
	if (!rc && s && !(known = index_known(s, a)))
		rc = fail_nomem(err);
	if (!rc)
		rc = index_compare(dirty, &moved, &k, known, a, s, o, err);
	source_list_sort(&k.list);
	*list = k.list;
	return rc;
}
