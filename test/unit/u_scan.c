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
#include "store/scan.h"
#include "store/topk.h"

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
