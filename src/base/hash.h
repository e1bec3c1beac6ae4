/* SHA-256 and SHA-512 (nettle), digits of codes, and a fast hash for tables in
 * memory. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

struct sha256 { /* holds nettle's context, checked by a static assert */
	_Alignas(16) unsigned char state[128];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *p, size_t len);
void sha256_done(struct sha256 *h, unsigned char out[SHA256_BYTES]);
void sha256_of(unsigned char out[SHA256_BYTES], const void *p, size_t len);

/* Only for names that others made of it. out: hexadecimal with NUL. */
#define MD5_HEX 33
void md5_hex(char out[MD5_HEX], const void *p, size_t len);

#define SHA512_BYTES 64
void sha512_of(unsigned char out[SHA512_BYTES], const void *p, size_t len);

/* out has 2 * len + 1 bytes, lower case. */
void hex_encode(char *out, const unsigned char *p, size_t len);
/* Reads 2 * len hex digits; returns 0, or -1 on any other character. */
int hex_decode(unsigned char *out, const char *hex, size_t len);

/* Value of a digit of base64, of that for URLs too; -1: it is none. */
static inline int base64_digit(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

/* Not for anything stored: values may differ between versions. */
uint64_t hash64(const void *p, size_t len, uint64_t seed);
/* Two of them in one pass: out is replaced by the hash that it seeds. */
void hash128(uint64_t out[2], const void *p, size_t len);

#endif
