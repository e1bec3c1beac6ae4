/* The scan kernels against plain arithmetic, and the best k. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base_tmp.h"
#include "store/scan.h"
#include "store/topk.h"
#include "store/vecscan.h"

/* The i-th kernel that this machine has, NULL behind the last. */
static const struct scan_kernel *kernels(int i)
{
	const struct scan_kernel *k;

	for (int level = CPU_PORTABLE; level <= CPU_NEONDOT; level++) {
		if (cpu_limit(cpu_name((enum cpu_level)level)))
			continue;
		k = scan_kernel();
		cpu_limit(NULL);
		if (i-- == 0)
			return k;
	}
	return NULL;
}

/* Only -127..127, as quantising gives; extremes now and then. */
static int8_t byte_at(uint64_t seed, size_t i)
{
	uint64_t h = hash64(&i, sizeof(i), seed);

	if (h % 7 == 0)
		return h & 64 ? 127 : -127;
	return (int8_t)((int)(h >> 8 & 0xff) % 255 - 127);
}

static int32_t plain_dot(const int8_t *a, const int8_t *b, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (int32_t)a[i] * b[i];
	return sum;
}

static void test_scan__every_kernel_gives_the_same_integers(void **state)
{
	(void)state;
	for (int k = 0; kernels(k); k++) {
		for (size_t padded = 64; padded <= 4096; padded *= 2) {
			for (size_t n = 0; n < 11; n++) {
				/* Exactly as long as it is: over-reading
				 * shows under the sanitizer. */
				int8_t *rows = mem_alloc(n * padded + 1);
				int8_t *q = mem_alloc(padded);
				int32_t out[12] = { 0 };

				for (size_t i = 0; i < n * padded; i++)
					rows[i] = byte_at(padded + n, i);
				for (size_t i = 0; i < padded; i++)
					q[i] = byte_at(99, i);
				out[n] = 12345;
				kernels(k)->dots(out, rows, n, padded, q);
				for (size_t i = 0; i < n; i++)
					assert_int_equal(out[i], plain_dot(
						rows + i * padded, q, padded));
				assert_int_equal(out[n], 12345);
				mem_free(rows);
				mem_free(q);
			}
		}
	}
}

static void test_scan__float_products_agree(void **state)
{
	(void)state;
	for (int k = 0; kernels(k); k++) {
		for (size_t padded = 64; padded <= 4096; padded *= 4) {
			int8_t *row = mem_alloc(padded);
			float *a = mem_array(padded, sizeof(*a));
			float *b = mem_array(padded, sizeof(*b));
			double x = 0, y = 0, z = 0;
			float out[3];

			for (size_t i = 0; i < padded; i++) {
				row[i] = byte_at(1, i);
				a[i] = byte_at(2, i) / 127.0f;
				b[i] = byte_at(3, i) / 127.0f;
				x += (double)row[i] * a[i];
				y += (double)row[i] * b[i];
				z += (double)row[i] * row[i];
			}
			kernels(k)->dots_float(out, row, padded, a, b);
			assert_true(fabs(out[0] - x) < 0.05);
			assert_true(fabs(out[1] - y) < 0.05);
			assert_true(fabs(out[2] - z) < z * 1e-5);
			mem_free(row);
			mem_free(a);
			mem_free(b);
		}
	}
}

static void test_scan__best_k_are_as_sorted(void **state)
{
	struct store_scored all[500], best[64];

	(void)state;
	for (int k = 0; k <= 64; k++) {
		struct topk t;

		topk_init(&t, best, k);
		for (int i = 0; i < 500; i++) {
			uint64_t h = hash64(&i, sizeof(i), (uint64_t)k);

			all[i].id = i;
			all[i].score = (float)(h % 40); /* many equal ones */
			topk_push(&t, i, all[i].score);
			topk_push(&t, 1000 + i, NAN);
		}
		topk_finish(&t);
		qsort(all, 500, sizeof(*all), scored_order);
		assert_int_equal(t.count, k);
		for (int i = 0; i < k; i++) {
			assert_int_equal(best[i].id, all[i].id);
			assert_true(best[i].score == all[i].score);
		}
	}
}

static void test_scan__few_are_all_kept(void **state)
{
	struct store_scored best[8];
	struct topk t;

	(void)state;
	topk_init(&t, best, 8);
	topk_push(&t, 2, -INFINITY);
	topk_push(&t, 1, -5);
	topk_finish(&t);
	assert_int_equal(t.count, 2);
	assert_int_equal(best[0].id, 1);
}

/* ---- the whole scan ---- */

#define ROWS 3000
#define BEST 40

/* Every tenth row stands there three times: ties, which go by their place. */
static struct vecfile *rows_with_ties(const char *path, int dims)
{
	struct remem_err err;
	struct vecfile *v;
	int8_t row[128] = { 0 };

	assert_int_equal(vecfile_open(&v, path, dims, true, &err), 0);
	for (size_t i = 0; i < ROWS; i++) {
		struct vec_meta m = { 1.0f / 127, 1, 1, (uint8_t)(i % 3),
				      VEC_ALIVE, 0 };
		size_t same = i % 10 < 3 ? i - i % 10 : i;

		m.script = (uint8_t)(same % 3);
		for (size_t k = 0; k < (size_t)dims; k++)
			row[k] = byte_at(same + 7, k);
		assert_int_equal(vecfile_put(v, i, row, &m, &err), 0);
	}
	return v;
}

static void test_scan__every_kernel_gives_the_same_order(void **state)
{
	const struct scan_kernel *k;
	float q[100], mean[100] = { 0 };
	const float *means[SCRIPT_COUNT] = { NULL, mean };
	struct vecfile *v;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	snprintf(t.path, sizeof(t.path), "%s/v.i8", t.dir);
	v = rows_with_ties(t.path, 100);
	for (int i = 0; i < 100; i++) {
		q[i] = (float)byte_at(3, (size_t)i) / 127;
		mean[i] = (float)byte_at(4, (size_t)i) / 900;
	}
	for (int turn = 0; turn < 10; turn++) {
		struct store_scored want[BEST], got[BEST];

		q[turn] += 1;
		for (int i = 0; (k = kernels(i)); i++) {
			struct scan_question u;
			struct topk top;

			assert_int_equal(scan_question_init(&u, 100, q, mean,
							    means, NULL), 0);
			u.kernel = k;
			topk_init(&top, i ? got : want, BEST);
			scan_vectors(&u, v, ROWS, NULL, &top);
			scan_question_release(&u);
			assert_int_equal(top.count, BEST);
			for (int n = 0; i && n < BEST; n++) {
				assert_true(fabsf(got[n].score -
						  want[n].score) < 1e-5f);
				/* What is no tie has its place. */
				if (got[n].id != want[n].id)
					assert_true(n + 1 == BEST || fabsf(
						want[n].score - want[n + 1].score)
						< 1e-5f || (n && fabsf(
						want[n].score - want[n - 1].score)
						< 1e-5f));
			}
			for (int n = 1; n < BEST; n++) {
				const struct store_scored *x = i ? got : want;

				assert_true(x[n - 1].score > x[n].score ||
					    (x[n - 1].score == x[n].score &&
					     x[n - 1].id < x[n].id));
			}
		}
	}
	vecfile_free(v);
	tmp_end(&t);
}
