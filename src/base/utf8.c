/*
 * UTF-8 by the table of well-formed sequences of the Unicode standard (3-7).
 * Runs of ASCII are passed 8 and 32 bytes at a time, characters of three
 * bytes (most of CJK) in pairs.
 */
#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT 0xfffdu
#define HIGH_BITS 0x8080808080808080ull

static uint64_t load8(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the well-formed character at p (left >= 1), 0 if there is none. */
static inline int seq_len(const unsigned char *p, size_t left)
{
	unsigned char c = p[0];

	if (c < 0x80)
		return 1;
	if (c >= 0xe1 && c <= 0xec) /* most of CJK: no special cases */
		return left >= 3 && is_tail(p[1]) && is_tail(p[2]) ? 3 : 0;
	if (c < 0xc2 || c > 0xf4)
		return 0;
	if (c < 0xe0)
		return left >= 2 && is_tail(p[1]) ? 2 : 0;
	if (c < 0xf0) {
		if (left < 3 || !is_tail(p[1]) || !is_tail(p[2]) ||
		    (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
			return 0;
		return 3;
	}
	if (left < 4 || !is_tail(p[1]) || !is_tail(p[2]) || !is_tail(p[3]) ||
	    (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
		return 0;
	return 4;
}

/* First position from i on that is not ASCII, or near enough to the end. */
static size_t skip_ascii(const unsigned char *p, size_t i, size_t len)
{
	while (len - i >= 32) {
		uint64_t any = load8(p + i) | load8(p + i + 8) |
			       load8(p + i + 16) | load8(p + i + 24);

		if (any & HIGH_BITS)
			break;
		i += 32;
	}
	while (len - i >= 8 && !(load8(p + i) & HIGH_BITS))
		i += 8;
	return i;
}

/*
 * Behind the last pair of three-byte characters from i on. E0 and ED, whose
 * second byte is bounded, are left to seq_len().
 */
static size_t skip_pairs(const unsigned char *p, size_t i, size_t len)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	while (len - i >= 8) {
		uint64_t w = load8(p + i);

		if ((w & 0xc0c0f0c0c0f0ull) != 0x8080e08080e0ull ||
		    p[i] == 0xe0 || p[i] == 0xed || p[i + 3] == 0xe0 ||
		    p[i + 3] == 0xed)
			break;
		i += 6;
	}
#else
	(void)p, (void)len;
#endif
	return i;
}

size_t utf8_valid_prefix(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0;

	while (i < len) {
		int n;

		if (p[i] < 0x80) {
			size_t to = skip_ascii(p, i, len);

			i = to > i ? to : i + 1;
			continue;
		}
		i = skip_pairs(p, i, len);
		if (i == len)
			break;
		n = seq_len(p + i, len - i);
		if (!n)
			return i;
		i += (size_t)n;
	}
	return len;
}

bool utf8_valid(const char *s, size_t len)
{
	return utf8_valid_prefix(s, len) == len;
}

int utf8_decode(uint32_t *cp, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	int n = seq_len(p, len);

	switch (n) {
	case 1:
		*cp = p[0];
		return 1;
	case 2:
		*cp = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
		return 2;
	case 3:
		*cp = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 |
		      (p[2] & 0x3fu);
		return 3;
	case 4:
		*cp = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 |
		      (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
		return 4;
	}
	*cp = REPLACEMENT;
	return 1;
}

int utf8_encode(char *out, uint32_t cp)
{
	unsigned char *p = (unsigned char *)out;

	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		cp = REPLACEMENT;
	if (cp < 0x80) {
		p[0] = (unsigned char)cp;
		return 1;
	}
	if (cp < 0x800) {
		p[0] = (unsigned char)(0xc0 | cp >> 6);
		p[1] = (unsigned char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		p[0] = (unsigned char)(0xe0 | cp >> 12);
		p[1] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
		p[2] = (unsigned char)(0x80 | (cp & 0x3f));
		return 3;
	}
	p[0] = (unsigned char)(0xf0 | cp >> 18);
	p[1] = (unsigned char)(0x80 | (cp >> 12 & 0x3f));
	p[2] = (unsigned char)(0x80 | (cp >> 6 & 0x3f));
	p[3] = (unsigned char)(0x80 | (cp & 0x3f));
	return 4;
}

size_t utf8_cut(const char *s, size_t len, size_t max)
{
	const unsigned char *p = (const unsigned char *)s;

	if (max >= len)
		return len;
	/* A character that spans max begins at most three bytes before it. */
	for (size_t back = 1; back <= 3 && back <= max; back++) {
		size_t at = max - back;

		if (is_tail(p[at]))
			continue;
		return seq_len(p + at, len - at) > (int)back ? at : max;
	}
	return max;
}

size_t utf8_trim(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;

	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char c = p[len - back];
		size_t need = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

		if (is_tail(c))
			continue;
		return c >= 0xc2 && c <= 0xf4 && need > back ? len - back : len;
	}
	return len;
}

/* Bytes of well-formed text that begin a character. */
static size_t count_heads(const unsigned char *p, size_t len)
{
	size_t count = 0, i = 0;

	while (len - i >= 8) {
		/* In each of at most 255 rounds a byte counts its place. */
		size_t rounds = (len - i) / 8 < 255 ? (len - i) / 8 : 255;
		uint64_t sum = 0;

		for (; rounds; rounds--, i += 8) {
			uint64_t w = load8(p + i);

			sum += (~w >> 7 | w >> 6) & 0x0101010101010101ull;
		}
		for (; sum; sum >>= 8)
			count += sum & 0xff;
	}
	for (; i < len; i++)
		count += !is_tail(p[i]);
	return count;
}

size_t utf8_count(const char *s, size_t len)
{
	size_t count = 0;

	while (len) {
		size_t good = utf8_valid_prefix(s, len);

		count += count_heads((const unsigned char *)s, good);
		if (good == len)
			break;
		count++; /* a malformed byte stands for one */
		s += good + 1;
		len -= good + 1;
	}
	return count;
}

size_t utf8_offset(const char *s, size_t len, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0;

	while (i < len && n) {
		int bytes;

		if (len - i >= 8 && n >= 8 && !(load8(p + i) & HIGH_BITS)) {
			i += 8;
			n -= 8;
			continue;
		}
		bytes = seq_len(p + i, len - i);
		i += bytes ? (size_t)bytes : 1;
		n--;
	}
	return i;
}
