/* The file of vectors: rows, metas, growth, and what it refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "store/vecfile.h"

struct room {
	char dir[512], path[600];
};

static void room_make(struct room *r)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(r->dir, sizeof(r->dir), "%s/u_vecfile-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/向量.i8", r->dir);
}

static void room_remove(struct room *r)
{
	assert_int_equal(dir_remove(r->dir, NULL), 0);
}

static struct vecfile *open_one(struct room *r, int dims, bool write)
{
	struct remem_err err;
	struct vecfile *v;

	assert_int_equal(vecfile_open(&v, r->path, dims, write, &err), 0);
	return v;
}

static int try_open(struct room *r, int dims, bool write)
{
	struct remem_err err;
	struct vecfile *v;
	int rc = vecfile_open(&v, r->path, dims, write, &err);

	vecfile_free(v);
	return rc;
}

static void fill_row(int8_t *row, size_t padded, size_t slot)
{
	for (size_t i = 0; i < padded; i++)
		row[i] = (int8_t)(slot * 31 + i);
}

static void test_vecfile__rows_come_back(void **state)
{
	static const int dims[] = { 1, 63, 64, 65, 384, 1536, 4096 };

	(void)state;
	for (size_t d = 0; d < sizeof(dims) / sizeof(dims[0]); d++) {
		size_t padded = vec_padded(dims[d]);
		int8_t *row = mem_alloc(padded);
		struct remem_err err;
		struct vecfile *v;
		struct room r;

		room_make(&r);
		v = open_one(&r, dims[d], true);
		assert_null(vecfile_row(v, 0));
		for (size_t i = 0; i < 2 * VEC_BLOCK + 3; i += 97) {
			struct vec_meta m = { (float)i, 1, (uint32_t)i, 2,
					      VEC_ALIVE, 7 };

			fill_row(row, padded, i);
			assert_int_equal(vecfile_put(v, i, row, &m, &err), 0);
		}
		assert_int_equal(vecfile_sync(v, &err), 0);
		vecfile_free(v);
		v = open_one(&r, dims[d], false);
		for (size_t i = 0; i < 2 * VEC_BLOCK + 3; i += 97) {
			fill_row(row, padded, i);
			assert_memory_equal(vecfile_row(v, i), row, padded);
			assert_int_equal(vecfile_meta(v, i)->owner, i);
			assert_int_equal(vecfile_meta(v, i)->day, 7);
		}
		assert_int_equal(vecfile_meta(v, 1)->flags, 0);
		assert_null(vecfile_row(v, v->blocks * VEC_BLOCK));
		assert_null(vecfile_meta(v, SIZE_MAX / 2));
		vecfile_free(v);
		mem_free(row);
		room_remove(&r);
	}
}

static void test_vecfile__four_hundred_bytes_a_vector(void **state)
{
	struct vec_meta m = { 1, 1, 1, 1, VEC_ALIVE, 0 };
	int8_t row[384] = { 0 };
	struct remem_err err;
	struct vecfile *v;
	struct stat st;
	struct room r;

	(void)state;
	room_make(&r);
	v = open_one(&r, 384, true);
	assert_int_equal(vecfile_put(v, VEC_BLOCK - 1, row, &m, &err), 0);
	vecfile_free(v);
	assert_int_equal(stat(r.path, &st), 0);
	assert_int_equal(st.st_size, 4096 + 400 * VEC_BLOCK);
	room_remove(&r);
}

static void test_vecfile__a_reader_sees_it_grow(void **state)
{
	struct vec_meta m = { 1, 1, 9, 1, VEC_ALIVE, 0 };
	struct vecfile *v, *reader;
	int8_t row[64] = { 5 };
	struct remem_err err;
	struct room r;

	(void)state;
	room_make(&r);
	v = open_one(&r, 10, true);
	reader = open_one(&r, 10, false);
	assert_null(vecfile_row(reader, 0));
	assert_int_equal(vecfile_put(v, 3 * VEC_BLOCK, row, &m, &err), 0);
	assert_int_equal(vecfile_refresh(reader, &err), 0);
	assert_int_equal(vecfile_row(reader, 3 * VEC_BLOCK)[0], 5);
	m.owner = 4;
	assert_int_equal(vecfile_put_meta(v, 3 * VEC_BLOCK, &m, &err), 0);
	assert_int_equal(vecfile_meta(reader, 3 * VEC_BLOCK)->owner, 4);
	vecfile_free(v);
	vecfile_free(reader);
	room_remove(&r);
}

static void test_vecfile__what_is_no_such_file_is_refused(void **state)
{
	struct vecfile *v;
	struct room r;
	FILE *f;

	(void)state;
	room_make(&r);
	assert_int_equal(try_open(&r, 10, false), REMEM_ENOTFOUND);
	assert_int_equal(try_open(&r, 0, true), REMEM_EINVAL);
	assert_int_equal(try_open(&r, VEC_DIMS_MAX + 1, true), REMEM_EINVAL);
	v = open_one(&r, 10, true);
	vecfile_free(v);
	assert_int_equal(try_open(&r, 11, false), REMEM_ECORRUPT);
	assert_int_equal(truncate(r.path, 6), 0);
	assert_int_equal(try_open(&r, 10, false), REMEM_ECORRUPT);
	assert_int_equal(try_open(&r, 10, true), REMEM_ECORRUPT);
	f = fopen(r.path, "w");
	fprintf(f, "这不是向量 and never was, however long this text may be");
	fclose(f);
	assert_int_equal(try_open(&r, 10, false), REMEM_ECORRUPT);
	assert_int_equal(unlink(r.path), 0);
	assert_int_equal(mkdir(r.path, 0700), 0);
	assert_true(try_open(&r, 10, false) < 0);
	assert_int_equal(rmdir(r.path), 0);
	assert_int_equal(mkfifo(r.path, 0600), 0);
	assert_true(try_open(&r, 10, false) < 0);
	room_remove(&r);
}

static void test_vecfile__quantising_keeps_the_direction(void **state)
{
	float v[100], zero[100] = { 0 }, back = 0, norm = 0;
	int8_t row[128];
	float scale;

	(void)state;
	for (int i = 0; i < 100; i++) {
		v[i] = sinf((float)i * 1.7f) / 10;
		norm += v[i] * v[i];
	}
	scale = vec_quantise(row, v, 100);
	assert_true(scale > 0);
	for (int i = 0; i < 100; i++) {
		assert_true(fabsf(scale * row[i] - v[i]) <= scale * 0.51f);
		assert_true(row[i] >= -127);
		back += scale * row[i] * v[i];
	}
	assert_true(fabsf(back / norm - 1) < 0.01f);
	for (int i = 100; i < 128; i++)
		assert_int_equal(row[i], 0);
	assert_true(vec_quantise(row, zero, 100) == 0);
	v[7] = NAN;
	assert_true(vec_quantise(row, v, 100) == 0);
	v[7] = INFINITY;
	assert_true(vec_quantise(row, v, 100) == 0);
	v[7] = 1e-44f;
	for (int i = 0; i < 100; i++)
		v[i] = 1e-44f;
	assert_true(vec_quantise(row, v, 100) == 0);
}

static void test_vecfile__a_full_disk_is_an_error(void **state)
{
	struct vec_meta m = { 1, 1, 1, 1, VEC_ALIVE, 0 };
	int8_t row[64] = { 0 };
	struct remem_err err;
	struct vecfile *v;
	struct room r;
	int fd;

	(void)state;
	room_make(&r);
	v = open_one(&r, 10, true);
	fd = open("/dev/full", O_RDWR);
	if (fd >= 0) {
		assert_int_equal(vecfile_put(v, 0, row, &m, &err), 0);
		assert_true(dup2(fd, v->fd) >= 0);
		assert_int_equal(vecfile_put(v, 1, row, &m, &err), REMEM_EIO);
		close(fd);
	}
	vecfile_free(v);
	room_remove(&r);
}
