/*
 * Where the bytes of an index are. The pages of each table are counted by
 * SQLite's dbstat, if it was built with it; vectors by their rows.
 */
#include <string.h>
#include <sys/stat.h>

#include "store/sqlite_store.h"

struct kind {
	const char *prefix; /* of the table's or index's name */
	size_t field;
};

#define FIELD(name) offsetof(struct store_sizes, name)

static const struct kind kinds[] = {
	{ "chunk", FIELD(chunks) },	   { "postings_", FIELD(postings) },
	{ "names_", FIELD(postings) },	   { "passage", FIELD(passages) },
	{ "embeddings", FIELD(keys) },	   { "", FIELD(other) },
};

static void add_pages(struct store_sizes *out, const char *name, int64_t bytes)
{
	const struct kind *k = kinds;

	while (strncmp(name, k->prefix, strlen(k->prefix)))
		k++;
	*(int64_t *)((char *)out + k->field) += bytes;
}

/* Without dbstat the statement cannot be prepared: by_table stays false. */
static int tables(struct sq *s, struct store_sizes *out, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (sqlite3_prepare_v2(s->db, "SELECT name, pgsize FROM dbstat "
			       "WHERE aggregate = TRUE", -1, &st, NULL))
		return 0;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		add_pages(out, name ? name : "", sqlite3_column_int64(st, 1));
	}
	out->by_table = rc == SQLITE_DONE;
	if (!out->by_table)
		rc = sq_fail(s, "read", err);
	sqlite3_finalize(st);
	return out->by_table ? 0 : rc;
}

static int pragma(struct sq *s, const char *sql, int64_t *out,
		  struct remem_err *err)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return sq_fail(s, "read", err);
	*out = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return 0;
}

static int free_pages(struct sq *s, struct store_sizes *out,
		      struct remem_err *err)
{
	int64_t pages, size;
	int rc = pragma(s, "PRAGMA freelist_count", &pages, err);

	if (rc || (rc = pragma(s, "PRAGMA page_size", &size, err)))
		return rc;
	out->free = pages * size;
	return 0;
}

static int64_t wal_bytes(struct sq *s)
{
	struct buf path = BUF_INIT(0);
	struct stat st;
	int64_t n = 0;

	buf_addf(&path, "%s-wal", s->db_path);
	if (!buf_check(&path, NULL) && !stat(buf_str(&path), &st))
		n = (int64_t)st.st_blocks * 512;
	buf_release(&path);
	return n;
}

static int64_t slot_bytes(int dims)
{
	return (int64_t)(vec_padded(dims) + sizeof(struct vec_meta));
}

static int vectors(struct sq *s, struct store_sizes *out, struct remem_err *err)
{
	struct fp *active;
	int64_t used;
	int rc = fps_load(s, err);

	if (rc || (rc = sq_int(s, S_SLOTS_USED, &used, err)))
		return rc;
	active = fp_in_state(s, FP_ACTIVE);
	if (active)
		out->vectors = used * slot_bytes(active->dims);
	for (int i = 0; i < s->fp_count; i++)
		out->cache += s->fps[i].rows * slot_bytes(s->fps[i].dims);
	out->cache -= out->cache > out->vectors ? out->vectors : out->cache;
	return 0;
}

int sq_sizes(struct store *st, struct store_sizes *out, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = sq_op_begin(s, err)))
		return rc;
	if (!(rc = tables(s, out, err)) && !(rc = free_pages(s, out, err)))
		rc = vectors(s, out, err);
	out->wal = wal_bytes(s);
	sq_op_end(s);
	return rc;
}
