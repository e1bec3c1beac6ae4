/* term_cut(), term_fold(), token_prefix(): any bytes, and their contracts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/script.h"
#include "text/term.h"
#include "text/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

struct last {
	size_t len, count;
	uint32_t pos, run;
};

static int check_term(void *ctx, const struct term *t)
{
	struct last *l = ctx;

	CHECK(t->len > 0 && t->len <= TERM_MAX_BYTES);
	CHECK(utf8_valid(t->text, t->len));
	CHECK(t->start < t->end && t->end <= l->len);
	CHECK(!memchr(t->text, '"', t->len) && !memchr(t->text, 0, t->len));
	CHECK(!l->count || t->pos == l->pos || t->pos == l->pos + 1);
	CHECK(!l->count || t->run == l->run || t->run == l->run + 1);
	l->pos = t->pos;
	l->run = t->run;
	l->count++;
	return 0;
}

/* Folding what is folded changes nothing. */
static void check_fold(const char *s, size_t len)
{
	size_t cap = 64 * len + 16, n, m;
	char *once = malloc(cap), *twice = malloc(cap);

	CHECK(once && twice);
	n = term_fold(once, cap, s, len);
	CHECK(n <= cap && utf8_valid(once, n));
	m = term_fold(twice, cap, once, n);
	CHECK(m == n && !memcmp(once, twice, n));
	if (n > 3) {
		m = term_fold(twice, n / 2, s, len);
		CHECK(m <= n / 2 && !memcmp(once, twice, m));
	}
	free(once);
	free(twice);
}

static void check_tokens(const char *s, size_t len)
{
	for (size_t at = 0, max = 1; at < len; max = max * 2 + 1) {
		size_t n = token_prefix(s + at, len - at, max);

		CHECK(n > 0 && n <= len - at);
		at += n;
	}
	CHECK(token_estimate(s, len) <= 2 * len);
	CHECK(script_of_text(s, len) != SCRIPT_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data;
	struct last l = { len, 0, 0, 0 };

	CHECK(term_cut(s, len, check_term, &l) == 0);
	check_fold(s, len);
	check_tokens(s, len);
	return 0;
}
