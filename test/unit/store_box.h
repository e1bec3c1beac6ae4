/* What the tests of the store share: an index in a fresh folder, and short
 * names for what is done to it. */
#ifndef TEST_STORE_BOX_H
#define TEST_STORE_BOX_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/store.h"
#include "text/term.h"

#define DIMS 64

struct box {
	char dir[512];
	struct store *s;
	const struct store_ops *o;
	struct arena a;
	struct remem_err err;
};

static inline void must(struct box *b, int rc)
{
	if (rc)
		print_error("%d: %s\n", rc, b->err.message);
	assert_int_equal(rc, 0);
}

static inline struct store *box_open(struct box *b, enum store_open_mode mode)
{
	struct store_opts o = { b->dir, mode, 5000, TERM_VERSION,
				NOTE_VERSION, false };

	must(b, b->o->open(&b->s, &o, &b->err));
	return b->s;
}

static inline void box_close(struct box *b)
{
	b->o->close(b->s);
	b->s = NULL;
}

static inline void box_reopen(struct box *b, enum store_open_mode mode)
{
	box_close(b);
	box_open(b, mode);
}

static inline struct box *box_new(const struct store_ops *o)
{
	const char *tmp = getenv("TMPDIR");
	struct box *b = mem_zalloc(sizeof(*b));

	assert_non_null(b);
	b->o = o;
	arena_init(&b->a, 0);
	snprintf(b->dir, sizeof(b->dir), "%s/u_store-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(b->dir));
	box_open(b, STORE_WRITE);
	return b;
}

static inline void box_free(struct box *b)
{
	if (b->s)
		box_close(b);
	assert_int_equal(dir_remove(b->dir, NULL), 0);
	arena_release(&b->a);
	mem_free(b);
}

#define EACH_BACKEND(b)                                                   \
	for (int i_ = 0; store_backend_at(i_); i_++)                      \
		for (struct box *b = box_new(store_backend_at(i_)); b;    \
		     box_free(b), b = NULL)

/* origin: of the first passage, or NULL. */
static inline int64_t put_of(struct box *b, const char *path, const char *text,
			     int32_t date, const char *origin)
{
	struct note_opts o = NOTE_OPTS_DEFAULT;
	struct store_file f = { .path = path, .date = date,
				.size = (int64_t)strlen(text) };
	struct note n;

	must(b, note_parse(&n, &b->a, text, strlen(text), &o, &b->err));
	if (origin) {
		struct annotations *ann = ARENA_NEW(&b->a, struct annotations);

		ann->observed = DATE_NONE;
		ann->origin = origin;
		n.passages[0].ann = ann;
	}
	sha256_of(f.hash, text, strlen(text));
	must(b, b->o->file_put(b->s, &f, &n, &b->err));
	assert_true(f.id > 0);
	return f.id;
}

static inline int64_t put_at(struct box *b, const char *path, const char *text,
			     int32_t date)
{
	return put_of(b, path, text, date, NULL);
}

static inline int64_t put(struct box *b, const char *path, const char *text)
{
	return put_at(b, path, text, DATE_NONE);
}

static inline void begin(struct box *b)
{
	must(b, b->o->begin(b->s, &b->err));
}

static inline void commit(struct box *b)
{
	must(b, b->o->commit(b->s, &b->err));
}

static inline void put_alone(struct box *b, const char *path, const char *text)
{
	begin(b);
	put(b, path, text);
	commit(b);
}

/* Chunks that hold the term. */
static inline int find_in(struct box *b, const char *term, bool prefix,
		   const struct store_set *set, struct store_scored *out)
{
	struct store_term t = { .text = term, .weight = 1, .prefix = prefix };
	struct store_scored room[64];
	int n;

	must(b, b->o->text_pool(b->s, &t, 1, set, 64, out ? out : room, &n,
				&b->err));
	return n;
}

static inline int find(struct box *b, const char *term)
{
	return find_in(b, term, false, NULL, NULL);
}

static inline void no_problems(struct box *b)
{
	const char **lines;
	int n;

	must(b, b->o->check(b->s, &b->a, &lines, &n, &b->err));
	for (int i = 0; i < n; i++)
		print_error("check: %s\n", lines[i]);
	assert_int_equal(n, 0);
}

/* ---- vectors ---- */

/* A vector of its own for every text, the same for the same text. */
static inline void vec_of(float *v, const void *seed, size_t len)
{
	double norm = 0;

	for (int i = 0; i < DIMS; i++) {
		uint64_t h = hash64(seed, len, (uint64_t)i + 1);

		v[i] = (float)((double)(h >> 11) / 9007199254740992.0 - 0.5);
		norm += (double)v[i] * v[i];
	}
	for (int i = 0; i < DIMS; i++)
		v[i] = (float)(v[i] / sqrt(norm));
}

/* Gives every pending passage its vector; how many there were. */
static inline int embed_all(struct box *b, int fp)
{
	struct store_passage *p;
	const char **texts;
	int n, all = 0;

	for (;;) {
		must(b, b->o->pending(b->s, &b->a, fp, 16, &p, &texts, &n,
				      &b->err));
		if (!n)
			return all;
		begin(b);
		for (int i = 0; i < n; i++) {
			float v[DIMS];
			struct store_vec_item item = {
				.passages = &p[i].id, .passage_count = 1,
				.script = p[i].script, .vec = v
			};

			vec_of(v, texts[i], strlen(texts[i]));
			sha256_of(item.key, texts[i], strlen(texts[i]));
			must(b, b->o->vectors_put(b->s, fp, &item, 1,
						  &b->err));
		}
		commit(b);
		all += n;
	}
}

static inline int fingerprint(struct box *b, const char *text)
{
	int fp;

	must(b, b->o->fingerprint(b->s, text, DIMS, &fp, &b->err));
	return fp;
}

static inline int64_t pending(struct box *b, int fp)
{
	int64_t n;

	must(b, b->o->pending_count(b->s, fp, &n, &b->err));
	return n;
}

static inline int nearest(struct box *b, int fp, const char *text,
		   const struct store_set *set, struct store_scored *out, int k)
{
	float q[DIMS];
	int n;

	vec_of(q, text, strlen(text));
	must(b, b->o->vector_pool(b->s, fp, q, NULL, NULL, set, k, out, &n,
				  &b->err));
	return n;
}

static inline struct store_info info(struct box *b)
{
	struct store_info i;

	must(b, b->o->info(b->s, &i, &b->err));
	return i;
}

#endif
