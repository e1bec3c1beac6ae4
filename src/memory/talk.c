/* See talk.h. */
#include "memory/talk.h"

#include <dirent.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "memory/origin.h"
#include "memory/talk_clean.h"
#include "source/secret.h"
#include "text/suspect.h"
#include "source/transcript.h"
#include "text/token.h"

/* A message beyond it is a file that somebody pasted: its beginning is kept. */
#define MESSAGE_BYTES 65536
#define MIRROR 3 /* messages looked back for one that was delivered twice */

struct reader {
	struct talk *t;
	struct arena *a;
	const struct talk_opts *o;
	int64_t after; /* messages behind this line only */
	int64_t usage_tokens; /* the last record seen */
	struct buf text, masked;
};

static enum remem_origin origin_of_message(const struct transcript_message *m)
{
	if (m->tainted || m->origin == TRANSCRIPT_UNTRUSTED)
		return REMEM_ORIGIN_UNTRUSTED;
	return m->origin == TRANSCRIPT_OWNER ? REMEM_ORIGIN_OWNER :
					       REMEM_ORIGIN_AGENT;
}

static bool counts(const struct transcript_message *m)
{
	return m->kind == TRANSCRIPT_TEXT && !m->recalled &&
	       m->origin != TRANSCRIPT_INJECTED &&
	       (m->role == TRANSCRIPT_USER || m->role == TRANSCRIPT_ASSISTANT);
}

/* The same words by the same speaker a moment ago. */
static bool is_mirrored(const struct talk *t, bool user, const char *s,
			size_t len)
{
	for (size_t i = t->n; i && i + MIRROR > t->n; i--) {
		const struct talk_line *l = &t->lines[i - 1];

		if (l->user == user && l->len == len && !memcmp(l->text, s, len))
			return true;
	}
	return false;
}

/* Room for one more; of the last N the oldest goes. */
static struct talk_line *new_line(struct reader *r)
{
	struct talk *t = r->t;

	if (r->o->last && t->n == r->o->last) {
		memmove(t->lines, t->lines + 1,
			(t->n - 1) * sizeof(*t->lines));
		return &t->lines[t->n - 1];
	}
	t->lines = arena_grow(r->a, t->lines, &t->cap, t->n + 1,
			      sizeof(*t->lines));
	return t->lines ? &t->lines[t->n++] : NULL;
}

/* What cleaning takes away may be what told an order from a fact, so a message
 * is judged as it came: what is taken from it is not given unasked. */
static enum remem_origin judged_origin(const struct transcript_message *m,
				       size_t len)
{
	return text_suspect(m->text, len) ?
		       origin_min(origin_of_message(m), REMEM_ORIGIN_UNTRUSTED) :
		       origin_of_message(m);
}

static void take(struct reader *r, const struct transcript_message *m)
{
	bool user = m->role == TRANSCRIPT_USER;
	size_t len = m->len < MESSAGE_BYTES ? m->len :
					      utf8_cut(m->text, m->len,
						       MESSAGE_BYTES);
	struct talk_line *l;
	const char *text;

	buf_reset(&r->text);
	buf_reset(&r->masked);
	talk_clean(&r->text, m->text, len);
	if (r->o->raw)
		buf_add(&r->masked, buf_str(&r->text), r->text.len);
	else
		r->t->secrets += (int64_t)secret_mask(
			&r->masked, buf_str(&r->text), r->text.len, r->o->mask);
	if (r->text.failed || r->masked.failed) {
		r->a->failed = true;
		return;
	}
	if (talk_is_command(buf_str(&r->masked), r->masked.len) ||
	    is_mirrored(r->t, user, buf_str(&r->masked), r->masked.len)) {
		r->t->left_out++;
		return;
	}
	text = arena_strndup(r->a, buf_str(&r->masked), r->masked.len);
	l = new_line(r);
	if (l && text)
		*l = (struct talk_line){ user, judged_origin(m, len), m->line,
					 m->time_ms, text, r->masked.len };
}

static void message(struct reader *r, const struct transcript_message *m,
		    const struct transcript_info *info)
{
	r->t->last_line = m->line;
	if (info->context_tokens != r->usage_tokens) {
		r->usage_tokens = info->context_tokens;
		r->t->after_tokens = 0;
	} else {
		r->t->after_tokens += (int64_t)token_estimate(m->text, m->len);
	}
	if (m->role == TRANSCRIPT_USER && m->kind == TRANSCRIPT_TEXT &&
	    strstr(m->text, TALK_PROMPT_MARK))
		r->t->own = true;
	if (m->line <= r->after || m->kind == TRANSCRIPT_COMPACTION)
		return;
	if (counts(m))
		take(r, m);
	else
		r->t->left_out++;
}

/* ---- finding the file --------------------------------------------------- */

static bool is_archive(const char *name, const char *base)
{
	size_t n = strlen(base);

	return !strncmp(name, base, n) &&
	       (!strncmp(name + n, ".reset.", 7) ||
		!strncmp(name + n, ".deleted.", 9));
}

/* Hosts rename a transcript when they begin a new one: the newest archive of
 * its name, which ends with a time. NULL: there is none. */
static const char *find_archive(struct arena *a, const char *path)
{
	const char *base = path_base(path), *best = NULL;
	char *dir = path_dir(a, path);
	struct dirent *e;
	DIR *d = dir ? opendir(dir) : NULL;

	if (!d)
		return NULL;
	while ((e = readdir(d)))
		if (is_archive(e->d_name, base) &&
		    (!best || strcmp(strrchr(e->d_name, '.'),
				     strrchr(best, '.')) > 0))
			best = arena_strdup(a, e->d_name);
	closedir(d);
	return best ? path_join(a, dir, best) : NULL;
}

static int open_it(struct transcript **out, struct arena *a,
		   const struct talk_opts *o, struct remem_err *err)
{
	struct transcript_opts to = { .format = o->format,
				      .session = o->session,
				      .want = TRANSCRIPT_WANT_TEXT |
					      TRANSCRIPT_WANT_COMPACTION,
				      .last_line = true };
	const char *archive;
	int rc = transcript_open(out, o->path, &to, err);

	if (rc != REMEM_ENOTFOUND)
		return rc;
	archive = find_archive(a, o->path);
	return archive ? transcript_open(out, archive, &to, err) : rc;
}

static const char *keep(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : "";
}

static void take_info(struct reader *r, const struct transcript_info *i)
{
	struct talk *t = r->t;

	t->host = keep(r->a, i->host);
	t->session = keep(r->a, i->session ? i->session : r->o->session);
	t->title = i->title ? arena_strdup(r->a, i->title) : NULL;
	t->started_ms = i->started_ms;
	t->last_ms = i->last_ms;
	t->bytes = i->bytes;
	t->compactions = i->compactions;
	t->context_tokens = i->context_tokens;
	t->output_tokens = i->output_tokens;
}

int talk_read(struct talk *out, struct arena *a, const struct talk_opts *o,
	      struct remem_err *err)
{
	struct reader r = { .t = out, .a = a, .o = o };
	const struct transcript_message *m;
	struct transcript *t = NULL;
	int rc = open_it(&t, a, o, err);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	/* A file that shrank is another one. */
	if (transcript_info(t)->bytes >= o->only_if_bytes)
		r.after = o->after_line;
	while (!(rc = transcript_next(t, &m, err)) && m)
		message(&r, m, transcript_info(t));
	if (!rc)
		take_info(&r, transcript_info(t));
	transcript_close(t);
	buf_release(&r.text);
	buf_release(&r.masked);
	return rc ? rc : a->failed ? fail_nomem(err) : 0;
}

enum remem_origin talk_origin(const struct talk *t)
{
	enum remem_origin worst = REMEM_ORIGIN_AGENT;

	for (size_t i = 0; i < t->n; i++)
		worst = origin_min(worst, t->lines[i].origin);
	return worst;
}
