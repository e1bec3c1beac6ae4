/* See origin_index.h. */
#include "memory/origin_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/line.h"

struct filler {
	struct arena *a;
	struct origin_set *set;
};

static int take(void *ctx, const struct line_row *row)
{
	struct filler *f = ctx;
	struct origin_set *s = f->set;

	s->rows = arena_grow(f->a, s->rows, &s->cap, s->count + 1,
			     sizeof(*s->rows));
	if (!s->rows)
		return REMEM_ENOMEM;
	s->rows[s->count++] = *row;
	return 0;
}

static int by_line(const void *x, const void *y)
{
	const struct line_row *a = x, *b = y;
	int d = memcmp(a->line, b->line, LINE_HASH_BYTES);

	return d ? d : (a->origin > b->origin) - (a->origin < b->origin);
}

/* The worst class of a line, 0 if it is not in the set. */
static int look_up(const struct origin_set *s,
		   const unsigned char line[LINE_HASH_BYTES])
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (memcmp(s->rows[mid].line, line, LINE_HASH_BYTES) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->count &&
	       !memcmp(s->rows[low].line, line, LINE_HASH_BYTES) ?
	       s->rows[low].origin : 0;
}

struct changes {
	struct arena *a;
	struct index_reclass *re;
	size_t cap;
};

static int take_path(void *ctx, const char *path)
{
	struct changes *c = ctx;
	struct index_reclass *re = c->re;

	re->paths = arena_grow(c->a, re->paths, &c->cap, re->count + 1,
			       sizeof(*re->paths));
	if (!re->paths)
		return REMEM_ENOMEM;
	re->paths[re->count++] = arena_strdup(c->a, path);
	return 0;
}

/* "SEQ EDITS": the last change of a class, and what others' lines count as. */
static int list_changes(struct origin_index *o, struct index_reclass *out,
			struct arena *a, const char *stamp,
			struct remem_err *err)
{
	struct changes c = { a, out, 0 };
	long long seq = 0;
	int edits = -1, rc = 0;
	int64_t last = 0;

	if (!stamp || sscanf(stamp, "%lld %d", &seq, &edits) != 2 ||
	    edits != (int)o->edits) {
		out->all = true;
		seq = 0;
	}
	if (o->state)
		rc = state_note_changed(o->state, seq, &last, take_path, &c,
					err);
	if (last < seq)
		last = seq;
	out->stamp = arena_printf(a, "%lld %d", (long long)last,
				  (int)o->edits);
	return rc == REMEM_ENOMEM || a->failed ? fail_nomem(err) : rc;
}

static int begin(void *ctx, struct index_reclass *out, struct arena *a,
		 const char *stamp, struct remem_err *err)
{
	struct origin_index *o = ctx;
	struct filler f = { &o->all, &o->worse };
	int rc;

	state_close(o->state);
	o->state = NULL;
	arena_reset(&o->all);
	memset(&o->worse, 0, sizeof(o->worse));
	if ((rc = o->open(o->ctx, &o->state, &o->edits, err)) ||
	    (rc = list_changes(o, out, a, stamp, err)))
		return rc;
	if (o->state)
		rc = state_line_worse(o->state, (int)o->edits, take, &f, err);
	return rc == REMEM_ENOMEM ? fail_nomem(err) : rc;
}

static int set_file(void *ctx, const char *path, struct remem_err *err)
{
	struct origin_index *o = ctx;
	struct filler f = { &o->file, &o->known };
	int rc = 0;

	arena_reset(&o->file);
	memset(&o->known, 0, sizeof(o->known));
	o->best = origin_of_path(path);
	if (o->state)
		rc = state_line_each(o->state, path, take, &f, err);
	if (o->known.count)
		qsort(o->known.rows, o->known.count, sizeof(*o->known.rows),
		      by_line);
	return rc == REMEM_ENOMEM ? fail_nomem(err) : rc;
}

static enum remem_origin of_line(const struct origin_index *o,
				 const char *line, size_t len)
{
	unsigned char hash[LINE_HASH_BYTES];
	int origin;

	if (!o->known.count && !o->worse.count)
		return o->edits;
	origin_line_hash(hash, line, len);
	if (!(origin = look_up(&o->known, hash)) &&
	    !(origin = look_up(&o->worse, hash)))
		return o->edits;
	return (enum remem_origin)origin;
}

static const char *lines(void *ctx, const char *text, size_t len)
{
	struct origin_index *o = ctx;
	enum remem_origin worst = o->best;

	for (size_t i = 0, end; i < len; i = end + 1) {
		end = line_end(text, i, len);
		if (skip_blank(text, i, end) < end)
			worst = origin_min(worst, of_line(o, text + i,
							  end - i));
	}
	return origin_name(worst);
}

const struct index_origins *origin_index_ops(struct origin_index *o)
{
	o->ops = (struct index_origins){ o, begin, set_file, lines };
	return &o->ops;
}

void origin_index_release(struct origin_index *o)
{
	state_close(o->state);
	o->state = NULL;
	arena_release(&o->all);
	arena_release(&o->file);
}
