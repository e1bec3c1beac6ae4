/* Meta rows, the totals kept among them, and the tables of a new database. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"

static const char *const schema[] = {
#define TABLE(text) text,
#include "store/sqlite_schema.def"
#undef TABLE
};

static int meta_put(struct sq *s, const char *key, const char *value,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, value ? S_META_SET : S_META_DEL, &st, err);

	if (rc)
		return rc;
	sq_bind_text(st, 1, key);
	if (value)
		sq_bind_text(st, 2, value);
	return sq_run(s, st, err);
}

int sq_meta_set(struct store *st, const char *key, const char *value,
		struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc = sq_need_write(s, err);

	return rc ? rc : meta_put(s, key, value, err);
}

static int meta_row(struct sq *s, const char *key, sqlite3_stmt **st,
		    struct remem_err *err)
{
	int rc = sq_get(s, S_META_GET, st, err);

	if (rc)
		return rc;
	sq_bind_text(*st, 1, key);
	return sq_step(s, *st, err);
}

const char *sq_meta_get(struct store *store, struct arena *a, const char *key)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	const char *value = NULL;

	if (meta_row(s, key, &st, NULL) > 0) {
		value = sq_col_text(a, st, 0);
		sqlite3_reset(st);
	}
	return value;
}

static int meta_int(struct sq *s, const char *key, int64_t *out,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = meta_row(s, key, &st, err);

	*out = 0;
	if (rc <= 0)
		return rc;
	*out = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return 0;
}

/* ---- totals ---- */

int sq_counts_load(struct sq *s, struct remem_err *err)
{
	sqlite3_stmt *st;
	const char *text;
	char *end;
	int rc;

	if (s->counts_loaded)
		return 0;
	if ((rc = meta_row(s, "counts", &st, err)) < 0)
		return rc;
	memset(s->counts, 0, sizeof(s->counts));
	text = rc ? (const char *)sqlite3_column_text(st, 0) : NULL;
	for (int i = 0; text && i < C_COUNT; i++, text = end)
		s->counts[i] = strtoll(text, &end, 10);
	if (rc)
		sqlite3_reset(st);
	s->counts_loaded = true;
	s->counts_dirty = false;
	return 0;
}

int sq_counts_save(struct sq *s, struct remem_err *err)
{
	char text[C_COUNT * 22 + 1];
	size_t len = 0;
	int rc;

	if (!s->counts_dirty)
		return 0;
	for (int i = 0; i < C_COUNT; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%" PRId64, i ? " " : "",
					s->counts[i]);
	if (!(rc = meta_put(s, "counts", text, err)))
		s->counts_dirty = false;
	return rc;
}

void sq_count(struct sq *s, enum count_id id, int64_t by)
{
	if (!by)
		return;
	s->counts[id] += by;
	s->counts_dirty = true;
}

static int64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (int64_t)st.st_blocks * 512;
}

static int vector_bytes(struct sq *s, int64_t *out, struct remem_err *err)
{
	struct buf path = BUF_INIT(0);
	int rc = fps_load(s, err);

	*out = 0;
	for (int i = 0; !rc && i < s->fp_count; i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/%s", s->gen_dir, s->fps[i].file);
		if (!(rc = buf_check(&path, err)))
			*out += file_bytes(buf_str(&path));
	}
	buf_release(&path);
	return rc;
}

static int info_versions(struct sq *s, struct store_info *out,
			 struct remem_err *err)
{
	int64_t term, note;
	int rc;

	if ((rc = meta_int(s, "term_version", &term, err)) ||
	    (rc = meta_int(s, "note_version", &note, err)) ||
	    (rc = meta_int(s, "indexed_at_ms", &out->indexed_at_ms, err)))
		return rc;
	out->store_version = STORE_VERSION;
	out->term_version = (int)term;
	out->note_version = (int)note;
	out->stale_cut = term != s->term_version || note != s->note_version;
	return 0;
}

static double ratio(int64_t a, int64_t b)
{
	return b > 0 ? (double)a / (double)b : 0;
}

int sq_info(struct store *st, struct store_info *out, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	const int64_t *c = s->counts;
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = sq_op_begin(s, err)))
		return rc;
	if ((rc = sq_counts_load(s, err)) ||
	    (rc = info_versions(s, out, err)) ||
	    (rc = vector_bytes(s, &out->bytes_vectors, err)))
		goto out;
	out->files = c[C_FILES];
	out->skipped = c[C_SKIPPED];
	out->indexed = c[C_FILES] - c[C_SKIPPED];
	out->chunks = c[C_CHUNKS];
	out->passages = c[C_PASSAGES];
	out->embedded = c[C_EMBEDDED];
	out->refused = c[C_REFUSED];
	out->text_bytes = c[C_TEXT_BYTES];
	out->mean_chunk_terms = ratio(c[C_OWN_TERMS], c[C_CHUNKS]);
	out->mean_passage_terms = ratio(c[C_OWN_TERMS], c[C_PASSAGES]);
	out->bytes_database = file_bytes(s->db_path);
	out->generation = s->generation;
out:
	sq_op_end(s);
	return rc;
}

/* ---- a new database ---- */

static int meta_number(struct sq *s, const char *key, int value,
		       struct remem_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	return meta_put(s, key, text, err);
}

static int make_tables(struct sq *s, struct remem_err *err)
{
	char text[96];
	int rc = 0;

	for (size_t i = 0; !rc && i < ARRAY_LEN(schema); i++)
		rc = sq_exec(s, schema[i], err);
	snprintf(text, sizeof(text),
		 "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, STORE_VERSION);
	if (rc || (rc = sq_exec(s, text, err)) ||
	    (rc = meta_number(s, "store_version", STORE_VERSION, err)) ||
	    (rc = meta_number(s, "term_version", s->term_version, err)))
		return rc;
	return meta_number(s, "note_version", s->note_version, err);
}

/* FTS5 sorts 1 MB of postings in memory at a time (its default: more no longer
 * fits the cache and is slower). Segments are left to maintain(), which merges
 * all of them once after a bulk: 16 at a time costs a tenth less than 4. */
#define FTS_SETTINGS                                                   \
	"INSERT INTO postings(postings, rank) VALUES('automerge', 16)"

int sq_schema_make(struct sq *s, struct remem_err *err)
{
	int rc;

	if ((rc = sq_exec(s, "BEGIN IMMEDIATE", err)))
		return rc;
	if ((rc = make_tables(s, err)) ||
	    (rc = sq_exec(s, FTS_SETTINGS, err)) ||
	    (rc = sq_exec(s, "COMMIT", err))) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return rc;
	}
	/* The header must be in the main file: others look there first. */
	return sq_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}
