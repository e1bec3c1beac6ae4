/* See forget.h. Entries are cut as the index cuts them, so that what was found
 * by a search can be forgotten by its citation. */
#include "memory/forget.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "memory/rewrite.h"
#include "store/state_review.h"
#include "text/line.h"
#include "text/term.h"

#define HEAD_LINES 12 /* a snapshot names its conversation in its first ones */
/* A shorter line stands in files that have nothing to do with it. */
#define TELLING_BYTES 8
#define FOLD_FACTOR 4 /* a folded character may be longer than it was */

struct find {
	struct forget_plan *out;
	struct arena *a;
	struct memory *m;
	const struct forget_query *q;
	const char *person, *text; /* folded */
	int64_t *records; /* of the journal, of that conversation */
	size_t record_count, record_cap;
	/* of one file */
	unsigned char (*lines)[LINE_HASH_BYTES]; /* written in it */
	size_t line_count, line_cap;
	int32_t date;
};

/* ---- what an entry says ---- */

static char *folded(struct arena *a, const char *s, size_t len)
{
	size_t cap = len * FOLD_FACTOR + 16;
	char *out = arena_alloc(a, cap + 1);

	if (out)
		out[term_fold(out, cap, s, len)] = '\0';
	return out;
}

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* A name at the borders of words: Ann is not in Anna; 小王 is in 小王子. */
static bool names(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = text; n && (s = strstr(s, name)); s++) {
		bool head = s > text && is_letter((unsigned char)s[-1]) &&
			    is_letter((unsigned char)name[0]);
		bool tail = is_letter((unsigned char)s[n]) &&
			    is_letter((unsigned char)name[n - 1]);

		if (!head && !tail)
			return true;
	}
	return false;
}

static bool says(struct find *f, const char *s, size_t len)
{
	struct arena a = ARENA_INIT;
	char *text;
	bool yes = true;

	if (!f->person && !f->text)
		return true;
	text = folded(&a, s, len);
	if (!text)
		f->a->failed = true;
	else
		yes = (!f->person || names(text, f->person)) &&
		      (!f->text || strstr(text, f->text));
	arena_release(&a);
	return text && yes;
}

/* ---- where an entry comes from ---- */

static int add_record(void *ctx, const struct journal_row *row)
{
	struct find *f = ctx;

	f->records = arena_grow(f->a, f->records, &f->record_cap,
				f->record_count + 1, sizeof(*f->records));
	if (!f->records)
		return REMEM_ENOMEM;
	f->records[f->record_count++] = row->id;
	return 0;
}

static int add_line(void *ctx, const struct line_row *row)
{
	struct find *f = ctx;

	for (size_t i = 0; i < f->record_count; i++) {
		if (f->records[i] != row->journal)
			continue;
		f->lines = arena_grow(f->a, f->lines, &f->line_cap,
				      f->line_count + 1, sizeof(*f->lines));
		if (!f->lines)
			return REMEM_ENOMEM;
		memcpy(f->lines[f->line_count++], row->line, LINE_HASH_BYTES);
		return 0;
	}
	return 0;
}

static bool was_written(const struct find *f, const char *line, size_t len)
{
	unsigned char hash[LINE_HASH_BYTES];

	origin_line_hash(hash, line, len);
	for (size_t i = 0; i < f->line_count; i++)
		if (!memcmp(f->lines[i], hash, LINE_HASH_BYTES))
			return true;
	return false;
}

static bool of_session(const struct find *f, const char *s, size_t len,
		       const struct annotations *ann)
{
	if (!f->q->session)
		return true;
	if (ann && ann->source && strstr(ann->source, f->q->session))
		return true;
	for (size_t i = 0; i < len;) {
		size_t end = line_end(s, i, len);

		if (was_written(f, s + i, end - i))
			return true;
		i = end + 1;
	}
	return false;
}

static bool of_source(const struct find *f, const struct annotations *ann)
{
	const char *want = f->q->source;

	return !want || (ann && ann->source &&
			 !strncmp(ann->source, want, strlen(want)));
}

static bool of_time(const struct find *f, const struct annotations *ann)
{
	int32_t day = ann && ann->observed != DATE_NONE ? ann->observed :
							  f->date;

	if (f->q->after == DATE_NONE && f->q->before == DATE_NONE)
		return true;
	return day != DATE_NONE &&
	       (f->q->after == DATE_NONE || day >= f->q->after) &&
	       (f->q->before == DATE_NONE || day <= f->q->before);
}

/* ---- entries of a file ---- */

static void keep(struct find *f, const char *path, const char *text,
		 size_t len, int first, int last)
{
	struct forget_plan *p = f->out;

	p->entries = arena_grow(f->a, p->entries, &p->cap, p->count + 1,
				sizeof(*p->entries));
	if (!p->entries) {
		p->count = 0;
		return;
	}
	p->entries[p->count++] = (struct forget_entry){
		path, arena_strndup(f->a, text, len), len, first, last,
	};
}

/* Of a paragraph only the lines that say it: the lines of a snapshot are one
 * message each. */
static void keep_lines(struct find *f, const char *path, const struct note *n,
		       const struct passage *p)
{
	int line = p->line_first;

	for (size_t i = p->start; i < p->end; line++) {
		size_t end = line_end(n->text, i, p->end);

		if (says(f, n->text + i, end - i))
			keep(f, path, n->text + i, end - i, line, line);
		i = end + 1;
	}
}

static bool in_range(const struct find *f, int first, int last)
{
	return !f->q->line_first || (first <= f->q->line_last &&
				     last >= f->q->line_first);
}

static void look_at(struct find *f, const char *path, const struct note *n,
		    int first, int end)
{
	const struct passage *p = &n->passages[first];
	const struct passage *last = &n->passages[end - 1];
	const struct annotations *ann = NULL;
	const char *s = n->text + p->start;
	size_t len = last->end - p->start;

	for (int i = first; i < end; i++)
		ann = n->passages[i].ann ? n->passages[i].ann : ann;
	if (!in_range(f, p->line_first, last->line_last) || !says(f, s, len) ||
	    !of_source(f, ann) || !of_session(f, s, len, ann) ||
	    !of_time(f, ann))
		return;
	if (p->kind == PASSAGE_PARAGRAPH && (f->person || f->text) &&
	    end == first + 1)
		keep_lines(f, path, n, p);
	else
		keep(f, path, s, len, p->line_first, last->line_last);
}

/* A snapshot of the conversation goes as a whole. */
static bool names_session(const struct find *f, const char *s, size_t len)
{
	size_t n = f->q->session ? strlen(f->q->session) : 0;

	for (int line = 0; n && line < HEAD_LINES && len; line++) {
		size_t end = line_end(s, 0, len), i;

		for (i = 0; s[0] == '-' && i + n <= end; i++)
			if (!memcmp(s + i, f->q->session, n))
				return true;
		end += end < len;
		s += end;
		len -= end;
	}
	return false;
}

static void look_into(struct find *f, const char *path, const struct note *n)
{
	int end;

	if (f->q->session && !f->person && !f->text &&
	    names_session(f, n->text, n->len)) {
		keep(f, path, n->text, n->len, 1, n->line_count);
		return;
	}
	for (int i = 0; i < n->passage_count; i = end) {
		end = i + 1;
		while (end < n->passage_count && n->passages[end].continues)
			end++;
		if (n->passages[i].kind != PASSAGE_HEADING ||
		    f->person || f->text || f->q->line_first)
			look_at(f, path, n, i, end);
	}
}

static int find_in_file(struct find *f, const char *path,
			const struct note_opts *opts, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	unsigned char hash[SHA256_BYTES];
	size_t before = f->out->count;
	struct arena a = ARENA_INIT;
	struct note n;
	bool found;
	int rc = rewrite_read(&b, hash, &found, f->m, path, err);

	f->line_count = 0;
	if (!rc && found && f->record_count)
		rc = state_line_each(f->m->state, path, add_line, f, err);
	if (!rc && found)
		rc = note_parse(&n, &a, buf_str(&b), b.len, opts, err);
	if (!rc && found) {
		f->date = note_path_date(path);
		if (f->date == DATE_NONE)
			f->date = n.date;
		look_into(f, path, &n);
		f->out->files += f->out->count > before;
	}
	arena_release(&a);
	buf_release(&b);
	return rc;
}

/* A file outside the workspace, or one the writers may not touch. */
static void note_outside(struct find *f, const char *path)
{
	struct forget_plan *p = f->out;

	p->outside = arena_grow(f->a, p->outside, &p->outside_cap,
				p->outside_count + 1, sizeof(*p->outside));
	if (p->outside)
		p->outside[p->outside_count++] = arena_strdup(f->a, path);
	else
		p->outside_count = 0;
}

static int find_all(struct find *f, struct source_list *list,
		    const struct note_opts *note, struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < list->count && !rc; i++) {
		const struct source_file *s = &list->files[i];
		struct note_opts opts = *note;
		struct remem_err why = { 0 };

		if (s->skip || (f->q->path && strcmp(f->q->path, s->path)))
			continue;
		opts.curated = s->curated;
		rc = find_in_file(f, s->path, &opts, &why);
		if (rc == REMEM_EPERM || rc == REMEM_EFORMAT) {
			note_outside(f, s->path);
			rc = 0;
		} else if (rc && err) {
			*err = why;
		}
	}
	return f->a->failed ? fail_nomem(err) : rc;
}

int forget_find(struct forget_plan *out, struct arena *a, struct memory *m,
		struct source_list *list, const struct note_opts *note,
		const struct forget_query *q, struct remem_err *err)
{
	struct find f = { .out = out, .a = a, .m = m, .q = q };
	struct journal_query jq = { .session = q->session };
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (q->person)
		f.person = folded(a, q->person, strlen(q->person));
	if (q->text)
		f.text = folded(a, q->text, strlen(q->text));
	if (q->session)
		rc = state_journal_each(m->state, &jq, add_record, &f, err);
	return rc ? rc : find_all(&f, list, note, err);
}

/* ---- taking out ---- */

static bool is_comment(const char *s, size_t len)
{
	size_t from = skip_blank(s, 0, len), to = trim_blank(s, from, len);

	return to - from >= 7 && !memcmp(s + from, "<!--", 4) &&
	       !memcmp(s + to - 3, "-->", 3);
}

/* The file without the lines of entries [i, end), which are in order, and
 * without comments that stand alone behind them: these are about them. */
static void without(struct buf *out, const char *s, size_t len,
		    const struct forget_entry *e, size_t count)
{
	bool cutting = false;
	size_t k = 0;
	int line = 1;

	for (size_t i = 0; i < len; line++) {
		size_t end = line_end(s, i, len);

		while (k < count && line > e[k].line_last)
			k++;
		if (k < count && line >= e[k].line_first)
			cutting = true;
		else if (cutting && !is_comment(s + i, end - i))
			cutting = false;
		end += end < len;
		if (!cutting)
			buf_add(out, s + i, end - i);
		i = end;
	}
}

/* Nothing but blanks, headings and the lines that a snapshot begins with. */
static bool is_bare(const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t end = line_end(s, i, len);
		size_t from = skip_blank(s, i, end);

		if (from < end && s[from] != '#')
			return false;
		i = end + 1;
	}
	return true;
}

static int bury(struct memory *m, const char *kind, const char *s, size_t len,
		int64_t journal, struct remem_err *err)
{
	unsigned char hash[LINE_HASH_BYTES], full[SHA256_BYTES];

	if (!strcmp(kind, "words")) {
		if (!origin_words_hash(hash, s, len))
			return 0;
	} else {
		sha256_of(full, s, len);
		memcpy(hash, full, sizeof(hash));
	}
	return state_tombstone_add(m->state, kind, hash, memory_now(m),
				   journal, err);
}

/* The entry, each line of it, and pre-images that hold one. */
static int bury_entry(struct memory *m, const struct forget_entry *e,
		      int64_t journal, struct remem_err *err)
{
	int rc = bury(m, "words", e->text, e->len, journal, err);

	for (size_t i = 0; i < e->len && !rc;) {
		size_t end = line_end(e->text, i, e->len);
		size_t from = skip_blank(e->text, i, end);
		size_t to = trim_blank(e->text, from, end);

		if (to > from) {
			rc = bury(m, "words", e->text + from, to - from,
				  journal, err);
			if (!rc && to - from >= TELLING_BYTES)
				rc = state_preimage_remove(m->state, NULL,
							   e->text + from,
							   to - from, NULL,
							   err);
			if (!rc && to - from >= TELLING_BYTES)
				rc = state_review_forget(m->state,
							 e->text + from,
							 to - from, err);
		}
		i = end + 1;
	}
	return rc;
}

static int forget_in_file(struct memory *m, const struct forget_entry *e,
			  size_t count, const struct remem_actor *actor,
			  struct remem_err *err)
{
	struct buf old = BUF_INIT(0), text = BUF_INIT(0);
	unsigned char hash[SHA256_BYTES];
	struct rewrite w = { .path = e->path, .expect = hash, .op = "forget",
			     .origin = REMEM_ORIGIN_OWNER, .actor = *actor,
			     .no_preimage = true };
	int64_t journal = 0;
	bool found;
	int rc = rewrite_read(&old, hash, &found, m, e->path, err);

	if (rc || !found)
		goto out;
	without(&text, buf_str(&old), old.len, e, count);
	if ((rc = buf_check(&text, err)))
		goto out;
	w.bytes = strchr(e->path, '/') && is_bare(buf_str(&text), text.len) ?
			  NULL : buf_str(&text);
	w.len = text.len;
	if ((rc = state_begin(m->state, true, err)))
		goto out;
	/* The hashes first: once the text is gone nothing could make them. */
	for (size_t i = 0; i < count && !rc; i++)
		rc = bury_entry(m, &e[i], 0, err);
	if (rc)
		state_rollback(m->state);
	else
		rc = state_commit(m->state, err);
	if (!rc)
		rc = rewrite_file(&journal, m, &w, err);
out:
	buf_release(&old);
	buf_release(&text);
	return rc;
}

static int bury_query(struct memory *m, const struct forget_query *q,
		      struct remem_err *err)
{
	int rc = 0;

	if (q->session)
		rc = bury(m, "session", q->session, strlen(q->session), 0, err);
	if (!rc && q->source)
		rc = bury(m, "source", q->source, strlen(q->source), 0, err);
	return rc;
}

int forget_apply(struct memory *m,
		 const struct forget_plan *plan, const struct forget_query *q,
		 const struct remem_actor *actor, struct remem_err *err)
{
	size_t i = 0, end;
	int rc = memory_begin(m, err);

	if (rc)
		return rc;
	rc = bury_query(m, q, err);
	for (; i < plan->count && !rc; i = end) {
		for (end = i + 1; end < plan->count &&
		     !strcmp(plan->entries[end].path, plan->entries[i].path);)
			end++;
		rc = forget_in_file(m, &plan->entries[i], end - i, actor, err);
	}
	if (!rc)
		rc = state_scrub(m->state, err);
	memory_end(m);
	return rc;
}
