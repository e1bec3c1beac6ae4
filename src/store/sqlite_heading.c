/* In how many files a heading stands: one that stands in many says nothing. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_put.h"

static int heading_id(struct put *p, const struct heading *h, int64_t *id,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(p->s, S_HEADING_ID, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_text(st, 1, h->text, (int)h->len, SQLITE_STATIC);
	if ((rc = sq_step(p->s, st, err)) < 0)
		return rc;
	if (rc) {
		*id = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
		return 0;
	}
	if ((rc = sq_get(p->s, S_HEADING_ADD, &st, err)))
		return rc;
	sqlite3_bind_text(st, 1, h->text, (int)h->len, SQLITE_STATIC);
	rc = sq_run(p->s, st, err);
	*id = sqlite3_last_insert_rowid(p->s->db);
	return rc;
}

int headings_resolve(struct put *p, struct remem_err *err)
{
	size_t n = p->n ? (size_t)p->n->heading_count : 0;
	int rc = 0;

	p->heading_ids = ARENA_ARRAY(p->a, int64_t, n + 1);
	if (!p->heading_ids)
		return fail_nomem(err);
	for (size_t i = 0; !rc && i < n; i++)
		if (p->n->headings[i].len)
			rc = heading_id(p, &p->n->headings[i],
					&p->heading_ids[i], err);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int change(struct put *p, int64_t heading, int by, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(p->s, by > 0 ? S_FH_ADD : S_FH_DEL, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, p->f->id);
	sqlite3_bind_int64(st, 2, heading);
	if ((rc = sq_run(p->s, st, err)) ||
	    (rc = sq_get(p->s, S_HEADING_COUNT, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, heading);
	sqlite3_bind_int(st, 2, by);
	if ((rc = sq_run(p->s, st, err)) || by > 0)
		return rc;
	if ((rc = sq_get(p->s, S_HEADING_DROP, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, heading);
	return sq_run(p->s, st, err);
}

/* The headings the file had, ascending; ends with 0. */
static int before_ids(struct put *p, int64_t **out, struct remem_err *err)
{
	size_t cap = 0, n = 0;
	int64_t *ids = NULL;
	sqlite3_stmt *st;
	int rc = sq_get(p->s, S_FH_OF_FILE, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, p->f->id);
	do {
		rc = p->existed ? sq_step(p->s, st, err) : 0;
		if (rc < 0)
			break;
		ids = arena_grow(p->a, ids, &cap, n + 1, sizeof(*ids));
		if (!ids) {
			rc = fail_nomem(err);
			break;
		}
		ids[n++] = rc ? sqlite3_column_int64(st, 0) : 0;
	} while (rc);
	sqlite3_reset(st);
	*out = ids;
	return rc;
}

int headings_count(struct put *p, struct remem_err *err)
{
	size_t n = p->n ? (size_t)p->n->heading_count : 0, i = 0;
	int64_t *now = p->heading_ids, *old;
	int rc = before_ids(p, &old, err);

	if (rc)
		return rc;
	now = ARENA_ARRAY(p->a, int64_t, n + 1);
	if (!now)
		return fail_nomem(err);
	memcpy(now, p->heading_ids, n * sizeof(*now));
	qsort(now, n, sizeof(*now), by_id);
	while (!rc && (i < n || *old)) {
		if (i < n && (!now[i] || (i && now[i] == now[i - 1]))) {
			i++;
		} else if (!*old || (i < n && now[i] < *old)) {
			rc = change(p, now[i++], 1, err);
		} else if (i == n || *old < now[i]) {
			rc = change(p, *old++, -1, err);
		} else {
			i++;
			old++;
		}
	}
	return rc;
}
