/* query_parse(): any question, any day; the result is whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "text/query.h"
#include "text/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static void check_terms(const struct query *q)
{
	bool all_stop = q->term_count > 0;

	CHECK(q->term_count <= QUERY_MAX_TERMS);
	CHECK(q->group_count <= q->term_count);
	for (int i = 0; i < q->term_count; i++) {
		const struct query_term *t = &q->terms[i];

		CHECK(t->len > 0 && t->len <= TERM_MAX_BYTES);
		CHECK(strlen(t->text) == t->len);
		CHECK(utf8_valid(t->text, t->len));
		CHECK(!strchr(t->text, '"'));
		CHECK(t->group >= 0 && t->group < q->group_count);
		all_stop = all_stop && t->stop;
	}
	CHECK(all_stop == q->all_stop);
}

static void check_phrases(const struct query *q)
{
	for (int i = 0; i < q->phrase_count; i++) {
		const struct query_phrase *p = &q->phrases[i];

		CHECK(p->first >= 0 && p->count >= 0);
		CHECK(p->first + p->count <= q->term_count);
		CHECK(utf8_valid(p->folded, p->folded_len));
		CHECK(utf8_valid(p->text, strlen(p->text)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena a = ARENA_INIT;
	int32_t today = date_from_ymd(2026, 11, 30);
	struct query q;

	if (len > 4) { /* the first bytes move today */
		memcpy(&today, data, 4);
		if (data[0] % 2)
			today = today % 40000;
	}
	CHECK(query_parse(&q, &a, (const char *)data, len, today, NULL) == 0);
	CHECK(q.len <= QUERY_MAX_BYTES && utf8_valid(q.text, q.len));
	CHECK(q.date_from <= q.date_to);
	check_terms(&q);
	check_phrases(&q);
	arena_release(&a);
	return 0;
}
