/*
 * A note, cut: decoded text, front matter, headings, chunks and passages with
 * their lines.
 *
 *   chunk    unit of text search, overlap and answers; at most 400 estimated
 *            tokens including 80 of overlap: a run of whole passages, with
 *            the last passages of the chunk before as overlap
 *   passage  unit that is embedded: a list item with its continuation lines,
 *            a paragraph, a table row, a code block; at most about 100
 *            tokens, longer ones cut at sentences
 *
 * Both partition the text: own ranges (chunks) and spans (passages) laid end
 * to end give it back byte for byte. Text is what decoding made of the file;
 * line numbers are always those of the file on disk.
 */
#ifndef TEXT_NOTE_H
#define TEXT_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "text/script.h"

/* Stored with the index: other cuts, other chunks. */
#define NOTE_VERSION 1

enum passage_kind { /* stored: only append */
	PASSAGE_PARAGRAPH,
	PASSAGE_ITEM,
	PASSAGE_ROW,
	PASSAGE_CODE,
	PASSAGE_HEADING, /* a heading with nothing below it */
	PASSAGE_MESSAGE
};

struct annotations { /* from trailing HTML comments; 0 or NULL where absent */
	const char *triggers; /* "a, b" */
	const char *project;
	const char *status; /* "superseded", "done", … */
	const char *source; /* where it was taken from: a citation, an address */
	const char *origin; /* "owner", "agent", …: never from the text */
	int importance; /* 1..10 */
	int32_t observed; /* date, DATE_NONE */
};

struct heading {
	const char *text; /* without #, trailing #, inline marks */
	size_t len;
	int level; /* 1..6 */
	int line;
	int parent; /* index of the heading above, -1 */
	bool empty_word; /* a date or a time of day: says nothing */
};

struct passage {
	size_t span_start, span_end; /* partition of the text */
	size_t start, end; /* the words: no blank lines, no heading above */
	int line_first, line_last; /* of the words */
	enum passage_kind kind;
	bool continues; /* a later part of what was cut at a sentence */
	int heading; /* nearest above, index, -1 */
	int chunk;
	enum script script;
	const struct annotations *ann; /* NULL if none */
	unsigned char hash[SHA256_BYTES]; /* of the words */
};

struct chunk {
	size_t lead; /* where its overlap begins, <= start */
	size_t start, end; /* own range: partition of the text */
	int line_first, line_last; /* of own words */
	int passage_first, passage_count;
	int heading;
	unsigned char hash[SHA256_BYTES]; /* of text[lead..end) */
};

enum note_warning {
	NOTE_INVALID_UTF8 = 1, /* bad bytes became U+FFFD */
	NOTE_NUL = 2,
	NOTE_BOM = 4,
	NOTE_UTF16 = 8, /* decoded by its byte order mark */
	NOTE_CRLF = 16,
	NOTE_BAD_FRONT_MATTER = 32, /* taken as text */
	NOTE_LONG_LINE = 64
};

struct note_opts {
	int chunk_tokens; /* 400 */
	int overlap_tokens; /* 80, less than chunk_tokens */
	int passage_tokens; /* 100 */
	bool curated; /* MEMORY.md, USER.md: one chunk an entry, no overlap */
};

#define NOTE_OPTS_DEFAULT { 400, 80, 100, false }

struct note {
	const char *text; /* decoded, valid UTF-8 without NUL */
	size_t len;
	int line_count;
	unsigned warnings;
	/* front matter, or the first heading for the title; NULL if none */
	const char *title;
	const char *const *tags; /* tag_count of them */
	int tag_count;
	const char *const *aliases;
	int alias_count;
	int32_t date; /* front matter's date, DATE_NONE */
	size_t body; /* where the text behind the front matter begins */
	struct heading *headings;
	int heading_count;
	struct chunk *chunks;
	int chunk_count;
	struct passage *passages;
	int passage_count;
	bool talk; /* lines are those of records, not of the text */
};

/*
 * Decodes and cuts bytes. Everything is in the arena; only memory can fail,
 * and REMEM_EINVAL for options that make no sense. Time and memory are linear
 * in len for any input.
 */
int note_parse(struct note *n, struct arena *a, const char *bytes, size_t len,
	       const struct note_opts *opts, struct remem_err *err);

/* "A > B > C" of a heading and those above; "" for -1. In the arena. */
const char *note_heading_path(struct arena *a, const struct note *n,
			      int heading);

/*
 * Date in a file's path: the last path component that begins with a real
 * YYYY-MM-DD, else a folder so named (also YYYY/MM/DD folders). DATE_NONE.
 */
int32_t note_path_date(const char *path);

/* True for text that says nothing as a heading: a date, weekday, time of day
 * ("Morning", "上午", "14:30", "2026-03-01 周一"), a number alone. */
bool heading_says_nothing(const char *s, size_t len);

/* The whole lines that the bytes from start to end stand in, with list markers
 * and annotations: whom a line comes from is known of these alone. */
const char *note_lines(const struct note *n, size_t start, size_t end,
		       size_t *len);

#endif
