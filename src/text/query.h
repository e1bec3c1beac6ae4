/*
 * A question, understood: its distinct terms with their weights, what was
 * quoted, which identifiers it names exactly, which days it speaks of.
 */
#ifndef TEXT_QUERY_H
#define TEXT_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "text/script.h"

#define QUERY_MAX_BYTES 4096 /* more is cut: first 3072 and last 1024 bytes */
#define QUERY_MAX_TERMS 256

struct query_term {
	const char *text; /* folded, NUL-terminated */
	uint32_t len;
	uint32_t flags; /* enum term_flags */
	bool stop; /* a stop word of the question's language */
	bool prefix; /* a lone CJK character: matches terms that begin with it */
	int group; /* a word and its stem, a pair and its singles count once */
};

/* A quoted phrase, an identifier as typed, or a run of CJK pairs. */
struct query_phrase {
	int first, count; /* terms[first..] in order, TERM_WORD/PAIR/ID ones */
	bool quoted, identifier;
	const char *folded; /* term_fold() of the source, to find it in text */
	uint32_t folded_len;
	const char *text; /* as typed, for `missing` */
};

struct query {
	const char *text; /* trimmed, valid UTF-8, bounded: what is embedded */
	size_t len;
	struct query_term *terms; /* distinct; groups are numbered from 0 */
	int term_count, group_count;
	bool all_stop; /* nothing but stop words: none is ignored then */
	struct query_phrase *phrases;
	int phrase_count;
	enum script script;
	/* "yesterday", "上周", "last month", "3月", "2026-03-01": a preference.
	 * Both ends inclusive, DATE_NONE when nothing was said. Time words are
	 * marked stop; an explicit date keeps its terms as well. */
	int32_t date_from, date_to;
};

/*
 * today: day that relative time words count from. Everything is in the
 * arena. Blank text gives term_count 0 and is no error; only memory fails.
 */
int query_parse(struct query *q, struct arena *a, const char *text, size_t len,
		int32_t today, struct remem_err *err);

#endif
