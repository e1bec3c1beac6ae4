/*
 * Speed of indexing without vectors, against bare limits measured in the same
 * run:
 *
 *   bench_index WORKSPACE FOLDER
 *
 *   first    a first index, against FTS5 alone fed the very same terms ready
 *            made (same table, same transactions, a tokenizer that only splits
 *            at blanks)
 *   noop     a run in which nothing has changed, against walking the folder
 *            and stat'ing each file
 *   dirty    the check before a search, against the same
 *   one      a run in which one file has changed
 *   paths    the same, told which file it is
 *
 * FOLDER is made and removed. One line of JSON each; times are of the
 * processor, in the median; of the first index also by the clock.
 */
#define _GNU_SOURCE /* nftw */
#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "index/index.h"
#include "text/fts.h"
#include "text/term.h"

#define ROUNDS 15

static struct source_opts source;
static struct index_opts opts;

/* Time on the processor: other work on the machine does not count. */
static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double ms(int64_t from)
{
	return (double)(now_ns() - from) / 1e6;
}

static double wall_ms(int64_t from)
{
	return (double)(clock_mono_ns() - from) / 1e6;
}

static void die(const char *what, const struct remem_err *err)
{
	fprintf(stderr, "%s: %s\n", what, err ? err->message : "");
	exit(1);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

/* ---- bare limits ------------------------------------------------------ */

static int64_t stat_sum;

static int visit(const char *path, const struct stat *st, int flag,
		 struct FTW *f)
{
	(void)path, (void)flag, (void)f;
	stat_sum += st->st_size + st->st_mtim.tv_nsec;
	return 0;
}

static double bare_walk(void)
{
	int64_t t = now_ns();

	nftw(source.workspace, visit, 16, FTW_PHYS);
	return ms(t);
}

/* A tokenizer that splits at blanks and does nothing else. */
static int split_create(void *ctx, const char **args, int n, Fts5Tokenizer **out)
{
	(void)ctx, (void)args, (void)n;
	*out = (Fts5Tokenizer *)&split_create;
	return SQLITE_OK;
}

static void split_delete(Fts5Tokenizer *t)
{
	(void)t;
}

static int split_tokenize(Fts5Tokenizer *t, void *ctx, int flags,
			  const char *s, int len,
			  int (*token)(void *, int, const char *, int, int, int))
{
	int at = 0;

	(void)t, (void)flags;
	while (at < len) {
		const char *end = memchr(s + at, ' ', (size_t)(len - at));
		int n = end ? (int)(end - s) - at : len - at;
		int rc = token(ctx, 0, s + at, n, at, at + n);

		if (rc)
			return rc;
		at += n + 1;
	}
	return SQLITE_OK;
}

static fts5_api *api_of(sqlite3 *db)
{
	fts5_api *api = NULL;
	sqlite3_stmt *st;

	sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &st, NULL);
	sqlite3_bind_pointer(st, 1, &api, "fts5_api_ptr", NULL);
	sqlite3_step(st);
	sqlite3_finalize(st);
	return api;
}

static int collect(void *ctx, int flags, const char *s, int len, int a, int b)
{
	struct buf *out = ctx;

	(void)flags, (void)a, (void)b;
	if (out->len)
		buf_addc(out, ' ');
	buf_add(out, s, (size_t)len);
	return SQLITE_OK;
}

struct bodies { /* of all chunks, as terms */
	char **text;
	int *len;
	size_t count, cap;
	int64_t passages, bytes;
	fts5_tokenizer tok;
	Fts5Tokenizer *self;
};

static void add_chunk(struct bodies *b, struct arena *a, const struct note *n,
		      const struct chunk *c, const char *path)
{
	struct buf body = BUF_INIT(0), terms = BUF_INIT(0);
	char day[16];

	buf_add(&body, n->text + c->lead, c->end - c->lead);
	date_format(day, note_path_date(path));
	buf_addf(&body, "\n%s\n%s", note_heading_path(a, n, c->heading), day);
	b->tok.xTokenize(b->self, &terms, FTS5_TOKENIZE_DOCUMENT, body.ptr,
			 (int)body.len, collect);
	if (b->count == b->cap) {
		b->cap = b->cap ? b->cap * 2 : 4096;
		b->text = realloc(b->text, b->cap * sizeof(*b->text));
		b->len = realloc(b->len, b->cap * sizeof(*b->len));
	}
	b->len[b->count] = (int)terms.len;
	b->text[b->count++] = strdup(buf_str(&terms));
	buf_release(&terms);
	buf_release(&body);
}

static void cut_all(struct bodies *b)
{
	struct arena a = ARENA_INIT, file = ARENA_INIT;
	struct note_opts no = opts.note;
	struct source_list l;
	struct buf text = BUF_INIT(0);
	struct remem_err err;
	struct note n;

	if (source_walk(&l, &a, &source, &err))
		die("walk", &err);
	for (size_t i = 0; i < l.count; i++) {
		arena_reset(&file);
		buf_reset(&text);
		no.curated = l.files[i].curated;
		if (source_read(&text, &l, &l.files[i], false, &err) ||
		    note_parse(&n, &file, text.ptr, text.len, &no, &err))
			die("cut", &err);
		for (int c = 0; c < n.chunk_count; c++)
			add_chunk(b, &file, &n, &n.chunks[c], l.files[i].path);
		b->passages += n.passage_count;
		b->bytes += (int64_t)text.len;
	}
	source_list_release(&l);
	buf_release(&text);
	arena_release(&file);
	arena_release(&a);
}

static void run_sql(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL)) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
}

static double bare_fts(const struct bodies *b, const char *folder)
{
	fts5_tokenizer split = { split_create, split_delete, split_tokenize };
	char path[4096];
	sqlite3_stmt *st;
	sqlite3 *db;
	fts5_api *api;
	int64_t t;
	double took;

	snprintf(path, sizeof(path), "%s/bare.sqlite", folder);
	sqlite3_open(path, &db);
	api = api_of(db);
	api->xCreateTokenizer(api, "split", NULL, &split, NULL);
	t = now_ns();
	run_sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
		    "CREATE VIRTUAL TABLE t USING fts5(body, content='', "
		    "detail=none, columnsize=0, tokenize='split');"
		    "INSERT INTO t(t, rank) VALUES('automerge', 16); BEGIN");
	sqlite3_prepare_v2(db, "INSERT INTO t(rowid, body) VALUES(?1, ?2)", -1,
			   &st, NULL);
	for (size_t i = 0; i < b->count; i++) {
		sqlite3_bind_int64(st, 1, (int64_t)i + 1);
		sqlite3_bind_text(st, 2, b->text[i], b->len[i], SQLITE_STATIC);
		sqlite3_step(st);
		sqlite3_reset(st);
		if (i % 8192 == 8191)
			run_sql(db, "COMMIT; BEGIN");
	}
	run_sql(db, "COMMIT");
	took = ms(t);
	sqlite3_finalize(st);
	sqlite3_close(db);
	unlink(path);
	return took;
}

static void make_bodies(struct bodies *b)
{
	struct remem_err err;
	fts5_api *api;
	sqlite3 *db;
	void *ctx;

	sqlite3_open(":memory:", &db);
	if (fts_register(db, NULL, &err))
		die("tokenizer", &err);
	api = api_of(db);
	api->xFindTokenizer(api, "remem", &ctx, &b->tok);
	b->tok.xCreate(ctx, NULL, 0, &b->self);
	cut_all(b);
	b->tok.xDelete(b->self);
	sqlite3_close(db);
}

/* ---- ours ------------------------------------------------------------- */

static double run(struct index_report *r)
{
	struct arena a = ARENA_INIT;
	struct remem_err err;
	int64_t t = now_ns();
	double took;

	if (index_run(r, &a, &opts, &err))
		die("index", &err);
	took = ms(t);
	arena_release(&a);
	return took;
}

static double run_path(struct index_report *r, const char *path)
{
	struct arena a = ARENA_INIT;
	struct remem_err err;
	int64_t t = now_ns();
	double took;

	if (index_paths(r, &a, &opts, &path, 1, &err))
		die("index", &err);
	took = ms(t);
	arena_release(&a);
	return took;
}

static double dirty(void)
{
	struct store_opts so = { opts.dir, STORE_READ, 0, TERM_VERSION,
				 NOTE_VERSION, false };
	const struct store_ops *ops = store_backend(opts.backend);
	struct arena a = ARENA_INIT;
	struct index_look l;
	struct remem_err err;
	struct store *s;
	bool moved;
	int64_t n, t;
	double took;

	if (ops->open(&s, &so, &err))
		die("open", &err);
	t = now_ns();
	if (index_look(&l, &a, &source, &err) ||
	    index_compare(&n, &moved, &l, index_known(s, &a), &a, s, &source,
			  &err) || n || moved)
		die("dirty", &err);
	took = ms(t);
	index_look_release(&l);
	arena_release(&a);
	ops->close(s);
	return took;
}

#define FIRSTS 3

static void first_index(const char *folder)
{
	double bare[FIRSTS], ours[FIRSTS], bare_wall[FIRSTS], wall[FIRSTS];
	struct bodies b = { 0 };
	struct index_report r;
	double o, f, w;

	make_bodies(&b);
	for (int i = 0; i < FIRSTS; i++) {
		int64_t t = clock_mono_ns();

		bare[i] = bare_fts(&b, folder);
		bare_wall[i] = wall_ms(t);
		dir_remove(opts.dir, NULL);
		t = clock_mono_ns();
		ours[i] = run(&r);
		wall[i] = wall_ms(t);
	}
	o = median(ours, FIRSTS);
	f = median(bare, FIRSTS);
	w = median(wall, FIRSTS);
	printf("{\"bench\":\"first\",\"files\":%lld,\"bytes\":%lld,"
	       "\"chunks\":%lld,\"passages\":%lld,\"ms\":%.0f,"
	       "\"bare_fts5_ms\":%.0f,", (long long)r.indexed,
	       (long long)b.bytes, (long long)r.chunks, (long long)r.passages,
	       o, f);
	printf("\"times\":%.2f,\"bar\":1.6,\"wall_ms\":%.0f,"
	       "\"wall_times\":%.2f}\n", o / f, w,
	       w / median(bare_wall, FIRSTS));
	for (size_t i = 0; i < b.count; i++)
		free(b.text[i]);
	free(b.text);
	free(b.len);
}

static void no_change(void)
{
	double walk[ROUNDS], ours[ROUNDS], check[ROUNDS];
	struct index_report r;
	double w, o, d;

	run(&r);
	for (int i = 0; i < ROUNDS; i++) {
		walk[i] = bare_walk();
		ours[i] = run(&r);
		check[i] = dirty();
	}
	w = median(walk, ROUNDS);
	o = median(ours, ROUNDS);
	d = median(check, ROUNDS);
	printf("{\"bench\":\"noop\",\"ms\":%.1f,\"walk_ms\":%.1f,"
	       "\"times\":%.2f,\"bar\":1.3}\n", o, w, o / w);
	printf("{\"bench\":\"dirty\",\"ms\":%.1f,\"walk_ms\":%.1f,"
	       "\"times\":%.2f,\"bar\":1.3}\n", d, w, d / w);
}

static void change(const char *path, int i)
{
	FILE *f = fopen(path, "w");
	const struct timespec tick = { 0, 20000000 };

	fprintf(f, "# 一\n\n- round %d of the benchmark 第%d轮\n", i, i);
	fclose(f);
	nanosleep(&tick, NULL); /* until its stamps can be trusted */
}

static void one_file(void)
{
	char path[4096];
	struct index_report r;
	double ours[ROUNDS], told[ROUNDS];

	snprintf(path, sizeof(path), "%s/memory/bench-one.md",
		 source.workspace);
	for (int i = 0; i < ROUNDS; i++) {
		change(path, 2 * i);
		ours[i] = run(&r);
		change(path, 2 * i + 1);
		told[i] = run_path(&r, path);
		if (r.added + r.changed != 1)
			die("one changed file was not seen", NULL);
	}
	printf("{\"bench\":\"one\",\"ms\":%.2f}\n", median(ours, ROUNDS));
	printf("{\"bench\":\"paths\",\"ms\":%.2f,\"bar\":2}\n",
	       median(told, ROUNDS));
	unlink(path);
	run(&r);
}

int main(int argc, char **argv)
{
	struct note_opts note = NOTE_OPTS_DEFAULT;
	char dir[4096];

	if (argc != 3) {
		fprintf(stderr, "bench_index WORKSPACE FOLDER\n");
		return 2;
	}
	if (dir_make(argv[2], 0700, NULL))
		return 1;
	snprintf(dir, sizeof(dir), "%s/index", argv[2]);
	source.workspace = realpath(argv[1], NULL);
	opts.source = &source;
	opts.dir = dir;
	opts.backend = "sqlite";
	opts.note = note;
	first_index(argv[2]);
	no_change();
	one_file();
	dir_remove(argv[2], NULL);
	return 0;
}
