/*
 * See given.h. Nothing here may keep an answer back: a state that cannot be
 * opened or written is logged, and the answer is given.
 */
#include "api/given.h"

#include <string.h>

#include "api/public.h"
#include "base/log.h"
#include "memory/journal.h"
#include "memory/origin.h"

void given_begin(struct given *g, struct remem *r,
		 const struct remem_actor *actor)
{
	memset(g, 0, sizeof(*g));
	g->r = r;
	g->actor = *actor;
	g->state = handle_state(r);
	if (!g->state && r->read_only && r->state_base &&
	    !handle_id(r, false, NULL) && r->id[0] &&
	    !state_open(&g->reader, r->state_base, r->id, true, NULL))
		g->state = g->reader;
	g->edits = handle_edits(r, g->state);
}

bool given_trusted(struct given *g, const char *path, const char *text,
		   size_t len)
{
	enum remem_origin o = origin_min(g->edits, origin_of_path(path));

	if (g->state && origin_of_lines(&o, g->state, path, text, len,
					g->edits, NULL))
		return false;
	return o >= REMEM_ORIGIN_AGENT;
}

/* The snippet has not the bytes of its lines: the index knew them. */
bool given_hit(struct given *g, const struct remem_hit *h)
{
	return !h->flags[0] && origin_parse(h->origin) >= REMEM_ORIGIN_AGENT &&
	       given_trusted(g, h->path, h->snippet, strlen(h->snippet));
}

/* The next line of *text, which moves behind it; false at the end. */
static bool next_line(const char **text, size_t *len, const char **line,
		      size_t *n)
{
	const char *end;

	if (!*len)
		return false;
	end = memchr(*text, '\n', *len);
	*line = *text;
	*n = end ? (size_t)(end - *text) : *len;
	*text += *n + (end != NULL);
	*len -= *n + (end != NULL);
	return true;
}

bool given_before(struct given *g, const char *text, size_t len)
{
	unsigned char words[LINE_HASH_BYTES];
	const char *line;
	bool has = false;
	size_t n;

	if (!g->state || !g->actor.session)
		return false;
	while (!has && next_line(&text, &len, &line, &n))
		if (origin_words_hash(words, line, n) &&
		    state_given_has(g->state, g->actor.session, words, &has,
				    NULL))
			return false;
	return has;
}

static void give_up(struct given *g, const struct remem_err *why)
{
	log_msg(LOG_WARN, "memory", "%s", why->message);
	if (g->count)
		state_rollback(g->state);
	g->count = 0;
	g->quiet = true;
}

void given_mark(struct given *g, const char *text, size_t len)
{
	unsigned char words[LINE_HASH_BYTES];
	struct remem_err why = { 0 };
	const char *line;
	size_t n;

	if (!g->state || g->reader || g->quiet)
		return;
	if (!g->count++ && state_begin(g->state, false, &why)) {
		g->count = 0;
		give_up(g, &why);
		return;
	}
	g->bytes += len;
	while (next_line(&text, &len, &line, &n)) {
		if (origin_words_hash(words, line, n) &&
		    state_given_add(g->state, g->actor.session, words,
				    handle_now_ms(g->r), &why)) {
			give_up(g, &why);
			return;
		}
	}
}

void given_end(struct given *g, const char *op, const char *citations)
{
	struct memory m = { .state = g->state, .now_ms = handle_now_ms(g->r) };
	struct remem_err why = { 0 };
	struct buf detail = BUF_INIT(0);

	if (g->count) {
		buf_addf(&detail, "{\"entries\":%d", g->count);
		if (citations)
			buf_addf(&detail, ",\"citations\":%s", citations);
		buf_addc(&detail, '}');
		if (detail.failed ||
		    journal_add(NULL, &m, &g->actor, op, NULL, NULL, NULL,
				(int64_t)g->bytes, REMEM_ORIGIN_SYSTEM,
				buf_str(&detail), &why) ||
		    state_commit(g->state, &why))
			give_up(g, &why);
	}
	state_close(g->reader);
	buf_release(&detail);
}
