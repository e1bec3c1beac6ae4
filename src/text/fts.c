/*
 * The FTS5 tokenizer. With detail=none FTS5 knows of a term only that a row
 * has it, so how often it stands there is said by further terms: 2 times and
 * more, 4 times and more. That gives bm25 enough to tell a passing mention
 * from a subject, at a few percent of the rows.
 *
 * A query comes as terms that were cut already, one string each, and is
 * handed through as it is, suffix byte included.
 *
 * Terms of one text are counted in a table that lives as long as the
 * tokenizer and is emptied by counting up a generation.
 */
#include "text/fts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/hash.h"
#include "text/term.h"

#define SLOTS_FIRST 1024 /* a power of two */
/* After larger texts the table is given back: one huge note must not cost
 * memory for the rest of the run. */
#define SLOTS_KEPT (1u << 15)
#define POOL_KEPT (1u << 18)

struct slot {
	uint32_t generation;
	uint32_t hash;
	uint32_t at; /* place of the term in the pool */
	uint16_t len;
	uint16_t count; /* stops at 4 */
};

struct tokenizer {
	struct slot *slots;
	size_t slot_count, used;
	uint32_t generation;
	char *pool;
	size_t pool_len, pool_cap;
	struct fts_count *count; /* or NULL */
};

struct run {
	struct tokenizer *t;
	void *ctx;
	int (*give)(void *, int, const char *, int, int, int);
};

static int tokenizer_new(void *ctx, const char **args, int arg_count,
			 Fts5Tokenizer **out)
{
	struct tokenizer *t = mem_zalloc(sizeof(*t));

	(void)args;
	(void)arg_count;
	if (t)
		t->count = ctx;
	*out = (Fts5Tokenizer *)t;
	return t ? SQLITE_OK : SQLITE_NOMEM;
}

static void tables_release(struct tokenizer *t)
{
	struct fts_count *count = t->count;

	mem_free(t->slots);
	mem_free(t->pool);
	memset(t, 0, sizeof(*t));
	t->count = count;
}

static void tokenizer_free(Fts5Tokenizer *tok)
{
	struct tokenizer *t = (struct tokenizer *)tok;

	if (!t)
		return;
	tables_release(t);
	mem_free(t);
}

/* Moves what is in use into a table twice as large. */
static bool slots_grow(struct tokenizer *t)
{
	size_t count = t->slot_count ? t->slot_count * 2 : SLOTS_FIRST;
	struct slot *slots = mem_zarray(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < t->slot_count; i++) {
		size_t k = t->slots[i].hash & (count - 1);

		if (t->slots[i].generation != t->generation)
			continue;
		while (slots[k].generation)
			k = (k + 1) & (count - 1);
		slots[k] = t->slots[i];
	}
	mem_free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	return true;
}

static bool slot_fill(struct tokenizer *t, struct slot *s, uint32_t hash,
		      const struct term *term)
{
	if (t->pool_len > UINT32_MAX - term->len ||
	    !mem_grow(&t->pool, &t->pool_cap, t->pool_len + term->len, 1))
		return false;
	memcpy(t->pool + t->pool_len, term->text, term->len);
	s->generation = t->generation;
	s->hash = hash;
	s->at = (uint32_t)t->pool_len;
	s->len = (uint16_t)term->len;
	s->count = 0;
	t->pool_len += term->len;
	t->used++;
	return true;
}

/* The slot of a term, new or old; NULL when there is no memory. */
static struct slot *slot_of(struct tokenizer *t, const struct term *term)
{
	uint32_t hash = (uint32_t)hash64(term->text, term->len, 0);
	struct slot *s;
	size_t k;

	if (t->used * 2 >= t->slot_count && !slots_grow(t))
		return NULL;
	k = hash & (t->slot_count - 1);
	for (s = &t->slots[k]; s->generation == t->generation;
	     s = &t->slots[k]) {
		if (s->hash == hash && s->len == term->len &&
		    !memcmp(t->pool + s->at, term->text, s->len))
			return s;
		k = (k + 1) & (t->slot_count - 1);
	}
	return slot_fill(t, s, hash, term) ? s : NULL;
}

static void count_term(struct fts_count *c, const struct term *term)
{
	if (!c || !c->on || term->start >= c->len)
		return;
	c->all++;
	c->own += term->start >= c->lead;
}

static int take(void *ctx, const struct term *term)
{
	struct run *r = ctx;
	struct slot *s = slot_of(r->t, term);
	char text[TERM_MAX_BYTES + 1];
	size_t len = term->len;

	if (!s)
		return SQLITE_NOMEM;
	count_term(r->t->count, term);
	if (s->count >= 4)
		return 0;
	s->count++;
	if (s->count == 3)
		return 0;
	if (s->count == 1)
		return r->give(r->ctx, 0, term->text, (int)len,
			       (int)term->start, (int)term->end);
	memcpy(text, term->text, len);
	text[len++] = (char)s->count; /* 2 or 4 */
	return r->give(r->ctx, 0, text, (int)len, (int)term->start,
		       (int)term->end);
}

static int tokenize(Fts5Tokenizer *tok, void *ctx, int flags, const char *text,
		    int len,
		    int (*give)(void *, int, const char *, int, int, int))
{
	struct tokenizer *t = (struct tokenizer *)tok;
	struct run r = { t, ctx, give };
	int rc;

	if (!text || len <= 0)
		return SQLITE_OK;
	if (flags & FTS5_TOKENIZE_QUERY)
		return give(ctx, 0, text, len, 0, len);
	t->used = t->pool_len = 0;
	if (++t->generation == 0) {
		t->generation = 1;
		if (t->slots)
			memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
	}
	rc = term_cut(text, (size_t)len, take, &r);
	if (t->slot_count > SLOTS_KEPT || t->pool_cap > POOL_KEPT)
		tables_release(t);
	return rc;
}

static int fts5_api_of(fts5_api **out, sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL);

	*out = NULL;
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(stmt, 1, (void *)out, "fts5_api_ptr",
					  NULL);
	if (rc == SQLITE_OK)
		sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	return rc;
}

int fts_register(sqlite3 *db, struct fts_count *count, struct remem_err *err)
{
	fts5_tokenizer module = { tokenizer_new, tokenizer_free, tokenize };
	fts5_api *api;
	int rc = fts5_api_of(&api, db);

	if (rc == SQLITE_NOMEM)
		return fail_nomem(err);
	if (rc != SQLITE_OK || !api || api->iVersion < 2)
		return fail(err, REMEM_ENOTSUP,
			    "this SQLite has no FTS5 (version %s)",
			    sqlite3_libversion());
	rc = api->xCreateTokenizer(api, "remem", count, &module, NULL);
	if (rc == SQLITE_NOMEM)
		return fail_nomem(err);
	if (rc != SQLITE_OK)
		return fail(err, REMEM_EBUG, "cannot register tokenizer: %s",
			    sqlite3_errstr(rc));
	return 0;
}
