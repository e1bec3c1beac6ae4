/* The GGUF reader: what it reads, and that nothing broken gets past it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base_tmp.h"
#include "encoder/gguf.h"
#include "model_build.h"

static void make_small(struct gguf_build *b)
{
	static const char *const words[] = { "memory", "记忆", "" };
	static const uint32_t numbers[] = { 1, 2, 3 };
	float row[32] = { 1.5f, -2 };

	memset(b, 0, sizeof(*b));
	build_string(b, "name", "中文 notes");
	build_u32(b, "count", 7);
	build_f32(b, "epsilon", 0.5f);
	build_strings(b, "words", words, 3);
	build_array(b, "numbers", GGUF_U32, numbers, 3, 4);
	build_tensor(b, "row", GGUF_TENSOR_F32, 32, 1, row, sizeof(row));
	build_tensor(b, "blocks", GGUF_TENSOR_Q4_0, 32, 2, row, 36);
	build_finish(b);
}

static void test_gguf__keys_and_tensors_are_read(void **state)
{
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct gguf g;
	const char *s;
	const void *p;
	uint64_t count;
	size_t len;
	uint32_t u;
	float f;

	(void)state;
	make_small(&b);
	assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
	assert_int_equal(gguf_string(&g, "name", &s, &len, &err), 0);
	assert_int_equal(len, strlen("中文 notes"));
	assert_memory_equal(s, "中文 notes", len);
	assert_int_equal(gguf_u32(&g, "count", &u, &err), 0);
	assert_int_equal(u, 7);
	assert_int_equal(gguf_f32(&g, "epsilon", &f, &err), 0);
	assert_true(f == 0.5f);
	assert_int_equal(gguf_array(&g, "numbers", GGUF_U32, &p, &count, &err),
			 0);
	assert_int_equal(count, 3);
	assert_int_equal(((const uint32_t *)p)[2], 3);
	assert_int_equal(gguf_find(&g, "words")->count, 3);
	assert_int_equal(gguf_tensor(&g, "row", GGUF_TENSOR_F32, 32, 1, &p,
				     &err), 0);
	assert_true(((const float *)p)[1] == -2);
	assert_int_equal(gguf_tensor(&g, "blocks", GGUF_TENSOR_Q4_0, 32, 2, &p,
				     &err), 0);
	gguf_release(&g);
	build_release(&b);
}

static void test_gguf__what_is_absent_or_other_is_refused(void **state)
{
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct gguf g;
	const char *s;
	const void *p;
	uint64_t count;
	size_t len;
	uint32_t u;
	float f;

	(void)state;
	make_small(&b);
	assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
	assert_null(gguf_find(&g, "nam"));
	assert_int_equal(gguf_u32(&g, "none", &u, &err), REMEM_EFORMAT);
	assert_string_equal(err.message, "GGUF has no key 'none'");
	assert_int_equal(gguf_u32(&g, "name", &u, &err), REMEM_EFORMAT);
	assert_int_equal(gguf_f32(&g, "count", &f, &err), REMEM_EFORMAT);
	assert_int_equal(gguf_string(&g, "words", &s, &len, &err),
			 REMEM_EFORMAT);
	assert_int_equal(gguf_array(&g, "words", GGUF_STRING, &p, &count,
				    &err), REMEM_EFORMAT);
	assert_int_equal(gguf_array(&g, "numbers", GGUF_F32, &p, &count, &err),
			 REMEM_EFORMAT);
	assert_int_equal(gguf_tensor(&g, "row", GGUF_TENSOR_F16, 32, 1, &p,
				     &err), REMEM_EFORMAT);
	assert_int_equal(gguf_tensor(&g, "row", GGUF_TENSOR_F32, 16, 2, &p,
				     &err), REMEM_EFORMAT);
	assert_int_equal(gguf_tensor(&g, "rows", GGUF_TENSOR_F32, 32, 1, &p,
				     &err), REMEM_EFORMAT);
	gguf_release(&g);
	build_release(&b);
}

/* In memory of exactly that size, so that a sanitizer sees any step beyond. */
static int parse_copy(const unsigned char *p, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct remem_err err = { 0 };
	struct gguf g;
	int rc;

	assert_non_null(copy);
	memcpy(copy, p, len);
	rc = gguf_parse(&g, copy, len, &err);
	if (rc) {
		assert_int_equal(rc, REMEM_EFORMAT);
		assert_true(err.message[0]);
	}
	for (size_t i = 0; !rc && i < g.n_tensors; i++) {
		assert_true(g.tensors[i].data >= copy);
		assert_true(g.tensors[i].bytes <=
			    (size_t)(copy + len - g.tensors[i].data));
	}
	gguf_release(&g);
	free(copy);
	return rc;
}

static void test_gguf__every_truncation_is_an_error(void **state)
{
	struct gguf_build b;
	size_t used;

	(void)state;
	make_small(&b);
	used = b.len - 28; /* padding behind the last tensor */
	for (size_t len = 0; len < used; len++)
		assert_int_equal(parse_copy(b.p, len), REMEM_EFORMAT);
	assert_int_equal(parse_copy(b.p, used), 0);
	build_release(&b);
}

static void test_gguf__every_changed_byte_is_survived(void **state)
{
	static const unsigned char values[] = { 0, 1, 8, 9, 0x7f, 0x80, 0xff };
	struct gguf_build b;

	(void)state;
	make_small(&b);
	for (size_t i = 0; i < b.len; i++) {
		unsigned char old = b.p[i];

		for (size_t v = 0; v < sizeof(values); v++) {
			b.p[i] = values[v];
			parse_copy(b.p, b.len);
		}
		b.p[i] = old;
	}
	build_release(&b);
}

/* Overwrites 8 bytes at an offset from the start and parses. */
static int with_u64(size_t at, uint64_t v)
{
	struct gguf_build b;
	int rc;

	make_small(&b);
	memcpy(b.p + at, &v, 8);
	rc = parse_copy(b.p, b.len);
	build_release(&b);
	return rc;
}

static void test_gguf__claimed_counts_cost_nothing(void **state)
{
	(void)state;
	alloc_fail_at(0);
	assert_int_equal(with_u64(8, UINT64_MAX), REMEM_EFORMAT);
	assert_int_equal(with_u64(16, UINT64_MAX), REMEM_EFORMAT);
	assert_int_equal(with_u64(8, 1024), REMEM_EFORMAT);
	assert_int_equal(with_u64(16, 1024), REMEM_EFORMAT);
	/* the length of the first name */
	assert_int_equal(with_u64(24, UINT64_MAX), REMEM_EFORMAT);
	assert_int_equal(with_u64(24, 0), REMEM_EFORMAT);
	assert_true(alloc_count() < 30);
}

static void test_gguf__doubled_names_are_refused(void **state)
{
	struct gguf_build b = { 0 };
	float row[8] = { 0 };

	(void)state;
	build_u32(&b, "count", 1);
	build_u32(&b, "count", 2);
	build_finish(&b);
	assert_int_equal(parse_copy(b.p, b.len), REMEM_EFORMAT);
	build_release(&b);
	build_tensor(&b, "row", GGUF_TENSOR_F32, 8, 1, row, sizeof(row));
	build_tensor(&b, "row", GGUF_TENSOR_F32, 8, 1, row, sizeof(row));
	build_finish(&b);
	assert_int_equal(parse_copy(b.p, b.len), REMEM_EFORMAT);
	build_release(&b);
}

static int parse_tensor(uint32_t type, uint64_t d0, uint64_t d1)
{
	struct gguf_build b = { 0 };
	float row[64] = { 0 };
	int rc;

	build_tensor(&b, "t", type, d0, d1, row, sizeof(row));
	build_finish(&b);
	rc = parse_copy(b.p, b.len);
	build_release(&b);
	return rc;
}

static void test_gguf__impossible_shapes_are_refused(void **state)
{
	(void)state;
	assert_int_equal(parse_tensor(GGUF_TENSOR_F32, 64, 1), 0);
	assert_int_equal(parse_tensor(GGUF_TENSOR_F32, 65, 1), REMEM_EFORMAT);
	assert_int_equal(parse_tensor(GGUF_TENSOR_F32, 0, 1), REMEM_EFORMAT);
	assert_int_equal(parse_tensor(GGUF_TENSOR_Q4_0, 33, 1), REMEM_EFORMAT);
	assert_int_equal(parse_tensor(99, 8, 1), REMEM_EFORMAT);
	assert_int_equal(parse_tensor(GGUF_TENSOR_F32, 1ull << 62, 4),
			 REMEM_EFORMAT);
	assert_int_equal(parse_tensor(GGUF_TENSOR_F32, 1ull << 32, 1ull << 32),
			 REMEM_EFORMAT);
	assert_int_equal(parse_tensor(GGUF_TENSOR_F16, UINT64_MAX, UINT64_MAX),
			 REMEM_EFORMAT);
}

static void test_gguf__alignment_is_checked(void **state)
{
	static const uint32_t wrong[] = { 0, 1, 24, 100000 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct gguf_build b = { 0 };
		float row[8] = { 0 };

		build_u32(&b, "general.alignment", wrong[i]);
		build_tensor(&b, "t", GGUF_TENSOR_F32, 8, 1, row, sizeof(row));
		build_finish(&b);
		assert_int_equal(parse_copy(b.p, b.len), REMEM_EFORMAT);
		build_release(&b);
	}
}

static void expect_open(const char *path, int code)
{
	struct remem_err err = { 0 };
	struct gguf g;

	assert_int_equal(gguf_open(&g, path, &err), code);
	if (code)
		assert_non_null(strstr(err.message, path));
	gguf_release(&g);
}

static void test_gguf__only_real_files_are_opened(void **state)
{
	struct tmp t;
	struct gguf_build b;

	(void)state;
	tmp_begin(&t);
	make_small(&b);
	build_write(b.p, b.len, tmp_path(&t, "模型.gguf"));
	expect_open(t.path, 0);
	build_write(b.p, 60, tmp_path(&t, "cut.gguf"));
	expect_open(t.path, REMEM_EFORMAT);
	build_write("", 0, tmp_path(&t, "empty.gguf"));
	expect_open(t.path, REMEM_EFORMAT);
	build_write("# notes\n\nno model at all, only text", 36,
		    tmp_path(&t, "notes.md"));
	expect_open(t.path, REMEM_EFORMAT);
	assert_int_equal(mkfifo(tmp_path(&t, "fifo"), 0600), 0);
	expect_open(t.path, REMEM_EFORMAT);
	expect_open(t.dir, REMEM_EFORMAT);
	expect_open(tmp_path(&t, "none"), REMEM_ENOTFOUND);
	build_release(&b);
	tmp_end(&t);
}

static void test_gguf__failing_memory_is_reported(void **state)
{
	struct gguf_build b;
	struct remem_err err = { 0 };
	struct gguf g;
	int rc = REMEM_ENOMEM;

	(void)state;
	make_small(&b);
	for (long n = 1; rc; n++) {
		assert_true(n < 100);
		alloc_fail_at(n);
		rc = gguf_parse(&g, b.p, b.len, &err);
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		gguf_release(&g);
	}
	build_release(&b);
}

/* The real model's keys and tensors, one byte wrong. */
static void test_gguf__real_headers_survive_mutation(void **state)
{
	struct remem_err err = { 0 };
	struct gguf real, g;
	unsigned char *copy;
	uint32_t seed = 1;

	(void)state;
	if (gguf_open(&real, model_path(), &err))
		fail_msg("%s (make setup makes it)", err.message);
	copy = malloc(real.size);
	assert_non_null(copy);
	memcpy(copy, real.data, real.size);
	for (int i = 0; i < 300; i++) {
		size_t at, header;

		seed = seed * 1664525u + 1013904223u;
		/* tensors are listed before the first one's data */
		header = (size_t)(real.tensors[0].data - real.data);
		at = i % 2 ? seed % 1200 : header - 1 - seed % 14000;
		copy[at] ^= (unsigned char)(1 + (seed >> 24) % 255);
		gguf_parse(&g, copy, real.size, &err);
		for (size_t k = 0; k < g.n_tensors; k++)
			assert_true(g.tensors[k].offset + g.tensors[k].bytes <=
				    real.size || !g.tensors[k].data);
		gguf_release(&g);
		copy[at] = real.data[at];
	}
	free(copy);
	gguf_release(&real);
}
