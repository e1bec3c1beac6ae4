/*
 * Arena: everything that one operation makes (a search, a file that is being
 * indexed, a tool call) lives here and dies with it. After the first failure
 * every call returns NULL and does nothing: check `failed` once, at the end.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t used; /* bytes handed out, for limits and statistics */
	size_t limit; /* 0 is no limit */
	bool failed;
};

#define ARENA_INIT { NULL, 0, 0, false }

/* limit: the arena fails when more bytes than that are asked for; 0 = none. */
void arena_init(struct arena *a, size_t limit);
void arena_release(struct arena *a);
/* Frees memory of mem_alloc() that begins with its arena, and what lies in
 * that. Accepts NULL. */
void arena_free_owner(void *owner);
/* Forgets all contents but keeps one block for the next use. */
void arena_reset(struct arena *a);

/* Zeroed memory aligned for any type. NULL after a failure. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t count, size_t size);
/* Room for len bytes with a NUL behind; the bytes are anything. */
char *arena_text(struct arena *a, size_t len);
/* Copies with a NUL appended. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) ATTR_PRINTF(2, 3);
/*
 * Grows an array that lives in the arena to hold want elements (doubling,
 * contents copied). Returns the array, NULL on failure.
 */
void *arena_grow(struct arena *a, void *p, size_t *cap, size_t want,
		 size_t size);

#define ARENA_NEW(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array(a, n, sizeof(type)))

#endif
