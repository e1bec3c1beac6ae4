/*
 * Is the index what it says it is? The database by SQLite's own check, totals
 * against tables, tables against each other, the files of vectors against
 * their rows, and postings by looking for terms of some chunks. Every problem
 * is a line; only what keeps us from looking is an error.
 */
#include <inttypes.h>
#include <string.h>

#include "store/sqlite_store.h"
#include "text/term.h"

#define PROBLEMS_MAX 50
#define SAMPLE_CHUNKS 64

struct report {
	struct sq *s;
	struct arena *a;
	const char **lines;
	size_t count, cap;
};

static int say(struct report *r, const char *line, struct remem_err *err)
{
	if (r->count >= PROBLEMS_MAX)
		return 0;
	r->lines = arena_grow(r->a, r->lines, &r->cap, r->count + 1,
			      sizeof(*r->lines));
	if (!r->lines || !line)
		return fail_nomem(err);
	r->lines[r->count++] = line;
	return 0;
}

static int ask_int(struct report *r, const char *sql, int64_t *out,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*out = 0;
	if (sqlite3_prepare_v2(r->s->db, sql, -1, &st, NULL))
		return sq_fail(r->s, "check", err);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 :
	     sq_fail(r->s, "check", err);
	sqlite3_finalize(st);
	return rc;
}

static int check_pages(struct report *r, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = 0;

	if (sqlite3_prepare_v2(r->s->db, "PRAGMA integrity_check(20)", -1, &st,
			       NULL))
		return sq_fail(r->s, "check", err);
	while (!rc && sqlite3_step(st) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(st, 0);

		if (line && strcmp(line, "ok"))
			rc = say(r, arena_printf(r->a, "database: %s", line),
				 err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int check_totals(struct report *r, struct remem_err *err)
{
	static const struct {
		enum count_id id;
		const char *name, *sql;
	} totals[] = {
		{ C_FILES, "files", "SELECT count(*) FROM files" },
		{ C_SKIPPED, "skipped files",
		  "SELECT count(*) FROM files WHERE skipped" },
		{ C_CHUNKS, "chunks", "SELECT count(*) FROM chunks" },
		{ C_PASSAGES, "passages", "SELECT count(*) FROM passages" },
		{ C_PASSAGES, "passages of chunks",
		  "SELECT ifnull(sum(passage_count), 0) FROM chunks" },
		{ C_EMBEDDED, "passages with vectors",
		  "SELECT count(*) FROM passages WHERE slot >= 0" },
		{ C_REFUSED, "refused passages",
		  "SELECT count(*) FROM passages WHERE slot = -1" },
		{ C_EMBEDDED_NEXT, "passages with new vectors",
		  "SELECT count(*) FROM passages WHERE slot_next >= 0" },
		{ C_TEXT_BYTES, "bytes of text",
		  "SELECT ifnull(sum(length(CAST(text AS BLOB))), 0) "
		  "FROM chunks" },
	};
	int64_t real;
	int rc = sq_counts_load(r->s, err);

	for (size_t i = 0; !rc && i < ARRAY_LEN(totals); i++) {
		rc = ask_int(r, totals[i].sql, &real, err);
		if (!rc && real != r->s->counts[totals[i].id])
			rc = say(r, arena_printf(r->a, "%s: %" PRId64
				 " counted, %" PRId64 " noted", totals[i].name,
				 real, r->s->counts[totals[i].id]), err);
	}
	return rc;
}

static int check_rows(struct report *r, struct remem_err *err)
{
	static const struct {
		const char *what, *sql;
	} wrong[] = {
		{ "chunks without a file", "SELECT count(*) FROM chunks "
		  "WHERE file NOT IN (SELECT id FROM files)" },
		{ "passages without a chunk", "SELECT count(*) FROM passages "
		  "WHERE chunk NOT IN (SELECT id FROM chunks)" },
		{ "passages beyond their chunk",
		  "SELECT count(*) FROM passages p JOIN chunks c "
		  "ON c.id = p.chunk WHERE p.start + p.len > "
		  "length(CAST(c.text AS BLOB)) OR p.id < c.passage_first OR "
		  "p.id >= c.passage_first + c.passage_count" },
		{ "headings counted wrongly", "SELECT count(*) FROM headings h "
		  "LEFT JOIN (SELECT heading, count(*) AS n "
		  "FROM file_headings GROUP BY heading) g "
		  "ON g.heading = h.id WHERE h.files <> ifnull(g.n, 0)" },
		{ "files with wrong numbers of chunks",
		  "SELECT count(*) FROM files f WHERE NOT skipped AND chunks "
		  "<> (SELECT count(*) FROM chunks WHERE file = f.id)" },
	};
	int64_t n;
	int rc = 0;

	for (size_t i = 0; !rc && i < ARRAY_LEN(wrong); i++) {
		rc = ask_int(r, wrong[i].sql, &n, err);
		if (!rc && n)
			rc = say(r, arena_printf(r->a, "%s: %" PRId64,
						 wrong[i].what, n), err);
	}
	return rc;
}

static int check_map(struct report *r, struct remem_err *err)
{
	sqlite3_stmt *st;
	int64_t bad = 0;
	int rc;

	if ((rc = map_load(r->s, err)))
		return rc;
	if (sqlite3_prepare_v2(r->s->db, "SELECT id, file FROM chunks", -1, &st,
			       NULL))
		return sq_fail(r->s, "check", err);
	while (sqlite3_step(st) == SQLITE_ROW)
		bad += map_file(r->s, sqlite3_column_int64(st, 0)) !=
		       (uint32_t)sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
	if (bad)
		return say(r, arena_printf(r->a, "chunks not in the map: %"
					   PRId64, bad), err);
	return 0;
}

/* Does what a chunk has packed say the same as the rows? */
static bool same_rows(const struct store_chunk *c, sqlite3_stmt *st)
{
	int i;

	for (i = 0; sqlite3_step(st) == SQLITE_ROW; i++) {
		const struct store_passage *p = &c->passages[i];

		/* There is room for one more than there are. */
		if (i >= c->passage_count ||
		    p->id != sqlite3_column_int64(st, 0) ||
		    p->start != sqlite3_column_int64(st, 1) ||
		    p->len != sqlite3_column_int64(st, 2) ||
		    p->line_first - c->first_line !=
			    sqlite3_column_int(st, 3) ||
		    (int)p->kind != sqlite3_column_int(st, 4) ||
		    (int)p->script != sqlite3_column_int(st, 5))
			return false;
	}
	return i == c->passage_count;
}

static int check_packed(struct report *r, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	sqlite3_stmt *ids, *rows = NULL;
	int64_t bad = 0;
	int rc = 0;

	if (sqlite3_prepare_v2(r->s->db, "SELECT id FROM chunks", -1, &ids,
			       NULL) ||
	    sqlite3_prepare_v2(r->s->db, "SELECT p.id, p.start, p.len, p.line, "
			       "p.kind, p.script FROM chunks c JOIN passages p "
			       "ON p.id >= c.passage_first AND "
			       "p.id < c.passage_first + c.passage_count "
			       "WHERE c.id = ?1 ORDER BY p.id", -1, &rows,
			       NULL))
		rc = sq_fail(r->s, "check", err);
	while (!rc && sqlite3_step(ids) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(ids, 0);
		struct store_chunk c;

		arena_reset(&a);
		rc = sq_chunks_get(&r->s->head, &a, 0, &id, 1, &c, err);
		if (rc && rc != REMEM_ECORRUPT)
			break;
		sqlite3_bind_int64(rows, 1, id);
		bad += rc || !same_rows(&c, rows);
		sqlite3_reset(rows);
		rc = 0;
	}
	sqlite3_finalize(ids);
	sqlite3_finalize(rows);
	arena_release(&a);
	if (!rc && bad)
		rc = say(r, arena_printf(r->a, "chunks whose passages are not "
					 "as their rows say: %" PRId64, bad),
			 err);
	return rc;
}

/* ---- vectors ---- */

static int check_slots(struct report *r, struct fp *f, struct remem_err *err)
{
	int64_t bad = 0, dead = 0;
	sqlite3_stmt *st;
	int rc = sq_get(r->s, f->state == FP_ACTIVE ? S_SLOTS_LIVE :
			S_SLOTS_NEXT, &st, err);

	if (rc)
		return rc;
	while ((rc = sq_step(r->s, st, err)) > 0) {
		int64_t slot = sqlite3_column_int64(st, 0);
		const struct vec_meta *m = vecfile_meta(f->vec, (size_t)slot);

		bad += slot >= f->slots || !m || !(m->scale > 0);
		dead += m && !(m->flags & VEC_ALIVE);
	}
	if (!rc && bad)
		rc = say(r, arena_printf(r->a, "passages whose vector is not "
					 "in '%s': %" PRId64, f->file, bad),
			 err);
	if (!rc && dead && f->state == FP_ACTIVE)
		rc = say(r, arena_printf(r->a, "vectors of '%s' marked dead "
					 "though in use: %" PRId64, f->file,
					 dead), err);
	return rc;
}

static int check_vectors(struct report *r, struct remem_err *err)
{
	struct remem_err why;
	int rc = fps_load(r->s, err);

	for (int i = 0; !rc && i < r->s->fp_count; i++) {
		struct fp *f = &r->s->fps[i];

		if (!f->slots)
			continue;
		if (fp_open_vec(r->s, f, &why))
			rc = say(r, arena_strdup(r->a, why.message), err);
		else if (f->state != FP_CACHE)
			rc = check_slots(r, f, err);
	}
	return rc;
}

/* ---- postings ---- */

struct sample {
	char term[TERM_MAX_BYTES + 1];
};

/* The longest of the first terms: rare, and so quick to look up. */
static int longest(void *ctx, const struct term *t)
{
	struct sample *m = ctx;

	if (t->len > strlen(m->term) && t->len <= TERM_MAX_BYTES &&
	    !memchr(t->text, '\0', t->len)) {
		memcpy(m->term, t->text, t->len);
		m->term[t->len] = '\0';
	}
	return t->pos >= 200;
}

static int posted(struct report *r, int64_t chunk, const char *term, bool *yes,
		  struct remem_err *err)
{
	char match[2 * TERM_MAX_BYTES + 8];
	sqlite3_stmt *st;
	int rc = sq_get(r->s, S_POST_MATCH, &st, err);

	*yes = false;
	if (rc)
		return rc;
	sq_match_text(match, sizeof(match), term, false, '\0');
	sq_bind_text(st, 1, match);
	while (!*yes && (rc = sq_step(r->s, st, err)) > 0)
		*yes = sqlite3_column_int64(st, 0) == chunk;
	sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

static int check_chunk(struct report *r, sqlite3_stmt *row,
		       struct remem_err *err)
{
	int64_t id = sqlite3_column_int64(row, 0);
	const char *text = (const char *)sqlite3_column_text(row, 1);
	struct sample m = { "" };
	bool yes;
	int rc;

	if (!text)
		return 0;
	term_cut(text, (size_t)sqlite3_column_bytes(row, 1), longest, &m);
	if (!m.term[0] || (rc = posted(r, id, m.term, &yes, err)) || yes)
		return m.term[0] && !yes ? rc : 0;
	return say(r, arena_printf(r->a, "postings of chunk %" PRId64
				   " are missing", id), err);
}

static int check_postings(struct report *r, struct remem_err *err)
{
	sqlite3_stmt *row;
	int64_t every;
	int rc = ask_int(r, "SELECT count(*) FROM chunks", &every, err);

	if (rc)
		return rc;
	every = every / SAMPLE_CHUNKS + 1;
	if (sqlite3_prepare_v2(r->s->db, "SELECT id, text FROM chunks "
			       "WHERE id % ?1 = 0", -1, &row, NULL))
		return sq_fail(r->s, "check", err);
	sqlite3_bind_int64(row, 1, every);
	while (!rc && sqlite3_step(row) == SQLITE_ROW)
		rc = check_chunk(r, row, err);
	sqlite3_finalize(row);
	return rc;
}

/* ---- together ---- */

int counts_check(struct sq *s, struct arena *a, const char ***problems,
		 int *count, struct remem_err *err)
{
	struct report r = { .s = s, .a = a };
	int rc = check_totals(&r, err);

	*problems = r.lines;
	*count = (int)r.count;
	return rc;
}

int sq_check(struct store *st, struct arena *a, const char ***problems,
	     int *count, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct report r = { .s = s, .a = a };
	int rc;

	*problems = NULL;
	*count = 0;
	/* Checking the pages calls FTS5 as well. */
	if ((rc = bulk_end(s, err)) || (rc = sq_op_begin(s, err)))
		return rc;
	if (!(rc = check_pages(&r, err)) && !(rc = check_totals(&r, err)) &&
	    !(rc = check_rows(&r, err)) && !(rc = check_map(&r, err)) &&
	    !(rc = check_packed(&r, err)) &&
	    !(rc = check_vectors(&r, err)))
		rc = check_postings(&r, err);
	sq_op_end(s);
	/* Damage that stopped the look is a finding too. */
	if (rc == REMEM_ECORRUPT)
		rc = say(&r, arena_strdup(a, err ? err->message :
					  "the database is malformed"), err);
	*problems = r.lines;
	*count = (int)r.count;
	return rc;
}
