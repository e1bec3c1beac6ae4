/* See sqlite_pack.h. Nothing here trusts the bytes that are read. */
#include "store/sqlite_pack.h"

#include <string.h>

#include "base/clock.h"

enum pack_flag { /* stored */
	HAS_CONTINUES = 1,
	HAS_IMPORTANCE = 2,
	HAS_OBSERVED = 4,
	HAS_PROJECT = 8,
	HAS_STATUS = 16,
	HAS_ORIGIN = 32,
	HAS_TRIGGERS = 64,
	SAME_ORIGIN = 128 /* as the passage before */
};

#define KIND_BITS 3
#define KIND_MASK ((1u << KIND_BITS) - 1)
#define LINES_MAX (INT32_MAX / 4) /* sums stay numbers */
#define DATE_BIAS ((int64_t)1 << 31)

_Static_assert(PASSAGE_MESSAGE <= KIND_MASK, "a kind has three bits");
_Static_assert(SCRIPT_COUNT <= 32, "a script has five bits");

/* ---- writing ---- */

static void put_number(struct buf *b, uint64_t v)
{
	char room[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		room[n++] = (char)(v | 0x80);
	room[n++] = (char)v;
	buf_add(b, room, n);
}

/* What is small either way: 0, -1, 1, -2 … */
static void put_signed(struct buf *b, int64_t v)
{
	put_number(b, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

static void put_text(struct buf *b, const char *s)
{
	if (!s)
		return;
	put_number(b, strlen(s));
	buf_adds(b, s);
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static unsigned flags_of(const struct pack_writer *w,
			 const struct store_passage *p)
{
	return (p->continues ? HAS_CONTINUES : 0) |
	       (p->importance ? HAS_IMPORTANCE : 0) |
	       (p->observed != DATE_NONE ? HAS_OBSERVED : 0) |
	       (p->project ? HAS_PROJECT : 0) | (p->status ? HAS_STATUS : 0) |
	       (same_text(p->origin, w->origin) ? SAME_ORIGIN :
		p->origin ? HAS_ORIGIN : 0) |
	       (p->triggers ? HAS_TRIGGERS : 0);
}

void pack_passage(struct pack_writer *w, const struct store_passage *p,
		  int line, int lines, int64_t heading)
{
	unsigned flags = flags_of(w, p);
	struct buf *b = w->out;

	put_signed(b, (int64_t)p->start - w->end);
	put_number(b, p->len);
	put_signed(b, (int64_t)line - w->line);
	put_number(b, (uint64_t)(lines - 1));
	put_number(b, (uint64_t)heading);
	buf_addc(b, (char)((unsigned)p->kind |
			   (unsigned)p->script << KIND_BITS));
	buf_addc(b, (char)flags);
	if (p->importance)
		buf_addc(b, (char)p->importance);
	if (p->observed != DATE_NONE)
		put_number(b, (uint64_t)(p->observed + DATE_BIAS));
	put_text(b, p->project);
	put_text(b, p->status);
	put_text(b, flags & HAS_ORIGIN ? p->origin : NULL);
	put_text(b, p->triggers);
	w->end = p->start + p->len;
	w->line = line;
	w->origin = p->origin;
}

/* ---- reading ---- */

static bool get_number(struct pack_reader *r, uint64_t most, uint64_t *out)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 63 && r->at < r->end; shift += 7) {
		unsigned char b = *r->at++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*out = v;
			return v <= most;
		}
	}
	return false;
}

static bool get_signed(struct pack_reader *r, int64_t before, int64_t most,
		       int64_t *out)
{
	uint64_t v;

	if (!get_number(r, UINT32_MAX * (uint64_t)2, &v))
		return false;
	*out = before + ((int64_t)(v >> 1) ^ -(int64_t)(v & 1));
	return *out >= 0 && *out <= most;
}

static bool get_text(struct pack_reader *r, struct arena *a, bool has,
		     const char **out)
{
	uint64_t len;

	*out = NULL;
	if (!has)
		return true;
	if (!get_number(r, UINT32_MAX, &len) ||
	    len > (uint64_t)(r->end - r->at))
		return false;
	*out = arena_strndup(a, (const char *)r->at, (size_t)len);
	r->at += len;
	return *out != NULL;
}

static bool get_notes(struct pack_reader *r, struct arena *a, unsigned flags,
		      struct store_passage *p)
{
	uint64_t date;

	if (flags & HAS_IMPORTANCE) {
		if (r->at >= r->end)
			return false;
		p->importance = *r->at++;
	}
	if (flags & HAS_OBSERVED) {
		if (!get_number(r, UINT32_MAX, &date))
			return false;
		p->observed = (int32_t)((int64_t)date - DATE_BIAS);
	}
	if (!get_text(r, a, flags & HAS_PROJECT, &p->project) ||
	    !get_text(r, a, flags & HAS_STATUS, &p->status) ||
	    !get_text(r, a, flags & HAS_ORIGIN, &p->origin) ||
	    !get_text(r, a, flags & HAS_TRIGGERS, &p->triggers))
		return false;
	if (flags & SAME_ORIGIN)
		p->origin = r->origin;
	r->origin = p->origin;
	return true;
}

bool pack_next(struct pack_reader *r, struct arena *a, struct store_passage *p,
	       int64_t *heading)
{
	uint64_t len, lines, head;
	int64_t start, line;
	unsigned flags;

	if (!get_signed(r, r->passage_end, UINT32_MAX, &start) ||
	    !get_number(r, UINT32_MAX - (uint64_t)start, &len) ||
	    !get_signed(r, r->line, LINES_MAX, &line) ||
	    !get_number(r, LINES_MAX, &lines) ||
	    !get_number(r, INT64_MAX, &head) || r->end - r->at < 2)
		return false;
	p->start = (uint32_t)start;
	p->len = (uint32_t)len;
	p->line_first = (int)line;
	p->line_last = (int)(line + (int64_t)lines);
	*heading = (int64_t)head;
	p->kind = (enum passage_kind)(r->at[0] & KIND_MASK);
	p->script = (enum script)(r->at[0] >> KIND_BITS);
	if (p->kind > PASSAGE_MESSAGE || p->script >= SCRIPT_COUNT)
		return false;
	flags = r->at[1];
	p->continues = flags & HAS_CONTINUES;
	p->observed = DATE_NONE;
	r->at += 2;
	r->passage_end = p->start + p->len;
	r->line = (int)line;
	return get_notes(r, a, flags, p);
}
