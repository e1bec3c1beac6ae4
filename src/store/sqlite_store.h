/*
 * Inside of the SQLite backend: the handle, its caches, and what its files
 * offer each other. Nothing here is seen outside src/store.
 */
#ifndef STORE_SQLITE_STORE_H
#define STORE_SQLITE_STORE_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/lock.h"
#include "store/store.h"
#include "store/vecfile.h"
#include "text/fts.h"

#define APPLICATION_ID 0x52454d4d /* "REMM", in the database's header */
#define CURRENT_NAME "current"
#define LOCK_NAME "lock"
#define DATABASE_NAME "index.sqlite"
#define DAMAGED_NAME "damaged" /* found broken by one who could not mend it */
#define SLOT_NONE (-2) /* SQL NULL in memory */
#define SLOT_REFUSED (-1)

enum fp_state { FP_CACHE, FP_ACTIVE, FP_NEXT };

enum stmt_id {
#define STMT(name, sql) S_##name,
#include "store/sqlite_stmt.def"
#undef STMT
	S_COUNT
};

/* Totals, kept as one row so that status costs nothing. Order is stored. */
enum count_id {
	C_FILES,
	C_SKIPPED,
	C_CHUNKS,
	C_PASSAGES,
	C_EMBEDDED, /* passages with a vector of the active fingerprint */
	C_EMBEDDED_NEXT,
	C_REFUSED,
	C_REFUSED_NEXT,
	C_TEXT_BYTES,
	C_CHUNK_TERMS, /* with overlap */
	C_OWN_TERMS, /* without */
	C_UNLINKED, /* links taken off since the last sweep */
	C_COUNT
};

/* One chunk in memory: what pools and filters need of every chunk. Stored in
 * blocks of MAP_BLOCK rows, 8 bytes a chunk, little end first. */
struct map_entry {
	uint32_t file; /* 0: no such chunk */
	uint16_t terms, own_terms; /* saturating */
};

#define MAP_BLOCK 256
#define MAP_ENTRY_BYTES 8

struct chunk_map {
	struct map_entry *rows; /* by chunk id */
	size_t count, cap; /* count: highest id + 1, in whole blocks */
	unsigned char *dirty; /* by block */
	size_t dirty_cap;
	size_t top; /* highest id in use + 1 */
	size_t gap_hint; /* no free id below */
	bool loaded;
};

struct mean {
	bool present;
	int64_t count;
	double *sum; /* dims */
	float *ref; /* dims: the mean that the stored norms were taken with */
	int64_t ref_count; /* vectors when ref was taken; 0: ref is zero */
	bool dirty;
};

struct fp { /* a fingerprint */
	int id, dims;
	enum fp_state state;
	char *text, *file;
	int64_t slots; /* in use or freed; the next new vector's slot */
	int64_t rows; /* of embeddings: vectors that a key leads to */
	bool dirty, means_loaded;
	struct mean mean[SCRIPT_COUNT];
	struct vecfile *vec; /* opened at first use */
};

struct slot_list {
	uint32_t *slots;
	size_t count, cap;
};

enum list_table { LIST_POSTINGS, LIST_NAMES, LIST_TABLES };

struct sq {
	struct store head;
	sqlite3 *db;
	sqlite3_stmt *stmt[S_COUNT];
	enum store_open_mode mode;
	char *dir, *gen_dir, *db_path;
	int64_t generation;
	struct lock lock;
	int term_version, note_version; /* of the program */
	bool in_write, in_read, published, broken, immutable;
	bool live_only; /* cache_import() leaves vectors of nothing behind */
	bool cut_checked; /* term and note version are this program's */
	int op_depth;
	int64_t data_version; /* that the caches were filled at */
	int64_t counts[C_COUNT];
	bool counts_loaded, counts_dirty;
	int64_t chunks_moved; /* put or removed since the last maintain */
	int64_t next_passage, next_file; /* 0: not looked up in this write */
	struct chunk_map map;
	struct fp *fps;
	int fp_count;
	size_t fp_cap;
	bool fps_loaded;
	struct slot_list unlinked; /* in this write, of the active fingerprint */
	/* pending(): chunk ids in the order they are to be embedded */
	int64_t *queue;
	size_t queue_len, queue_pos;
	int queue_fp; /* 0: not made */
	struct fts_count fts_count; /* by the tokenizer of db */
	struct bulk *bulk; /* postings gathered, or NULL */
	bool bulk_over; /* FTS5 writes them in this connection */
	bool fts_enlisted; /* FTS5 will hear if the transaction rolls back */
	struct lists *lists[LIST_TABLES]; /* made at first use */
	struct gathered *gathered; /* by the last pool of chunks, or NULL */
	struct known *known; /* headings, or NULL */
	struct slot_rows *slot_rows; /* while they are read */
	struct scan *scan; /* begun ahead, in this snapshot, or NULL */
	struct arena scratch; /* for one call */
};

extern const struct store_ops store_backend_sqlite;

static inline struct sq *sq_of(struct store *s)
{
	return (struct sq *)s;
}

/* ---- sqlite_db.c: statements, transactions */
/* Words SQLite's last error: "cannot WHAT: reason". Returns the code. */
int sq_fail(struct sq *s, const char *what, struct remem_err *err);
/* The prepared statement, reset, in *out. */
int sq_get(struct sq *s, enum stmt_id id, sqlite3_stmt **out,
	   struct remem_err *err);
/* What is stored makes no sense: REMEM_ECORRUPT, and the next one who opens the
 * index makes it anew. */
int sq_damaged(struct sq *s, const char *what, struct remem_err *err);
/* 1 for a row, 0 at the end (statement reset), or a negative code. */
int sq_step(struct sq *s, sqlite3_stmt *st, struct remem_err *err);
/* Runs to the end; resets. */
int sq_run(struct sq *s, sqlite3_stmt *st, struct remem_err *err);
int sq_simple(struct sq *s, enum stmt_id id, struct remem_err *err);
int sq_exec(struct sq *s, const char *sql, struct remem_err *err);
void sq_bind_text(sqlite3_stmt *st, int at, const char *text);
void sq_bind_date(sqlite3_stmt *st, int at, int32_t date, char room[16]);
void sq_bind_slot(sqlite3_stmt *st, int at, int64_t slot);
int64_t sq_col_slot(sqlite3_stmt *st, int at);
int32_t sq_col_date(sqlite3_stmt *st, int at);
const char *sq_col_text(struct arena *a, sqlite3_stmt *st, int at);
/* One integer of a statement without parameters; 0 if there is none. */
int sq_int(struct sq *s, enum stmt_id id, int64_t *out, struct remem_err *err);
/* A snapshot around one call, unless one is open; caches made fresh. */
int sq_op_begin(struct sq *s, struct remem_err *err);
void sq_op_end(struct sq *s);
/* REMEM_EINVAL unless between begin and commit. */
int sq_need_write(struct sq *s, struct remem_err *err);
int sq_read_begin(struct store *st, struct remem_err *err);
void sq_read_end(struct store *st);
int sq_begin(struct store *st, struct remem_err *err);
int sq_commit(struct store *st, struct remem_err *err);
void sq_rollback(struct store *st);
void sq_finalize(struct sq *s);

/* ---- sqlite_meta.c */
int sq_meta_set(struct store *st, const char *key, const char *value,
		struct remem_err *err);
const char *sq_meta_get(struct store *st, struct arena *a, const char *key);
int sq_counts_load(struct sq *s, struct remem_err *err);
int sq_counts_save(struct sq *s, struct remem_err *err);
void sq_count(struct sq *s, enum count_id id, int64_t by);
int sq_info(struct store *st, struct store_info *out, struct remem_err *err);
/* The made tables and first rows of a new database. */
int sq_schema_make(struct sq *s, struct remem_err *err);

/* ---- sqlite_sizes.c */
int sq_sizes(struct store *st, struct store_sizes *out, struct remem_err *err);

/* ---- sqlite_gen.c: folders of generations, the pointer to the current */
int gen_current(const char *dir, int64_t *out, struct remem_err *err);
int gen_set_current(const char *dir, int64_t gen, struct remem_err *err);
char *gen_path(const char *dir, int64_t gen); /* mem_free */
int64_t gen_highest(const char *dir);
/* Removes every generation but keep (and keep2). Best effort. */
void gen_remove_others(const char *dir, int64_t keep, int64_t keep2);
/* The highest generation other than current, 0: none. */
int64_t gen_leftover(const char *dir, int64_t current);
int gen_set_aside(const char *dir, int64_t gen, struct remem_err *err);
/* What kind of file the database is, from its first bytes. REMEM_ECORRUPT and
 * *older: whole, but of an older program; its vectors are good. */
int gen_preflight(const char *gen_dir, bool *older, struct remem_err *err);
int gen_remove(const char *path, struct remem_err *err);
bool gen_damaged(const char *gen_dir);
void gen_mark_damaged(const char *gen_dir);

/* ---- sqlite_open.c */
int sq_open(struct store **out, const struct store_opts *o,
	    struct remem_err *err);
void sq_close(struct store *st);
bool sq_outdated(struct store *st);
/* Empties the WAL if it is larger; best effort. */
void sq_checkpoint(struct sq *s, int64_t kept);

/* ---- sqlite_map.c */
int map_load(struct sq *s, struct remem_err *err);
int map_set(struct sq *s, int64_t id, const struct map_entry *e,
	    struct remem_err *err);
int map_free_id(struct sq *s, int64_t *out, struct remem_err *err);
int map_flush(struct sq *s, struct remem_err *err);
void map_drop(struct sq *s);
void map_release(struct sq *s);
uint32_t map_file(const struct sq *s, int64_t chunk);

/* ---- sqlite_files.c */
void sq_file_row(struct store_file *f, struct arena *a, sqlite3_stmt *st);
int sq_file_write(struct sq *s, const struct store_file *f,
		  struct remem_err *err);
int sq_files_each(struct store *st,
		  int (*fn)(void *ctx, const struct store_file *f), void *ctx,
		  struct remem_err *err);
int sq_file_stamps(struct store *st, const char *under,
		   int (*fn)(void *ctx, const struct store_file *f), void *ctx,
		   struct remem_err *err);
int sq_file_get(struct store *st, struct arena *a, int64_t id,
		struct store_file *out, bool *found, struct remem_err *err);
int sq_file_brief(struct store *st, struct arena *a, int64_t id,
		  struct store_file *out, bool *found, struct remem_err *err);
int sq_file_find(struct store *st, struct arena *a, const char *path,
		 struct store_file *out, bool *found, struct remem_err *err);

/* ---- sqlite_post.c: bodies of postings and names */
struct post_chunk { /* what the body of one chunk is made of */
	int64_t id;
	const char *text;
	size_t len, lead;
	const char *heading_path;
};
int post_body(struct buf *b, const struct post_chunk *chunks, size_t i,
	      int32_t date, struct remem_err *err);
int post_add(struct sq *s, int64_t id, const struct buf *body,
	     struct remem_err *err);
int post_del(struct sq *s, int64_t id, const struct buf *body,
	     struct remem_err *err);
int names_add(struct sq *s, const struct store_file *f, struct remem_err *err);
int names_del(struct sq *s, const struct store_file *f, struct remem_err *err);
/* Adds c's posting and gives the map its file and its length in terms, which
 * is counted by the tokenizer on the way. */
int post_add_counted(struct sq *s, const struct post_chunk *c, uint32_t file,
		     const struct buf *body, struct remem_err *err);

/* ---- sqlite_bulk.c: postings of a first index, gathered in memory */
/* *taken false: FTS5 is to be given it. n: as the tokenizer fills it. */
int bulk_add(struct sq *s, int64_t id, const struct buf *body,
	     struct fts_count *n, bool *taken, struct remem_err *err);
/* Writes what was gathered. */
int bulk_flush(struct sq *s, struct remem_err *err);
/* The same, and no more is gathered: before FTS5 touches the table. */
int bulk_end(struct sq *s, struct remem_err *err);
/* Forgets what was gathered since the last commit. */
void bulk_drop(struct sq *s);
void bulk_free(struct sq *s);
/* Makes one segment of all, in a transaction; *done false: FTS5 has to. */
int bulk_merge(struct sq *s, bool *done, struct remem_err *err);

/* ---- sqlite_put.c, sqlite_old.c, sqlite_remove.c: writing of files */
int sq_file_put(struct store *st, struct store_file *f, const struct note *n,
		struct remem_err *err);
int sq_file_touch(struct store *st, const struct store_file *f,
		  struct remem_err *err);
int sq_file_remove(struct store *st, int64_t id, struct remem_err *err);

/* ---- sqlite_list.c: the rows that hold a term */
struct list_ask {
	enum list_table table;
	const char *term;
	char tf; /* 2 or 4: rows where it stands that often; 0 */
	bool prefix; /* of all terms that begin so */
	uint32_t bound; /* rows from here on are none of ours */
	size_t most; /* no more is read once there are more */
	bool *classes; /* out: there may be rows with a higher tf */
};
struct id_list {
	uint32_t *ids;
	size_t count, cap;
};
/* Each row once, in no order that means anything. */
int list_read(struct sq *s, const struct list_ask *q, struct id_list *out,
	      struct remem_err *err);
void lists_drop(struct sq *s);
void lists_release(struct sq *s);

/* ---- sqlite_text.c, sqlite_name.c */
int sq_text_pool(struct store *st, struct store_term *terms, int n,
		 const struct store_set *set, int k, struct store_scored *out,
		 int *count, struct remem_err *err);
bool sq_text_held(struct store *st, int64_t chunk);
void sq_gathered_free(struct sq *s);
int sq_name_pool(struct store *st, const struct store_term *terms, int n,
		 const struct store_set *set, int k, struct store_scored *out,
		 int *count, struct remem_err *err);
/* Our own quoting: "term" or "term"*, with a class byte if tf is not 0. */
void sq_match_text(char *out, size_t cap, const char *term, bool prefix,
		   char tf);

/* ---- sqlite_chunks.c */
int sq_chunks_get(struct store *st, struct arena *a, int fp,
		  const int64_t *ids, int n, struct store_chunk *out,
		  struct remem_err *err);
int sq_passage_chunks(struct store *st, const int64_t *ids, int n,
		      int64_t *out, struct remem_err *err);
int sq_file_chunks(struct store *st, struct arena *a, int64_t file,
		   int64_t **ids, int *count, struct remem_err *err);

/* ---- sqlite_passages.c */
struct slot_rows { /* being read */
	int64_t first;
	int count;
	int64_t *slots;
};
struct packed { /* passages of a chunk, as its row has them */
	const unsigned char *data;
	size_t len;
	int64_t first; /* id of the first */
};
struct heading_cache; /* one for all calls that belong together */
struct heading_cache *headings_new(struct arena *a);
/* The passages of c, whose other fields are set; without slots. */
int passages_read(struct sq *s, struct arena *a, struct heading_cache *h,
		  const struct packed *k, struct store_chunk *c,
		  struct remem_err *err);
/* Their slots: SLOT_NONE, SLOT_REFUSED or a place. */
int passages_slots(struct sq *s, enum fp_state state, int64_t first, int count,
		   int64_t *slots, struct remem_err *err);
int passages_register(struct sq *s, struct remem_err *err);
/* Headings that the handle remembers. */
void known_drop(struct sq *s);
void known_release(struct sq *s);

/* ---- sqlite_filter.c */
struct store_set {
	struct sq *store;
	unsigned char *files; /* bitmap by file id */
	size_t file_bits;
	bool by_passage;
	unsigned char *chunks; /* bitmap by chunk id; only if by_passage */
	size_t chunk_bits;
	unsigned char *slots; /* bitmap by slot; only if by_passage */
	size_t slot_bits;
	bool slots_made;
	char *origin, *project;
};
int sq_filter(struct store *st, const struct store_filter *f,
	      struct store_set **out, struct remem_err *err);
void sq_filter_free(struct store_set *set);
bool set_has_file(const struct store_set *set, uint32_t file);
bool set_has_chunk(const struct store_set *set, const struct sq *s,
		   int64_t chunk);
/* Makes the bitmap of slots, once; the one after it may then be asked. */
int set_slots(struct store_set *set, struct remem_err *err);
bool set_has_slot(const struct store_set *set, uint32_t slot);
int set_has_passage(const struct store_set *set, int64_t passage,
		    int64_t chunk, bool *yes, struct remem_err *err);

/* ---- sqlite_fp.c: fingerprints and means */
int fps_load(struct sq *s, struct remem_err *err);
void fps_drop(struct sq *s);
int fps_flush(struct sq *s, struct remem_err *err);
struct fp *fp_by_id(struct sq *s, int id);
struct fp *fp_in_state(struct sq *s, enum fp_state state);
int fp_open_vec(struct sq *s, struct fp *f, struct remem_err *err);
/* Found by its text or made, as cache. Pointers to others may move. */
int fp_obtain(struct sq *s, const char *text, int dims, struct fp **out,
	      struct remem_err *err);
/* The name for its next file of vectors; mem_free. */
char *fp_next_file(const struct fp *f);
/* Forgets all vectors of f: they are to be made again. In a transaction. */
int fp_forget(struct sq *s, struct fp *f, struct remem_err *err);
/* Looks whether the files of vectors are there and whole; forgets what is
 * not. For writers, when they open. */
int fps_verify(struct sq *s, struct remem_err *err);
int fp_flip_if_complete(struct sq *s, struct remem_err *err);
/* Adds sign * the vector of slot to its script's mean. */
int fp_mean_add(struct sq *s, struct fp *f, uint32_t slot, int sign,
		struct remem_err *err);

/* ---- sqlite_mean.c */
int fp_means(struct sq *s, struct fp *f, struct remem_err *err);
int fp_means_flush(struct sq *s, struct fp *f, struct remem_err *err);
void fp_means_drop(struct fp *f);
/* 1 / |row * scale - ref of script|. */
float fp_inv_norm(const struct fp *f, enum script script, const int8_t *row,
		  float scale);
/* Takes the norms again where a mean has moved by more than share, or has
 * twice the vectors it had when it was last looked at. */
int fp_renew_norms(struct sq *s, struct fp *f, double share,
		   struct remem_err *err);
int sq_fingerprint(struct store *st, const char *text, int dims, int *fp,
		   struct remem_err *err);
int sq_fingerprint_find(struct store *st, const char *text, int *fp, int *dims,
			struct remem_err *err);
int sq_fingerprint_active(struct store *st, int *fp, int *dims,
			  const char **text, struct remem_err *err);
int sq_means(struct store *st, struct arena *a, int fp, struct store_mean **out,
	     int *count, struct remem_err *err);

/* ---- sqlite_embed.c, sqlite_pending.c: vectors stored and linked */
int sq_vectors_have(struct store *st, int fp,
		    const unsigned char (*keys)[SHA256_BYTES], int n,
		    bool *have, struct remem_err *err);
int sq_vectors_put(struct store *st, int fp, const struct store_vec_item *items,
		   int n, struct remem_err *err);
int sq_vector_refused(struct store *st, int fp, int64_t passage,
		      const char *reason, struct remem_err *err);
int sq_refused_each(struct store *st,
		    int (*fn)(void *ctx, const char *path, int line_first,
			      int line_last, const char *reason), void *ctx,
		    struct remem_err *err);
int embed_key_put(struct sq *s, struct fp *f, const unsigned char *key,
		  int64_t slot, int script, int day, struct remem_err *err);
bool embed_key_has(struct sq *s, int fp, const unsigned char *key);
/* A passage row with these slots comes (1) or goes (-1). */
int sq_slots_count(struct sq *s, int64_t slot, int64_t slot_next, int sign,
		   struct remem_err *err);
void sq_unlinked_flags(struct sq *s);
int sq_pending(struct store *st, struct arena *a, int fp, int max,
	       struct store_passage **out, const char ***texts, int *count,
	       struct remem_err *err);
int sq_pending_count(struct store *st, int fp, int64_t *out,
		     struct remem_err *err);
void pending_drop(struct sq *s);

/* ---- sqlite_scan.c */
int sq_vector_get(struct store *st, int fp, uint32_t slot, float *out,
		  struct remem_err *err);
void sq_vector_begin(struct store *st, int fp, const float *q,
		     const float *mean_q, const float *const *means,
		     const struct store_set *set, int k);
void sq_scan_drop(struct sq *s);
int sq_vector_pool(struct store *st, int fp, const float *q,
		   const float *mean_q, const float *const *means,
		   const struct store_set *set, int k, struct store_scored *out,
		   int *count, struct remem_err *err);
int sq_vector_scores(struct store *st, int fp, const float *q,
		     const float *mean_q, const float *const *means,
		     const uint32_t *slots, int n, float *out,
		     struct remem_err *err);

/* ---- sqlite_sweep.c */
/* Evicts, compacts, renews; in a transaction. */
int vectors_maintain(struct sq *s, int64_t cache_entries,
		     struct remem_err *err);
/* After its commit: files that no row names go. Best effort. */
void vectors_swept(struct sq *s);

/* ---- sqlite_cache.c, sqlite_maintain.c, sqlite_check.c */
/* Whether the totals are what the tables say; problems as in check. */
int counts_check(struct sq *s, struct arena *a, const char ***problems,
		 int *count, struct remem_err *err);
int cache_import(struct sq *s, const char *gen_dir, struct remem_err *err);
int sq_publish(struct store *st, struct remem_err *err);
int sq_maintain(struct store *st, int64_t cache_entries, struct remem_err *err);
int sq_check(struct store *st, struct arena *a, const char ***problems,
	     int *count, struct remem_err *err);

#endif
