/*
 * The rows of a file as it is now. A chunk whose digest (text with overlap,
 * heading path, passages and what is noted on them) stood in the file before
 * keeps its row, its postings and its vectors, wherever it stands now; only
 * its lines are written again.
 */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_pack.h"
#include "store/sqlite_put.h"

static int count_lines(const char *s, size_t from, size_t to)
{
	int n = 0;

	for (const char *p = s + from, *end = s + to; p < end; p++, n++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p)
			break;
	}
	return n;
}

/* ---- digests ---- */

static void add_number(struct sha256 *h, int64_t v)
{
	unsigned char b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)((uint64_t)v >> (8 * i));
	sha256_add(h, b, sizeof(b));
}

static void add_string(struct sha256 *h, const char *s)
{
	add_number(h, s ? (int64_t)strlen(s) : -1);
	if (s)
		sha256_add(h, s, strlen(s));
}

static void add_annotations(struct sha256 *h, const struct annotations *n)
{
	add_number(h, n != NULL);
	if (!n)
		return;
	add_string(h, n->triggers);
	add_string(h, n->project);
	add_string(h, n->status);
	add_string(h, n->origin);
	add_number(h, n->importance);
	add_number(h, n->observed);
}

static void add_passage(struct sha256 *h, const struct put *p,
			const struct chunk *c, const struct passage *g,
			int first_line)
{
	add_number(h, (int64_t)(g->start - c->start));
	add_number(h, (int64_t)(g->end - g->start));
	add_number(h, g->line_first - first_line);
	add_number(h, g->line_last - g->line_first);
	add_number(h, (int64_t)g->kind << 16 | (int64_t)g->script << 8 |
		      g->continues);
	add_number(h, g->heading < 0 ? 0 : p->heading_ids[g->heading]);
	add_annotations(h, g->ann);
}

static void digest_of(struct new_chunk *out, const struct put *p,
		      const struct chunk *c)
{
	unsigned char full[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, c->hash, SHA256_BYTES);
	add_number(&h, (int64_t)(c->start - c->lead));
	add_number(&h, (int64_t)(c->end - c->start));
	add_string(&h, out->heading_path);
	add_number(&h, c->passage_count);
	for (int i = 0; i < c->passage_count; i++)
		add_passage(&h, p, c, &p->n->passages[c->passage_first + i],
			    out->first_line);
	sha256_done(&h, full);
	memcpy(out->digest, full, DIGEST_BYTES);
}

/* ---- which old chunk stays for which new one ---- */

struct old_ref {
	const struct old_chunk *chunk;
	int index;
};

static int by_digest(const void *a, const void *b)
{
	const struct old_ref *x = a, *y = b;
	int d = memcmp(x->chunk->digest, y->chunk->digest, DIGEST_BYTES);

	return d ? d : x->index - y->index;
}

static int find_old(struct put *p, struct old_ref *refs, const struct new_chunk *c)
{
	size_t low = 0, high = (size_t)p->old_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (memcmp(refs[mid].chunk->digest, c->digest,
			   DIGEST_BYTES) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < (size_t)p->old_count; low++) {
		struct old_chunk *o = &p->old[refs[low].index];

		if (memcmp(o->digest, c->digest, DIGEST_BYTES))
			return -1;
		if (!o->kept) {
			o->kept = true;
			return refs[low].index;
		}
	}
	return -1;
}

static int match(struct put *p, struct remem_err *err)
{
	struct old_ref *refs = ARENA_ARRAY(p->a, struct old_ref,
					   (size_t)p->old_count + 1);

	if (!refs)
		return fail_nomem(err);
	for (int i = 0; i < p->old_count; i++) {
		refs[i].chunk = &p->old[i];
		refs[i].index = i;
	}
	qsort(refs, (size_t)p->old_count, sizeof(*refs), by_digest);
	for (int i = 0; i < p->now_count; i++)
		p->now[i].old = find_old(p, refs, &p->now[i]);
	return 0;
}

/* Line of the nearest heading, 0: none. */
static int heading_line(const struct note *n, int heading)
{
	return heading < 0 ? 0 : n->headings[heading].line;
}

int new_prepare(struct put *p, struct remem_err *err)
{
	const struct note *n = p->n;
	size_t at = 0;
	int line = 1;

	p->now_count = n ? n->chunk_count : 0;
	p->now = ARENA_ARRAY(p->a, struct new_chunk, (size_t)p->now_count + 1);
	p->now_post = ARENA_ARRAY(p->a, struct post_chunk,
				  (size_t)p->now_count + 1);
	for (int i = 0; !p->a->failed && i < p->now_count; i++) {
		const struct chunk *c = &n->chunks[i];
		struct new_chunk *o = &p->now[i];

		line = n->talk ? c->line_first :
		       line + count_lines(n->text, at, c->start);
		at = c->start;
		o->old = -1;
		o->first_line = line;
		o->heading_line = heading_line(n, c->heading);
		o->heading_path = note_heading_path(p->a, n, c->heading);
		if (!o->heading_path)
			break;
		digest_of(o, p, c);
		p->now_post[i] = (struct post_chunk){
			0, n->text + c->start, c->end - c->start,
			c->start - c->lead, o->heading_path
		};
	}
	if (p->a->failed)
		return fail_nomem(err);
	/* The date is posted with every chunk. */
	if (p->existed && p->before.date == p->f->date)
		return match(p, err);
	return 0;
}

/* ---- rows ---- */

static void bind_annotations(sqlite3_stmt *st, int at,
			     const struct annotations *n, char room[16])
{
	static const struct annotations none = { .observed = DATE_NONE };

	if (!n)
		n = &none;
	if (n->importance)
		sqlite3_bind_int(st, at, n->importance);
	else
		sqlite3_bind_null(st, at);
	sq_bind_text(st, at + 1, n->project);
	sq_bind_text(st, at + 2, n->status);
	sq_bind_text(st, at + 3, n->origin);
	sq_bind_text(st, at + 4, n->triggers);
	sq_bind_date(st, at + 5, n->observed, room);
}

static int insert_passage(struct put *p, int i, const struct passage *g,
			  int64_t id, struct remem_err *err)
{
	int64_t heading = g->heading < 0 ? 0 : p->heading_ids[g->heading];
	int64_t slot, next;
	sqlite3_stmt *st;
	char room[16];
	int rc = old_vector(p, g->hash, heading, &slot, &next, err);

	if (rc || (rc = sq_get(p->s, S_PASSAGE_PUT, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, p->now[i].id);
	sqlite3_bind_int64(st, 3,
			   (int64_t)(g->start - p->n->chunks[i].start));
	sqlite3_bind_int64(st, 4, (int64_t)(g->end - g->start));
	sqlite3_bind_int(st, 5, g->line_first - p->now[i].first_line);
	sqlite3_bind_int(st, 6, g->line_last - g->line_first + 1);
	sqlite3_bind_int(st, 7, g->kind);
	sqlite3_bind_int(st, 8, g->script);
	sqlite3_bind_int(st, 9, g->continues);
	sqlite3_bind_int64(st, 10, heading);
	sqlite3_bind_blob(st, 11, g->hash, SHA256_BYTES, SQLITE_STATIC);
	sq_bind_slot(st, 12, slot);
	sq_bind_slot(st, 13, next);
	bind_annotations(st, 14, g->ann, room);
	return sq_run(p->s, st, err);
}

static void pack_one(struct pack_writer *w, const struct put *p, int i,
		     const struct passage *g)
{
	const struct annotations *n = g->ann;
	struct store_passage row = {
		.start = (uint32_t)(g->start - p->n->chunks[i].start),
		.len = (uint32_t)(g->end - g->start), .kind = g->kind,
		.script = g->script, .continues = g->continues,
		.observed = DATE_NONE
	};

	if (n) {
		row.importance = n->importance;
		row.project = n->project;
		row.status = n->status;
		row.origin = n->origin;
		row.triggers = n->triggers;
		row.observed = n->observed;
	}
	pack_passage(w, &row, g->line_first - p->now[i].first_line,
		     g->line_last - g->line_first + 1,
		     g->heading < 0 ? 0 : p->heading_ids[g->heading]);
}

static int pack_chunk(struct put *p, int i, struct remem_err *err)
{
	const struct chunk *c = &p->n->chunks[i];
	struct pack_writer w = { &p->packed, 0, 0, NULL };

	buf_reset(&p->packed);
	for (int k = 0; k < c->passage_count; k++)
		pack_one(&w, p, i, &p->n->passages[c->passage_first + k]);
	return buf_check(&p->packed, err);
}

static int next_passages(struct sq *s, int n, int64_t *first,
			 struct remem_err *err)
{
	int rc;

	if (!s->next_passage) {
		if ((rc = sq_int(s, S_PASSAGE_MAX, &s->next_passage, err)))
			return rc;
		s->next_passage++;
	}
	*first = s->next_passage;
	s->next_passage += n;
	return 0;
}

static int insert_chunk(struct put *p, int i, struct remem_err *err)
{
	const struct chunk *c = &p->n->chunks[i];
	struct new_chunk *o = &p->now[i];
	struct map_entry e = { .file = (uint32_t)p->f->id };
	int64_t first;
	sqlite3_stmt *st;
	int rc;

	if ((rc = pack_chunk(p, i, err)) ||
	    (rc = next_passages(p->s, c->passage_count, &first, err)) ||
	    (rc = sq_get(p->s, S_CHUNK_PUT, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, o->id);
	sqlite3_bind_int64(st, 2, p->f->id);
	sqlite3_bind_int(st, 3, i);
	sqlite3_bind_int64(st, 4, (int64_t)(c->start - c->lead));
	sqlite3_bind_int(st, 5, o->first_line);
	sqlite3_bind_int(st, 6, c->line_first);
	sqlite3_bind_int(st, 7, c->line_last);
	sqlite3_bind_int(st, 8, o->heading_line);
	sqlite3_bind_int64(st, 9, first);
	sqlite3_bind_int(st, 10, c->passage_count);
	sqlite3_bind_blob(st, 11, o->digest, DIGEST_BYTES, SQLITE_STATIC);
	sqlite3_bind_blob(st, 12, buf_str(&p->packed), (int)p->packed.len,
			  SQLITE_STATIC);
	sq_bind_text(st, 13, o->heading_path);
	sqlite3_bind_text(st, 14, p->n->text + c->start,
			  (int)(c->end - c->start), SQLITE_STATIC);
	if ((rc = sq_run(p->s, st, err)))
		return rc;
	sq_count(p->s, C_TEXT_BYTES, (int64_t)(c->end - c->start));
	sq_count(p->s, C_PASSAGES, c->passage_count);
	p->s->chunks_moved++;
	p->now_post[i].id = o->id;
	/* Takes the id; its length comes with its posting. */
	rc = map_set(p->s, o->id, &e, err);
	for (int k = 0; !rc && k < c->passage_count; k++)
		rc = insert_passage(p, i, &p->n->passages[c->passage_first + k],
				    first + k, err);
	return rc;
}

static int move_chunk(struct put *p, int i, struct remem_err *err)
{
	const struct chunk *c = &p->n->chunks[i];
	const struct old_chunk *old = &p->old[p->now[i].old];
	struct new_chunk *o = &p->now[i];
	sqlite3_stmt *st;
	int rc;

	o->id = old->id;
	if (old->ord == i && old->first_line == o->first_line &&
	    old->line_first == c->line_first &&
	    old->line_last == c->line_last &&
	    old->heading_line == o->heading_line)
		return 0;
	if ((rc = sq_get(p->s, S_CHUNK_MOVE, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, o->id);
	sqlite3_bind_int(st, 2, i);
	sqlite3_bind_int(st, 3, o->first_line);
	sqlite3_bind_int(st, 4, c->line_first);
	sqlite3_bind_int(st, 5, c->line_last);
	sqlite3_bind_int(st, 6, o->heading_line);
	return sq_run(p->s, st, err);
}

int new_insert(struct put *p, struct remem_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < p->now_count; i++) {
		if (p->now[i].old >= 0) {
			rc = move_chunk(p, i, err);
			continue;
		}
		if (p->free_used < p->free_count)
			p->now[i].id = p->free_ids[p->free_used++];
		else
			rc = map_free_id(p->s, &p->now[i].id, err);
		if (!rc)
			rc = insert_chunk(p, i, err);
	}
	return rc;
}
