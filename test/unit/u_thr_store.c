/* Many at once on one index: threads with a handle each, and processes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "store/store.h"
#include "store_box.h"

#define WRITES 25
#define READERS 3
#define WRITERS 2
#define PROCESSES 8

struct share {
	const char *dir;
	const struct store_ops *o;
	int number;
	atomic_int *done;
	char what[600]; /* went wrong, "" nothing */
};

static bool failed(struct share *w, int rc, const struct remem_err *err)
{
	if (rc && !w->what[0])
		snprintf(w->what, sizeof(w->what), "%d: %s", rc, err->message);
	return rc != 0;
}

/* Puts one file in a handle of its own. */
static int write_once(struct share *w, int turn, struct remem_err *err)
{
	struct store_opts o = { w->dir, STORE_WRITE, 60000, TERM_VERSION,
				NOTE_VERSION, false };
	struct note_opts no = NOTE_OPTS_DEFAULT;
	struct store_file f = { .date = DATE_NONE };
	struct arena a = ARENA_INIT;
	struct store *s = NULL;
	char path[64], text[128];
	struct note n;
	int fp, rc;

	snprintf(path, sizeof(path), "%d-%d.md", w->number, turn % 7);
	snprintf(text, sizeof(text), "shared words %d\n\n第%d次\n", turn, turn);
	f.path = path;
	if ((rc = w->o->open(&s, &o, err)) ||
	    (rc = note_parse(&n, &a, text, strlen(text), &no, err)) ||
	    (rc = w->o->begin(s, err)) ||
	    (rc = w->o->file_put(s, &f, &n, err)) ||
	    (rc = w->o->commit(s, err)) ||
	    (rc = w->o->fingerprint(s, "m", DIMS, &fp, err)))
		goto out;
	for (;;) {
		struct store_passage *p;
		const char **texts;
		struct store_vec_item item = { .passage_count = 1 };
		float v[DIMS];
		int count;

		if ((rc = w->o->pending(s, &a, fp, 1, &p, &texts, &count,
					err)) || !count)
			break;
		vec_of(v, texts[0], strlen(texts[0]));
		sha256_of(item.key, texts[0], strlen(texts[0]));
		item.passages = &p[0].id;
		item.script = p[0].script;
		item.vec = v;
		if ((rc = w->o->begin(s, err)) ||
		    (rc = w->o->vectors_put(s, fp, &item, 1, err)) ||
		    (rc = w->o->commit(s, err)))
			break;
	}
	if (!rc)
		rc = w->o->maintain(s, 20, err);
out:
	if (s)
		w->o->close(s);
	arena_release(&a);
	return rc;
}

static void *writer(void *ctx)
{
	struct share *w = ctx;
	struct remem_err err;

	for (int i = 0; i < WRITES; i++)
		if (failed(w, write_once(w, i, &err), &err))
			break;
	atomic_fetch_add(w->done, 1);
	return NULL;
}

static int read_once(struct share *w, struct store *s, struct remem_err *err)
{
	struct store_term t = { .text = "shared", .weight = 1 };
	struct store_scored hit[16];
	struct store_chunk c[16];
	struct arena a = ARENA_INIT;
	int64_t ids[16];
	float q[DIMS];
	const char *text;
	int n, fp, dims, rc = w->o->read_begin(s, err);

	if (rc)
		return rc;
	vec_of(q, "x", 1);
	if ((rc = w->o->text_pool(s, &t, 1, NULL, 16, hit, &n, err)))
		goto out;
	for (int i = 0; i < n; i++)
		ids[i] = hit[i].id;
	if ((rc = w->o->fingerprint_active(s, &fp, &dims, &text, err)) ||
	    (rc = w->o->chunks_get(s, &a, fp, ids, n, c, err)))
		goto out;
	/* One snapshot: what the pool names is there. */
	for (int i = 0; i < n && !rc; i++)
		if (c[i].id != ids[i] || !strstr(c[i].text, "shared"))
			rc = fail(err, REMEM_EBUG, "a chunk is gone");
	if (!rc && fp)
		rc = w->o->vector_pool(s, fp, q, NULL, NULL, NULL, 16, hit, &n,
				       err);
	for (int i = 0; !rc && fp && i < n; i++) {
		int64_t chunk;

		rc = w->o->passage_chunks(s, &hit[i].id, 1, &chunk, err);
		if (!rc && !chunk)
			rc = fail(err, REMEM_EBUG, "a passage is gone");
	}
out:
	w->o->read_end(s);
	arena_release(&a);
	return rc;
}

static void *reader(void *ctx)
{
	struct share *w = ctx;
	struct store_opts o = { w->dir, STORE_READ, 0, TERM_VERSION,
				NOTE_VERSION, false };
	struct remem_err err;
	struct store *s;

	while (atomic_load(w->done) < WRITERS) {
		if (failed(w, w->o->open(&s, &o, &err), &err))
			break;
		for (int i = 0; i < 5; i++)
			failed(w, read_once(w, s, &err), &err);
		w->o->close(s);
	}
	return NULL;
}

static void test_thr_store__readers_and_writers_do_not_meet(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct share w[READERS + WRITERS];
		pthread_t t[READERS + WRITERS];
		atomic_int done = 0;

		box_close(b);
		for (int i = 0; i < READERS + WRITERS; i++) {
			w[i] = (struct share){ b->dir, b->o, i, &done, "" };
			assert_int_equal(pthread_create(&t[i], NULL,
					 i < WRITERS ? writer : reader, &w[i]),
					 0);
		}
		for (int i = 0; i < READERS + WRITERS; i++) {
			pthread_join(t[i], NULL);
			assert_string_equal(w[i].what, "");
		}
		box_open(b, STORE_WRITE);
		assert_int_equal(info(b).files, 7 * WRITERS);
		assert_int_equal(info(b).embedded, info(b).passages);
		no_problems(b);
	}
}

static void test_thr_store__eight_processes_get_their_turns(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		atomic_int done = 0;

		box_close(b);
		for (int i = 0; i < PROCESSES; i++) {
			struct share w = { b->dir, b->o, i, &done, "" };
			struct remem_err err;

			if (fork())
				continue;
			for (int k = 0; k < 10; k++) {
				struct store_opts o = { b->dir, STORE_READ, 0,
							TERM_VERSION,
							NOTE_VERSION, false };
				struct store *s;

				failed(&w, write_once(&w, k, &err), &err);
				if (failed(&w, w.o->open(&s, &o, &err), &err))
					break;
				failed(&w, read_once(&w, s, &err), &err);
				w.o->close(s);
			}
			if (w.what[0])
				print_error("%s\n", w.what);
			_exit(w.what[0] ? 1 : 0);
		}
		for (int i = 0; i < PROCESSES; i++) {
			int status;

			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
		box_open(b, STORE_WRITE);
		assert_int_equal(info(b).files, 7 * PROCESSES);
		no_problems(b);
	}
}
