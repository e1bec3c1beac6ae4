/* See origin.h. Lines are looked up one by one; a note that somebody else has
 * changed is gone through once, with its known lines sorted. */
#include "memory/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/annotation.h"
#include "text/line.h"
#include "text/term.h"

static const char *const names[] = {
	[REMEM_ORIGIN_DEFAULT] = "unknown",
	[REMEM_ORIGIN_UNKNOWN] = "unknown",
	[REMEM_ORIGIN_UNTRUSTED] = "untrusted",
	[REMEM_ORIGIN_SYSTEM] = "system",
	[REMEM_ORIGIN_AGENT] = "agent",
	[REMEM_ORIGIN_OWNER] = "owner",
};

const char *origin_name(enum remem_origin o)
{
	return o > 0 && (size_t)o < ARRAY_LEN(names) ? names[o] : "unknown";
}

enum remem_origin origin_parse(const char *name)
{
	for (size_t i = 1; name && i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return (enum remem_origin)i;
	return REMEM_ORIGIN_DEFAULT;
}

enum remem_origin origin_min(enum remem_origin a, enum remem_origin b)
{
	return a < b ? a : b;
}

/* Programs that speak for a model: what comes that way is never the owner's. */
static bool is_agents(const char *via)
{
	return via && (!strncmp(via, "mcp", 3) || !strncmp(via, "hook", 4));
}

enum remem_origin origin_of(const struct remem_actor *actor)
{
	if (!actor->origin || is_agents(actor->via))
		return origin_min(actor->origin ? actor->origin :
				  REMEM_ORIGIN_AGENT, REMEM_ORIGIN_AGENT);
	return actor->origin;
}

enum remem_origin origin_of_path(const char *path)
{
	static const char *const ours[] = { "memory/dreaming/",
					    "memory/.dreams/" };

	/* What others wrote, whatever it says of its owner. */
	if (!strncmp(path, "memory/imports/", 15))
		return REMEM_ORIGIN_UNTRUSTED;
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (!strncmp(path, ours[i], strlen(ours[i])))
			return REMEM_ORIGIN_SYSTEM;
	return !strcmp(path, "DREAMS.md") ? REMEM_ORIGIN_SYSTEM :
					    REMEM_ORIGIN_OWNER;
}

/* ---- hashes ---- */

void origin_line_hash(unsigned char out[LINE_HASH_BYTES], const char *line,
		      size_t len)
{
	unsigned char full[SHA256_BYTES];
	size_t end = trim_blank(line, 0, len), from;

	from = bytes_at(line, 0, end, "\xef\xbb\xbf", 3) ? 3 : 0;
	from = skip_blank(line, from, end);
	sha256_of(full, line + from, end - from);
	memcpy(out, full, LINE_HASH_BYTES);
}

/* Past "- ", "* ", "+ ", "1. ". */
static size_t skip_mark(const char *s, size_t i, size_t end)
{
	size_t from = i;

	if (i < end && strchr("-*+", s[i]))
		i++;
	else
		while (i < end && byte_digit(s[i]))
			i++;
	if (i > from && i < end && byte_digit(s[i - 1]) &&
	    (s[i] == '.' || s[i] == ')'))
		i++;
	else if (i > from && byte_digit(s[i - 1]))
		return from;
	return i > from && i < end && byte_blank(s[i]) ? i + 1 : from;
}

/* Punctuation says nothing; a sign between digits does. */
static bool is_noise(uint32_t cp, bool inside_number)
{
	if (cp < 0x80)
		return !((cp >= '0' && cp <= '9') || (cp >= 'a' && cp <= 'z') ||
			 (cp >= 'A' && cp <= 'Z') ||
			 (inside_number && cp > ' ') || strchr("+-/%#@$=<>_",
							      (int)cp));
	return (cp >= 0x2000 && cp <= 0x206f) ||
	       (cp >= 0x3000 && cp <= 0x303f) || cp == 0xa0;
}

static size_t squeeze(char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		uint32_t cp;
		int k = utf8_decode(&cp, s + i, len - i);
		bool number = n && byte_digit(s[n - 1]) &&
			      i + (size_t)k < len && byte_digit(s[i + k]);

		if (!is_noise(cp, number)) {
			memmove(s + n, s + i, (size_t)k);
			n += (size_t)k;
		}
		i += (size_t)k;
	}
	return n;
}

/* A flush says who said it; what was said is the same without. */
static size_t skip_role(const char *s, size_t from, size_t end)
{
	static const char *const roles[] = { "User: ", "Assistant: " };

	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (bytes_at(s, from, end, roles[i], strlen(roles[i])))
			return skip_blank(s, from + strlen(roles[i]), end);
	return from;
}

bool origin_words_hash(unsigned char out[LINE_HASH_BYTES], const char *text,
		       size_t len)
{
	unsigned char full[SHA256_BYTES];
	struct arena a = ARENA_INIT;
	size_t end = len, from = skip_blank(text, 0, len), n, cap;
	char *folded;

	memset(out, 0, LINE_HASH_BYTES);
	annotation_take(&a, text, from, &end);
	end = trim_blank(text, from, end);
	from = skip_mark(text, from, end);
	from = skip_role(text, from, end);
	cap = (end - from) * 4 + 64; /* NFKC makes some longer */
	folded = arena_alloc(&a, cap);
	n = folded ? term_fold(folded, cap, text + from, end - from) : 0;
	n = folded ? squeeze(folded, n) : 0;
	if (n) {
		sha256_of(full, folded, n);
		memcpy(out, full, LINE_HASH_BYTES);
	}
	arena_release(&a);
	return n > 0;
}

/* ---- classes ---- */

static int line_origin(enum remem_origin *out, struct state *s,
		       const char *path, const char *line, size_t len,
		       enum remem_origin edits, struct remem_err *err)
{
	unsigned char hash[LINE_HASH_BYTES];
	int origin, rc;

	origin_line_hash(hash, line, len);
	rc = state_line_origin(s, path, hash, &origin, err);
	if (!rc && !origin) {
		rc = state_line_origin(s, NULL, hash, &origin, err);
		if (!origin || origin > (int)edits)
			origin = edits;
	}
	*out = (enum remem_origin)origin;
	return rc;
}

int origin_of_lines(enum remem_origin *out, struct state *s, const char *path,
		    const char *text, size_t len, enum remem_origin edits,
		    struct remem_err *err)
{
	enum remem_origin one, best = origin_of_path(path);
	int rc = 0;

	*out = best;
	if (edits > best)
		edits = best;
	for (size_t i = 0, end; i < len && !rc; i = end + 1) {
		end = line_end(text, i, len);
		if (skip_blank(text, i, end) == end)
			continue;
		rc = line_origin(&one, s, path, text + i, end - i, edits, err);
		*out = origin_min(*out, one);
	}
	return rc;
}

int origin_of_file(enum remem_origin *out, struct state *s, const char *path,
		   enum remem_origin edits, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct note_row row;
	bool found;
	int rc = state_note_get(s, &a, path, &row, &found, err);

	*out = origin_min(found ? (enum remem_origin)row.origin : edits,
			  origin_of_path(path));
	arena_release(&a);
	return rc;
}

/* ---- a note that has changed ---- */

struct known {
	struct line_row *rows;
	size_t count, cap;
	struct arena *a;
};

static int take_row(void *ctx, const struct line_row *row)
{
	struct known *k = ctx;

	k->rows = arena_grow(k->a, k->rows, &k->cap, k->count + 1,
			     sizeof(*k->rows));
	if (!k->rows)
		return REMEM_ENOMEM;
	k->rows[k->count] = *row;
	k->rows[k->count++].source = arena_strdup(k->a, row->source);
	return 0;
}

static int by_line(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;
	int d = memcmp(x->line, y->line, LINE_HASH_BYTES);

	return d ? d : (x->origin > y->origin) - (x->origin < y->origin);
}

/* The first of the rows of a line, the worst class before the others. */
static struct line_row *find(const struct known *k,
			     const unsigned char line[LINE_HASH_BYTES])
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (memcmp(k->rows[mid].line, line, LINE_HASH_BYTES) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->count &&
	       !memcmp(k->rows[low].line, line, LINE_HASH_BYTES) ?
	       &k->rows[low] : NULL;
}

struct resync {
	struct memory *m;
	struct known known;
	const char *path;
	enum remem_origin fresh, worst;
	int64_t journal;
	bool changed; /* some line is new or has another class */
};

static int put_line(struct resync *r, const char *line, size_t len,
		    struct remem_err *err)
{
	struct line_row row = { .path = r->path, .source = "",
				.origin = r->fresh,
				.at_ms = memory_now(r->m),
				.journal = r->journal };
	struct line_row *old;
	int worse, rc;

	origin_line_hash(row.line, line, len);
	old = find(&r->known, row.line);
	if (old) {
		row = *old;
		row.path = r->path;
	} else {
		origin_words_hash(row.words, line, len);
		rc = state_line_origin(r->m->state, NULL, row.line, &worse,
				       err);
		if (rc)
			return rc;
		if (worse && worse < row.origin)
			row.origin = worse;
		r->changed = true;
	}
	r->worst = origin_min(r->worst, (enum remem_origin)row.origin);
	return state_line_add(r->m->state, &row, err);
}

static int put_lines(struct resync *r, struct note_row *note,
		     const char *bytes, size_t len, struct remem_err *err)
{
	int rc = 0;

	note->lines = 0;
	for (size_t i = 0, end; i < len && !rc; i = end + 1) {
		end = line_end(bytes, i, len);
		note->lines += end < len;
		if (skip_blank(bytes, i, end) < end)
			rc = put_line(r, bytes + i, end - i, err);
	}
	return rc;
}

int origin_resync(struct note_row *row, struct arena *a, struct memory *m,
		  const char *path, const char *bytes, size_t len,
		  enum remem_origin fresh, int64_t journal,
		  struct remem_err *err)
{
	struct resync r = { m, { .a = a }, path,
			    origin_min(fresh, origin_of_path(path)),
			    origin_of_path(path), journal, false };
	struct sha256 end;
	int rc;

	if ((rc = state_line_each(m->state, path, take_row, &r.known, err)))
		return rc == REMEM_ENOMEM ? fail_nomem(err) : rc;
	if (r.known.count)
		qsort(r.known.rows, r.known.count, sizeof(*r.known.rows),
		      by_line);
	if ((rc = state_line_remove(m->state, path, 0, err)) ||
	    (rc = put_lines(&r, row, bytes, len, err)))
		return rc;
	sha256_init(&row->mid);
	sha256_add(&row->mid, bytes, len);
	end = row->mid;
	sha256_done(&end, row->hash);
	row->path = path;
	row->outside = m->edits;
	row->origin = r.worst;
	return r.changed ? state_note_seq(m->state, &row->seq, err) : 0;
}
