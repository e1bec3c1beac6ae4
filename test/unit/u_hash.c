/* Hashes: known answers, pieces, spread. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void check(const char *s, size_t len, const char *want)
{
	unsigned char sum[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	sha256_of(sum, s, len);
	hex_encode(hex, sum, sizeof(sum));
	assert_string_equal(hex, want);
}

static void test_hash__sha256_known_answers(void **state)
{
	(void)state;
	check("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
		     "27ae41e4649b934ca495991b7852b855");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
			"b00361a396177a9cb410ff61f20015ad");
	check("记忆", 6, "7a6335b379b9a161a819877479740b9b"
			 "ee8b8d870f674a80523e319315c51df7");
}

static void test_hash__sha256_in_pieces(void **state)
{
	unsigned char whole[SHA256_BYTES], pieces[SHA256_BYTES];
	char text[1000];
	struct sha256 h;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	sha256_of(whole, text, sizeof(text));
	for (size_t step = 1; step < 200; step += 13) {
		sha256_init(&h);
		sha256_add(&h, NULL, 0);
		for (size_t i = 0; i < sizeof(text); i += step)
			sha256_add(&h, text + i, i + step <= sizeof(text) ?
						 step : sizeof(text) - i);
		sha256_done(&h, pieces);
		assert_memory_equal(pieces, whole, SHA256_BYTES);
	}
}

static void test_hash__hex_both_ways(void **state)
{
	unsigned char raw[256], back[256];
	char hex[513];

	(void)state;
	for (int i = 0; i < 256; i++)
		raw[i] = (unsigned char)i;
	hex_encode(hex, raw, 256);
	assert_int_equal(strlen(hex), 512);
	assert_int_equal(hex_decode(back, hex, 256), 0);
	assert_memory_equal(raw, back, 256);
	assert_int_equal(hex_decode(back, "AbCd", 2), 0);
	assert_memory_equal(back, "\xab\xcd", 2);
	assert_int_equal(hex_decode(back, "0g", 1), -1);
	assert_int_equal(hex_decode(back, "g0", 1), -1);
	assert_int_equal(hex_decode(back, "0", 1), -1);
	assert_int_equal(hex_decode(back, "中", 1), -1);
	hex_encode(hex, raw, 0);
	assert_string_equal(hex, "");
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void assert_no_two_equal(uint64_t *h, size_t n)
{
	qsort(h, n, sizeof(*h), by_value);
	for (size_t i = 1; i < n; i++)
		assert_true(h[i] != h[i - 1]);
}

static void test_hash__fast_hash_has_no_collisions_on_small_keys(void **state)
{
	enum { N = 200000 };
	uint64_t *h = malloc(N * sizeof(*h));

	(void)state;
	assert_non_null(h);
	for (uint32_t i = 0; i < N; i++)
		h[i] = hash64(&i, 1 + (i > 255) + (i > 65535), 0);
	assert_no_two_equal(h, N);
	for (uint32_t i = 0; i < N; i++) {
		unsigned char key[41] = { 0 };

		memcpy(key + i % 37, &i, 3);
		key[40] = (unsigned char)(i % 37);
		h[i] = hash64(key, sizeof(key), 1);
	}
	assert_no_two_equal(h, N);
	free(h);
}

static void test_hash__zeros_of_every_length_differ(void **state)
{
	static const char zeros[300];
	uint64_t h[300];

	(void)state;
	for (size_t n = 0; n < 300; n++)
		h[n] = hash64(zeros, n, 0);
	assert_no_two_equal(h, 300);
}

static void test_hash__every_bit_and_the_seed_matter(void **state)
{
	char s[70] = "把网关的超时改成三十秒, and the rest in English";
	int low = 64 * 64;

	(void)state;
	for (size_t len = 1; len <= sizeof(s); len++) {
		uint64_t h = hash64(s, len, 5);

		assert_true(h != hash64(s, len, 6));
		for (size_t bit = 0; bit < len * 8; bit++) {
			uint64_t d;

			s[bit / 8] ^= (char)(1 << bit % 8);
			d = h ^ hash64(s, len, 5);
			s[bit / 8] ^= (char)(1 << bit % 8);
			assert_true(d != 0);
			if (__builtin_popcountll(d) < low)
				low = __builtin_popcountll(d);
		}
	}
	assert_true(low >= 8);
}

static void test_hash__both_halves_see_every_bit(void **state)
{
	char s[70] = "memory/2026-03-01-网关的超时.md, and its stamps";

	(void)state;
	for (size_t len = 1; len <= sizeof(s); len++) {
		uint64_t want[2] = { 1, 2 }, seeded[2] = { 1, 3 };

		hash128(want, s, len);
		hash128(seeded, s, len);
		assert_true(want[0] != want[1] && want[1] != seeded[1]);
		for (size_t bit = 0; bit < len * 8; bit++) {
			uint64_t h[2] = { 1, 2 };

			s[bit / 8] ^= (char)(1 << bit % 8);
			hash128(h, s, len);
			s[bit / 8] ^= (char)(1 << bit % 8);
			for (int i = 0; i < 2; i++)
				assert_true(__builtin_popcountll(h[i] ^
								 want[i]) >= 8);
		}
	}
}
