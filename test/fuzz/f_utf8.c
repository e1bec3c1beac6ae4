/* UTF-8: the fast paths agree with going character by character. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int ok)
{
	if (!ok)
		abort();
}

/* A byte that stands for itself as malformed, not U+FFFD written out. */
static int is_bad(uint32_t cp, int n)
{
	return cp == 0xfffd && n == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data;
	size_t prefix = len, count = 0, before = 0;

	for (size_t i = 0; i < len;) {
		char back[4];
		uint32_t cp;
		int n = utf8_decode(&cp, s + i, len - i);

		check(n >= 1 && n <= 4 && (size_t)n <= len - i);
		check(utf8_offset(s, len, count) == i || count > 2000);
		if (is_bad(cp, n)) {
			prefix = prefix == len ? i : prefix;
		} else {
			check(utf8_encode(back, cp) == n);
			check(!memcmp(back, s + i, (size_t)n));
		}
		for (size_t max = i; max < i + (size_t)n; max++)
			check(utf8_cut(s, len, max) <= max);
		if (prefix == len)
			check(utf8_cut(s, len, i + (size_t)n - 1) == i);
		check(utf8_trim(s + before, i - before) == i - before ||
		      prefix < len);
		before = i;
		i += (size_t)n;
		count++;
	}
	check(utf8_valid_prefix(s, len) == prefix);
	check(utf8_valid(s, len) == (prefix == len));
	check(utf8_count(s, len) == count);
	check(utf8_trim(s, len) <= len && utf8_trim(s, len) + 3 >= len);
	return 0;
}
