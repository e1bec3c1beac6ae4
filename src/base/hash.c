/*
 * SHA-256 by nettle, which uses the processor's own instructions (1.4 GB/s
 * measured with SHA-NI), and a multiply-and-fold hash for tables in memory.
 */
#include "base/hash.h"

#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <string.h>

#undef sha256_init /* nettle renames its own functions by macros */

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(((struct sha256 *)0)->state),
	       "nettle's SHA-256 context has outgrown struct sha256");
_Static_assert(_Alignof(struct sha256_ctx) <= 16,
	       "nettle's SHA-256 context wants more alignment");
_Static_assert(SHA256_BYTES == SHA256_DIGEST_SIZE, "size of a digest");

void sha256_init(struct sha256 *h)
{
	nettle_sha256_init((void *)h->state);
}

void sha256_add(struct sha256 *h, const void *p, size_t len)
{
	if (len)
		nettle_sha256_update((void *)h->state, len, p);
}

void sha256_done(struct sha256 *h, unsigned char out[SHA256_BYTES])
{
	nettle_sha256_digest((void *)h->state, SHA256_BYTES, out);
}

void sha256_of(unsigned char out[SHA256_BYTES], const void *p, size_t len)
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, p, len);
	sha256_done(&h, out);
}

void md5_hex(char out[MD5_HEX], const void *p, size_t len)
{
	unsigned char sum[MD5_DIGEST_SIZE];
	struct md5_ctx h;

	md5_init(&h);
	md5_update(&h, len, p);
	md5_digest(&h, sizeof(sum), sum);
	hex_encode(out, sum, sizeof(sum));
}

void sha512_of(unsigned char out[SHA512_BYTES], const void *p, size_t len)
{
	struct sha512_ctx h;

	nettle_sha512_init(&h);
	nettle_sha512_update(&h, len, p);
	nettle_sha512_digest(&h, SHA512_BYTES, out);
}

void hex_encode(char *out, const unsigned char *p, size_t len)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digit[p[i] >> 4];
		*out++ = digit[p[i] & 15];
	}
	*out = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int hex_decode(unsigned char *out, const char *hex, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int hi = hex_value(hex[2 * i]), lo;

		if (hi < 0)
			return -1;
		lo = hex_value(hex[2 * i + 1]);
		if (lo < 0)
			return -1;
		out[i] = (unsigned char)(hi << 4 | lo);
	}
	return 0;
}

/*
 * hash64: two words are combined by one 64 x 64 -> 128 bit multiplication
 * whose halves are folded together. The constants are odd, with about half
 * their bits set: the first digits of the fractions of pi, e and sqrt(2).
 */
#define K0 0x243f6a8885a308d3ull
#define K1 0xb7e151628aed2a6bull
#define K2 0x6a09e667f3bcc909ull

static uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
#else
	uint64_t al = (uint32_t)a, ah = a >> 32;
	uint64_t bl = (uint32_t)b, bh = b >> 32;
	uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
	uint64_t mid = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;

	return (mid << 32 | (uint32_t)ll) ^
	       (hh + (lh >> 32) + (hl >> 32) + (mid >> 32));
#endif
}

static uint64_t load(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	memcpy(&w, p, n);
	return w;
}

/* The last bytes, fewer than 17, as two words. */
static void load_rest(uint64_t w[2], const unsigned char *p, size_t left)
{
	w[0] = w[1] = 0;
	if (left >= 8) {
		w[0] = load(p, 8);
		w[1] = load(p + left - 8, 8);
	} else if (left >= 4) {
		w[0] = load(p, 4);
		w[1] = load(p + left - 4, 4);
	} else if (left) {
		w[0] = (uint64_t)p[0] << 16 | (uint64_t)p[left / 2] << 8 |
		       p[left - 1];
	}
}

uint64_t hash64(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ K0, k = seed ^ K2, w[2];
	size_t left = len;

	while (left > 16) {
		h = fold(load(p, 8) ^ K1 ^ h, load(p + 8, 8) ^ k);
		p += 16;
		left -= 16;
	}
	load_rest(w, p, left);
	h = fold(w[0] ^ K1 ^ h, w[1] ^ k);
	return fold(h ^ len, K0);
}

void hash128(uint64_t out[2], const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = out[0] ^ K0, g = out[1] ^ K1;
	size_t left = len;
	uint64_t w[2];

	for (; left > 16; p += 16, left -= 16) {
		w[0] = load(p, 8);
		w[1] = load(p + 8, 8);
		h = fold(w[0] ^ K1 ^ h, w[1] ^ K2);
		g = fold(w[1] ^ K0 ^ g, w[0] ^ K2);
	}
	load_rest(w, p, left);
	h = fold(w[0] ^ K1 ^ h, w[1] ^ K2);
	g = fold(w[1] ^ K0 ^ g, w[0] ^ K2);
	out[0] = fold(h ^ len, K0);
	out[1] = fold(g ^ len, K1);
}
