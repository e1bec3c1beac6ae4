/*
 * A filter, compiled: a bitmap of files, and for what is noted on passages
 * (origin, project) bitmaps of chunks and slots besides. A chunk passes if one
 * of its passages does; passages are judged one by one in the vector pool.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "store/sqlite_store.h"
#include "text/talk.h"

static bool bit_set(unsigned char **bits, size_t *count, size_t at)
{
	size_t bytes = *count / 8, old = bytes;

	if (at >= *count) {
		if (!mem_grow(bits, &bytes, at / 8 + 1, 1))
			return false;
		memset(*bits + old, 0, bytes - old);
		*count = bytes * 8;
	}
	(*bits)[at / 8] |= (unsigned char)(1u << (at % 8));
	return true;
}

static bool bit_get(const unsigned char *bits, size_t count, size_t at)
{
	return at < count && (bits[at / 8] >> (at % 8) & 1);
}

bool set_has_file(const struct store_set *set, uint32_t file)
{
	return bit_get(set->files, set->file_bits, file);
}

bool set_has_chunk(const struct store_set *set, const struct sq *s,
		   int64_t chunk)
{
	if (!set_has_file(set, map_file(s, chunk)))
		return false;
	return !set->by_passage ||
	       bit_get(set->chunks, set->chunk_bits, (size_t)chunk);
}

bool set_has_slot(const struct store_set *set, uint32_t slot)
{
	return !set->by_passage || bit_get(set->slots, set->slot_bits, slot);
}

/* A prefix ending in '/', an exact path, or a glob. */
static bool path_passes(const char *want, const char *path)
{
	size_t n = strlen(want);

	if (n && want[n - 1] == '/')
		return !strncmp(path, want, n);
	return !strcmp(path, want) ||
	       (strpbrk(want, "*?[") && path_glob(want, path));
}

static bool tag_passes(const char *want, const char *tags)
{
	size_t n = strlen(want);

	for (const char *p = tags; p && (p = strstr(p, want)); p++)
		if (p > tags && p[-1] == ',' && p[n] == ',')
			return n > 0;
	return false;
}

static bool date_passes(const struct store_filter *f, int32_t date)
{
	if (!f->after && !f->before)
		return true;
	if (f->after == DATE_NONE && f->before == DATE_NONE)
		return true;
	if (date == DATE_NONE)
		return false;
	return (f->after == DATE_NONE || !f->after || date >= f->after) &&
	       (f->before == DATE_NONE || !f->before || date <= f->before);
}

/* A talk stands in parts; the name is that of all of them. */
static bool talk_passes(const char *want, const char *path)
{
	char name[TALK_NAME_MAX];
	int part;
	size_t n = talk_name_len(path, &part);

	if (!path[n] || n >= sizeof(name))
		return path_passes(want, path);
	memcpy(name, path, n);
	name[n] = '\0';
	return path_passes(want, name);
}

/* Columns of FILTER_FILES: id, source, path, date, tags. */
static bool file_passes(const struct store_filter *f, sqlite3_stmt *st)
{
	const char *path = (const char *)sqlite3_column_text(st, 2);
	const char *tags = (const char *)sqlite3_column_text(st, 4);

	if (f->sources && !(f->sources >> sqlite3_column_int(st, 1) & 1))
		return false;
	if (f->path && (!path || !(sqlite3_column_int(st, 1) == STORE_SESSIONS ?
				   talk_passes(f->path, path) :
				   path_passes(f->path, path))))
		return false;
	if (f->tag && !tag_passes(f->tag, tags))
		return false;
	return date_passes(f, sq_col_date(st, 3));
}

static int mark_files(struct sq *s, const struct store_filter *f,
		      struct store_set *set, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FILTER_FILES, &st, err);

	if (rc)
		return rc;
	while ((rc = sq_step(s, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (!file_passes(f, st))
			continue;
		if (!bit_set(&set->files, &set->file_bits, (size_t)id)) {
			rc = fail_nomem(err);
			break;
		}
	}
	sqlite3_reset(st);
	return rc;
}

static int mark_passages(struct sq *s, enum stmt_id id, struct store_set *set,
			 unsigned char **bits, size_t *count,
			 struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, id, &st, err);

	if (rc)
		return rc;
	sq_bind_text(st, 1, set->origin);
	sq_bind_text(st, 2, set->project);
	while ((rc = sq_step(s, st, err)) > 0) {
		int64_t at = sqlite3_column_int64(st, 0);

		if (at >= 0 && !bit_set(bits, count, (size_t)at)) {
			rc = fail_nomem(err);
			break;
		}
	}
	sqlite3_reset(st);
	return rc;
}

int set_slots(struct store_set *set, struct remem_err *err)
{
	int rc;

	if (!set->by_passage || set->slots_made)
		return 0;
	rc = mark_passages(set->store, S_FILTER_SLOTS, set, &set->slots,
			   &set->slot_bits, err);
	set->slots_made = !rc;
	return rc;
}

int set_has_passage(const struct store_set *set, int64_t passage,
		    int64_t chunk, bool *yes, struct remem_err *err)
{
	struct sq *s = set->store;
	sqlite3_stmt *st;
	int rc;

	*yes = set_has_chunk(set, s, chunk);
	if (!*yes || !set->by_passage)
		return 0;
	if ((rc = sq_get(s, S_FILTER_ONE, &st, err)))
		return rc;
	sq_bind_text(st, 1, set->origin);
	sq_bind_text(st, 2, set->project);
	sqlite3_bind_int64(st, 3, passage);
	if ((rc = sq_step(s, st, err)) < 0)
		return rc;
	*yes = rc > 0;
	sqlite3_reset(st);
	return 0;
}

static bool copy_names(struct store_set *set, const struct store_filter *f)
{
	set->by_passage = f->origin || f->project;
	if (f->origin && !(set->origin = mem_strdup(f->origin)))
		return false;
	return !f->project || (set->project = mem_strdup(f->project));
}

static bool asks_nothing(const struct store_filter *f)
{
	return !f->sources && !f->path && !f->tag && !f->origin &&
	       !f->project && ((!f->after && !f->before) ||
			       (f->after == DATE_NONE && f->before == DATE_NONE));
}

int sq_filter(struct store *store, const struct store_filter *f,
	      struct store_set **out, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct store_set *set;
	int rc;

	*out = NULL;
	if (asks_nothing(f))
		return 0;
	set = mem_zalloc(sizeof(*set));
	if (!set)
		return fail_nomem(err);
	set->store = s;
	if ((rc = sq_op_begin(s, err))) {
		sq_filter_free(set);
		return rc;
	}
	rc = copy_names(set, f) ? 0 : fail_nomem(err);
	if (!rc && !(rc = map_load(s, err)))
		rc = mark_files(s, f, set, err);
	if (!rc && set->by_passage)
		rc = mark_passages(s, S_FILTER_PASSAGES, set, &set->chunks,
				   &set->chunk_bits, err);
	sq_op_end(s);
	if (rc)
		sq_filter_free(set);
	else
		*out = set;
	return rc;
}

void sq_filter_free(struct store_set *set)
{
	if (!set)
		return;
	mem_free(set->files);
	mem_free(set->chunks);
	mem_free(set->slots);
	mem_free(set->origin);
	mem_free(set->project);
	mem_free(set);
}
