/*
 * The text of a question. Quotation marks count in pairs only; a straight
 * single quote opens at the front of a word and closes behind one, so that
 * apostrophes are none. Time words are looked for in the folded text and
 * brought back to bytes of the source.
 */
#include "text/question.h"

#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "text/fold.h"
#include "text/query.h"

#define TAIL_BYTES 1024
/* Folded text that is looked at for time words: expansions beyond that (one
 * character can become eighteen) are no sentence. */
#define FOLDED_MAX(len) (4 * (len) + 16)
/* Far from here relative dates would leave the calendar. */
#define DAY_MIN -700000
#define DAY_MAX 2900000

static bool is_blank(uint32_t cp)
{
	return cp <= 0x20 || cp == 0x7f || cp == 0xa0 || cp == 0x3000 ||
	       cp == 0x200b || cp == 0xfeff || cp == 0x85 ||
	       (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029;
}

static void trim(const char **s, size_t *len)
{
	const char *p = *s;
	size_t n = *len, bytes, end, at;

	while (n && is_blank(fold_decode(p, n, &bytes))) {
		p += bytes;
		n -= bytes;
	}
	for (end = n; end; end = at) {
		for (at = end - 1; at && end - at < 4 &&
				   ((unsigned char)p[at] & 0xc0) == 0x80;)
			at--;
		if (!is_blank(fold_decode(p + at, n - at, &bytes)) ||
		    at + bytes < end)
			break;
	}
	*s = p;
	*len = end;
}

/* First 3072 and last 1024 bytes, cut between characters. */
static char *bounded(struct arena *a, const char *s, size_t *len)
{
	size_t head, tail;
	char *out;

	if (*len <= QUERY_MAX_BYTES)
		return arena_strndup(a, s, *len);
	head = utf8_cut(s, *len, QUERY_MAX_BYTES - TAIL_BYTES - 1);
	tail = *len - TAIL_BYTES;
	for (int i = 0; i < 3 && ((unsigned char)s[tail] & 0xc0) == 0x80; i++)
		tail++;
	out = arena_alloc(a, head + 1 + (*len - tail) + 1);
	if (!out)
		return NULL;
	memcpy(out, s, head);
	out[head] = '\n';
	memcpy(out + head + 1, s + tail, *len - tail);
	*len = head + 1 + (*len - tail);
	return out;
}

/* Bytes that are no UTF-8, and NULs, become blanks. */
static void clean(char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = utf8_valid_prefix(s + i, len - i);

		for (char *nul; (nul = memchr(s + i, '\0', n));)
			*nul = ' ';
		i += n;
		if (i < len)
			s[i++] = ' ';
	}
}

/* ---- quotation marks -------------------------------------------------- */

struct marks {
	uint32_t open, close;
};

static const struct marks marks[] = {
	{ '"', '"' },	    { '`', '`' },	{ '\'', '\'' },
	{ 0x201c, 0x201d }, { 0x2018, 0x2019 }, { 0x300c, 0x300d },
	{ 0x300e, 0x300f }, { 0xff02, 0xff02 }, { 0xab, 0xbb },
	{ 0x201e, 0x201c },
};

/* True when a letter or digit stands at i (on its left side: before it). */
static bool letter_at(const char *s, size_t len, size_t i, bool before)
{
	size_t k = i, bytes;
	enum fold_kind kind;

	if (before) {
		if (i == 0)
			return false;
		for (k = i - 1; k > 0 && ((unsigned char)s[k] & 0xc0) == 0x80;)
			k--;
	}
	if (k >= len)
		return false;
	kind = FOLD_KIND(fold_entry(fold_decode(s + k, len - k, &bytes)));
	return kind == FOLD_WORD || kind == FOLD_DIGIT;
}

/* Where the mark closes that opened before at; len if nowhere. */
static size_t find_close(const char *s, size_t len, size_t at,
			 const struct marks *m)
{
	bool single = m->open == '\'' || m->open == 0x2018;
	size_t bytes;

	for (size_t i = at; i < len; i += bytes) {
		uint32_t cp = fold_decode(s + i, len - i, &bytes);

		if (cp == m->close && i > at &&
		    !(single && letter_at(s, len, i + bytes, false)))
			return i;
	}
	return len;
}

static void find_quotes(struct question *w)
{
	const char *s = w->text;
	bool unclosed[ARRAY_LEN(marks)] = { false };
	size_t bytes, close;

	for (size_t i = 0; i < w->len; i += bytes) {
		uint32_t cp = fold_decode(s + i, w->len - i, &bytes);
		size_t k = 0;

		while (k < ARRAY_LEN(marks) && marks[k].open != cp)
			k++;
		if (k == ARRAY_LEN(marks) || unclosed[k] ||
		    w->quote_count == QUESTION_QUOTES ||
		    (cp == '\'' && letter_at(s, w->len, i, true)))
			continue;
		close = find_close(s, w->len, i + bytes, &marks[k]);
		if (close == w->len) {
			unclosed[k] = true;
			continue;
		}
		w->quotes[w->quote_count++] = (struct span){ i + bytes, close };
		fold_decode(s + close, w->len - close, &bytes);
		bytes += close - i;
	}
}

/* ---- time words ------------------------------------------------------- */

/* Folds text; byte i of it was made from source bytes [from[i], to[i]). */
static size_t fold_with_map(const struct question *w, char *out, uint32_t *from,
			    uint32_t *to)
{
	struct fold_at p = { 0, 0 };
	struct fold_ch ch;
	size_t n = 0;

	while (n + 4 <= FOLDED_MAX(w->len) &&
	       fold_look(&ch, w->text, w->len, p)) {
		size_t k = (size_t)utf8_encode(out + n, ch.cp);

		for (; k; k--, n++) {
			from[n] = (uint32_t)ch.start;
			to[n] = (uint32_t)ch.end;
		}
		p = ch.after;
	}
	return n;
}

static void find_times(struct question *w, struct arena *a, int32_t today)
{
	size_t cap = FOLDED_MAX(w->len);
	char *folded = arena_alloc(a, cap);
	uint32_t *from = ARENA_ARRAY(a, uint32_t, cap);
	uint32_t *to = ARENA_ARRAY(a, uint32_t, cap);
	int count, kept = 0;
	size_t n;

	if (a->failed || today < DAY_MIN || today > DAY_MAX)
		return;
	n = fold_with_map(w, folded, from, to);
	count = time_scan(w->times, QUESTION_TIMES, folded, n, today);
	for (int i = 0; i < count; i++) {
		struct time_span t = w->times[i];

		t.end = to[t.end - 1];
		t.start = from[t.start];
		if (!question_quoted(w, t.start, t.end))
			w->times[kept++] = t;
	}
	w->time_count = kept;
}

/* ---- all of it -------------------------------------------------------- */

void question_read(struct question *w, struct arena *a, const char *text,
		   size_t len, int32_t today)
{
	char *copy;

	memset(w, 0, sizeof(*w));
	w->text = "";
	trim(&text, &len);
	copy = bounded(a, text, &len);
	if (!copy)
		return;
	clean(copy, len);
	w->text = copy;
	w->len = len;
	find_quotes(w);
	find_times(w, a, today);
}

bool question_quoted(const struct question *w, size_t start, size_t end)
{
	for (int i = 0; i < w->quote_count; i++)
		if (start >= w->quotes[i].start && end <= w->quotes[i].end)
			return true;
	return false;
}

const struct time_span *question_time(const struct question *w, size_t start,
				      size_t end)
{
	for (int i = 0; i < w->time_count; i++)
		if (start < w->times[i].end && end > w->times[i].start)
			return &w->times[i];
	return NULL;
}
