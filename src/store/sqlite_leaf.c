/* See sqlite_leaf.h. Nothing here trusts the bytes: what makes no sense sets
 * broken and ends the cursor. */
#include "store/sqlite_segment.h"

#include <string.h>

#define LEAF_HEAD 4 /* bytes before the entries */
/* Records of a kind that we never make. */
#define MARK_V2 "\xff\0\0\1"

/* Seven bits a byte, high ones first. */
size_t varint_get(const unsigned char *p, size_t at, size_t end, uint64_t *out)
{
	uint64_t v = 0;

	for (int i = 0; i < 9 && at < end; i++) {
		unsigned char b = p[at++];

		if (i == 8) {
			*out = v << 8 | b;
			return at;
		}
		v = v << 7 | (b & 0x7f);
		if (!(b & 0x80)) {
			*out = v;
			return at;
		}
	}
	return 0;
}

static int broken(struct cursor *c)
{
	c->broken = true;
	c->live = false;
	c->next = 0;
	c->at = c->stop = 0;
	c->page = 0;
	return 0;
}

/* The place of the next term from the index behind the entries. */
static bool index_step(struct cursor *c, uint32_t from)
{
	uint64_t by;

	c->next = 0;
	if (c->index >= c->len)
		return true;
	c->index = varint_get(c->buf, c->index, c->len, &by);
	if (!c->index || by < 1 || by >= c->end || from + by >= c->end ||
	    from + by < LEAF_HEAD)
		return false;
	c->next = from + (uint32_t)by;
	return true;
}

static int rewind_leaf(struct cursor *c)
{
	c->index = c->end;
	c->fresh = true;
	return index_step(c, 0) ? 0 : broken(c);
}

static int load(struct cursor *c, uint32_t page)
{
	int rc;

	c->page = 0;
	if ((rc = c->load(c->ctx, c, page)))
		return rc;
	if (c->len < LEAF_HEAD || c->len > UINT16_MAX)
		return broken(c);
	c->end = (uint32_t)c->buf[2] << 8 | c->buf[3];
	if (c->end < LEAF_HEAD || c->end > c->len)
		return broken(c);
	c->page = page;
	return rewind_leaf(c);
}

struct entry { /* a term as it is stored */
	uint64_t keep, rest;
	size_t at; /* of the rest */
};

static bool entry_read(struct entry *e, const struct cursor *c)
{
	size_t at = c->next;

	e->keep = 0;
	if (!c->fresh && !(at = varint_get(c->buf, at, c->end, &e->keep)))
		return false;
	at = varint_get(c->buf, at, c->end, &e->rest);
	e->at = at;
	return at && e->rest <= c->end - at && e->keep <= LEAF_TERM_MAX &&
	       e->rest <= LEAF_TERM_MAX - e->keep;
}

/* c->term holds the first bytes that it shares. */
static bool take(struct cursor *c, const struct entry *e)
{
	uint32_t from = c->next;

	memcpy(c->term + e->keep, c->buf + e->at, e->rest);
	c->term_len = (uint32_t)(e->keep + e->rest);
	c->at = (uint32_t)(e->at + e->rest);
	c->row = 0;
	c->fresh = false;
	if (!index_step(c, from))
		return false;
	c->stop = c->next ? c->next : c->end;
	c->live = c->at <= c->stop;
	return c->live;
}

static bool skip(struct cursor *c)
{
	c->fresh = false;
	return index_step(c, c->next);
}

/*
 * Terms are sorted, so how much of the key the last one shared tells most
 * others without a look at their bytes. Returns whether the entry is not
 * below key; *same is updated.
 */
static bool reached(const struct cursor *c, const struct entry *e,
		    const unsigned char *key, size_t len, size_t *same)
{
	const unsigned char *rest = c->buf + e->at;
	size_t i = 0;

	if (e->keep != *same)
		return e->keep < *same;
	while (i < e->rest && *same < len && rest[i] == key[*same])
		i++, ++*same;
	if (*same == len)
		return true;
	return i < e->rest && rest[i] > key[*same];
}

/* Bytes that the term at hand and key share, if key is behind it on the same
 * page; else -1. The classes of a term stand directly behind it. */
static int going_on(const struct cursor *c, uint32_t page,
		    const unsigned char *key, size_t len)
{
	size_t same = 0, both = len < c->term_len ? len : c->term_len;

	if (page != c->page || !c->next || c->fresh)
		return -1;
	while (same < both && c->term[same] == key[same])
		same++;
	if (same == both ? len > c->term_len : key[same] > c->term[same])
		return (int)same;
	return -1;
}

static int seek_page(struct cursor *c, const unsigned char *key, size_t len,
		     size_t same)
{
	struct entry e;

	while (c->next) {
		if (!entry_read(&e, c))
			return broken(c);
		if (reached(c, &e, key, len, &same)) {
			memcpy(c->term, key, e.keep);
			return take(c, &e) ? 0 : broken(c);
		}
		if (!skip(c))
			return broken(c);
	}
	return 0;
}

int cursor_seek(struct cursor *c, uint32_t page, const void *key, size_t len,
		bool further)
{
	int same = going_on(c, page, key, len);

	c->live = false;
	for (; page <= c->last && !c->broken; page++, same = -1) {
		int rc = same >= 0 ? 0 :
			 page == c->page ? rewind_leaf(c) : load(c, page);

		if (!rc)
			rc = seek_page(c, key, len, same < 0 ? 0 : (size_t)same);
		if (rc || c->live || !further)
			return rc;
	}
	return 0;
}

int cursor_next(struct cursor *c)
{
	struct entry e;
	int rc;

	c->live = false;
	while (!c->next) {
		if (!c->page || c->page >= c->last)
			return 0;
		if ((rc = load(c, c->page + 1)))
			return rc;
	}
	if (!entry_read(&e, c) || e.keep > c->term_len || !take(c, &e))
		return broken(c);
	return 0;
}

/* The list goes on where the next leaf begins. */
static int list_on(struct cursor *c)
{
	int rc;

	if (c->next || c->page >= c->last)
		return 0;
	if ((rc = load(c, c->page + 1)) || c->broken)
		return rc;
	c->at = LEAF_HEAD;
	c->stop = c->next ? c->next : c->end;
	c->row = 0;
	return 0;
}

int cursor_rows(struct cursor *c, struct leaf_row *rows, size_t max, size_t *n)
{
	int rc;

	*n = 0;
	while (c->live && *n < max) {
		size_t at = c->at, stop = c->stop;
		uint64_t row = c->row, by;

		for (; at < stop && *n < max; ++*n) {
			struct leaf_row *r = &rows[*n];

			if (c->buf[at] < 0x80)
				by = c->buf[at++];
			else if (!(at = varint_get(c->buf, at, stop, &by)))
				return broken(c);
			row += by;
			r->id = row > UINT32_MAX ? 0 : (uint32_t)row;
			r->gone = false;
			if (at < stop && !c->buf[at]) {
				at++;
				r->gone = at >= stop || c->buf[at];
				at += !r->gone;
			}
		}
		c->at = (uint32_t)at;
		c->row = row;
		if (at < stop)
			break;
		if ((rc = list_on(c)))
			return rc;
		if (c->at >= c->stop) /* there was no more of it */
			break;
	}
	return 0;
}

/* ---- the structure record ---- */

struct reader {
	const unsigned char *p;
	size_t at, len;
	bool bad;
};

static uint64_t number(struct reader *r)
{
	uint64_t v = 0;

	if (!r->bad)
		r->at = varint_get(r->p, r->at, r->len, &v);
	r->bad = r->bad || !r->at;
	return r->bad ? 0 : v;
}

static void read_level(struct structure *s, int level, struct reader *r)
{
	uint64_t n;

	s->level[level].merging = number(r);
	n = number(r);
	if (n > (uint64_t)(STRUCTURE_MAX_SEGMENTS - s->count))
		r->bad = true;
	s->level[level].count = r->bad ? 0 : (int)n;
	for (int i = 0; i < s->level[level].count; i++) {
		struct segment *g = &s->segments[s->count++];

		g->id = (uint32_t)number(r);
		g->first = (uint32_t)number(r);
		g->last = (uint32_t)number(r);
	}
}

bool structure_decode(struct structure *s, const void *record, size_t len)
{
	struct reader r = { record, sizeof(s->cookie), len, len < 7 };
	uint64_t levels;

	memset(s, 0, sizeof(*s));
	if (r.bad || (len >= 8 && !memcmp(r.p + 4, MARK_V2, 4)))
		return false;
	memcpy(s->cookie, record, sizeof(s->cookie));
	levels = number(&r);
	number(&r); /* of segments */
	s->writes = number(&r);
	if (r.bad || levels > STRUCTURE_MAX_LEVELS)
		return false;
	s->levels = (int)levels;
	for (int i = 0; i < s->levels && !r.bad; i++)
		read_level(s, i, &r);
	return !r.bad;
}

int structure_by_age(struct segment out[STRUCTURE_MAX_SEGMENTS],
		     const struct structure *s)
{
	int at = 0, n = s->count;

	/* Within a level the newest is the last. */
	for (int i = 0; i < s->levels; i++) {
		n -= s->level[i].count;
		memcpy(out + n, s->segments + at,
		       (size_t)s->level[i].count * sizeof(*out));
		at += s->level[i].count;
	}
	return s->count;
}

int structure_read(struct segment *out, int max, const void *record,
		   size_t len)
{
	struct segment old[STRUCTURE_MAX_SEGMENTS];
	struct structure s;
	int n;

	if (!structure_decode(&s, record, len) || s.count > max)
		return -1;
	n = structure_by_age(old, &s);
	for (int i = 0; i < n; i++)
		out[i] = old[n - 1 - i];
	return n;
}
