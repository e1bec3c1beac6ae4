/*
 * The only place that calls malloc. Every allocation can be made to fail, so
 * that tests run each path once per allocation with that one failing.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* As malloc, calloc, realloc, free. NULL when there is no memory. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *p, size_t size);
void mem_free(void *p);

/* Arrays: NULL when count * size overflows. The memory of _zarray is zero. */
void *mem_array(size_t count, size_t size);
void *mem_zarray(size_t count, size_t size);
void *mem_rearray(void *p, size_t count, size_t size);

/* Aligned to align (a power of two), zeroed; release with mem_free_aligned. */
void *mem_zalloc_aligned(size_t align, size_t size);
void mem_free_aligned(void *p);

/* Owned copies; the second adds a NUL behind len bytes. */
char *mem_strdup(const char *s);
char *mem_memdup0(const void *p, size_t len);

/* Checked size arithmetic: true when the result does not fit. */
bool size_add(size_t *out, size_t a, size_t b);
bool size_mul(size_t *out, size_t a, size_t b);

/*
 * Grows *p (elements of size bytes, *cap of them) so that it holds at least
 * want elements; doubles. Returns false and leaves all as it was on failure.
 */
bool mem_grow(void *p_ptr, size_t *cap, size_t want, size_t size) ATTR_MUST_USE;

/*
 * Tests only: the allocation with this number (from 1, counted from the call
 * on, over all threads) fails once. 0 switches off. alloc_count() tells how
 * many were asked for since the last alloc_fail_at().
 */
void alloc_fail_at(long number);
long alloc_count(void);

#endif
