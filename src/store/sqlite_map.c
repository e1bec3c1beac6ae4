/*
 * The chunk map: file and length of every chunk, in memory as an array by
 * chunk id, on disk as blobs of 256 chunks. The pools need them for each
 * posting they read; a row per chunk would cost more than the postings.
 */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"

#define BLOCK_BYTES (MAP_BLOCK * MAP_ENTRY_BYTES)
/* Gaps in the ids are looked for when fewer than half of them are in use;
 * below this many nobody cares. */
#define GAPS_MIN 1024

static void entry_read(struct map_entry *e, const unsigned char *p)
{
	e->file = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		  (uint32_t)p[3] << 24;
	e->terms = (uint16_t)(p[4] | p[5] << 8);
	e->own_terms = (uint16_t)(p[6] | p[7] << 8);
}

static void entry_write(unsigned char *p, const struct map_entry *e)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(e->file >> (8 * i));
	for (int i = 0; i < 2; i++) {
		p[4 + i] = (unsigned char)(e->terms >> (8 * i));
		p[6 + i] = (unsigned char)(e->own_terms >> (8 * i));
	}
}

static bool room_for(struct chunk_map *m, size_t rows)
{
	size_t old = m->cap, old_dirty = m->dirty_cap;

	if (!mem_grow(&m->rows, &m->cap, rows, sizeof(*m->rows)) ||
	    !mem_grow(&m->dirty, &m->dirty_cap, rows / MAP_BLOCK + 1, 1))
		return false;
	if (m->cap > old)
		memset(m->rows + old, 0, (m->cap - old) * sizeof(*m->rows));
	if (m->dirty_cap > old_dirty)
		memset(m->dirty + old_dirty, 0, m->dirty_cap - old_dirty);
	return true;
}

static int read_block(struct sq *s, sqlite3_stmt *st, struct remem_err *err)
{
	int64_t block = sqlite3_column_int64(st, 0);
	const unsigned char *data = sqlite3_column_blob(st, 1);
	struct chunk_map *m = &s->map;
	size_t at = (size_t)block * MAP_BLOCK;

	if (block < 0 || block > UINT32_MAX / MAP_BLOCK || !data ||
	    sqlite3_column_bytes(st, 1) != BLOCK_BYTES) {
		return sq_damaged(s, "bad block in chunk_map", err);
	}
	if (!room_for(m, at + MAP_BLOCK))
		return fail_nomem(err);
	for (size_t i = 0; i < MAP_BLOCK; i++) {
		entry_read(&m->rows[at + i], data + i * MAP_ENTRY_BYTES);
		if (m->rows[at + i].file)
			m->top = at + i + 1;
	}
	m->count = at + MAP_BLOCK;
	return 0;
}

int map_load(struct sq *s, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (s->map.loaded)
		return 0;
	map_drop(s);
	if ((rc = sq_get(s, S_MAP_ALL, &st, err)))
		return rc;
	while ((rc = sq_step(s, st, err)) > 0)
		if ((rc = read_block(s, st, err)))
			break;
	sqlite3_reset(st);
	if (!rc)
		s->map.loaded = true;
	return rc;
}

int map_set(struct sq *s, int64_t id, const struct map_entry *e,
	    struct remem_err *err)
{
	struct chunk_map *m = &s->map;
	size_t at = (size_t)id, blocks = at / MAP_BLOCK + 1;
	int rc;

	if (id <= 0 || id > UINT32_MAX - MAP_BLOCK)
		return fail(err, REMEM_ELIMIT, "too many chunks");
	if ((rc = map_load(s, err)))
		return rc;
	if (!room_for(m, blocks * MAP_BLOCK))
		return fail_nomem(err);
	if (m->count < blocks * MAP_BLOCK)
		m->count = blocks * MAP_BLOCK;
	sq_count(s, C_CHUNKS, !!e->file - !!m->rows[at].file);
	sq_count(s, C_CHUNK_TERMS, (int64_t)e->terms - m->rows[at].terms);
	sq_count(s, C_OWN_TERMS, (int64_t)e->own_terms - m->rows[at].own_terms);
	m->rows[at] = *e;
	if (e->file && at >= m->top)
		m->top = at + 1;
	while (m->top && !m->rows[m->top - 1].file)
		m->top--;
	if (!e->file && at < m->gap_hint)
		m->gap_hint = at;
	m->dirty[at / MAP_BLOCK] = 1;
	return 0;
}

int map_free_id(struct sq *s, int64_t *out, struct remem_err *err)
{
	struct chunk_map *m = &s->map;
	size_t top;
	int rc = map_load(s, err);

	if (rc)
		return rc;
	top = m->top ? m->top : 1;
	if (top > GAPS_MIN && top / 2 > (size_t)s->counts[C_CHUNKS]) {
		size_t i = m->gap_hint > 1 ? m->gap_hint : 1;

		while (i < top && m->rows[i].file)
			i++;
		m->gap_hint = i;
		top = i;
	}
	*out = (int64_t)top;
	return 0;
}

int map_flush(struct sq *s, struct remem_err *err)
{
	struct chunk_map *m = &s->map;
	unsigned char data[BLOCK_BYTES];
	sqlite3_stmt *st;
	int rc;

	for (size_t b = 0; m->loaded && b * MAP_BLOCK < m->count; b++) {
		if (!m->dirty[b])
			continue;
		for (size_t i = 0; i < MAP_BLOCK; i++)
			entry_write(data + i * MAP_ENTRY_BYTES,
				    &m->rows[b * MAP_BLOCK + i]);
		if ((rc = sq_get(s, S_MAP_PUT, &st, err)))
			return rc;
		sqlite3_bind_int64(st, 1, (int64_t)b);
		sqlite3_bind_blob(st, 2, data, BLOCK_BYTES, SQLITE_STATIC);
		if ((rc = sq_run(s, st, err)))
			return rc;
		m->dirty[b] = 0;
	}
	return 0;
}

void map_drop(struct sq *s)
{
	struct chunk_map *m = &s->map;

	if (m->rows)
		memset(m->rows, 0, m->cap * sizeof(*m->rows));
	if (m->dirty)
		memset(m->dirty, 0, m->dirty_cap);
	m->count = m->top = m->gap_hint = 0;
	m->loaded = false;
}

void map_release(struct sq *s)
{
	mem_free(s->map.rows);
	mem_free(s->map.dirty);
	memset(&s->map, 0, sizeof(s->map));
}

uint32_t map_file(const struct sq *s, int64_t chunk)
{
	if (chunk <= 0 || (size_t)chunk >= s->map.count)
		return 0;
	return s->map.rows[chunk].file;
}
