/*
 * Whom the lines of notes come from. The one who knows is asked for each note
 * that is cut, and once a round for notes whose classes have changed since the
 * index was last in step with them; those are cut again though their bytes are
 * the same.
 */
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "index/sync.h"
#include "text/line.h"

#define META "origins"

static void mark(struct sync *y, struct source_file *f)
{
	if (!f || f->skip)
		return;
	f->again = true;
	y->again++;
}

void sync_origins_look(struct sync *y)
{
	const struct index_origins *o = y->o->origins;
	struct index_reclass re = { 0 };
	struct remem_err why = { 0 };
	const char *stamp;

	y->again = 0;
	y->origins = NULL;
	if (!o)
		return;
	stamp = y->s ? y->s->ops->meta_get(y->s, &y->round, META) : NULL;
	/* Without it lines are of unknown origin, and found all the same. */
	if (o->begin(o->ctx, &re, &y->round, stamp, &why)) {
		log_msg(LOG_WARN, "index", "%s", why.message);
		return;
	}
	y->origins = re.stamp;
	for (size_t i = 0; re.all && i < y->list.count; i++)
		mark(y, &y->list.files[i]);
	for (size_t i = 0; !re.all && i < re.count; i++)
		mark(y, source_list_find(&y->list, re.paths[i]));
}

int sync_origins_keep(struct sync *y, struct remem_err *err)
{
	if (!y->origins || y->list.scopes)
		return 0;
	return y->s->ops->meta_set(y->s, META, y->origins, err);
}

/* The same for all passages that say nothing else. */
static const struct annotations *annotate(struct arena *a,
					  const struct annotations **shared,
					  const struct annotations *ann,
					  const char *origin)
{
	struct annotations *out;

	if (!ann && *shared && (*shared)->origin == origin)
		return *shared;
	out = ARENA_NEW(a, struct annotations);
	if (!out)
		return NULL;
	if (ann)
		*out = *ann;
	else
		out->observed = DATE_NONE;
	out->origin = origin;
	if (!ann)
		*shared = out;
	return out;
}

struct lines { /* whole ones, that a passage stands in */
	size_t from, last, end; /* last: where the last of them begins */
	const char *origin;
};

static size_t line_start(const char *text, size_t at, size_t least)
{
	while (at > least && text[at - 1] != '\n')
		at--;
	return at;
}

/* Passages come in order, and thousands of them may stand in one line: it is
 * neither looked for nor asked about again. */
static void lines_of(struct lines *l, const struct note *n,
		     const struct passage *p, const struct index_origins *o)
{
	size_t from = p->start;

	if (from >= l->last && from < l->end) {
		if (l->last == l->from && p->end <= l->end)
			return;
		from = l->last;
	} else {
		from = line_start(n->text, from, 0);
	}
	l->from = from;
	l->end = line_end(n->text, p->end, n->len);
	l->last = line_start(n->text, l->end, from);
	l->origin = o->lines(o->ctx, n->text + from, l->end - from);
}

int sync_origins_fill(struct sync *y, struct arena *a, const char *path,
		      struct note *n, struct remem_err *err)
{
	const struct index_origins *o = y->o->origins;
	const struct annotations *shared = NULL;
	struct remem_err why = { 0 };
	struct lines l = { 0 };
	int rc;

	if (!y->origins)
		return 0;
	if ((rc = o->file(o->ctx, path, &why))) {
		if (rc == REMEM_ENOMEM)
			return fail_nomem(err);
		log_msg(LOG_WARN, "index", "%s", why.message);
		y->origins = NULL; /* the next run asks again */
		return 0;
	}
	for (int i = 0; i < n->passage_count; i++) {
		struct passage *p = &n->passages[i];

		lines_of(&l, n, p, o);
		p->ann = annotate(a, &shared, p->ann, l.origin);
	}
	return a->failed ? fail_nomem(err) : 0;
}
