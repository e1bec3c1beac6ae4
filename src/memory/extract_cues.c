/*
 * Cues by the hash of their first three bytes: each place of a sentence costs
 * one look into a table, however many cues there are.
 */
#include "memory/extract_cues.h"

#include <string.h>

#include "base/alloc.h"

#define BUCKETS 2048
#define MATCHES 48 /* of a sentence; more is no sentence */

enum { USER = 16, MODEL = 32, ASKED = 64, KIND_BITS = 15 };

#define KIND(n, value)                                                       \
	CUE_IS_##n = (value), CUE_IS_##n##_USER = (value) | USER,            \
	CUE_IS_##n##_MODEL = (value) | MODEL,                                \
	CUE_IS_##n##_ASKED = (value) | ASKED
enum {
	KIND(DECISION, EXTRACT_DECISION),
	KIND(PREFERENCE, EXTRACT_PREFERENCE),
	KIND(TASK, EXTRACT_TASK),
	KIND(PERSON, EXTRACT_PERSON),
	KIND(IDENTIFIER, EXTRACT_IDENTIFIER),
	KIND(ERROR, EXTRACT_ERROR),
	KIND(DATE, EXTRACT_DATE),
	KIND(WHEN, CUE_WHEN),
	KIND(NONE, CUE_NONE)
};

static const struct row {
	const char *texts;
	unsigned char is;
	signed char points;
} rows[] = {
#define CUES(texts, kind, points) { texts, CUE_IS_##kind, points },
#include "memory/extract_cues.def"
#undef CUES
};

struct cue { /* made ready */
	const char *text;
	unsigned short len, next; /* of its bucket, + 1 */
	unsigned char is;
	signed char points;
	bool start, open; /* "^" and "*" */
};

struct cue_index {
	unsigned short heads[BUCKETS]; /* + 1 */
	struct cue *cues;
	size_t n;
};

/* The next of a row's texts; false when there is none. */
static bool next_text(const char **text, size_t *len, const char **at)
{
	*text = *at;
	*len = strcspn(*at, ";");
	if (!*len)
		return false;
	*at += *len;
	*at += strspn(*at, "; ");
	return true;
}

/* Two bytes do for a cue of two; the third is then a blank, as in a text. */
static unsigned bucket(const char *s, size_t len)
{
	unsigned h = (unsigned char)s[0];

	h = h * 251 + (unsigned char)(len > 1 ? s[1] : 0);
	if ((unsigned char)s[0] >= 0x80)
		h = h * 251 + (unsigned char)(len > 2 ? s[2] : 0);
	return (h * 2654435761u) >> 21;
}

static size_t count_cues(void)
{
	size_t n = 0, len;
	const char *text, *at;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (at = rows[i].texts; next_text(&text, &len, &at);)
			n++;
	return n;
}

static void add_cue(struct cue_index *x, const struct row *row,
		    const char *text, size_t len)
{
	struct cue *c = &x->cues[x->n++];
	unsigned b;

	c->is = row->is;
	c->points = row->points;
	c->start = text[0] == '^';
	c->open = text[len - 1] == '*';
	c->text = text + c->start;
	c->len = (unsigned short)(len - c->start - c->open);
	b = bucket(c->text, c->len);
	c->next = x->heads[b];
	x->heads[b] = (unsigned short)x->n;
}

int cue_index_new(struct cue_index **out, struct remem_err *err)
{
	struct cue_index *x = mem_zalloc(sizeof(*x));
	const char *text, *at;
	size_t len;

	_Static_assert(BUCKETS == 1 << 11, "bucket() gives 11 bits");
	*out = x;
	if (!x || !(x->cues = mem_zarray(count_cues(), sizeof(*x->cues))))
		return fail_nomem(err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (at = rows[i].texts; next_text(&text, &len, &at);)
			add_cue(x, &rows[i], text, len);
	return 0;
}

void cue_index_free(struct cue_index *x)
{
	if (!x)
		return;
	mem_free(x->cues);
	mem_free(x);
}

bool cue_text_at(const struct cue_index *x, size_t i, const char **text,
		 size_t *len)
{
	if (i >= x->n)
		return false;
	*text = x->cues[i].text;
	*len = x->cues[i].len;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool fits(const struct cue *r, const char *s, size_t len, size_t at,
		 size_t start)
{
	size_t end = at + r->len;

	if (r->len > len - at || memcmp(r->text, s + at, r->len) != 0 ||
	    (r->start && at != start))
		return false;
	return r->open || end == len || !is_letter(r->text[r->len - 1]) ||
	       !is_letter(s[end]);
}

struct match {
	unsigned short at, end;
	const struct cue *cue;
};

struct scan {
	struct match m[MATCHES];
	int n;
	bool user;
};

static void look(struct scan *sc, const struct cue_index *x, const char *s,
		 size_t len, size_t at, size_t start)
{
	unsigned short i = x->heads[bucket(s + at, len - at)];

	for (; i && sc->n < MATCHES; i = x->cues[i - 1].next) {
		const struct cue *c = &x->cues[i - 1];

		if ((c->is & USER && !sc->user) ||
		    (c->is & MODEL && sc->user) || !fits(c, s, len, at, start))
			continue;
		sc->m[sc->n++] = (struct match){
			(unsigned short)at, (unsigned short)(at + c->len), c
		};
	}
}

static bool stronger(int a, int b, int kind)
{
	return kind == CUE_NONE ? a < b : a > b;
}

static void count(struct cue_points *p, const struct scan *sc, int kind)
{
	const struct match *best = NULL;

	for (int i = 0; i < sc->n; i++) {
		const struct cue *c = sc->m[i].cue;

		if ((c->is & KIND_BITS) != kind ||
		    !stronger(c->points, p->best[kind], kind))
			continue;
		p->best[kind] = c->points;
		best = &sc->m[i];
	}
	for (int i = 0; best && i < sc->n; i++) {
		const struct match *m = &sc->m[i];
		const struct cue *c = m->cue;

		if ((c->is & KIND_BITS) == kind &&
		    (m->at >= best->end || m->end <= best->at) &&
		    stronger(c->points, p->second[kind], kind))
			p->second[kind] = c->points;
	}
}

void cue_scan(struct cue_points *p, const struct cue_index *x, const char *s,
	      size_t len, bool user)
{
	struct scan sc = { .user = user };
	size_t start = 0, at;

	while (start < len && strchr("*_`\"'(- ", s[start]) && s[start])
		start++;
	for (at = start; at < len; at++) {
		unsigned char c = (unsigned char)s[at];

		if (c == ' ' || (c & 0xc0) == 0x80 ||
		    (at && is_letter(s[at]) && is_letter(s[at - 1])))
			continue;
		look(&sc, x, s, len, at, start);
	}
	memset(p, 0, sizeof(*p));
	for (int kind = 0; kind < CUE_KINDS; kind++)
		count(p, &sc, kind);
	for (int i = 0; i < sc.n; i++)
		p->asked |= (sc.m[i].cue->is & ASKED) != 0;
}
