/* extract_add() on any conversation: entries are whole, bounded, in order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

/* The first byte says who speaks; a blank line begins the next message. */
static void add_all(struct extract *x, const char *s, size_t len)
{
	struct extract_text t = { .user = len && s[0] != 'a' };

	while (len) {
		const char *end = memchr(s, '\f', len);
		size_t n = end ? (size_t)(end - s) : len;

		t.text = s;
		t.len = n;
		t.line++;
		extract_add(x, &t);
		t.user = !t.user;
		n += end != NULL;
		s += n;
		len -= n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct extract_opts o = { .max_entries = 8, .max_bytes = 900,
				  .today = 20000 };
	const struct extract_entry *e;
	struct extract_stats s;
	struct extract *x;
	size_t n, bytes = 0;

	CHECK(!extract_new(&x, &o, NULL));
	add_all(x, (const char *)data, len);
	CHECK(!extract_finish(x, &e, &n, &s, NULL));
	CHECK(n <= 8 && s.found == n + s.repeated + s.beyond +
					s.suspect);
	for (size_t i = 0; i < n; i++) {
		CHECK(e[i].len && e[i].len <= EXTRACT_SENTENCE_BYTES);
		CHECK(strlen(e[i].text) <= e[i].len);
		CHECK(!memchr(e[i].text, '\n', e[i].len));
		CHECK(!i || e[i].line >= e[i - 1].line);
		CHECK(extract_kind_name(e[i].kind) != NULL);
		bytes += e[i].len;
	}
	CHECK(bytes <= 900);
	extract_free(x);
	return 0;
}
