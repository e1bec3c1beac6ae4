/* See flush.h. */
#define _GNU_SOURCE /* memmem */
#include "memory/flush.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "memory/alike.h"
#include "memory/origin.h"
#include "memory/talk_clean.h"
#include "source/secret.h"
#include "text/suspect.h"

#define KNOWN_BYTES ((size_t)1 << 20) /* of a note's end */
#define ANSWER_ENTRIES EXTRACT_MAX_ENTRIES

/* ---- what is there already ---------------------------------------------- */

/* A line without its list mark, its speaker and its annotations. */
static void known_line(struct extract *x, const char *s, size_t len)
{
	static const char *const who[] = { "User: ", "Assistant: " };
	const char *end = memmem(s, len, "<!--", 4);

	if (end)
		len = (size_t)(end - s);
	while (len && strchr("-*+ \t", *s) && *s)
		s++, len--;
	for (size_t i = 0; i < ARRAY_LEN(who); i++)
		if (len > strlen(who[i]) && !memcmp(s, who[i], strlen(who[i]))) {
			s += strlen(who[i]);
			len -= strlen(who[i]);
		}
	if (len)
		extract_known(x, s, len);
}

/* A note that cannot be read is no reason not to write another line. */
static void known_note(struct extract *x, int root, const char *path)
{
	struct buf b = BUF_INIT(KNOWN_BYTES + 1);
	int fd = file_open_beneath(root, path, NULL);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	const char *s, *end;

	if (size > 0 &&
	    lseek(fd, size > (off_t)KNOWN_BYTES ? size - (off_t)KNOWN_BYTES : 0,
		  SEEK_SET) >= 0 && !file_read_fd(&b, fd, path, NULL)) {
		s = buf_str(&b);
		end = s + b.len;
		while (s < end) {
			const char *stop = memchr(s, '\n', (size_t)(end - s));
			size_t n = (size_t)((stop ? stop : end) - s);

			known_line(x, s, n);
			s += n + 1;
		}
	}
	if (fd >= 0)
		close(fd);
	buf_release(&b);
}

/* Today's and yesterday's note, and what is curated. */
static void known_notes(struct extract *x, const struct flush *f)
{
	int root = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char day[16], path[64];

	if (root < 0)
		return;
	for (int back = 0; back < 2; back++) {
		date_format(day, f->today - back);
		snprintf(path, sizeof(path), "memory/%s.md", day);
		known_note(x, root, path);
	}
	known_note(x, root, "MEMORY.md");
	known_note(x, root, "USER.md");
	close(root);
}

/* ---- by rules ------------------------------------------------------------ */

static void add_entry(struct flush *f, const struct flush_entry *e)
{
	f->entries = arena_grow(f->a, f->entries, &f->cap, f->n + 1,
				sizeof(*f->entries));
	if (f->entries)
		f->entries[f->n++] = *e;
}

static enum remem_origin origin_at(const struct flush *f, int64_t line)
{
	const struct talk *t = f->talk;

	for (size_t i = 0; i < t->n; i++)
		if (t->lines[i].line == line)
			return origin_min(f->ceiling, t->lines[i].origin);
	return REMEM_ORIGIN_UNTRUSTED;
}

/* Whether a secret stands in what was found, judged by its whole message;
 * what is left of one is nothing to remember. */
static bool holds_secret(struct flush *f, const struct extract_entry *found)
{
	const struct talk *t = f->talk;
	bool holds = false;

	for (size_t i = 0; i < t->n && !holds; i++) {
		struct buf b = BUF_INIT(0);
		size_t n;

		if (t->lines[i].line != found->line)
			continue;
		n = secret_mask(&b, t->lines[i].text, t->lines[i].len, 0);
		holds = b.failed || (n && !memmem(buf_str(&b), b.len,
						  found->text, found->len));
		f->secrets += holds;
		buf_release(&b);
	}
	return holds || memmem(found->text, found->len, "[masked ", 8);
}

static void take_found(struct flush *f, const struct extract_entry *found)
{
	struct flush_entry e = {
		.text = arena_strndup(f->a, found->text, found->len),
		.kind = extract_kind_name(found->kind),
		.who = found->user ? "user" : "assistant",
		.len = found->len,
		.line = found->line,
		.origin = origin_at(f, found->line)
	};

	if (!holds_secret(f, found))
		add_entry(f, &e);
}

int flush_by_rules(struct flush *f, struct remem_err *err)
{
	struct extract_opts o = { .today = f->today };
	const struct extract_entry *found;
	struct extract *x;
	size_t n;
	int rc = extract_new(&x, &o, err);

	if (rc)
		return rc;
	known_notes(x, f);
	for (size_t i = 0; i < f->talk->n; i++) {
		const struct talk_line *l = &f->talk->lines[i];
		struct extract_text t = {
			l->text, l->len, l->user,
			l->origin == REMEM_ORIGIN_UNTRUSTED, l->line
		};

		extract_add(x, &t);
	}
	rc = extract_finish(x, &found, &n, &f->stats, err);
	for (size_t i = 0; i < n && !rc; i++)
		take_found(f, &found[i]);
	extract_free(x);
	return rc ? rc : f->a->failed ? fail_nomem(err) : 0;
}

/* ---- by a model ---------------------------------------------------------- */

/* "(L12)", "[L12]" at the end: its line, and the text without it. */
static int64_t take_line(const char *s, size_t *len)
{
	size_t n = *len, digits = 0;
	int64_t line = 0, unit = 1;

	while (n && s[n - 1] == '.')
		n--;
	if (n < 4 || (s[n - 1] != ')' && s[n - 1] != ']'))
		return 0;
	for (n--; n && s[n - 1] >= '0' && s[n - 1] <= '9' && digits < 12;
	     n--, digits++, unit *= 10)
		line += (s[n - 1] - '0') * unit;
	if (!digits || n < 2 || s[n - 1] != 'L' ||
	    (s[n - 2] != '(' && s[n - 2] != '['))
		return 0;
	n -= 2;
	while (n && s[n - 1] == ' ')
		n--;
	*len = n;
	return line;
}

static size_t list_mark(const char *s, size_t len)
{
	size_t i = 0;

	if (len > 2 && strchr("-*+", s[0]) && s[0] && s[1] == ' ')
		return 2;
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return i && i < 3 && i + 1 < len && (s[i] == '.' || s[i] == ')') &&
			       s[i + 1] == ' ' ? i + 2 : 0;
}

struct answer {
	struct flush *f;
	struct extract *x; /* what is known */
	struct alike taken[ANSWER_ENTRIES];
	enum remem_origin origin;
	size_t items;
};

static bool is_repeated(const struct answer *w, const struct alike *a)
{
	for (size_t i = 0; i < w->f->n; i++)
		if (alike_same(&w->taken[i], a))
			return true;
	return extract_is_known(w->x, a);
}

static void take_item(struct answer *w, const char *s, size_t len)
{
	struct flush *f = w->f;
	struct buf b = BUF_INIT(0), masked = BUF_INIT(0);
	struct flush_entry e = { .kind = "note", .origin = w->origin };
	struct alike a;

	w->items++;
	e.line = take_line(s, &len);
	talk_clean(&b, s, len);
	f->secrets += (int64_t)secret_mask(&masked, buf_str(&b), b.len, 0);
	alike_make(&a, buf_str(&masked), masked.len);
	f->stats.sentences++;
	if (masked.len > EXTRACT_SENTENCE_BYTES || f->n == ANSWER_ENTRIES) {
		f->stats.beyond++;
	} else if (text_suspect(buf_str(&masked), masked.len)) {
		f->stats.suspect++;
	} else if (!a.n || is_repeated(w, &a)) {
		f->stats.repeated++;
	} else {
		e.text = arena_strndup(f->a, buf_str(&masked), masked.len);
		e.len = masked.len;
		w->taken[f->n] = a;
		add_entry(f, &e);
		f->stats.found++;
	}
	if (b.failed || masked.failed)
		f->a->failed = true;
	buf_release(&b);
	buf_release(&masked);
}

static void take_items(struct answer *w, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		const char *line = s, *stop = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((stop ? stop : end) - s), mark;

		s += n + 1;
		while (n && (unsigned char)*line <= ' ')
			line++, n--;
		while (n && (unsigned char)line[n - 1] <= ' ')
			n--;
		mark = list_mark(line, n);
		if (mark)
			take_item(w, line + mark, n - mark);
	}
}

int flush_by_answer(struct flush *f, const char *answer, size_t len,
		    struct remem_err *err)
{
	struct extract_opts o = { .today = f->today };
	struct answer *w;
	int rc = 0;

	if (talk_no_reply(answer, len))
		return 0;
	if (!utf8_valid(answer, len) || memchr(answer, '\0', len))
		return fail(err, REMEM_EFORMAT, "the answer is not UTF-8");
	w = ARENA_NEW(f->a, struct answer);
	if (!w)
		return fail_nomem(err);
	w->f = f;
	w->origin = origin_min(f->ceiling, f->talk->last_line ?
			       talk_origin(f->talk) : REMEM_ORIGIN_UNTRUSTED);
	if ((rc = extract_new(&w->x, &o, err)))
		return rc;
	known_notes(w->x, f);
	take_items(w, answer, len);
	extract_free(w->x);
	if (!w->items) {
		fail(err, REMEM_EFORMAT, "the answer has no list of notes");
		fail_action(err, "answer with lines that begin with \"- \", or "
			    "with NO_REPLY");
		return REMEM_EFORMAT;
	}
	return f->a->failed ? fail_nomem(err) : 0;
}

/* ---- into the note ------------------------------------------------------- */

static bool is_safe(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

const char *flush_source(struct arena *a, const struct talk *t, int64_t line)
{
	char session[129];
	size_t n = 0;

	if (line <= 0)
		return NULL;
	/* A transcript can name its session as it likes. */
	for (const char *s = t->session; s && *s && n < sizeof(session) - 1; s++)
		if (is_safe(*s))
			session[n++] = *s;
	session[n] = '\0';
	return arena_printf(a, "%s:%s#L%lld", t->host && t->host[0] ? t->host :
			    "transcript", session, (long long)line);
}

static int add_block(struct buf *out, const struct flush *f,
		     const struct memory *m, bool untrusted,
		     struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && !rc; i++) {
		const struct flush_entry *e = &f->entries[i];
		struct entry entry = { 0 };

		if ((e->origin <= REMEM_ORIGIN_UNTRUSTED) != untrusted)
			continue;
		entry.text = arena_printf(f->a, "%s%.*s", !e->who ? "" :
					  !strcmp(e->who, "user") ? "User: " :
					  "Assistant: ", (int)e->len, e->text);
		if (!entry.text)
			return fail_nomem(err);
		entry.len = strlen(entry.text);
		entry.source = flush_source(f->a, f->talk, e->line);
		rc = entry_compose(out, m, &entry, err);
	}
	return rc;
}

/* A blank line before a heading, where there is something before it. */
static bool has_today(const struct flush *f, const struct memory *m)
{
	char day[16];
	const char *path;

	date_format(day, memory_today(m));
	path = arena_printf(f->a, "%s/memory/%s.md", f->root, day);
	return path && file_exists(path);
}

/* "" as long as no entry is of this kind. */
static int make_block(struct buf *out, const struct flush *f,
		      const struct memory *m, const char *title, bool untrusted,
		      struct remem_err *err)
{
	size_t head;
	int rc;

	buf_addf(out, "%s### %s%s\n\n", has_today(f, m) ? "\n" : "", title,
		 untrusted ? " (with words of tools or others)" : "");
	head = out->len;
	if ((rc = add_block(out, f, m, untrusted, err)))
		return rc;
	if (out->len == head)
		buf_reset(out);
	return buf_check(out, err);
}

static enum remem_origin block_origin(const struct flush *f, bool untrusted)
{
	enum remem_origin worst = REMEM_ORIGIN_OWNER;

	for (size_t i = 0; i < f->n; i++)
		if ((f->entries[i].origin <= REMEM_ORIGIN_UNTRUSTED) ==
		    untrusted)
			worst = origin_min(worst, f->entries[i].origin);
	return worst;
}

/* What memory itself has put into the conversation is no news. */
static int drop_echoes(struct flush *f, struct memory *m,
		       struct remem_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < f->n && !rc; i++) {
		bool echo;

		rc = append_is_echo(&echo, m, f->entries[i].text,
				    f->entries[i].len, err);
		if (echo)
			f->stats.repeated++;
		else
			f->entries[kept++] = f->entries[i];
	}
	if (!rc)
		f->n = kept;
	return rc;
}

int flush_write(struct flush_done *out, struct flush *f, struct memory *m,
		const char *title, const struct remem_actor *actor,
		bool dry_run, struct remem_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = drop_echoes(f, m, err)))
		return rc;
	out->duplicate = f->n > 0;
	for (int i = 0; i < 2 && !rc; i++) {
		struct buf b = BUF_INIT(0);
		struct append w = { .op = "flush", .actor = *actor,
				    .dry_run = dry_run };
		struct append_done d = { 0 };

		rc = make_block(&b, f, m, title, i == 1, err);
		w.text = buf_str(&b);
		w.len = b.len;
		w.source = f->talk->session;
		w.origin = block_origin(f, i == 1);
		if (!rc && b.len &&
		    !(rc = append_lines(&d, f->a, m, &w, err))) {
			out->journal[i] = d.journal;
			out->duplicate = out->duplicate && d.duplicate;
			if (!out->path) {
				out->path = d.path;
				out->citation = d.citation;
			}
		}
		buf_release(&b);
	}
	return rc;
}
