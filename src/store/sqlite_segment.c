/* See sqlite_segment.h. */
#include "store/sqlite_segment.h"

#include <assert.h>
#include <string.h>

#define LEAF_HEAD 4 /* where the first rowid stands, where the entries end */

size_t varint_put(unsigned char *out, uint64_t v)
{
	unsigned char b[10];
	size_t n = 0, k = 0;

	if (v < 0x80) {
		out[0] = (unsigned char)v;
		return 1;
	}
	if (v >> 56) { /* the ninth byte has eight bits */
		out[8] = (unsigned char)v;
		v >>= 8;
		for (int i = 7; i >= 0; i--, v >>= 7)
			out[i] = (unsigned char)(v | 0x80);
		return 9;
	}
	for (; v; v >>= 7)
		b[n++] = (unsigned char)(v | 0x80);
	b[0] &= 0x7f;
	while (n)
		out[k++] = b[--n];
	return k;
}

static void put_u16(unsigned char *p, size_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

/* ---- leaves ---- */

static void leaf_begin(struct segment_out *w)
{
	memset(w->buf, 0, LEAF_HEAD);
	w->len = LEAF_HEAD;
	w->index_len = w->place = 0;
	w->list_first = true;
}

void segment_begin(struct segment_out *w, uint32_t segment)
{
	w->segment = segment;
	w->page = 1;
	w->term_len = w->key_len = 0;
	w->key_page = 1; /* its entry is the empty text */
	leaf_begin(w);
}

static int leaf_flush(struct segment_out *w, struct remem_err *err)
{
	int rc;

	put_u16(w->buf + 2, w->len);
	memcpy(w->buf + w->len, w->index, w->index_len);
	rc = w->leaf(w->ctx, w->segment, w->page++, w->buf,
		     w->len + w->index_len, err);
	leaf_begin(w);
	return rc;
}

static int entry_flush(struct segment_out *w, struct remem_err *err)
{
	uint32_t page = w->key_page;

	w->key_page = 0;
	return page ? w->entry(w->ctx, w->segment, w->key, w->key_len, page,
			       err) : 0;
}

static size_t shared(const struct segment_out *w, const unsigned char *term,
		     size_t len)
{
	size_t most = len < w->term_len ? len : w->term_len, n = 0;

	while (n < most && term[n] == w->term[n])
		n++;
	return n;
}

/* The first term of a leaf other than the first one. */
static int new_key(struct segment_out *w, const void *term, size_t keep,
		   size_t len, struct remem_err *err)
{
	int rc = entry_flush(w, err);

	w->key_len = keep + 1 < len ? keep + 1 : len;
	memcpy(w->key, term, w->key_len);
	w->key_page = w->page;
	return rc;
}

int segment_term(struct segment_out *w, const void *term, size_t len,
		 struct remem_err *err)
{
	size_t keep = shared(w, term, len);
	int rc = 0;

	assert(len && len <= LEAF_TERM_MAX);
	if (w->len > LEAF_HEAD &&
	    w->len + w->index_len + len + 2 >= LEAF_BYTES &&
	    (rc = leaf_flush(w, err)))
		return rc;
	w->index_len += varint_put(w->index + w->index_len, w->len - w->place);
	if (w->place) {
		w->place = w->len;
		w->len += varint_put(w->buf + w->len, keep);
	} else {
		if (w->page > 1 && (rc = new_key(w, term, keep, len, err)))
			return rc;
		w->place = w->len;
		keep = 0;
	}
	w->len += varint_put(w->buf + w->len, len - keep);
	memcpy(w->buf + w->len, (const unsigned char *)term + keep, len - keep);
	w->len += len - keep;
	memcpy(w->term, term, len);
	w->term_len = len;
	w->list_first = true;
	return 0;
}

int segment_row(struct segment_out *w, uint64_t row, struct remem_err *err)
{
	if (w->len == LEAF_HEAD) /* the list goes on from the leaf before */
		put_u16(w->buf, LEAF_HEAD);
	w->len += varint_put(w->buf + w->len,
			     w->list_first ? row : row - w->row);
	w->row = row;
	w->list_first = false;
	return w->len + w->index_len < LEAF_BYTES ? 0 : leaf_flush(w, err);
}

int segment_end(struct segment_out *w, uint32_t *last, struct remem_err *err)
{
	int rc = w->len > LEAF_HEAD ? leaf_flush(w, err) : 0;

	*last = w->page - 1;
	return rc || !*last ? rc : entry_flush(w, err);
}

/* ---- the structure record ---- */

bool structure_add(struct structure *s, int level, const struct segment *add)
{
	int at = 0;

	if (s->count == STRUCTURE_MAX_SEGMENTS || level >= STRUCTURE_MAX_LEVELS)
		return false;
	while (s->levels <= level) {
		s->level[s->levels].merging = 0;
		s->level[s->levels++].count = 0;
	}
	for (int i = 0; i <= level; i++)
		at += s->level[i].count;
	memmove(s->segments + at + 1, s->segments + at,
		(size_t)(s->count - at) * sizeof(*add));
	s->segments[at] = *add;
	s->level[level].count++;
	s->count++;
	return true;
}

void structure_clear(struct structure *s, int level)
{
	int at = 0, n = s->level[level].count;

	for (int i = 0; i < level; i++)
		at += s->level[i].count;
	memmove(s->segments + at, s->segments + at + n,
		(size_t)(s->count - at - n) * sizeof(*s->segments));
	s->level[level].count = 0;
	s->level[level].merging = 0;
	s->count -= n;
}

uint32_t structure_free_id(const struct structure *s)
{
	uint32_t id = 1;

	for (int i = 0; i < s->count; i++)
		if (s->segments[i].id == id) {
			id++;
			i = -1;
		}
	return id;
}

size_t structure_encode(unsigned char *out, const struct structure *s)
{
	size_t n = sizeof(s->cookie);
	const struct segment *g = s->segments;

	memcpy(out, s->cookie, n);
	n += varint_put(out + n, (uint64_t)s->levels);
	n += varint_put(out + n, (uint64_t)s->count);
	n += varint_put(out + n, s->writes);
	for (int i = 0; i < s->levels; i++) {
		n += varint_put(out + n, s->level[i].merging);
		n += varint_put(out + n, (uint64_t)s->level[i].count);
		for (int k = 0; k < s->level[i].count; k++, g++) {
			n += varint_put(out + n, g->id);
			n += varint_put(out + n, g->first);
			n += varint_put(out + n, g->last);
		}
	}
	return n;
}
