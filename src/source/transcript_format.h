/*
 * What a transcript format is, and what the formats share. Those of lines get
 * each line parsed and push what it says; stores bring their own functions.
 */
#ifndef SOURCE_TRANSCRIPT_FORMAT_H
#define SOURCE_TRANSCRIPT_FORMAT_H

#include <yyjson.h>

#include "source/jsonl.h"
#include "source/transcript.h"

#define TRANSCRIPT_HEAD_BYTES (64u << 10)
#define TRANSCRIPT_SURE 90
#define TRANSCRIPT_LIKELY 60
#define TRANSCRIPT_MAYBE 20

/* A folder of a host: $env/env_sub if that is set, else ~/home_sub. */
struct transcript_place {
	const char *env, *env_sub, *home_sub;
	int depth; /* of folders that are looked into */
	/* The stable name of the file rel below it; NULL: it is no transcript.
	 * In the arena. agent: of the user's choice. */
	const char *(*name)(struct arena *a, const char *rel,
			    const char *agent);
};

struct transcript_format {
	const char *name, *host;
	const struct transcript_place *places; /* ends with home_sub NULL */
	bool store; /* an SQLite file of many talks */
	bool single; /* a store of one talk: stands for it as a file */
	bool updates; /* later lines change earlier ones: always read whole */
	/* How sure it is that a file with such a record is one of these, 0..100.
	 * Asked for the first records that parse. NULL: never by a record. */
	int (*knows)(yyjson_val *record);
	/* Lines: pushes the messages of a record. Unknown ones: nothing. */
	void (*line)(struct transcript *t, yyjson_val *record);
	/* Lines: called for every record before the first message is given.
	 * NULL: the format has no tree and no updates. */
	void (*survey)(struct transcript *t, yyjson_val *record);
	/* After the survey: fills t->dead, or sets info.rewritten when what
	 * was read before does not hold any more. */
	int (*resolve)(struct transcript *t, struct remem_err *err);
	/* Files that are one JSON value instead of lines: NULL if there are
	 * none. Pushes all messages, numbered from 1. */
	void (*whole)(struct transcript *t, yyjson_val *root);

	/* Whether a talk without a cwd was held in this project. */
	bool (*held_in)(const struct transcript_info *i, const char *path,
			const char *project);

	/* Stores. open finds the talk; fill pushes the messages of the next
	 * records, *more false at the end. */
	bool (*is_store)(const char *path);
	int (*talks)(struct transcript_talk **out, size_t *count,
		     struct arena *a, const char *path, struct remem_err *err);
	int (*open)(struct transcript *t, struct remem_err *err);
	int (*fill)(struct transcript *t, bool *more, struct remem_err *err);
	int (*raw)(int *fd, struct transcript *t, struct remem_err *err);
	int (*mark)(struct transcript *t, struct transcript_mark *out,
		    struct remem_err *err);
	void (*close)(struct transcript *t);
};

#define TRANSCRIPT_TOOLS 64 /* calls of one turn whose names are kept */

struct transcript {
	const struct transcript_format *format;
	struct transcript_info info;
	struct transcript_mark from; /* where reading began */
	unsigned want;
	bool last_line;
	const char *path;
	const char *wanted_session;
	struct arena a; /* of the whole talk */
	struct arena line_arena; /* of the messages pushed */
	struct jsonl lines;
	char last_id[80]; /* of the last record read */
	int64_t surveyed; /* bytes; 0: there was no survey */

	/* Messages pushed and not yet given. */
	struct transcript_message *queue;
	size_t count, cap, at;
	struct transcript_message next; /* defaults for what is pushed */

	/* Of the turn. */
	bool tainted, recalling;
	struct {
		uint64_t id;
		char name[48];
	} tools[TRANSCRIPT_TOOLS];
	unsigned tool_count;
	uint64_t *recall; /* bits of the words that memory gave */
	bool after_boundary; /* a compaction was said, its summary follows */

	/* Of the survey. */
	uint64_t *ids, *parents; /* hashes of records, 0: none */
	int64_t *id_lines;
	size_t id_count, id_cap, parent_cap, line_cap;
	int64_t *dead; /* lines, sorted, that do not count any more */
	size_t dead_count, dead_cap;
	bool is_whole; /* one JSON value, see format.whole */
	void *self; /* of the format */
};

/* ---- what formats call ---- */

/* Gives the message to the reader: t->next with these, if it is wanted. text
 * need not live on. Turns, taint and recall are seen to here. */
void transcript_push(struct transcript *t, enum transcript_role role,
		     enum transcript_kind kind, const char *text, size_t len);
/* A tool was called: its name is kept for its result. */
void transcript_called(struct transcript *t, const char *id, const char *name);
const char *transcript_tool_of(struct transcript *t, const char *id);
/* A value as JSON, for arguments of calls. */
void transcript_push_json(struct transcript *t, enum transcript_role role,
			  enum transcript_kind kind, yyjson_val *v);
/* Text of a string, or of the "text" members of an array's elements whose type
 * is type (or any of text kinds if NULL), joined by line breaks; the result is
 * borrowed from the line's arena. */
const char *transcript_text(struct transcript *t, yyjson_val *v,
			    const char *type, size_t *len);
/* ISO 8601 or a number of seconds or milliseconds; 0 for what is no time or
 * lies outside of 1990 to 2200. */
int64_t transcript_time(yyjson_val *v);
/* A copy for info; what is there already stays unless v says something. */
void transcript_set(struct transcript *t, const char **field, yyjson_val *v);
/* Survey of records with an id and the one they follow. */
void transcript_survey_tree(struct transcript *t, yyjson_val *record,
			    const char *id_key, const char *parent_key);
void transcript_tree_add(struct transcript *t, const char *id,
			 const char *parent, int64_t line);
int transcript_resolve_tree(struct transcript *t, struct remem_err *err);
/* A line does not count any more; sorted at the end, which may fail. */
void transcript_kill(struct transcript *t, int64_t line);
bool transcript_is_dead(const struct transcript *t, int64_t line);
int transcript_sort_dead(struct transcript *t, struct remem_err *err);
/* Counts a bad line with its reason. */
void transcript_bad(struct transcript *t, int64_t line, const char *reason);

/* An open file with these bytes, gone when it is closed. */
int transcript_give_raw(int *fd, const struct buf *b, struct remem_err *err);

const struct transcript_format *transcript_format_find(const char *name);
/* Rows, NULL behind the last. */
const struct transcript_format *transcript_row(int i);

#endif
