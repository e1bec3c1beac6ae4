/* Units of a question: see query_unit.h for what each kind asks for. */
#include "text/query_unit.h"

#include <string.h>

#include "text/cut.h"

#define HANGUL_SYLLABLE 3 /* bytes */

static bool is_time(const struct query_build *b, size_t start, size_t end)
{
	const struct time_span *t = question_time(&b->question, start, end);

	return t && !t->is_date;
}

/* A stop word where it stands: never inside quotation marks. */
static bool is_stop(const struct query_build *b, const struct term *t)
{
	uint32_t cp;

	if (question_quoted(&b->question, t->start, t->end))
		return false;
	if (is_time(b, t->start, t->end))
		return true;
	utf8_decode(&cp, t->text, t->len);
	switch (script_of(cp)) {
	case SCRIPT_LATIN:
		return !b->command && stop_word(b->language, t->text, t->len);
	case SCRIPT_CYRILLIC:
		return stop_word(STOP_RU, t->text, t->len);
	case SCRIPT_HANGUL:
		return stop_word(STOP_KO, t->text, t->len);
	default:
		return false;
	}
}

static struct query_new new_term(const struct term *t, uint32_t flags,
				 bool stop)
{
	return (struct query_new){ t->text, t->len, flags, stop, false };
}

/* The group of a word or stem that was asked for before, -1 if none. */
static int old_group(struct query_build *b, const struct term *t)
{
	struct query_term *old = t ? query_find(b, t->text, t->len) : NULL;

	return old ? old->group : -1;
}

/* A word with its stem, which shares its source. */
static void add_word(struct query_build *b, const struct term *word,
		     const struct term *stem)
{
	bool stop = is_stop(b, word);
	struct query_new n = new_term(word, word->flags, stop);
	int group = old_group(b, word);

	n.flags = (n.flags & ~(uint32_t)TERM_PART) | TERM_WORD;
	if (group < 0)
		group = old_group(b, stem);
	group = query_add(b, &b->first, &n, group);
	query_occurs(b, word->text, word->len, word->start, word->end);
	if (stem && group >= 0) {
		n = new_term(stem, TERM_STEM, stop);
		query_add(b, &b->later, &n, group);
	}
}

/* ---- names ------------------------------------------------------------ */

static void add_whole(struct query_build *b, const struct query_unit *u,
		      int *group)
{
	const struct term *t = &u->raws[0];
	struct query_new n = new_term(t, t->flags, is_stop(b, t));

	*group = query_add(b, &b->first, &n, -1);
	query_occurs(b, t->text, t->len, t->start, t->end);
}

/* The parts, all in one group; one letter or digit alone says nothing. */
static void add_parts(struct query_build *b, const struct query_unit *u,
		      int group)
{
	for (size_t i = 1; i < u->count; i++) {
		const struct term *t = &u->raws[i];
		struct query_new n = new_term(t, t->flags, false);

		n.stop = is_time(b, t->start, t->end);
		if (t->len < 2)
			continue;
		if (group < 0)
			group = query_add(b, &b->later, &n, -1);
		else
			query_add(b, &b->later, &n, group);
	}
}

/* follow-up, and/or: words in their own right, found as neighbours too. */
static void add_joined(struct query_build *b, const struct query_unit *u)
{
	for (size_t i = 1; i < u->count; i++) {
		const struct term *t = &u->raws[i], *stem = NULL;

		if (t->flags & (TERM_ID | TERM_STEM))
			continue;
		if (i + 1 < u->count && u->raws[i + 1].flags & TERM_STEM &&
		    u->raws[i + 1].start == t->start)
			stem = &u->raws[i + 1];
		add_word(b, t, stem);
	}
	query_phrase_add(b, u->raws[0].start, u->raws[0].end, false, false);
}

static void add_name(struct query_build *b, const struct query_unit *u)
{
	const struct term *t = &u->raws[0];
	int group = -1;

	switch (name_kind_of(b, t)) {
	case NAME_JOINED:
		add_joined(b, u);
		return;
	case NAME_DATE:
		add_whole(b, u, &group);
		return;
	case NAME_LETTERS:
		add_whole(b, u, &group);
		if (memchr(b->question.text + t->start, '\'',
			   t->end - t->start))
			add_parts(b, u, group);
		return;
	case NAME_MEASURE:
		add_whole(b, u, &group);
		add_parts(b, u, -1);
		return;
	case NAME_IDENTIFIER:
		add_whole(b, u, &group);
		add_parts(b, u, -1);
		query_phrase_add(b, t->start, t->end, false, true);
		return;
	}
}

/* ---- CJK -------------------------------------------------------------- */

/* A run as single characters, each with what was found out about it. */
struct run {
	char *text;
	size_t *at; /* count + 1 offsets into text */
	size_t *start, *end; /* source */
	bool *stop;
	size_t count;
	uint8_t kind; /* enum fold_kind */
};

/* The bytes of the first character (with its marks) of a pair. */
static size_t first_of_pair(const struct term *pair, const struct term *next)
{
	size_t bytes;

	if (!(next->flags & TERM_SINGLE))
		fold_decode(pair->text, pair->len, &bytes);
	else
		return pair->len - next->len;
	while (bytes < pair->len) {
		size_t k;
		uint32_t cp =
			fold_decode(pair->text + bytes, pair->len - bytes, &k);

		if (FOLD_KIND(fold_entry(cp)) != FOLD_MARK)
			break;
		bytes += k;
	}
	return bytes;
}

static bool run_read(struct query_build *b, struct run *r,
		     const struct query_unit *u)
{
	size_t n = u->count, bytes;

	r->text = arena_alloc(b->arena, n * TERM_MAX_BYTES + 1);
	r->at = ARENA_ARRAY(b->arena, size_t, n + 1);
	r->start = ARENA_ARRAY(b->arena, size_t, n);
	r->end = ARENA_ARRAY(b->arena, size_t, n);
	r->stop = ARENA_ARRAY(b->arena, bool, n);
	r->count = n;
	if (b->arena->failed)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct term *t = &u->raws[i];
		size_t k = i + 1 < n ? first_of_pair(t, t + 1) : t->len;

		memcpy(r->text + r->at[i], t->text, k);
		r->at[i + 1] = r->at[i] + k;
		r->start[i] = t->start;
		r->end[i] = i + 1 < n ? u->raws[i + 1].start : t->end;
	}
	r->kind = (uint8_t)FOLD_KIND(
		fold_entry(fold_decode(r->text, r->at[n], &bytes)));
	return true;
}

static void mark(struct run *r, size_t from, size_t to)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i] >= from && r->at[i] < to)
			r->stop[i] = true;
}

static void mark_han(struct run *r)
{
	size_t len = r->at[r->count], i = 0;

	while (i < r->count) {
		bool stop;
		size_t n = stop_han(r->text + r->at[i], len - r->at[i], &stop);
		size_t to = r->at[i] + n;

		if (n && stop)
			mark(r, r->at[i], to);
		do
			i++;
		while (i < r->count && r->at[i] < to);
	}
}

static void mark_kana(const struct query_build *b, struct run *r)
{
	size_t len = r->at[r->count], head, tail, bytes, k = r->start[0];
	bool after_word = false;

	if (k > 0) {
		do
			k--;
		while (k > 0 &&
		       ((unsigned char)b->question.text[k] & 0xc0) == 0x80);
		after_word =
			FOLD_KIND(fold_entry(fold_decode(b->question.text + k,
							 b->question.len - k,
							 &bytes))) != FOLD_SEP;
	}
	stop_kana(r->text, len, after_word, &head, &tail);
	mark(r, 0, head);
	mark(r, len - tail, len);
}

static void mark_stops(const struct query_build *b, struct run *r)
{
	if (r->kind == FOLD_HAN && !b->japanese)
		mark_han(r);
	else if (r->kind == FOLD_HIRA)
		mark_kana(b, r);
	for (size_t i = 0; i < r->count; i++) {
		/* of a date (3月5日) the numbers say it */
		if (question_time(&b->question, r->start[i], r->end[i]))
			r->stop[i] = true;
		if (question_quoted(&b->question, r->start[i], r->end[i]))
			r->stop[i] = false;
	}
}

static void add_pair(struct query_build *b, const struct run *r, size_t i)
{
	struct query_new n = { r->text + r->at[i], r->at[i + 2] - r->at[i],
			       TERM_PAIR, r->stop[i] || r->stop[i + 1], false };

	query_add(b, &b->first, &n, -1);
	query_occurs(b, n.text, n.len, r->start[i], r->end[i + 1]);
}

static void add_single(struct query_build *b, const struct run *r, size_t i)
{
	struct query_new n = { r->text + r->at[i], r->at[i + 1] - r->at[i],
			       TERM_SINGLE, r->stop[i], true };

	/* one hiragana is grammar; emoji begin no other term */
	if (!question_quoted(&b->question, r->start[i], r->end[i]))
		n.stop = n.stop || r->kind == FOLD_HIRA ||
			 (r->kind == FOLD_HAN && stop_han_alone(n.text, n.len));
	n.prefix = r->kind != FOLD_SYM;
	query_add(b, &b->first, &n, -1);
	query_occurs(b, n.text, n.len, r->start[i], r->end[i]);
}

static void add_run(struct query_build *b, const struct query_unit *u)
{
	struct run r;
	size_t from = 0;

	if (!run_read(b, &r, u))
		return;
	mark_stops(b, &r);
	if (r.count == 1)
		add_single(b, &r, 0);
	for (size_t i = 0; i + 1 < r.count; i++)
		add_pair(b, &r, i);
	for (size_t i = 0; i <= r.count && r.count > 1; i++) {
		if (i < r.count && !r.stop[i])
			continue;
		if (i - from == 1)
			add_single(b, &r, from);
		else if (i - from > 2 &&
			 !question_quoted(&b->question, r.start[from],
					  r.end[i - 1]))
			query_phrase_add(b, r.start[from], r.end[i - 1], false,
					 false);
		from = i + 1;
	}
}

/* ---- Hangul ----------------------------------------------------------- */

static void add_hangul(struct query_build *b, const struct query_unit *u)
{
	const struct term *word = &u->raws[0];
	size_t stem_len = hangul_stem(word->text, word->len);
	struct term stem = *word;
	struct query_new n = new_term(word, TERM_WORD, is_stop(b, word));
	int group = old_group(b, word);

	stem.len = (uint32_t)stem_len;
	n.stop = n.stop || is_stop(b, &stem);
	n.prefix = word->len == HANGUL_SYLLABLE;
	if (group < 0)
		group = old_group(b, &stem);
	group = query_add(b, &b->first, &n, group);
	query_occurs(b, word->text, word->len, word->start, word->end);
	n.prefix = false;
	if (stem_len < word->len && group >= 0) {
		n.len = stem_len;
		n.flags = TERM_STEM;
		query_add(b, &b->later, &n, group);
	}
	if (stem_len <= 2 * HANGUL_SYLLABLE)
		return;
	for (size_t i = 0; i + 2 * HANGUL_SYLLABLE <= stem_len;
	     i += HANGUL_SYLLABLE) {
		n = (struct query_new){ word->text + i, 2 * HANGUL_SYLLABLE,
					TERM_PAIR, n.stop, false };
		query_add(b, &b->later, &n, -1);
	}
}

/* ---- dispatch --------------------------------------------------------- */

static bool is_hangul(const struct term *t)
{
	uint32_t cp;

	utf8_decode(&cp, t->text, t->len);
	return script_of(cp) == SCRIPT_HANGUL;
}

void query_unit_add(struct query_build *b, const struct query_unit *u)
{
	const struct term *t = &u->raws[0];

	if (t->flags & TERM_ID)
		add_name(b, u);
	else if (t->flags & (TERM_PAIR | TERM_SINGLE))
		add_run(b, u);
	else if (is_hangul(t))
		add_hangul(b, u);
	else if (u->count == 2 && u->raws[1].flags & TERM_STEM)
		add_word(b, t, &u->raws[1]);
	else /* a very long word comes in pieces */
		for (size_t i = 0; i < u->count; i++)
			if (!(u->raws[i].flags & TERM_STEM))
				add_word(b, &u->raws[i], NULL);
}
