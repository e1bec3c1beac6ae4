/* The only caller of malloc; see alloc.h. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_at, counted;

static bool must_fail(void)
{
	long n = atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
	long at = atomic_load_explicit(&fail_at, memory_order_relaxed);

	return UNLIKELY(at != 0) && n + 1 == at;
}

void alloc_fail_at(long number)
{
	atomic_store(&counted, 0);
	atomic_store(&fail_at, number);
}

long alloc_count(void)
{
	return atomic_load(&counted);
}

void *mem_alloc(size_t size)
{
	return must_fail() ? NULL : malloc(size ? size : 1);
}

void *mem_zalloc(size_t size)
{
	return must_fail() ? NULL : calloc(1, size ? size : 1);
}

void *mem_realloc(void *p, size_t size)
{
	return must_fail() ? NULL : realloc(p, size ? size : 1);
}

void mem_free(void *p)
{
	free(p);
}

bool size_add(size_t *out, size_t a, size_t b)
{
	*out = a + b;
	return *out < a;
}

bool size_mul(size_t *out, size_t a, size_t b)
{
	*out = a * b;
	return b && a > SIZE_MAX / b;
}

void *mem_array(size_t count, size_t size)
{
	size_t n;

	return size_mul(&n, count, size) ? NULL : mem_alloc(n);
}

void *mem_zarray(size_t count, size_t size)
{
	size_t n;

	return size_mul(&n, count, size) ? NULL : mem_zalloc(n);
}

void *mem_rearray(void *p, size_t count, size_t size)
{
	size_t n;

	return size_mul(&n, count, size) ? NULL : mem_realloc(p, n);
}

void *mem_zalloc_aligned(size_t align, size_t size)
{
	size_t n;
	void *p;

	if (must_fail() || size_add(&n, size, align - 1))
		return NULL;
	n &= ~(align - 1);
	p = aligned_alloc(align, n ? n : align);
	if (p)
		memset(p, 0, n ? n : align);
	return p;
}

void mem_free_aligned(void *p)
{
	free(p);
}

char *mem_memdup0(const void *p, size_t len)
{
	size_t n;
	char *s;

	if (size_add(&n, len, 1))
		return NULL;
	s = mem_alloc(n);
	if (!s)
		return NULL;
	if (len)
		memcpy(s, p, len);
	s[len] = '\0';
	return s;
}

char *mem_strdup(const char *s)
{
	return mem_memdup0(s, strlen(s));
}

bool mem_grow(void *p_ptr, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap;
	void *old, *p;

	if (want <= n)
		return true;
	if (n < 8)
		n = 8;
	while (n < want) {
		if (n > SIZE_MAX / 2)
			return false;
		n *= 2;
	}
	memcpy(&old, p_ptr, sizeof(old));
	p = mem_rearray(old, n, size);
	if (!p)
		return false;
	memcpy(p_ptr, &p, sizeof(p));
	*cap = n;
	return true;
}
