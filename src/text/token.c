/*
 * Token estimate. Counted in quarters of a token: a byte of an alphabet is
 * one, a character that a model may cut alone is four, outside the BMP eight.
 * Where a text is cut, clusters stay whole by a shorter rule than that of the
 * Unicode standard (UAX 29): marks, joiners, selectors and jamo stay with
 * what is before them, and flags come in pairs.
 */
#include "text/token.h"

#include <stdbool.h>

#include "text/fold.h"

#define ZWJ 0x200du
#define IS_FLAG(cp) ((cp) >= 0x1f1e6 && (cp) <= 0x1f1ff)

static size_t quarters(uint32_t cp, size_t bytes)
{
	enum fold_kind kind;

	if (cp < 0x80)
		return 1;
	if (cp >= 0x10000)
		return 8;
	kind = FOLD_KIND(fold_entry(cp));
	if (kind == FOLD_WORD || kind == FOLD_MARK || kind == FOLD_SEA ||
	    (kind == FOLD_DROP && cp < 0x2000) || cp < 0x2000)
		return bytes;
	return 4;
}

size_t token_estimate(const char *s, size_t len)
{
	size_t sum = 0, bytes;

	for (size_t i = 0; i < len; i += bytes) {
		uint32_t cp = fold_decode(s + i, len - i, &bytes);

		sum += quarters(cp, bytes);
	}
	return (sum + 3) / 4;
}

/* True for what is never cut off from the character before it. */
static bool extends(uint32_t cp)
{
	enum fold_kind kind = FOLD_KIND(fold_entry(cp));

	if (cp < 0x300)
		return false;
	if (cp >= 0x1160 && cp <= 0x11ff)
		return true;
	return kind == FOLD_MARK || kind == FOLD_DROP ||
	       (kind == FOLD_VOICE && cp != 0x309b && cp != 0x309c);
}

/* Start of the character that ends at i (i > 0). */
static size_t char_before(const char *s, size_t i)
{
	size_t low = i > 4 ? i - 4 : 0, bytes;

	for (size_t k = i - 1; k > low; k--) {
		if (((unsigned char)s[k] & 0xc0) != 0x80) {
			fold_decode(s + k, i - k, &bytes);
			return k + bytes == i ? k : i - 1;
		}
	}
	fold_decode(s + low, i - low, &bytes);
	return low + bytes == i ? low : i - 1;
}

static bool odd_flags_before(const char *s, size_t i)
{
	bool odd = false;
	size_t bytes;

	while (i > 0) {
		size_t k = char_before(s, i);

		if (!IS_FLAG(fold_decode(s + k, i - k, &bytes)))
			break;
		odd = !odd;
		i = k;
	}
	return odd;
}

/* True when s may be cut at i, 0 < i < len. */
static bool boundary(const char *s, size_t len, size_t i)
{
	size_t bytes, k = char_before(s, i);
	uint32_t next = fold_decode(s + i, len - i, &bytes);
	uint32_t prev = fold_decode(s + k, i - k, &bytes);

	if (extends(next) || prev == ZWJ)
		return false;
	if (prev == '\r' && next == '\n')
		return false;
	if (IS_FLAG(next) && IS_FLAG(prev))
		return !odd_flags_before(s, i);
	return true;
}

size_t token_prefix(const char *s, size_t len, size_t max)
{
	size_t sum = 0, i = 0, bytes, at;

	while (i < len) {
		uint32_t cp = fold_decode(s + i, len - i, &bytes);

		sum += quarters(cp, bytes);
		if (i > 0 && (sum + 3) / 4 > max)
			break;
		i += bytes;
		if ((sum + 3) / 4 > max)
			break;
	}
	if (i >= len)
		return len;
	for (at = i; at > 0; at = char_before(s, at))
		if (boundary(s, len, at))
			return at;
	return i;
}
