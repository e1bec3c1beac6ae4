/* The lines of an entry. Values stand in one comment at the end of its last
 * line, in the form that text/annotation.h reads. */
#include "memory/append.h"

#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "memory/guard.h"
#include "text/annotation.h"
#include "text/line.h"

#define TRIGGERS_MAX 3
#define TRIGGER_CHARS 64
#define VALUE_BYTES 256

static int bad_value(struct remem_err *err, const char *key, const char *why)
{
	return fail(err, REMEM_EINVAL, "%s %s", key, why);
}

/* Nothing that would end the comment or begin another value. */
static int check_value(const char *key, const char *s, struct remem_err *err)
{
	size_t len = strlen(s);

	if (len > VALUE_BYTES)
		return bad_value(err, key, "is longer than 256 bytes");
	if (!utf8_valid(s, len))
		return bad_value(err, key, "is not UTF-8");
	if (strstr(s, "--") || strpbrk(s, ";|<>") || strstr(s, "；"))
		return bad_value(err, key, "may not have --, ;, |, < or > "
				 "in it");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return bad_value(err, key, "has a control character "
					 "in it");
	return 0;
}

static int check_triggers(const char *s, struct remem_err *err)
{
	int count = 0;

	for (const char *p = s; *p;) {
		size_t n = strcspn(p, ",");

		if (utf8_count(p, n) > TRIGGER_CHARS)
			return fail(err, REMEM_ELIMIT, "a trigger has more "
				    "than %d characters", TRIGGER_CHARS);
		count++;
		p += n + (p[n] == ',');
	}
	return count <= TRIGGERS_MAX ? check_value("trigger", s, err) :
	       fail(err, REMEM_ELIMIT, "more than %d triggers", TRIGGERS_MAX);
}

/* A citation or address; the signs that cannot stand there are escaped. */
static int add_source(struct buf *b, const char *s, struct remem_err *err)
{
	struct buf v = BUF_INIT(4 * VALUE_BYTES);
	int rc;

	for (const char *p = s; *p; p++) {
		bool dash = *p == '-' && v.len && v.ptr[v.len - 1] == '-';

		if (dash || strchr(";|<>", *p))
			buf_addf(&v, "%%%02X", (unsigned)*p);
		else
			buf_addc(&v, *p);
	}
	if (!(rc = buf_check(&v, err)) &&
	    !(rc = check_value("source", buf_str(&v), err)))
		buf_addf(b, "; source: %s", buf_str(&v));
	buf_release(&v);
	return rc;
}

static int check(const struct entry *e, struct remem_err *err)
{
	int32_t day;
	int rc;

	if (e->importance < 0 || e->importance > 10)
		return fail(err, REMEM_EINVAL, "importance is 1 to 10, not %d",
			    e->importance);
	if (e->triggers && (rc = check_triggers(e->triggers, err)))
		return rc;
	if (e->project && (rc = check_value("project", e->project, err)))
		return rc;
	if (e->observed && (strlen(e->observed) != 10 ||
			    !date_parse(&day, e->observed, 10)))
		return fail(err, REMEM_EINVAL, "observed should be a day "
			    "like 2026-03-01, not '%.40s'", e->observed);
	return 0;
}

/* "; key: value" of all that is known, the first two bytes too many. */
static int add_values(struct buf *b, const struct entry *e,
		      struct remem_err *err)
{
	if (e->importance)
		buf_addf(b, "; importance: %d", e->importance);
	if (e->triggers && e->triggers[0])
		buf_addf(b, "; trigger: %s", e->triggers);
	if (e->project && e->project[0])
		buf_addf(b, "; project: %s", e->project);
	if (e->observed)
		buf_addf(b, "; observed: %s", e->observed);
	return e->source && e->source[0] ? add_source(b, e->source, err) : 0;
}

/* What the text says of itself, where the caller says nothing. */
static void take_over(struct entry *e, const struct annotations *ann,
		      char day[16])
{
	if (!ann)
		return;
	if (!e->importance)
		e->importance = ann->importance;
	if (!e->triggers)
		e->triggers = ann->triggers;
	if (!e->project)
		e->project = ann->project;
	if (!e->source)
		e->source = ann->source;
	if (!e->observed && ann->observed != DATE_NONE) {
		date_format(day, ann->observed);
		e->observed = day;
	}
}

static bool is_item(const char *s, size_t i, size_t end)
{
	return end - i >= 2 && strchr("-*+", s[i]) && byte_blank(s[i + 1]);
}

/* "- first\n  second\n"; the last line feed is left out. */
static void add_lines(struct buf *b, const char *s, size_t from, size_t end)
{
	for (size_t i = from, stop; i < end; i = stop + 1) {
		size_t trimmed;

		stop = line_end(s, i, end);
		trimmed = trim_blank(s, i, stop);
		if (i > from)
			buf_addc(b, '\n');
		if (trimmed == i)
			continue;
		if (i > from)
			buf_adds(b, "  ");
		else if (!is_item(s, i, end))
			buf_adds(b, "- ");
		buf_add(b, s + i, trimmed - i);
	}
}

/* A comment behind a fence would keep it open. */
static bool ends_in_fence(const struct buf *b)
{
	const char *s = buf_str(b), *nl = strrchr(s, '\n');

	s = nl ? nl + 1 : s;
	s += strspn(s, " -");
	return !strncmp(s, "```", 3) || !strncmp(s, "~~~", 3);
}

static int compose(struct buf *out, struct arena *a, struct entry *e,
		   const char *text, size_t len, struct remem_err *err)
{
	size_t from = skip_blank(text, 0, len), end = len;
	struct buf values = BUF_INIT(0);
	char day[16];
	int rc;

	take_over(e, annotation_take(a, text, from, &end), day);
	end = trim_blank(text, from, end);
	if (a->failed)
		return fail_nomem(err);
	if (from >= end)
		return fail(err, REMEM_EINVAL, "there is no text to add");
	rc = check(e, err);
	if (!rc)
		rc = add_values(&values, e, err);
	if (!rc && !(rc = buf_check(&values, err))) {
		add_lines(out, text, from, end);
		if (values.len)
			buf_addf(out, "%s<!-- %s -->",
				 ends_in_fence(out) ? "\n  " : " ",
				 buf_str(&values) + 2);
		buf_addc(out, '\n');
		rc = buf_check(out, err);
	}
	buf_release(&values);
	return rc;
}

int entry_compose(struct buf *out, const struct memory *m,
		  const struct entry *e, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct entry full = *e;
	char *text;
	size_t n = 0;
	int rc;

	if (e->len > (size_t)m->text_bytes)
		return guard_text(m, e->text, e->len, err);
	text = arena_alloc(&a, e->len + 1);
	if (!text)
		return fail_nomem(err);
	for (size_t i = 0; i < e->len; i++) /* CRLF is one line end */
		if (e->text[i] != '\r' || i + 1 == e->len ||
		    e->text[i + 1] != '\n')
			text[n++] = e->text[i];
	rc = guard_text(m, text, n, err);
	if (!rc)
		rc = compose(out, &a, &full, text, n, err);
	arena_release(&a);
	return rc;
}
