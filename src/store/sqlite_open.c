/*
 * Opening and closing an index. Whoever writes holds DIR/lock, so SQLite never
 * sees two writers; readers open the file read-only, and where even the shared
 * memory of the WAL cannot be made (a read-only folder), as immutable.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "store/mount.h"
#include "store/sqlite_store.h"
#include "text/fts.h"

#define BUSY_MS 10000
/* Pages of the index are mapped, not read: the page cache then holds little
 * for readers. The writer's holds what one batch changes: with twice as much
 * neither a first index nor a change of all notes takes less time. */
#define READER_SETTINGS                                                     \
	"PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -2000; "        \
	"PRAGMA temp_store = MEMORY"
#define WRITER_SETTINGS                                                     \
	"PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -16000; "       \
	"PRAGMA temp_store = MEMORY; PRAGMA synchronous = NORMAL; "         \
	"PRAGMA wal_autocheckpoint = 1000; "                                \
	"PRAGMA journal_size_limit = 4194304"
/* Chunks of about 700 bytes fill pages of 8 KB better: 4 % less in all. */
#define NEW_SETTINGS                                                  \
	"PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; "
#define WAL_KEPT (512 << 10) /* bytes: smaller ones are left as they are */
#define OPEN_TRIES 4 /* a generation may be replaced while it is opened */

static void uri_of(struct buf *b, const char *path, const char *options)
{
	buf_adds(b, "file:");
	for (const char *p = path; *p; p++) {
		if (strchr("?#%", *p))
			buf_addf(b, "%%%02x", (unsigned char)*p);
		else
			buf_addc(b, *p);
	}
	buf_adds(b, options);
}

static int open_file(struct sq *s, int flags, const char *options,
		     struct remem_err *err)
{
	struct buf uri = BUF_INIT(0);
	int rc;

	uri_of(&uri, s->db_path, options);
	if ((rc = buf_check(&uri, err)))
		goto out;
	if (sqlite3_open_v2(buf_str(&uri), &s->db,
			    flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
			    NULL)) {
		rc = s->db ? sq_fail(s, "open", err) : fail_nomem(err);
		goto out;
	}
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	rc = fts_register(s->db, &s->fts_count, err);
	if (!rc)
		rc = passages_register(s, err);
out:
	buf_release(&uri);
	if (rc) {
		sqlite3_close(s->db);
		s->db = NULL;
	}
	return rc;
}

static int try_reader(struct sq *s, const char *options, struct remem_err *err)
{
	int64_t version;
	int rc = open_file(s, SQLITE_OPEN_READONLY, options, err);

	if (rc)
		return rc;
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	if ((rc = sq_exec(s, READER_SETTINGS, err)) ||
	    (rc = sq_int(s, S_DATA_VERSION, &version, err))) {
		sq_finalize(s);
		sqlite3_close(s->db);
		s->db = NULL;
	}
	return rc;
}

static int open_reader(struct sq *s, struct remem_err *err)
{
	int rc = try_reader(s, "", err);

	if (rc != REMEM_EIO && rc != REMEM_EPERM)
		return rc;
	s->immutable = true;
	return try_reader(s, "?immutable=1", err);
}

/* The WAL's index is memory shared by all who have it open, which mounts from
 * elsewhere do not give. */
static int new_settings(struct sq *s, struct remem_err *err)
{
	if (!mount_is_remote(s->gen_dir))
		return sq_exec(s, NEW_SETTINGS "PRAGMA journal_mode = WAL", err);
	log_msg(LOG_WARN, "store", "'%s' is on a network file system: "
		"searches wait while the index is written; another place can "
		"be set", s->dir);
	return sq_exec(s, NEW_SETTINGS "PRAGMA journal_mode = TRUNCATE", err);
}

static int open_connection(struct sq *s, bool fresh, struct remem_err *err)
{
	int persist = 1;
	int rc = open_file(s, SQLITE_OPEN_READWRITE |
			   (fresh ? SQLITE_OPEN_CREATE : 0), "", err);

	if (rc)
		return rc;
	if (fresh && (rc = new_settings(s, err)))
		return rc;
	/* A reader then finds the files it needs and makes none; and closing
	 * does not sync what the next run may just as well read back. */
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return sq_exec(s, WRITER_SETTINGS, err);
}

static void close_db(struct sq *s)
{
	sq_finalize(s);
	sqlite3_close(s->db);
	s->db = NULL;
	s->broken = false;
}

static int open_writer(struct sq *s, bool fresh, struct remem_err *err)
{
	int rc = open_connection(s, fresh, err);

	if (rc || !fresh)
		return rc;
	if ((rc = sq_schema_make(s, err)))
		return rc;
	/* FTS5 now believes in an empty table: see sqlite_bulk.c. */
	close_db(s);
	return open_connection(s, false, err);
}

/* ---- which generation ---- */

static int set_generation(struct sq *s, int64_t gen, struct remem_err *err)
{
	size_t n;

	mem_free(s->gen_dir);
	mem_free(s->db_path);
	s->generation = gen;
	s->db_path = NULL;
	s->gen_dir = gen_path(s->dir, gen);
	n = s->gen_dir ? strlen(s->gen_dir) + sizeof("/" DATABASE_NAME) : 0;
	if (n && (s->db_path = mem_alloc(n)))
		snprintf(s->db_path, n, "%s/" DATABASE_NAME, s->gen_dir);
	return s->db_path ? 0 : fail_nomem(err);
}

static int open_published(struct sq *s, struct remem_err *err)
{
	int64_t gen, now;
	bool older;
	int rc = 0;

	for (int i = 0; i < OPEN_TRIES; i++) {
		if ((rc = gen_current(s->dir, &gen, err)) ||
		    (rc = set_generation(s, gen, err)))
			return rc;
		if (!(rc = gen_preflight(s->gen_dir, &older, err)) &&
		    !(rc = open_reader(s, err)))
			return 0;
		/* Replaced meanwhile? Then what was seen does not count. */
		if (gen_current(s->dir, &now, NULL) || now == gen)
			return rc;
		s->broken = false;
	}
	return rc;
}

static int make_generation(struct sq *s, struct remem_err *err)
{
	int64_t gen = gen_highest(s->dir);
	int rc;

	do { /* a folder that could not be listed hides what is there */
		if ((rc = set_generation(s, ++gen, err)))
			return rc;
	} while (file_exists(s->gen_dir));
	if ((rc = dir_make(s->gen_dir, 0700, err)))
		return rc;
	file_fault_step();
	if ((rc = open_writer(s, true, err)))
		return rc;
	return dir_fsync(s->dir, err);
}

/* Opens what current names. REMEM_ENOTFOUND when there is nothing usable and
 * a new generation is to be made; a damaged one has been set aside, one of an
 * older program is a leftover like others. */
static int reopen_current(struct sq *s, struct remem_err *err)
{
	bool older = false;
	int64_t gen;
	int rc = gen_current(s->dir, &gen, err);

	if (rc == REMEM_ECORRUPT)
		return REMEM_ENOTFOUND;
	if (rc || (rc = set_generation(s, gen, err)))
		return rc;
	rc = gen_damaged(s->gen_dir) ? REMEM_ECORRUPT :
	     gen_preflight(s->gen_dir, &older, err);
	if (older)
		return REMEM_ENOTFOUND;
	if (!rc && (rc = open_writer(s, false, err)))
		close_db(s);
	if (!rc && (rc = sq_counts_load(s, err)))
		close_db(s);
	if (rc != REMEM_ECORRUPT)
		return rc;
	if ((rc = gen_set_aside(s->dir, gen, err)))
		return rc;
	return REMEM_ENOTFOUND;
}

/* Vectors of other generations are cheaper to copy than to make again. Their
 * damage costs only them. */
static void import_from(struct sq *s, int64_t gen)
{
	char *path = gen > 0 && gen != s->generation ? gen_path(s->dir, gen) :
		     NULL;
	bool older;

	if (path && !gen_damaged(path) &&
	    (!gen_preflight(path, &older, NULL) || older))
		cache_import(s, path, NULL);
	mem_free(path);
}

static int open_write(struct sq *s, struct remem_err *err)
{
	int64_t leftover;
	int rc = reopen_current(s, err);
	bool fresh = rc == REMEM_ENOTFOUND;

	rc = fresh ? make_generation(s, err) : rc ? rc : fps_verify(s, err);
	if (rc)
		return rc;
	while ((leftover = gen_leftover(s->dir, s->generation))) {
		char *path = gen_path(s->dir, leftover);

		if (!path)
			return fail_nomem(err);
		import_from(s, leftover);
		rc = gen_remove(path, err);
		mem_free(path);
		if (rc)
			return rc;
	}
	return fresh ? gen_set_current(s->dir, s->generation, err) : 0;
}

static int open_rebuild(struct sq *s, struct remem_err *err)
{
	int64_t current, leftover;
	int rc;

	if (gen_current(s->dir, &current, NULL))
		current = 0;
	leftover = gen_leftover(s->dir, current);
	if ((rc = make_generation(s, err)))
		return rc;
	/* The leftover began with a copy of the current one's. */
	import_from(s, leftover);
	import_from(s, current);
	gen_remove_others(s->dir, current, s->generation);
	return 0;
}

static int take_lock(struct sq *s, int timeout_ms, struct remem_err *err)
{
	struct buf path = BUF_INIT(0);
	int rc = dir_make(s->dir, 0700, err);

	buf_addf(&path, "%s/" LOCK_NAME, s->dir);
	if (!rc && !(rc = buf_check(&path, err)))
		rc = lock_take(&s->lock, buf_str(&path), timeout_ms, err);
	buf_release(&path);
	return rc;
}

static int open_any(struct sq *s, const struct store_opts *o,
		    struct remem_err *err)
{
	int rc;

	if (!(s->dir = mem_strdup(o->dir)))
		return fail_nomem(err);
	if (o->mode == STORE_READ)
		return open_published(s, err);
	s->live_only = o->live_only;
	if ((rc = take_lock(s, o->lock_timeout_ms, err)))
		return rc;
	return o->mode == STORE_WRITE ? open_write(s, err) :
	       open_rebuild(s, err);
}

int sq_open(struct store **out, const struct store_opts *o,
	    struct remem_err *err)
{
	struct sq *s = mem_zalloc(sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return fail_nomem(err);
	s->head.ops = &store_backend_sqlite;
	s->mode = o->mode;
	s->term_version = o->term_version;
	s->note_version = o->note_version;
	s->lock.fd = -1;
	s->data_version = -1;
	arena_init(&s->scratch, 0);
	if ((rc = open_any(s, o, err))) {
		sq_close(&s->head);
		return rc;
	}
	*out = &s->head;
	return 0;
}

void sq_checkpoint(struct sq *s, int64_t kept)
{
	struct buf wal = BUF_INIT(0);
	struct stat st;

	buf_addf(&wal, "%s-wal", s->db_path);
	if (!buf_check(&wal, NULL) && !stat(buf_str(&wal), &st) &&
	    st.st_size > kept)
		sqlite3_wal_checkpoint_v2(s->db, "main",
					  SQLITE_CHECKPOINT_TRUNCATE, NULL,
					  NULL);
	buf_release(&wal);
}

void sq_close(struct store *st)
{
	struct sq *s = sq_of(st);

	if (!s)
		return;
	if (s->db) {
		sq_rollback(st);
		sq_read_end(st);
		sq_finalize(s);
		if (s->mode != STORE_READ && !s->broken)
			sq_checkpoint(s, WAL_KEPT);
		sqlite3_close(s->db);
	}
	if (s->broken && s->mode != STORE_READ && s->gen_dir)
		gen_mark_damaged(s->gen_dir);
	bulk_free(s);
	fps_drop(s);
	map_release(s);
	pending_drop(s);
	lists_release(s);
	known_release(s);
	sq_gathered_free(s);
	mem_free(s->unlinked.slots);
	mem_free(s->fps);
	arena_release(&s->scratch);
	lock_release(&s->lock);
	mem_free(s->dir);
	mem_free(s->gen_dir);
	mem_free(s->db_path);
	mem_free(s);
}

bool sq_outdated(struct store *st)
{
	struct sq *s = sq_of(st);
	int64_t now;

	if (gen_current(s->dir, &now, NULL))
		return true;
	return now != s->generation && s->mode != STORE_REBUILD;
}

const struct store_ops store_backend_sqlite = {
	.name = "sqlite",
	.open = sq_open,
	.close = sq_close,
	.info = sq_info,
	.sizes = sq_sizes,
	.publish = sq_publish,
	.maintain = sq_maintain,
	.check = sq_check,
	.outdated = sq_outdated,
	.read_begin = sq_read_begin,
	.read_end = sq_read_end,
	.begin = sq_begin,
	.commit = sq_commit,
	.rollback = sq_rollback,
	.file_put = sq_file_put,
	.file_touch = sq_file_touch,
	.file_remove = sq_file_remove,
	.meta_set = sq_meta_set,
	.meta_get = sq_meta_get,
	.files_each = sq_files_each,
	.file_stamps = sq_file_stamps,
	.file_get = sq_file_get,
	.file_brief = sq_file_brief,
	.file_find = sq_file_find,
	.fingerprint = sq_fingerprint,
	.fingerprint_find = sq_fingerprint_find,
	.fingerprint_active = sq_fingerprint_active,
	.pending = sq_pending,
	.pending_count = sq_pending_count,
	.vectors_have = sq_vectors_have,
	.vectors_put = sq_vectors_put,
	.vector_refused = sq_vector_refused,
	.refused_each = sq_refused_each,
	.means = sq_means,
	.vector_get = sq_vector_get,
	.filter = sq_filter,
	.filter_free = sq_filter_free,
	.text_pool = sq_text_pool,
	.text_held = sq_text_held,
	.name_pool = sq_name_pool,
	.vector_begin = sq_vector_begin,
	.vector_pool = sq_vector_pool,
	.vector_scores = sq_vector_scores,
	.chunks_get = sq_chunks_get,
	.passage_chunks = sq_passage_chunks,
	.file_chunks = sq_file_chunks,
};
