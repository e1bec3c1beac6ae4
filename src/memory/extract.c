/*
 * See extract.h. The points are judged on the labelled sentences of
 * test/unit/u_extract.c: precision before recall, since a wrong line is read
 * by every later conversation and a missed one is still in its transcript.
 */
#include "memory/extract.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "memory/alike.h"
#include "memory/extract_cues.h"
#include "text/suspect.h"
#include "text/term.h"

#define MIN_WORDS 3
#define MIN_HAN 5 /* "我对花生过敏" has six */
#define CANDIDATES 4096
#define KNOWN 4096
#define PASTED_BYTES 6000 /* nobody types that much */

static const char *const names[EXTRACT_KINDS] = {
	"decision", "preference", "todo", "person", "identifier", "error",
	"date"
};

struct extract {
	struct extract_opts o;
	struct arena a;
	struct cue_index *cues;
	struct extract_entry *found;
	size_t n, cap;
	struct alike *known;
	size_t known_n, known_cap;
	struct extract_stats stats;
	char *folded; /* EXTRACT_FOLDED bytes */
};

const char *extract_kind_name(enum extract_kind kind)
{
	return names[kind];
}

int extract_new(struct extract **out, const struct extract_opts *o,
		struct remem_err *err)
{
	struct extract *x = mem_zalloc(sizeof(*x));
	int rc;

	*out = NULL;
	if (!x)
		return fail_nomem(err);
	x->o = *o;
	if (!x->o.max_entries)
		x->o.max_entries = EXTRACT_MAX_ENTRIES;
	if (!x->o.max_bytes)
		x->o.max_bytes = EXTRACT_MAX_BYTES;
	x->folded = arena_alloc(&x->a, EXTRACT_FOLDED + 1);
	rc = cue_index_new(&x->cues, err);
	if (!rc && x->a.failed)
		rc = fail_nomem(err);
	if (rc)
		extract_free(x);
	else
		*out = x;
	return rc;
}

void extract_free(struct extract *x)
{
	if (!x)
		return;
	cue_index_free(x->cues);
	arena_release(&x->a);
	mem_free(x);
}

void extract_known(struct extract *x, const char *line, size_t len)
{
	if (x->known_n >= KNOWN)
		return;
	x->known = arena_grow(&x->a, x->known, &x->known_cap, x->known_n + 1,
			      sizeof(*x->known));
	if (!x->known)
		return;
	alike_make(&x->known[x->known_n], line, len);
	x->known_n += x->known[x->known_n].n > 0;
}

/* ---- what a sentence is made of ---------------------------------------- */

struct sentence {
	const char *s; /* as written */
	size_t len;
	const char *folded;
	size_t folded_len;
	bool question, identifier, date;
	struct cue_points p;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_token(char c)
{
	return is_digit(c) || is_alpha(c) || (c && strchr("_./:@#-+~%", c));
}

struct shape { /* of a word */
	int digits, letters, points, marks; /* marks: _ / @ : */
	bool dotted;
};

static struct shape shape_of(const char *s, size_t len)
{
	struct shape h = { 0 };

	for (size_t i = 0; i < len; i++) {
		h.digits += is_digit(s[i]);
		h.letters += is_alpha(s[i]);
		h.points += s[i] == '.';
		h.marks += s[i] == '_' || s[i] == '/' || s[i] == '@' ||
			   (s[i] == ':' && i && i + 1 < len);
		h.dotted |= s[i] == '.' && i && i + 1 < len &&
			    is_alpha(s[i - 1]) && is_alpha(s[i + 1]) && len > 4;
	}
	return h;
}

/* "3pm", "2nd", "10k", "1.5h": a number with its unit. */
static bool is_quantity(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && (is_digit(s[i]) || s[i] == '.' || s[i] == ':'))
		i++;
	if (!i)
		return false;
	return len - i <= 2;
}

/* "and/or", "he/she", "input/output" are two words. */
static bool is_identifier(const char *s, size_t len)
{
	struct shape h = shape_of(s, len);

	if (len < 3)
		return false;
	if (h.marks >= 2 || (h.marks && (s[0] == '/' || s[0] == '~' ||
					 h.digits || memchr(s, '_', len) ||
					 memchr(s, '@', len))))
		return h.letters > 0;
	if (h.dotted || (s[0] == '#' && h.digits))
		return true;
	if (h.digits && h.letters)
		return !is_quantity(s, len);
	if (h.letters)
		return false;
	if (h.digits >= 7)
		return true; /* 992-118-4410 */
	return memchr(s, '.', len) ? h.points >= 2 : h.digits >= 4 &&
							 h.digits == (int)len;
}

static bool has_identifier(const char *s, size_t len)
{
	for (size_t i = 0, end; i < len; i = end + 1) {
		size_t to;

		for (end = i; end < len && is_token(s[end]); end++)
			;
		for (to = end; to > i && strchr(".:-", s[to - 1]); to--)
			;
		if (to > i && is_identifier(s + i, to - i))
			return true;
		if (end < len && s[end] == '`' && end + 3 < len &&
		    memchr(s + end + 1, '`', len - end - 1))
			return true;
	}
	return false;
}

/* Lower case, half width, simplified; the typographic apostrophe as typed. */
static size_t fold(char *out, const char *s, size_t len)
{
	size_t n = 0, i;

	for (i = 0; i < len && (unsigned char)s[i] < 0x80; i++) {
		char c = s[i];

		c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		out[i] = c == '\t' ? ' ' : c;
	}
	if (i == len)
		return len;
	len = term_fold(out, EXTRACT_FOLDED, s, len);
	for (i = 0; i < len; n++) {
		if (len - i >= 3 && !memcmp(out + i, "\xe2\x80\x99", 3)) {
			out[n] = '\'';
			i += 3;
		} else {
			out[n] = out[i++];
		}
	}
	return n;
}

static bool is_question(const char *s, size_t len)
{
	static const char *const ends[] = { "吗", "呢", "吧?", "么" };

	while (len && strchr(" .!\"')*`", s[len - 1]))
		len--;
	if (len >= 3 && !memcmp(s + len - 3, "。", 3))
		len -= 3;
	if (len && s[len - 1] == '?')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len >= n && !memcmp(s + len - n, ends[i], n))
			return true;
	}
	return false;
}

/* Enough of it to be understood later, and language rather than code. */
static bool is_language(const char *s, size_t len)
{
	size_t words = 0, wide = 0, odd = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0xe0)
			wide++;
		else if (is_alpha((char)c) || c >= 0xc0)
			letters++, words += !i || !is_alpha(s[i - 1]);
		else if (strchr("{}[]()<>=;|&^$\\", (char)c) && c)
			odd++;
	}
	if (odd * 8 > letters + wide * 2)
		return false;
	return wide >= MIN_HAN || words >= MIN_WORDS ||
	       (wide >= 3 && words >= 1);
}

/* 12 月 4 日, 九月, 三十号: with blanks as people type them. */
static bool has_han_date(const char *s)
{
	static const char *const units[] = { "月", "号", "日" };
	static const char digits[] = "一二三四五六七八九十";

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		const char *at = s;

		while ((at = strstr(at, units[i]))) {
			const char *p = at;
			char before[4] = "";

			at += 3;
			while (p > s && p[-1] == ' ')
				p--;
			if (p > s && is_digit(p[-1]))
				return true;
			if (p - s < 3)
				continue;
			memcpy(before, p - 3, 3);
			if (strstr(digits, before))
				return true;
		}
	}
	return false;
}

/* 2026-12-18, 18.12., 12/18: the other forms have a cue (WHEN). */
static bool has_numeric_date(const char *s, size_t len)
{
	for (size_t i = 1; i + 1 < len; i++) {
		bool iso = s[i] == '-' && i >= 4 && i + 5 < len;

		if (!is_digit(s[i - 1]) || !is_digit(s[i + 1]))
			continue;
		if (iso && is_digit(s[i - 4]) && is_digit(s[i + 2]) &&
		    s[i + 3] == '-' && is_digit(s[i + 4]))
			return true;
		if (s[i] == '/' && (i < 3 || s[i - 3] == ' ') &&
		    (i + 3 >= len || !is_digit(s[i + 3])))
			return true;
		if (s[i] == '.' && ((i + 2 < len && s[i + 2] == '.') ||
				    (i + 3 < len && s[i + 3] == '.')))
			return true;
	}
	return false;
}

static bool has_date(const struct sentence *st)
{
	return st->p.best[CUE_WHEN] || has_han_date(st->folded) ||
	       has_numeric_date(st->folded, st->folded_len);
}

/* ---- points ------------------------------------------------------------ */

static int points_of(const struct sentence *st, int kind)
{
	int points = st->p.best[kind];

	if (!points)
		return 0;
	points += st->p.second[kind] > 0;
	if (kind == EXTRACT_IDENTIFIER)
		return st->identifier ? points + 1 : 0;
	if (kind == EXTRACT_DATE)
		return st->date ? points + 1 : 0;
	if (kind == EXTRACT_TASK)
		points += st->date;
	if (kind == EXTRACT_ERROR)
		points += st->identifier;
	return points;
}

/* Points needed: more of a model, of what was pasted. */
static int bar_of(const struct extract_text *t, int kind)
{
	int bar = EXTRACT_POINTS;

	if (!t->user && kind == EXTRACT_PREFERENCE)
		return 1000;
	bar += !t->user;
	bar += t->user && t->len > PASTED_BYTES;
	return bar;
}

static bool has_cue(const struct cue_points *p)
{
	for (int k = 0; k < EXTRACT_KINDS; k++)
		if (p->best[k])
			return true;
	return false;
}

static bool judge(struct sentence *st, const struct extract_text *t,
		  enum extract_kind *kind, int *score)
{
	int best = -1000, less = st->p.best[CUE_NONE] + st->p.second[CUE_NONE];

	if ((st->question && !st->p.asked) || !has_cue(&st->p))
		return false;
	st->identifier = has_identifier(st->s, st->len);
	st->date = has_date(st);
	for (int k = 0; k < EXTRACT_KINDS; k++) {
		int points = points_of(st, k), over;

		/* A question asks one thing; what it doubts is no matter. */
		if (points && !st->p.asked)
			points += less;
		over = points - bar_of(t, k);
		if (over > best) {
			best = over;
			*kind = (enum extract_kind)k;
		}
	}
	*score = (best + EXTRACT_POINTS) * 10 + (t->user ? 8 : 0) +
		 (st->identifier ? 3 : 0) + (st->date ? 3 : 0) -
		 (t->untrusted ? 5 : 0);
	return best >= 0;
}

static void keep(struct extract *x, const char *s, size_t len,
		 enum extract_kind kind, int score,
		 const struct extract_text *t)
{
	struct extract_entry *e;
	char *text;

	if (x->n >= CANDIDATES) {
		x->stats.beyond++;
		return;
	}
	x->found = arena_grow(&x->a, x->found, &x->cap, x->n + 1,
			      sizeof(*x->found));
	text = arena_strndup(&x->a, s, len);
	if (!x->found || !text)
		return;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	e = &x->found[x->n++];
	*e = (struct extract_entry){ text, len, kind, score, t->user,
				     t->untrusted, t->line };
	x->stats.found++;
}

static void sentence(struct extract *x, const char *s, size_t len,
		     const struct extract_text *t)
{
	struct sentence st = { .s = s, .len = len, .folded = x->folded };
	enum extract_kind kind = EXTRACT_DECISION;
	int score;

	x->stats.sentences++;
	if (len > EXTRACT_SENTENCE_BYTES || !is_language(s, len))
		return;
	st.folded_len = fold(x->folded, s, len);
	x->folded[st.folded_len] = '\0';
	st.question = is_question(st.folded, st.folded_len);
	cue_scan(&st.p, x->cues, st.folded, st.folded_len, t->user);
	if (!judge(&st, t, &kind, &score))
		return;
	keep(x, s, len, kind, score, t);
}

/* ---- sentences --------------------------------------------------------- */

/* "e.g.", "Dr.", "v1.", "J.": no sentence ends there. */
static bool is_short_form(const char *s, size_t at)
{
	static const char *const forms[] = { "e.g", "i.e", "etc", "vs", "Dr",
					     "Mr", "Mrs", "Ms", "No", "approx",
					     "St", "cf", "resp", "incl" };
	size_t from = at;

	while (from && (is_alpha(s[from - 1]) || s[from - 1] == '.'))
		from--;
	if (at - from == 1 && s[from] >= 'A' && s[from] <= 'Z' &&
	    s[from] != 'I')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (strlen(forms[i]) == at - from &&
		    !strncasecmp(forms[i], s + from, at - from))
			return true;
	return false;
}

static size_t wide_stop(const char *s, size_t left)
{
	static const char *const stops[] = { "。", "！", "？" };

	for (size_t i = 0; left >= 3 && i < 3; i++)
		if (!memcmp(s, stops[i], 3))
			return 3;
	return 0;
}

/* Bytes up to and with the end of the sentence that begins at s. */
static size_t sentence_end(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t n = (unsigned char)s[i] == 0xe3 ||
					   (unsigned char)s[i] == 0xef ?
				   wide_stop(s + i, len - i) : 0;

		if (n)
			return i + n;
		if (s[i] != '.' && s[i] != '!' && s[i] != '?')
			continue;
		while (i + 1 < len && strchr(".!?\"')*", s[i + 1]) && s[i + 1])
			i++;
		if (i + 1 < len && s[i + 1] == ' ' &&
		    !(s[i] == '.' && is_short_form(s, i)))
			return i + 1;
	}
	return len;
}

static size_t trim(const char **s, size_t len)
{
	while (len && (unsigned char)(*s)[0] <= ' ')
		++*s, len--;
	while (len && (unsigned char)(*s)[len - 1] <= ' ')
		len--;
	return len;
}

static size_t list_mark(const char *s, size_t len)
{
	size_t i = 0;

	if (len > 2 && strchr("-*+", s[0]) && s[1] == ' ') {
		i = 2;
		if (len > 6 && s[2] == '[' && s[4] == ']' && s[5] == ' ')
			i = 6;
		return i;
	}
	while (i < len && is_digit(s[i]))
		i++;
	return i && i < 4 && i + 1 < len && (s[i] == '.' || s[i] == ')') &&
			       s[i + 1] == ' ' ? i + 2 : 0;
}

/* Headings, tables, quotations, tags, commands. */
static bool is_no_prose(const char *s, size_t len)
{
	if (s[0] == '#' || s[0] == '|' || s[0] == '>' || s[0] == '<')
		return s[0] != '#' || len < 2 || !is_digit(s[1]);
	return (s[0] == '/' && len > 1 && is_alpha(s[1]) &&
		!memchr(s + 1, '/', len - 1)) ||
	       (s[0] == '$' && len > 1 && s[1] == ' ') ||
	       (s[0] == '!' && len > 1 && is_alpha(s[1]));
}

static void prose(struct extract *x, const char *s, size_t len,
		  const struct extract_text *t)
{
	size_t n;

	len = trim(&s, len);
	if (!len || is_no_prose(s, len))
		return;
	n = list_mark(s, len);
	s += n;
	len -= n;
	while (len) {
		const char *part = s;

		n = sentence_end(s, len);
		s += n;
		len -= n;
		n = trim(&part, n);
		if (n)
			sentence(x, part, n, t);
	}
}

/* In code that a user shows: the line that names the error, and no more. */
static bool error_line(struct extract *x, const char *s, size_t len,
		       const struct extract_text *t)
{
	static const char *const marks[] = { "Error: ", "Exception: ",
					     "error: ", "panic: ", "FATAL",
					     "fatal: ", "错误：" };
	size_t n = trim(&s, len);

	if (!t->user || n > 300 || n < 12)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		size_t m = strlen(marks[i]);

		for (const char *at = s; at && (size_t)(at - s) + m <= n;
		     at = memchr(at + 1, marks[i][0],
				 n - (size_t)(at + 1 - s))) {
			if (memcmp(at, marks[i], m) != 0)
				continue;
			keep(x, s, n, EXTRACT_ERROR,
			     EXTRACT_POINTS * 10 + 4, t);
			return true;
		}
	}
	return false;
}

void extract_add(struct extract *x, const struct extract_text *t)
{
	const char *s = t->text, *end = s + t->len;
	bool fence = false, named = false;

	x->stats.texts++;
	while (s < end) {
		const char *line = s, *stop = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((stop ? stop : end) - s);

		s += len + 1;
		if (len >= 3 && (!memcmp(line, "```", 3) ||
				 !memcmp(line, "~~~", 3)))
			fence = !fence;
		else if (fence)
			named = named || error_line(x, line, len, t);
		else
			prose(x, line, len, t);
	}
}

/* ---- the best of them -------------------------------------------------- */

/* Best first; of equals the later, which is how it stands now. */
static int by_score(const void *a, const void *b)
{
	const struct extract_entry *x = a, *y = b;

	if (x->score != y->score)
		return y->score - x->score;
	return (x->line < y->line) - (x->line > y->line);
}

static int by_line(const void *a, const void *b)
{
	const struct extract_entry *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

bool extract_is_known(const struct extract *x, const struct alike *a)
{
	for (size_t i = 0; i < x->known_n; i++)
		if (alike_same(&x->known[i], a))
			return true;
	return false;
}

int extract_finish(struct extract *x, const struct extract_entry **out,
		   size_t *n, struct extract_stats *stats,
		   struct remem_err *err)
{
	size_t kept = 0, bytes = 0;

	*out = NULL;
	*n = 0;
	if (x->a.failed)
		return fail_nomem(err);
	if (x->n)
		qsort(x->found, x->n, sizeof(*x->found), by_score);
	for (size_t i = 0; i < x->n; i++) {
		struct extract_entry e = x->found[i];
		struct alike a;

		if (kept == x->o.max_entries ||
		    bytes + e.len > x->o.max_bytes) {
			x->stats.beyond++;
			continue;
		}
		if (text_suspect(e.text, e.len)) {
			x->stats.suspect++;
			continue;
		}
		alike_make(&a, e.text, e.len);
		if (!a.n || extract_is_known(x, &a)) {
			x->stats.repeated++;
			continue;
		}
		extract_known(x, e.text, e.len);
		bytes += e.len;
		x->found[kept++] = e;
	}
	if (kept)
		qsort(x->found, kept, sizeof(*x->found), by_line);
	*stats = x->stats;
	*out = x->found;
	*n = kept;
	return x->a.failed ? fail_nomem(err) : 0;
}
