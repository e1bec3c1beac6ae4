/*
 * What the store costs, on notes of a folder (bench/gen-notes.py):
 *
 *   bench_store NOTES FOLDER [DIMS]
 *
 * FOLDER is made and removed. One line of JSON for each thing measured; times
 * of single operations are the median of some rounds.
 */
#define _GNU_SOURCE /* nftw */
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/store.h"
#include "text/term.h"

#define ROUNDS 41
#define FILES_A_COMMIT 500
#define K 200

static const struct store_ops *o;
static struct store *s;
static struct remem_err err;
static char **paths;
static size_t path_count, path_cap, text_bytes;
static int dims = 384;

static void must(int rc)
{
	if (rc) {
		fprintf(stderr, "%d: %s\n", rc, err.message);
		exit(1);
	}
}

static double since(int64_t t)
{
	return (double)(clock_mono_ns() - t) / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type != FTW_F || !strstr(path, ".md"))
		return 0;
	if (!mem_grow(&paths, &path_cap, path_count + 1, sizeof(*paths)))
		return 1;
	paths[path_count++] = mem_strdup(path);
	return 0;
}

static void open_as(const char *dir, enum store_open_mode mode)
{
	struct store_opts opts = { dir, mode, 1000, TERM_VERSION,
				   NOTE_VERSION, false };

	must(o->open(&s, &opts, &err));
}

static void put(const char *path, const char *extra)
{
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	struct store_file f = { .path = path };
	struct buf b = BUF_INIT(0);
	struct arena a = ARENA_INIT;
	struct note n;

	must(file_read(&b, path, &err));
	buf_adds(&b, extra);
	text_bytes += b.len;
	f.date = note_path_date(path);
	f.size = (int64_t)b.len;
	must(note_parse(&n, &a, buf_str(&b), b.len, &opts, &err));
	must(o->file_put(s, &f, &n, &err));
	arena_release(&a);
	buf_release(&b);
}

static void first_index(void)
{
	int64_t t = clock_mono_ns();
	double commit = 0;

	for (size_t i = 0; i < path_count; i++) {
		if (i % FILES_A_COMMIT == 0)
			must(o->begin(s, &err));
		put(paths[i], "");
		if (i % FILES_A_COMMIT == FILES_A_COMMIT - 1 ||
		    i + 1 == path_count) {
			int64_t c = clock_mono_ns();

			must(o->commit(s, &err));
			commit += since(c);
		}
	}
	printf("{\"what\":\"put\",\"files\":%zu,\"mb\":%.1f,\"ms\":%.0f,"
	       "\"commit_ms\":%.0f}\n", path_count, (double)text_bytes / 1e6,
	       since(t), commit);
}

static void sizes(const char *what)
{
	struct store_info i;

	must(o->info(s, &i, &err));
	printf("{\"what\":\"%s\",\"chunks\":%lld,\"passages\":%lld,"
	       "\"embedded\":%lld,\"text_mb\":%.1f,\"database_mb\":%.1f,"
	       "\"ratio\":%.2f,\"vectors_mb\":%.1f}\n", what,
	       (long long)i.chunks, (long long)i.passages,
	       (long long)i.embedded, (double)i.text_bytes / 1e6,
	       (double)i.bytes_database / 1e6,
	       (double)i.bytes_database / (double)i.text_bytes,
	       (double)i.bytes_vectors / 1e6);
}

static uint64_t seed = 88172645463325252u;

static float noise(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (float)((double)(seed >> 11) / 9007199254740992.0 - 0.5);
}

static void random_vector(float *v)
{
	double norm = 0;

	for (int i = 0; i < dims; i++) {
		v[i] = noise();
		norm += (double)v[i] * v[i];
	}
	for (int i = 0; i < dims; i++)
		v[i] = (float)(v[i] / sqrt(norm));
}

static int embed(void)
{
	struct arena a = ARENA_INIT;
	float *v = mem_array((size_t)dims, sizeof(*v));
	struct store_passage *p;
	const char **texts;
	double ask = 0, write = 0, commit = 0;
	int64_t t;
	int fp, n;

	must(o->fingerprint(s, "bench", dims, &fp, &err));
	for (;;) {
		arena_reset(&a);
		t = clock_mono_ns();
		must(o->pending(s, &a, fp, 512, &p, &texts, &n, &err));
		ask += since(t);
		if (!n)
			break;
		must(o->begin(s, &err));
		for (int i = 0; i < n; i++) {
			struct store_vec_item item = {
				&p[i].id, 1, { 0 }, p[i].script, v
			};

			random_vector(v);
			sha256_of(item.key, v, (size_t)dims * sizeof(*v));
			t = clock_mono_ns();
			must(o->vectors_put(s, fp, &item, 1, &err));
			write += since(t);
		}
		t = clock_mono_ns();
		must(o->commit(s, &err));
		commit += since(t);
	}
	printf("{\"what\":\"vectors\",\"pending_ms\":%.0f,\"put_ms\":%.0f,"
	       "\"commit_ms\":%.0f}\n", ask, write, commit);
	mem_free(v);
	arena_release(&a);
	return fp;
}

/* Terms of a passage somewhere in the index, as a question would have them. */
struct asked {
	char text[16][TERM_MAX_BYTES + 1];
	struct store_term terms[16];
	int n, skip;
};

static int take(void *ctx, const struct term *t)
{
	struct asked *q = ctx;

	if (q->skip-- > 0)
		return 0;
	if (q->n == 12)
		return 1;
	memcpy(q->text[q->n], t->text, t->len);
	q->text[q->n][t->len] = '\0';
	q->terms[q->n] = (struct store_term){ .text = q->text[q->n],
					      .group = (int)t->pos,
					      .weight = 1 };
	q->n++;
	return 0;
}

static void question(struct asked *q, size_t i)
{
	struct buf b = BUF_INIT(0);

	memset(q, 0, sizeof(*q));
	q->skip = 20;
	must(file_read(&b, paths[i * 7919 % path_count], &err));
	term_cut(buf_str(&b), b.len, take, q);
	buf_release(&b);
}

static void searches(int fp)
{
	static struct store_scored hits[K];
	static struct store_chunk chunks[K];
	double text[ROUNDS], name[ROUNDS], get[ROUNDS], vec[ROUNDS];
	double score[ROUNDS];
	float *v = mem_array((size_t)dims, sizeof(*v)), scores[4096];
	struct arena a = ARENA_INIT;
	int n;

	for (int i = 0; i < ROUNDS; i++) {
		struct asked q;
		int64_t ids[K], t;
		uint32_t slots[4096];
		int m = 0;

		question(&q, (size_t)i);
		arena_reset(&a);
		must(o->read_begin(s, &err));
		t = clock_mono_ns();
		must(o->text_pool(s, q.terms, q.n, NULL, K, hits, &n, &err));
		text[i] = since(t);
		for (int k = 0; k < n; k++)
			ids[k] = hits[k].id;
		t = clock_mono_ns();
		must(o->chunks_get(s, &a, fp, ids, n, chunks, &err));
		get[i] = since(t);
		for (int k = 0; k < n; k++)
			for (int j = 0; j < chunks[k].passage_count; j++)
				if (m < 4096)
					slots[m++] = chunks[k].passages[j].slot;
		t = clock_mono_ns();
		must(o->name_pool(s, q.terms, q.n, NULL, K, hits, &n, &err));
		name[i] = since(t);
		vec[i] = score[i] = 0;
		if (fp) {
			random_vector(v);
			t = clock_mono_ns();
			must(o->vector_pool(s, fp, v, NULL, NULL, NULL, K,
					    hits, &n, &err));
			vec[i] = since(t);
			t = clock_mono_ns();
			must(o->vector_scores(s, fp, v, NULL, NULL, slots, m,
					      scores, &err));
			score[i] = since(t);
		}
		o->read_end(s);
	}
	printf("{\"what\":\"search\",\"text_ms\":%.2f,\"chunks_ms\":%.2f,"
	       "\"name_ms\":%.2f,\"vector_ms\":%.2f,\"scores_ms\":%.2f}\n",
	       median(text, ROUNDS), median(get, ROUNDS), median(name, ROUNDS),
	       median(vec, ROUNDS), median(score, ROUNDS));
	mem_free(v);
	arena_release(&a);
}

static void cold(const char *dir)
{
	double opened[ROUNDS], first[ROUNDS];
	struct store_scored hits[K];
	int n;

	for (int i = 0; i < ROUNDS; i++) {
		struct asked q;
		int64_t t;

		question(&q, (size_t)i);
		t = clock_mono_ns();
		open_as(dir, STORE_READ);
		opened[i] = since(t);
		must(o->text_pool(s, q.terms, q.n, NULL, K, hits, &n, &err));
		first[i] = since(t);
		o->close(s);
	}
	printf("{\"what\":\"open\",\"open_ms\":%.2f,\"with_text_ms\":%.2f}\n",
	       median(opened, ROUNDS), median(first, ROUNDS));
}

static void one_file(void)
{
	double v[ROUNDS], top[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		char extra[64];
		int64_t t = clock_mono_ns();

		snprintf(extra, sizeof(extra), "\n- 又一行 number %d\n", i);
		must(o->begin(s, &err));
		put(paths[path_count / 2], extra);
		must(o->commit(s, &err));
		v[i] = since(t);
		t = clock_mono_ns();
		must(o->maintain(s, 0, &err));
		top[i] = since(t);
	}
	printf("{\"what\":\"one file changed\",\"ms\":%.2f,"
	       "\"maintain_ms\":%.2f}\n", median(v, ROUNDS),
	       median(top, ROUNDS));
}

static void maintain(void)
{
	int64_t t = clock_mono_ns();

	must(o->maintain(s, 0, &err));
	printf("{\"what\":\"maintain\",\"ms\":%.1f", since(t));
	t = clock_mono_ns();
	must(o->maintain(s, 0, &err));
	printf(",\"again_ms\":%.1f}\n", since(t));
}

static void check(void)
{
	struct arena a = ARENA_INIT;
	int64_t t = clock_mono_ns();
	const char **lines;
	int n;

	must(o->check(s, &a, &lines, &n, &err));
	printf("{\"what\":\"check\",\"ms\":%.0f,\"problems\":%d}\n",
	       since(t), n);
	arena_release(&a);
}

static void rebuild(const char *dir)
{
	int64_t t = clock_mono_ns();
	double opened;

	open_as(dir, STORE_REBUILD);
	opened = since(t);
	must(o->begin(s, &err));
	for (size_t i = 0; i < path_count; i++)
		put(paths[i], "");
	must(o->commit(s, &err));
	t = clock_mono_ns();
	must(o->maintain(s, 0, &err));
	must(o->publish(s, &err));
	printf("{\"what\":\"rebuild\",\"open_ms\":%.0f,\"publish_ms\":%.0f}\n",
	       opened, since(t));
}

int main(int argc, char **argv)
{
	int fp;

	if (argc < 3 || nftw(argv[1], visit, 16, FTW_PHYS) || !path_count) {
		fprintf(stderr, "usage: bench_store NOTES FOLDER [DIMS]\n");
		return 2;
	}
	if (argc > 3)
		dims = atoi(argv[3]);
	o = store_backend("sqlite");
	must(dir_remove(argv[2], &err));
	open_as(argv[2], STORE_WRITE);
	first_index();
	maintain();
	sizes("text");
	o->close(s);
	cold(argv[2]);
	open_as(argv[2], STORE_WRITE);
	searches(0);
	one_file();
	fp = embed();
	maintain();
	sizes("all");
	check();
	searches(fp);
	one_file();
	o->close(s);
	cold(argv[2]);
	rebuild(argv[2]);
	sizes("rebuilt");
	o->close(s);
	must(dir_remove(argv[2], &err));
	return 0;
}
