/* Arena: a list of blocks, each at least twice as large as the one before. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define BLOCK_MIN 4096u
#define BLOCK_MAX (1u << 20) /* larger requests get a block of their own */
#define ALIGN 16u

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	_Alignas(ALIGN) unsigned char data[];
};

void arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena)ARENA_INIT;
	a->limit = limit;
}

static void free_blocks(struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		mem_free(b);
		b = next;
	}
}

void arena_release(struct arena *a)
{
	if (!a)
		return;
	free_blocks(a->head);
	a->head = NULL;
	a->used = 0;
}

void arena_free_owner(void *owner)
{
	if (!owner)
		return;
	arena_release(owner);
	mem_free(owner);
}

void arena_reset(struct arena *a)
{
	if (a->head) {
		free_blocks(a->head->next);
		a->head->next = NULL;
		a->head->used = 0;
	}
	a->used = 0;
	a->failed = false;
}

static struct arena_block *add_block(struct arena *a, size_t size)
{
	size_t want = a->head ? a->head->size * 2 : BLOCK_MIN, n;
	struct arena_block *b;

	if (want > BLOCK_MAX)
		want = BLOCK_MAX;
	if (want < size)
		want = size;
	if (size_add(&n, want, sizeof(*b)))
		return NULL;
	b = mem_alloc(n);
	if (!b)
		return NULL;
	b->size = want;
	b->used = 0;
	b->next = a->head;
	a->head = b;
	return b;
}

/* Not zeroed. */
static void *take(struct arena *a, size_t size)
{
	struct arena_block *b = a->head;
	size_t n;
	void *p;

	if (a->failed)
		return NULL;
	if (size_add(&n, size, ALIGN - 1))
		goto failed;
	n &= ~(size_t)(ALIGN - 1);
	if (a->limit && (n > a->limit || a->used > a->limit - n))
		goto failed;
	if (!b || b->size - b->used < n)
		b = add_block(a, n);
	if (!b)
		goto failed;
	p = b->data + b->used;
	b->used += n;
	a->used += n;
	return p;
failed:
	a->failed = true;
	return NULL;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p = take(a, size);

	if (p)
		memset(p, 0, size);
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t n;

	if (size_mul(&n, count, size)) {
		a->failed = true;
		return NULL;
	}
	return arena_alloc(a, n);
}

char *arena_text(struct arena *a, size_t len)
{
	size_t n;
	char *p;

	if (size_add(&n, len, 1)) {
		a->failed = true;
		return NULL;
	}
	p = take(a, n);
	if (p)
		p[len] = '\0';
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_text(a, len);

	if (p && len)
		memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *p = NULL;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0)
		p = take(a, (size_t)n + 1);
	if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p;
}

void *arena_grow(struct arena *a, void *p, size_t *cap, size_t want,
		 size_t size)
{
	size_t n = *cap < 8 ? 8 : *cap, bytes;
	void *q;

	if (want <= *cap)
		return p;
	while (n < want) {
		if (n > SIZE_MAX / 2) {
			a->failed = true;
			return NULL;
		}
		n *= 2;
	}
	if (size_mul(&bytes, n, size)) {
		a->failed = true;
		return NULL;
	}
	q = arena_alloc(a, bytes);
	if (!q)
		return NULL;
	if (*cap)
		memcpy(q, p, *cap * size);
	*cap = n;
	return q;
}
