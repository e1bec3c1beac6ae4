/*
 * What is worth keeping of a conversation, without a model: whole sentences
 * that a cue (extract_cues.def) makes a decision, a preference, something to
 * do, a person or a circumstance, an identifier, an error and its cause, or a
 * date. Rules for English and Chinese, some for Japanese and Korean.
 *
 *   new -> known, known, … -> add, add, … -> finish -> free
 *
 * A cue has points; a second one of its kind and what supports it (a date, an
 * identifier, a number) add to them; hedges, questions, chatter and requests
 * take away. What reaches EXTRACT_POINTS is kept, the best of all within the
 * bounds, in the order of the conversation. Of the model's own words less is
 * believed: what it likes or plans is nothing to remember.
 */
#ifndef MEMORY_EXTRACT_H
#define MEMORY_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define EXTRACT_POINTS 3
#define EXTRACT_MAX_ENTRIES 24
#define EXTRACT_MAX_BYTES 6000 /* of all entries: half a page of a day's note */
#define EXTRACT_SENTENCE_BYTES 600 /* a longer one is no single fact */

enum extract_kind {
	EXTRACT_DECISION,
	EXTRACT_PREFERENCE,
	EXTRACT_TASK,
	EXTRACT_PERSON, /* people, names, circumstances of life */
	EXTRACT_IDENTIFIER,
	EXTRACT_ERROR,
	EXTRACT_DATE,
	EXTRACT_KINDS
};

/* "decision", "preference", "todo", "person", "identifier", "error", "date" */
const char *extract_kind_name(enum extract_kind kind);

struct extract_opts {
	size_t max_entries, max_bytes; /* 0: the defaults */
	int32_t today; /* day of the conversation, for "next Friday" */
};

struct extract_text {
	const char *text; /* UTF-8; only borrowed */
	size_t len;
	bool user; /* else the model */
	bool untrusted;
	int64_t line; /* of the transcript */
};

struct extract_entry {
	const char *text; /* one line, NUL-terminated */
	size_t len;
	enum extract_kind kind;
	int score; /* orders entries */
	bool user, untrusted;
	int64_t line;
};

struct extract_stats {
	size_t texts, sentences;
	size_t found; /* reached the points */
	size_t repeated; /* of those: said before, or known */
	size_t suspect; /* ... gave orders to an assistant */
	size_t beyond; /* ... left out by the bounds */
};

struct alike;
struct extract;

int extract_new(struct extract **out, const struct extract_opts *o,
		struct remem_err *err);
void extract_free(struct extract *x);
/* A line that memory holds already: nothing like it is taken. */
void extract_known(struct extract *x, const char *line, size_t len);
/* Whether one like it is known. */
bool extract_is_known(const struct extract *x, const struct alike *a);
/* One message, markup and injected parts taken off before. */
void extract_add(struct extract *x, const struct extract_text *t);
/* The entries, borrowed from x. Only memory can fail. */
int extract_finish(struct extract *x, const struct extract_entry **out,
		   size_t *n, struct extract_stats *stats,
		   struct remem_err *err);

#endif
