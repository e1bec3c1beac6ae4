/*
 * Walking 10,000 files takes longer than a search among them, so a large index
 * is searched while another thread looks at the disk; who has searched helps
 * with what is left of it. The thread has no store: what the index holds is
 * taken from the reader that answers.
 */
#include "api/check.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/share.h"

struct check {
	struct arena a; /* of the thread, then of the comparison */
	struct arena known_arena;
	const struct index_known *known;
	struct source_opts source;
	struct share share;
	struct index_look look;
	pthread_t thread;
	bool shared, running;
	int rc; /* of the look */
	struct remem_err err;
};

static void look(struct check *c)
{
	c->rc = index_look(&c->look, &c->a, &c->source, &c->err);
}

static void *run(void *ctx)
{
	struct check *c = ctx;

	look(c);
	share_over(&c->share);
	return NULL;
}

struct check *check_begin(struct remem *r, bool beside)
{
	struct check *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	arena_init(&c->a, 0);
	arena_init(&c->known_arena, 0);
	c->source = r->source;
	if (beside) {
		share_init(&c->share);
		c->shared = true;
		c->source.share = &c->share;
		c->running = !pthread_create(&c->thread, NULL, run, c);
	}
	/* Before the search: what is indexed later is not in its answer. */
	c->known = index_known(r->store, &c->known_arena);
	if (!c->running) {
		c->source.share = NULL;
		look(c);
	}
	return c;
}

bool check_is_beside(const struct check *c)
{
	return c && c->running;
}

static void join(struct check *c)
{
	if (c->running) {
		share_help(&c->share);
		pthread_join(c->thread, NULL);
	}
	c->source.share = NULL;
}

int check_end(struct check *c, int64_t *dirty, bool *moved, struct remem *r,
	      struct remem_err *err)
{
	int rc;

	*dirty = 0;
	*moved = false;
	if (!c)
		return fail_nomem(err);
	join(c);
	rc = c->rc;
	if (rc && err)
		*err = c->err;
	if (!rc && !c->known)
		rc = fail_nomem(err);
	/* Without a store the search has said why. */
	if (!rc && r->store)
		rc = index_compare(dirty, moved, &c->look, c->known, &c->a,
				   r->store, &c->source, err);
	index_look_release(&c->look);
	if (c->shared)
		share_release(&c->share);
	arena_release(&c->known_arena);
	arena_release(&c->a);
	mem_free(c);
	return rc;
}
