/* Notes in unit tests: cut, checked, compared with strings. */
#ifndef NOTE_HELP_H
#define NOTE_HELP_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../note_check.h"

struct cut {
	struct arena a;
	struct note n;
};

static inline void cut_bytes(struct cut *c, const char *s, size_t len,
			     const struct note_opts *opts)
{
	struct note_opts o = NOTE_OPTS_DEFAULT;
	const char *flaw;

	if (!opts)
		opts = &o;
	arena_init(&c->a, 0);
	assert_int_equal(note_parse(&c->n, &c->a, s, len, opts, NULL), 0);
	flaw = note_flaw(&c->n, opts);
	if (flaw)
		print_error("%s\n", flaw);
	assert_null(flaw);
}

static inline void cut_text(struct cut *c, const char *s)
{
	cut_bytes(c, s, strlen(s), NULL);
}

static inline void cut_release(struct cut *c)
{
	arena_release(&c->a);
}

/* The words of a passage, in the arena. */
static inline const char *words_of(struct cut *c, int i)
{
	const struct passage *g;

	assert_true(i < c->n.passage_count);
	g = &c->n.passages[i];
	return arena_strndup(&c->a, c->n.text + g->start, g->end - g->start);
}

static inline const char *chunk_text(struct cut *c, int i)
{
	const struct chunk *k = &c->n.chunks[i];

	return arena_strndup(&c->a, c->n.text + k->lead, k->end - k->lead);
}

/* A text repeated; freed with free(). */
static inline char *repeat(const char *s, size_t times, size_t *len)
{
	size_t n = strlen(s);
	char *p = malloc(n * times + 1);

	assert_non_null(p);
	for (size_t i = 0; i < times; i++)
		memcpy(p + i * n, s, n);
	p[n * times] = '\0';
	*len = n * times;
	return p;
}

#endif
