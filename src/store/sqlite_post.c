/*
 * What is posted for a chunk and for a file's name. The tables keep no copy of
 * it, so taking a posting back means to build exactly the same body again.
 *
 *   postings   overlap, own text, heading path, date (YYYY-MM-DD)
 *   names      stem, each name of the path, title, aliases, tags; one a line
 */
#include <string.h>

#include "base/path.h"
#include "store/sqlite_store.h"

/* The last bytes of the texts before chunk i, where its overlap stands. */
static void add_lead(struct buf *b, const struct post_chunk *chunks, size_t i)
{
	size_t lead = chunks[i].lead, first = i, have = 0;

	while (first > 0 && have < lead)
		have += chunks[--first].len;
	for (size_t k = first; k < i; k++) {
		size_t skip = have > lead ? have - lead : 0;

		if (skip > chunks[k].len)
			skip = chunks[k].len;
		if (skip < chunks[k].len)
			buf_add(b, chunks[k].text + skip,
				chunks[k].len - skip);
		have -= skip;
	}
}

int post_body(struct buf *b, const struct post_chunk *chunks, size_t i,
	      int32_t date, struct remem_err *err)
{
	char day[16];

	buf_reset(b);
	add_lead(b, chunks, i);
	buf_add(b, chunks[i].text, chunks[i].len);
	buf_addc(b, '\n');
	buf_adds(b, chunks[i].heading_path);
	date_format(day, date);
	buf_addc(b, '\n');
	buf_adds(b, day);
	return buf_check(b, err);
}

static int put_body(struct sq *s, enum stmt_id id, int64_t row,
		    const struct buf *body, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, id, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, row);
	sqlite3_bind_text(st, 2, buf_str(body), (int)body->len, SQLITE_STATIC);
	return sq_run(s, st, err);
}

int post_add(struct sq *s, int64_t id, const struct buf *body,
	     struct remem_err *err)
{
	return put_body(s, S_POST_ADD, id, body, err);
}

static uint16_t saturate(size_t n)
{
	return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

int post_add_counted(struct sq *s, const struct post_chunk *c, uint32_t file,
		     const struct buf *body, struct remem_err *err)
{
	struct fts_count *n = &s->fts_count;
	struct map_entry e = { .file = file };
	bool taken;
	int rc;

	*n = (struct fts_count){ .on = true, .lead = c->lead,
				 .len = c->lead + c->len };
	rc = bulk_add(s, c->id, body, n, &taken, err);
	if (!rc && !taken)
		rc = post_add(s, c->id, body, err);
	n->on = false;
	if (rc)
		return rc;
	e.terms = saturate(n->all);
	e.own_terms = saturate(n->own);
	return map_set(s, c->id, &e, err);
}

int post_del(struct sq *s, int64_t id, const struct buf *body,
	     struct remem_err *err)
{
	return put_body(s, S_POST_DEL, id, body, err);
}

static void add_lines(struct buf *b, const char *text, char separator)
{
	for (const char *p = text; p && *p; p++)
		buf_addc(b, *p == separator ? '\n' : *p);
	buf_addc(b, '\n');
}

static int name_body(struct buf *b, const struct store_file *f,
		     struct remem_err *err)
{
	const char *base = path_base(f->path);
	const char *dot = strrchr(base, '.');

	buf_add(b, base, dot && dot != base ? (size_t)(dot - base) :
		strlen(base));
	buf_addc(b, '\n');
	add_lines(b, f->path, '/');
	add_lines(b, f->title, '\n');
	add_lines(b, f->aliases, '\n');
	add_lines(b, f->tags, ',');
	return buf_check(b, err);
}

static int name_row(struct sq *s, enum stmt_id id, const struct store_file *f,
		    struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc = name_body(&b, f, err);

	if (!rc)
		rc = put_body(s, id, f->id, &b, err);
	buf_release(&b);
	return rc;
}

int names_add(struct sq *s, const struct store_file *f, struct remem_err *err)
{
	return name_row(s, S_NAME_ADD, f, err);
}

int names_del(struct sq *s, const struct store_file *f, struct remem_err *err)
{
	return name_row(s, S_NAME_DEL, f, err);
}
