/*
 * remem_memory_report(): what in the notes wants a look, each with its lines
 * and a command. Nothing is changed. Lines are compared by what they say;
 * near ones by the rule that two texts which share four fifths of their terms
 * share one of the first fifth of them, in any fixed order.
 */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/clock.h"
#include "memory/alike.h"
#include "memory/leak.h"
#include "memory/origin.h"
#include "text/annotation.h"
#include "text/line.h"
#include "text/note.h"

#define MOST 1000 /* findings of a kind that are listed */
#define LONG_BYTES 16000 /* of a curated note, as doctor warns */
#define FILE_BYTES (64u << 20)
#define MIN_TERMS 4 /* shorter lines are alike by chance */
#define NEAR_LOOK 32 /* lines of one term that are compared with */
#define HEADS (1u << 16)
#define SUBJECT_BYTES 80
#define VALUE_BYTES 60

enum find { DUPLICATE, NEAR, CONFLICT, STALE, LEAK, TOO_LONG, ORPHANED, FINDS };

static const char *const names[] = { "duplicate", "near", "conflict", "stale",
				     "leak", "long", "orphaned" };

struct line {
	const char *path, *text; /* text without mark and annotations */
	uint32_t len;
	int number;
	bool superseded;
	unsigned char words[LINE_HASH_BYTES];
	unsigned char subject[LINE_HASH_BYTES], value[LINE_HASH_BYTES];
	bool has_subject;
};

struct posting { /* one of the first terms of a line */
	uint32_t line, next;
};

struct report {
	struct remem *r;
	struct arena a;
	struct source_list list;
	struct json j;
	struct line *lines;
	size_t count, cap;
	int32_t today;
	int64_t found[FINDS];
};

/* ---- findings ---- */

static const char *cite(struct report *p, const struct line *l)
{
	return arena_printf(&p->a, "%s#L%d", l->path, l->number);
}

static void say(struct report *p, enum find kind, const char *first,
		const char *second, const char *message, const char *remedy)
{
	struct json *j = &p->j;

	if (p->found[kind]++ >= MOST)
		return;
	json_obj(j);
	json_kstr(j, "kind", names[kind]);
	json_key(j, "citations");
	json_arr(j);
	json_put_str(j, first);
	if (second)
		json_put_str(j, second);
	json_arr_end(j);
	json_kstr(j, "message", message);
	json_kstr(j, "remedy", remedy);
	json_end(j);
}

/* The second of two lines is the one that may go. */
static void say_pair(struct report *p, enum find kind, const struct line *a,
		     const struct line *b, const char *message)
{
	const char *last = cite(p, b);

	say(p, kind, cite(p, a), last, message,
	    arena_printf(&p->a, "remem forget '%s'", last));
}

static void say_leak(void *ctx, const char *path, int line, const char *kind)
{
	struct report *p = ctx;
	const char *at = arena_printf(&p->a, "%s#L%d", path, line);

	say(p, LEAK, at, NULL,
	    arena_printf(&p->a, "looks like a secret: %s", kind),
	    arena_printf(&p->a, "remem forget '%s'", at));
}

/* ---- one line ---- */

static bool has_file(const struct report *p, const char *path, size_t len)
{
	for (size_t i = 0; i < p->list.count; i++)
		if (strlen(p->list.files[i].path) == len &&
		    !memcmp(p->list.files[i].path, path, len))
			return true;
	return false;
}

static void check_source(struct report *p, const struct line *l,
			 const char *source)
{
	const char *hash = source ? strstr(source, ".md#L") : NULL;
	size_t n = hash ? (size_t)(hash - source) + 3 : 0;
	const char *at;

	if (!hash || strstr(source, "://") || has_file(p, source, n))
		return;
	at = cite(p, l);
	say(p, ORPHANED, at, NULL,
	    arena_printf(&p->a, "its source '%s' is gone", source),
	    arena_printf(&p->a, "remem log --trace '%s'", at));
}

/* An open box with a day that has passed. */
static void check_due(struct report *p, const struct line *l)
{
	int32_t day;
	const char *at;

	if (l->len < 14 || memcmp(l->text, "[ ]", 3))
		return;
	for (size_t i = 3; i + 10 <= l->len; i++) {
		if (l->text[i] != '2' ||
		    !date_parse(&day, l->text + i, 10) || day >= p->today)
			continue;
		at = cite(p, l);
		say(p, STALE, at, NULL, "open, and its day has passed",
		    arena_printf(&p->a, "remem forget '%s'", at));
		return;
	}
}

/* "the gateway timeout is 30 s": what is said of what. */
static void take_statement(struct line *l)
{
	static const char *const verbs[] = { " is ", " are ", " = ",
					     " lives in ", "改为", "是", "为" };

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i]);
		const char *at = memmem(l->text, l->len, verbs[i], n);
		size_t head = at ? (size_t)(at - l->text) : 0;

		if (!at || head < 6 || head > SUBJECT_BYTES ||
		    l->len - head - n > VALUE_BYTES)
			continue;
		l->has_subject =
			origin_words_hash(l->subject, l->text, head) &&
			origin_words_hash(l->value, at + n,
					  l->len - head - n);
		return;
	}
}

/* One subject may have many qualities, but only one number. */
static bool has_digit(const struct line *l)
{
	for (size_t i = 0; i < l->len; i++)
		if (byte_digit(l->text[i]))
			return true;
	return false;
}

static void take_line(struct report *p, const char *path, const char *text,
		      size_t from, size_t end, int number)
{
	const struct annotations *ann;
	struct line *l;

	from = skip_blank(text, from, end);
	if (from == end || text[from] == '#')
		return;
	ann = annotation_take(&p->a, text, from, &end);
	if (end - from > 2 && strchr("-*+", text[from]) && text[from + 1] == ' ')
		from = skip_blank(text, from + 2, end);
	if (end - from < 8)
		return;
	p->lines = arena_grow(&p->a, p->lines, &p->cap, p->count + 1,
			      sizeof(*p->lines));
	if (!p->lines)
		return;
	l = &p->lines[p->count];
	memset(l, 0, sizeof(*l));
	l->path = path;
	l->text = arena_strndup(&p->a, text + from, end - from);
	l->len = (uint32_t)(end - from);
	l->number = number;
	l->superseded = ann && ann->status &&
			!strcmp(ann->status, "superseded");
	if (!l->text || !origin_words_hash(l->words, l->text, l->len))
		return;
	p->count++;
	take_statement(l);
	l->has_subject = l->has_subject && has_digit(l);
	check_due(p, l);
	check_source(p, l, ann ? ann->source : NULL);
}

static void take_file(struct report *p, struct source_file *f)
{
	struct buf b = BUF_INIT(FILE_BYTES);
	int number = 0;

	if (source_read(&b, &p->list, f, f->linked, NULL))
		goto out;
	for (size_t i = 0, end; i < b.len; i = end + 1) {
		end = line_end(b.ptr, i, b.len);
		take_line(p, f->path, b.ptr, i, end, ++number);
	}
	leak_in_text(f->path, buf_str(&b), b.len, MOST, say_leak, p);
	if (f->curated && b.len > LONG_BYTES)
		say(p, TOO_LONG, f->path, NULL, arena_printf(
			&p->a, "%zu bytes; agents may see only the first "
			"20,000 characters", b.len),
		    arena_printf(&p->a, "remem get '%s'", f->path));
out:
	buf_release(&b);
}

/* ---- lines against each other ---- */

static int by_words(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a;
	const struct line *y = *(struct line *const *)b;
	int d = memcmp(x->words, y->words, LINE_HASH_BYTES);

	return d ? d : (x > y) - (x < y);
}

static int by_subject(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a;
	const struct line *y = *(struct line *const *)b;
	int d = memcmp(x->subject, y->subject, LINE_HASH_BYTES);

	return d ? d : (x > y) - (x < y);
}

static void compare_equal(struct report *p, struct line **l)
{
	qsort(l, p->count, sizeof(*l), by_words);
	for (size_t i = 1; i < p->count; i++)
		if (!memcmp(l[i]->words, l[i - 1]->words, LINE_HASH_BYTES))
			say_pair(p, DUPLICATE, l[i - 1], l[i],
				 "both say the same");
	qsort(l, p->count, sizeof(*l), by_subject);
	for (size_t i = 1; i < p->count; i++) {
		struct line *a = l[i - 1], *b = l[i];

		if (a->has_subject && b->has_subject && !a->superseded &&
		    !b->superseded &&
		    !memcmp(a->subject, b->subject, LINE_HASH_BYTES) &&
		    memcmp(a->value, b->value, LINE_HASH_BYTES))
			say_pair(p, CONFLICT, b, a,
				 "both say something else of the same");
	}
}

static bool is_near(const struct report *p, const struct alike *all, size_t i,
		    size_t k)
{
	return k != i && alike_same(&all[i], &all[k]) &&
	       memcmp(p->lines[i].words, p->lines[k].words, LINE_HASH_BYTES);
}

static void compare_near(struct report *p)
{
	struct alike *all = ARENA_ARRAY(&p->a, struct alike, p->count);
	uint32_t *heads = ARENA_ARRAY(&p->a, uint32_t, HEADS);
	struct posting *list = NULL;
	size_t n = 1, cap = 0;

	for (size_t i = 0; all && heads && i < p->count; i++) {
		bool told = false;
		int first;

		alike_make(&all[i], p->lines[i].text, p->lines[i].len);
		first = all[i].n < MIN_TERMS ? 0 : all[i].n / 5 + 1;
		for (int t = 0; t < first; t++) {
			uint32_t *head = &heads[all[i].terms[t] % HEADS];
			int looked = 0;

			for (uint32_t k = *head; k && !told &&
			     looked++ < NEAR_LOOK; k = list[k].next)
				if ((told = is_near(p, all, i, list[k].line)))
					say_pair(p, NEAR,
						 &p->lines[list[k].line],
						 &p->lines[i],
						 "both say nearly the same");
			list = arena_grow(&p->a, list, &cap, n + 1,
					  sizeof(*list));
			if (!list)
				return;
			list[n] = (struct posting){ (uint32_t)i, *head };
			*head = (uint32_t)n++;
		}
	}
}

static void compare(struct report *p)
{
	struct line **l = ARENA_ARRAY(&p->a, struct line *, p->count + 1);

	for (size_t i = 0; l && i < p->count; i++)
		l[i] = &p->lines[i];
	if (l && p->count) {
		compare_equal(p, l);
		compare_near(p);
	}
}

/* ---- all ---- */

static void put_counts(struct report *p)
{
	json_key(&p->j, "counts");
	json_obj(&p->j);
	for (int i = 0; i < FINDS; i++)
		json_kint(&p->j, names[i], p->found[i]);
	json_end(&p->j);
	json_kint(&p->j, "lines", (int64_t)p->count);
}

PUBLIC int remem_memory_report(struct remem *r, char **json,
			       struct remem_err *err)
{
	struct report p = { .r = r, .a = ARENA_INIT };
	struct buf b = BUF_INIT(0);
	int rc = handle_source(r, err);

	*json = NULL;
	if (rc || (rc = source_walk(&p.list, &p.a, &r->source, err)))
		goto out;
	p.today = clock_local_day(handle_now_ms(r));
	json_begin(&p.j, &b);
	json_obj(&p.j);
	json_kint(&p.j, "version", 1);
	json_key(&p.j, "findings");
	json_arr(&p.j);
	for (size_t i = 0; i < p.list.count; i++)
		if (!p.list.files[i].skip &&
		    p.list.files[i].kind == SOURCE_MEMORY)
			take_file(&p, &p.list.files[i]);
	compare(&p);
	json_arr_end(&p.j);
	put_counts(&p);
	json_end(&p.j);
	rc = p.a.failed ? fail_nomem(err) : json_give(json, &b, err);
out:
	source_list_release(&p.list);
	buf_release(&b);
	arena_release(&p.a);
	return rc;
}
