/*
 * Inside of query_parse(): units of a question and what they ask for. Not for
 * other modules.
 *
 *   unit                          groups
 *   word                          one: the word and its stem
 *   number                        one
 *   identifier (DEC-0054,         two: the whole, and all its parts together,
 *   getUserName, a_b, x.go:218)   of which the strongest counts
 *   date or time of day           one: the whole
 *   joined words (follow-up,      one for each word; a phrase beside them
 *   read/write)
 *   name in letters (GitHub)      one: the whole
 *   run of CJK characters         one for each pair; a character left alone
 *                                 between stop words, with prefix
 *   Hangul word                   one for the word and its stem; from three
 *                                 syllables on one for each pair of the stem
 */
#ifndef TEXT_QUERY_UNIT_H
#define TEXT_QUERY_UNIT_H

#include "text/query.h"
#include "text/question.h"
#include "text/stop.h"
#include "text/term.h"

struct query_terms {
	struct query_term *terms; /* room for QUERY_MAX_TERMS */
	int count;
};

struct query_place {
	int term; /* index into the first list */
	size_t start, end;
};

struct query_build {
	struct arena *arena;
	struct question question;
	struct term *raws; /* what term_cut() gave */
	size_t raw_count, raw_cap;
	struct query_terms first; /* what phrases consist of, in order */
	struct query_terms later; /* stems, parts */
	struct query_place *places;
	size_t place_count, place_cap;
	struct query_phrase *phrases;
	size_t phrase_count, phrase_cap;
	int group_count;
	enum stop_language language;
	bool japanese;
	bool command; /* a command line: "as", "who" and "-a" are its words */
};

struct query_unit {
	const struct term *raws;
	size_t count;
};

struct query_new { /* a term to add */
	const char *text;
	size_t len;
	uint32_t flags;
	bool stop, prefix;
};

void query_unit_add(struct query_build *b, const struct query_unit *u);

/*
 * Adds a term to a list, in a group (-1: a new one); returns the group. A
 * term that is there already keeps its group, and is a stop word only if it
 * is one everywhere.
 */
int query_add(struct query_build *b, struct query_terms *l,
	      const struct query_new *n, int group);
struct query_term *query_find(struct query_build *b, const char *text,
			      size_t len);
void query_occurs(struct query_build *b, const char *text, size_t len,
		  size_t start, size_t end);
void query_phrase_add(struct query_build *b, size_t start, size_t end,
		      bool quoted, bool identifier);

/* What kind of name a piece of the source is. */
enum name_kind {
	NAME_IDENTIFIER,
	NAME_MEASURE, /* 9am, 10km, 3/4: whole and parts, but no identifier */
	NAME_DATE, /* 2026-03-01, 10:30 */
	NAME_JOINED, /* follow-up, and/or, e.g */
	NAME_LETTERS /* GitHub, O'Brien */
};

enum name_kind name_kind_of(const struct query_build *b, const struct term *t);

#endif
