/* What this machine can do at all: memory, hashing, walking, FTS5. */
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/path.h"
#include "cli/bench_machine.h"
#include "text/term.h"

#define READ_BYTES ((size_t)256 << 20)
#define HASH_BYTES ((size_t)64 << 20)

static volatile uint64_t sink; /* so that nothing is left out as unused */

/* The C library's search for a byte that is not there reads as fast as can
 * be. */
static void read_memory(struct machine *m)
{
	unsigned char *p = mem_zalloc(READ_BYTES), sum[SHA256_BYTES];
	int64_t start;

	if (!p)
		return;
	memset(p, 1, READ_BYTES);
	start = clock_mono_ns();
	sink += memchr(p, 2, READ_BYTES) != NULL;
	bench_add(m, "memory read, one thread",
		  (double)READ_BYTES / 1e9 / bench_seconds(start), "GB/s", 0);
	start = clock_mono_ns();
	sha256_of(sum, p, HASH_BYTES);
	bench_add(m, "sha-256", (double)HASH_BYTES / 1e6 / bench_seconds(start),
		  "MB/s", 0);
	sink += sum[0];
	mem_free(p);
}

static void walk(struct machine *m)
{
	const char *dir = path_join(&m->c->a, m->notes, "memory");
	int64_t start = clock_mono_ns();
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		struct stat st;

		n += !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW);
	}
	if (d)
		closedir(d);
	if (n)
		bench_add(m, "walk and stat of the notes",
			  bench_seconds(start) * 1e3, "ms", 0);
}

static int add_term(void *ctx, const struct term *t)
{
	struct buf *b = ctx;

	/* Letters and digits only: ready-made terms for a plain tokenizer. */
	for (uint32_t i = 0; i < t->len; i++)
		buf_addf(b, "%02x", (unsigned char)t->text[i]);
	buf_addc(b, ' ');
	return 0;
}

/* All notes' terms ready-made into a plain FTS5 table, as the index has one. */
static double insert_terms(struct machine *m, sqlite3 *db, sqlite3_stmt *st)
{
	struct buf text = BUF_INIT(0), terms = BUF_INIT(0);
	int64_t spent = 0;

	for (int i = 0; i < m->note_count; i++) {
		int64_t start;

		buf_reset(&text);
		buf_reset(&terms);
		bench_note(&text, (unsigned)i, BENCH_MIXED);
		term_cut(text.ptr, text.len, add_term, &terms);
		start = clock_mono_ns();
		sqlite3_bind_text(st, 1, buf_str(&terms), (int)terms.len,
				  SQLITE_STATIC);
		sqlite3_step(st);
		sqlite3_reset(st);
		spent += clock_mono_ns() - start;
	}
	spent -= clock_mono_ns();
	sqlite3_exec(db, "commit", NULL, NULL, NULL);
	spent += clock_mono_ns();
	buf_release(&text);
	buf_release(&terms);
	return (double)spent / 1e9;
}

static void fts5(struct machine *m)
{
	const char *path = path_join(&m->c->a, m->dir, "fts.sqlite");
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;

	if (path)
		unlink(path); /* of the turn before */
	if (path && !sqlite3_open(path, &db) &&
	    !sqlite3_exec(db, "pragma journal_mode=wal; begin; create virtual "
			  "table t using fts5(x, content='', detail=none, "
			  "tokenize='ascii')", NULL, NULL, NULL) &&
	    !sqlite3_prepare_v2(db, "insert into t(x) values(?)", -1, &st,
				NULL))
		bench_add(m, "FTS5 insert of ready-made terms",
			  (double)m->note_bytes / 1e6 /
				  insert_terms(m, db, st), "MB/s", 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
}

void bench_limits(struct machine *m)
{
	read_memory(m);
	walk(m);
	fts5(m);
}
