/*
 * Walking 10,000 files takes about as long as a search among them, so a large
 * index is searched while another thread looks at the disk. The answer waits
 * for both.
 */
#include "api/check.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "text/term.h"

struct check {
	struct arena a;
	const struct store_ops *ops;
	struct store *store; /* of r, or our own */
	const char *dir; /* where to open our own; NULL: store is given */
	const struct source_opts *source;
	pthread_t thread;
	bool running;
	int64_t dirty;
	int rc;
	struct remem_err err;
};

static void compare(struct check *c)
{
	struct source_list list = { 0 };

	c->rc = index_dirty(&c->dirty, &list, &c->a, c->store, c->source,
			    &c->err);
	source_list_release(&list);
}

static void *run(void *ctx)
{
	struct check *c = ctx;
	struct store_opts o = { .dir = c->dir, .mode = STORE_READ,
				.term_version = TERM_VERSION,
				.note_version = NOTE_VERSION };

	c->rc = c->ops->open(&c->store, &o, &c->err);
	if (!c->rc) {
		compare(c);
		c->ops->close(c->store);
	}
	return NULL;
}

struct check *check_begin(struct remem *r, bool beside)
{
	struct check *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	arena_init(&c->a, 0);
	c->ops = r->ops;
	c->source = &r->source;
	if (beside) {
		c->dir = r->index_dir;
		c->running = !pthread_create(&c->thread, NULL, run, c);
	}
	if (!c->running) {
		c->store = r->store;
		compare(c);
	}
	return c;
}

bool check_is_beside(const struct check *c)
{
	return c && c->running;
}

int check_end(struct check *c, int64_t *dirty, struct remem_err *err)
{
	int rc;

	*dirty = 0;
	if (!c)
		return fail_nomem(err);
	if (c->running)
		pthread_join(c->thread, NULL);
	rc = c->rc;
	*dirty = c->dirty;
	if (rc && err)
		*err = c->err;
	arena_release(&c->a);
	mem_free(c);
	return rc;
}
