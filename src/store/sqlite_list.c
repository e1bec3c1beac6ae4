/*
 * Posting lists. A reader takes them straight from FTS5's own tables, segment
 * by segment: no statement is stepped for each row, and counting a term's rows
 * walks its list no second time. What FTS5 has in memory only, or
 * writes in a way we do not know, is asked for by MATCH.
 */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_leaf.h"
#include "store/sqlite_store.h"
#include "text/fts.h"
#include "text/term.h"

#define SEGMENTS_MAX 256 /* FTS5 merges long before */
#define ROWS_AT_ONCE 512
#define MATCH_BYTES (2 * TERM_MAX_BYTES + 8)

struct lists { /* of one table, as this snapshot has it */
	struct sq *s;
	enum list_table table;
	bool loaded, by_match;
	struct segment segments[SEGMENTS_MAX];
	struct cursor *cursors; /* one each */
	int count, cap;
	/* By row: the term it was last met in, newest segment first, and the
	 * call it was last given in. */
	uint32_t *seen, *given;
	size_t seen_cap, given_cap;
	uint32_t term_no, call_no;
};

static const struct {
	enum stmt_id format, leaf, index, match;
} statements[] = {
	[LIST_POSTINGS] = { S_POST_FORMAT, S_POST_LEAF, S_POST_INDEX,
			    S_POST_MATCH },
	[LIST_NAMES] = { S_NAME_FORMAT, S_NAME_LEAF, S_NAME_INDEX,
			 S_NAME_MATCH },
};

void lists_drop(struct sq *s)
{
	for (int i = 0; i < LIST_TABLES; i++)
		if (s->lists[i])
			s->lists[i]->loaded = false;
}

void lists_release(struct sq *s)
{
	for (int i = 0; i < LIST_TABLES; i++) {
		struct lists *l = s->lists[i];

		if (!l)
			continue;
		for (int k = 0; k < l->cap; k++)
			mem_free(l->cursors[k].buf);
		mem_free(l->cursors);
		mem_free(l->seen);
		mem_free(l->given);
		mem_free(l);
		s->lists[i] = NULL;
	}
}

/* ---- leaves ---- */

struct loading {
	struct lists *l;
	struct remem_err *err;
};

/* Row `id` of the table's data, borrowed until the next one; NULL: none. */
static int data_row(struct lists *l, int64_t id, const void **data, size_t *len,
		    sqlite3_stmt **st, struct remem_err *err)
{
	int rc = sq_get(l->s, statements[l->table].leaf, st, err);

	*data = NULL;
	*len = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(*st, 1, id);
	if ((rc = sq_step(l->s, *st, err)) < 0)
		return rc;
	if (rc) {
		*data = sqlite3_column_blob(*st, 0);
		*len = (size_t)sqlite3_column_bytes(*st, 0);
	}
	return 0;
}

static int load_leaf(void *ctx, struct cursor *c, uint32_t page)
{
	struct loading *w = ctx;
	sqlite3_stmt *st = NULL;
	const void *data;
	size_t len;
	int rc = data_row(w->l, fts5_leaf_id(c->segment, page),
			  &data, &len, &st, w->err);

	if (!rc && !data)
		rc = sq_damaged(w->l->s, BAD_POSTINGS, w->err);
	else if (!rc && !mem_grow(&c->buf, &c->cap, len, 1))
		rc = fail_nomem(w->err);
	if (!rc) {
		memcpy(c->buf, data, len);
		c->len = len;
	}
	if (st)
		sqlite3_reset(st);
	return rc;
}

/* ---- segments ---- */

static bool known_format(struct lists *l)
{
	int64_t format = 0;

	return !sq_int(l->s, statements[l->table].format, &format, NULL) &&
	       format == FTS5_FORMAT;
}

static int read_structure(struct lists *l, struct remem_err *err)
{
	sqlite3_stmt *st = NULL;
	const void *data;
	size_t len;
	int rc = data_row(l, FTS5_STRUCTURE_ROW, &data, &len, &st, err);

	if (!rc)
		l->count = data ? structure_read(l->segments, SEGMENTS_MAX,
						 data, len) : -1;
	if (st)
		sqlite3_reset(st);
	return rc;
}

static int place_cursors(struct lists *l, struct remem_err *err)
{
	struct cursor *c;

	if (l->count > l->cap) {
		c = mem_rearray(l->cursors, (size_t)l->count, sizeof(*c));
		if (!c)
			return fail_nomem(err);
		memset(c + l->cap, 0, (size_t)(l->count - l->cap) * sizeof(*c));
		l->cursors = c;
		l->cap = l->count;
	}
	for (int i = 0; i < l->count; i++) {
		c = &l->cursors[i];
		c->segment = l->segments[i].id;
		c->first = l->segments[i].first;
		c->last = l->segments[i].last;
		c->load = load_leaf;
		c->page = 0;
		c->live = c->broken = false;
	}
	return 0;
}

static int lists_load(struct lists **out, struct sq *s, enum list_table table,
		      struct remem_err *err)
{
	struct lists *l = s->lists[table];
	int rc;

	if (!l && !(l = s->lists[table] = mem_zalloc(sizeof(*l))))
		return fail_nomem(err);
	*out = l;
	/* A writer's own changes do not show in data_version. */
	if (l->loaded && s->mode == STORE_READ)
		return 0;
	l->s = s;
	l->table = table;
	l->count = 0;
	l->by_match = s->in_write || !known_format(l);
	if (!l->by_match) {
		if ((rc = read_structure(l, err)))
			return rc;
		l->by_match = l->count < 0;
	}
	if (l->by_match)
		l->count = 0;
	if ((rc = place_cursors(l, err)))
		return rc;
	l->loaded = true;
	return 0;
}

/* ---- by MATCH ---- */

static int read_by_match(struct lists *l, const struct list_ask *q,
			 struct id_list *out, struct remem_err *err)
{
	char match[MATCH_BYTES];
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_get(l->s, statements[l->table].match, &st, err)))
		return rc;
	sq_match_text(match, sizeof(match), q->term, q->prefix, q->tf);
	sq_bind_text(st, 1, match);
	while (out->count <= q->most && (rc = sq_step(l->s, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (id <= 0 || id >= q->bound)
			continue;
		if (!mem_grow(&out->ids, &out->cap, out->count + 1,
			      sizeof(*out->ids))) {
			rc = fail_nomem(err);
			break;
		}
		out->ids[out->count++] = (uint32_t)id;
	}
	sqlite3_reset(st);
	*q->classes = !q->prefix; /* not known */
	return rc < 0 ? rc : 0;
}

/* ---- by segments ---- */

static int leaf_of(struct lists *l, const struct cursor *c, const char *key,
		   size_t len, uint32_t *page, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(l->s, statements[l->table].index, &st, err);

	*page = c->first;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, c->segment);
	sqlite3_bind_blob(st, 2, key, (int)len, SQLITE_STATIC);
	if ((rc = sq_step(l->s, st, err)) > 0) {
		/* The low bit is about something else. */
		int64_t at = sqlite3_column_int64(st, 0) >> 1;

		if (at > c->first)
			*page = at > c->last ? c->last : (uint32_t)at;
		sqlite3_reset(st);
		rc = 0;
	}
	return rc;
}

static int seek_all(struct lists *l, const char *key, size_t len, bool prefix,
		    struct loading *loading)
{
	for (int i = 0; i < l->count; i++) {
		struct cursor *c = &l->cursors[i];
		uint32_t page;
		int rc = leaf_of(l, c, key, len, &page, loading->err);

		c->ctx = loading;
		if (rc || (rc = cursor_seek(c, page, key, len, prefix)))
			return rc;
		if (c->broken)
			return sq_damaged(l->s, BAD_POSTINGS, loading->err);
	}
	return 0;
}

static int compare(const struct cursor *a, const struct cursor *b)
{
	uint32_t n = a->term_len < b->term_len ? a->term_len : b->term_len;
	int c = memcmp(a->term, b->term, n);

	return c ? c : a->term_len < b->term_len ? -1 :
		       a->term_len > b->term_len;
}

static struct cursor *lowest(const struct lists *l)
{
	struct cursor *low = NULL;

	for (int i = 0; i < l->count; i++) {
		struct cursor *c = &l->cursors[i];

		if (c->live && (!low || compare(c, low) < 0))
			low = c;
	}
	return low;
}

static bool begins_with(const struct cursor *c, const char *key, size_t len)
{
	return c->term_len >= len && !memcmp(c->term, key, len);
}

/* Has row r been met before in this term, or been given in this call? */
static bool met(struct lists *l, const struct leaf_row *r, bool several,
		bool prefix)
{
	if (several) {
		if (l->seen[r->id] == l->term_no)
			return true;
		l->seen[r->id] = l->term_no;
	}
	if (r->gone)
		return true;
	if (prefix) {
		if (l->given[r->id] == l->call_no)
			return true;
		l->given[r->id] = l->call_no;
	}
	return false;
}

static int read_list(struct lists *l, struct cursor *c, bool several,
		     const struct list_ask *q, struct id_list *out,
		     struct remem_err *err)
{
	struct leaf_row rows[ROWS_AT_ONCE];
	size_t n;
	int rc;

	while (out->count <= q->most) {
		if ((rc = cursor_rows(c, rows, ROWS_AT_ONCE, &n)))
			return rc;
		if (c->broken)
			return sq_damaged(l->s, BAD_POSTINGS, err);
		if (!n)
			break;
		if (!mem_grow(&out->ids, &out->cap, out->count + n,
			      sizeof(*out->ids)))
			return fail_nomem(err);
		for (size_t i = 0; i < n; i++)
			if (rows[i].id && rows[i].id < q->bound &&
			    !met(l, &rows[i], several, q->prefix))
				out->ids[out->count++] = rows[i].id;
	}
	return 0;
}

/* Zeroed room for marks of rows below bound; their numbers begin anew. */
static bool marks(uint32_t **p, size_t *cap, uint32_t *number, size_t bound)
{
	if (bound <= *cap && *number < UINT32_MAX) {
		++*number;
		return true;
	}
	mem_free(*p);
	*cap = 0;
	if (!(*p = mem_zarray(bound, sizeof(**p))))
		return false;
	*cap = bound;
	*number = 1;
	return true;
}

/* All lists of the lowest term, then one term on. */
static int read_term(struct lists *l, const struct cursor *low,
		     const struct list_ask *q, struct id_list *out,
		     struct remem_err *err)
{
	bool same[SEGMENTS_MAX];
	int holders = 0, rc;

	for (int i = 0; i < l->count; i++) {
		const struct cursor *c = &l->cursors[i];

		same[i] = c->live && !compare(c, low);
		holders += same[i];
	}
	if (holders > 1 && !marks(&l->seen, &l->seen_cap, &l->term_no,
				  q->bound))
		return fail_nomem(err);
	for (int i = 0; i < l->count; i++)
		if (same[i] && (rc = read_list(l, &l->cursors[i], holders > 1,
					       q, out, err)))
			return rc;
	for (int i = 0; i < l->count && out->count <= q->most; i++) {
		if (!same[i])
			continue;
		if ((rc = cursor_next(&l->cursors[i])))
			return rc;
		if (l->cursors[i].broken)
			return sq_damaged(l->s, BAD_POSTINGS, err);
	}
	return 0;
}

/* Does a term follow that says how often this one stands there? */
static bool classes_follow(const struct lists *l, const char *key, size_t len)
{
	for (int i = 0; i < l->count; i++) {
		const struct cursor *c = &l->cursors[i];

		if (c->live && c->term_len == len + 1 &&
		    begins_with(c, key, len) && c->term[len] <= 4)
			return true;
	}
	return false;
}

int list_read(struct sq *s, const struct list_ask *q, struct id_list *out,
	      struct remem_err *err)
{
	char key[TERM_MAX_BYTES + 4];
	size_t len = strnlen(q->term, TERM_MAX_BYTES);
	struct loading loading = { NULL, err };
	struct cursor *low;
	struct lists *l = NULL;
	int rc;

	out->count = 0;
	*q->classes = false;
	if ((rc = lists_load(&l, s, q->table, err)))
		return rc;
	if (!len || q->bound < 2)
		return 0;
	if (l->by_match)
		return read_by_match(l, q, out, err);
	key[0] = FTS5_TERM_MARK;
	memcpy(key + 1, q->term, len++);
	if (q->tf)
		key[len++] = q->tf;
	loading.l = l;
	if (q->prefix &&
	    !marks(&l->given, &l->given_cap, &l->call_no, q->bound))
		return fail_nomem(err);
	if ((rc = seek_all(l, key, len, q->prefix, &loading)))
		return rc;
	while ((low = lowest(l)) && begins_with(low, key, len) &&
	       (q->prefix || low->term_len == len) && out->count <= q->most) {
		if ((rc = read_term(l, low, q, out, err)))
			return rc;
		if (!q->prefix)
			break;
	}
	*q->classes = !q->prefix && classes_follow(l, key, len);
	return 0;
}
