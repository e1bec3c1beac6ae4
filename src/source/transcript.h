/*
 * Transcripts of agents' talks, read in one form whatever program wrote them.
 * A format is one file and one row in transcripts.def. Nothing is ever locked
 * or written; files may grow, shrink and go while they are read.
 *
 *   open -> next, next, … -> (info, mark) -> close
 *
 * A mark is the place behind the last message: kept, and given to the next
 * open, it makes that one read only what is new. Where the file is not the one
 * the mark was made of, or earlier parts of the talk were taken back, reading
 * begins at the start and info says `rewritten`.
 */
#ifndef SOURCE_TRANSCRIPT_H
#define SOURCE_TRANSCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

enum transcript_role {
	TRANSCRIPT_USER,
	TRANSCRIPT_ASSISTANT,
	TRANSCRIPT_TOOL,
	TRANSCRIPT_SYSTEM /* prompts, injected context, notices */
};

enum transcript_kind {
	TRANSCRIPT_TEXT,
	TRANSCRIPT_THINKING,
	TRANSCRIPT_CALL, /* of a tool: text is its arguments as JSON */
	TRANSCRIPT_RESULT, /* of a tool */
	TRANSCRIPT_COMPACTION /* text is the summary, may be empty */
};

/* What is wanted: transcript_opts.want. */
#define TRANSCRIPT_WANT_TEXT 1u /* of user and assistant */
#define TRANSCRIPT_WANT_THINKING 2u
#define TRANSCRIPT_WANT_CALLS 4u
#define TRANSCRIPT_WANT_RESULTS 8u
#define TRANSCRIPT_WANT_SYSTEM 16u
#define TRANSCRIPT_WANT_COMPACTION 32u
#define TRANSCRIPT_WANT_ALL 63u

enum transcript_origin {
	TRANSCRIPT_OWNER, /* typed by the user in a talk of their own */
	TRANSCRIPT_AGENT,
	TRANSCRIPT_UNTRUSTED, /* others in a shared talk, mail, web, tools */
	TRANSCRIPT_INJECTED /* put in by the host or by a memory */
};

struct transcript_message { /* borrowed until the next call */
	enum transcript_role role;
	enum transcript_kind kind;
	enum transcript_origin origin;
	const char *text; /* valid UTF-8 without NUL, NUL-terminated */
	size_t len;
	int64_t line; /* of the file, from 1; in a store its seq */
	int part; /* several messages of one line count from 0 */
	int64_t offset, end; /* bytes of the line in the file; 0 in stores */
	int64_t time_ms; /* 0: not known */
	const char *id; /* NULL: none */
	const char *tool; /* name, NULL if none or not known */
	bool tainted; /* a tool brought foreign text into this turn before it */
	bool recalled; /* says hardly more than what memory had just given */
	bool shared; /* a group or a channel */
};

struct transcript_info {
	const char *format, *host; /* "openclaw-sqlite", "openclaw" */
	const char *session, *agent, *cwd, *title; /* NULL: not said */
	const char *cwd_hash; /* hex SHA-256 of cwd, where only that is said */
	const char *parent; /* session it goes on from, or NULL */
	int64_t started_ms, last_ms; /* 0: not known */
	bool shared; /* a group or a channel: others speak too */
	bool automatic; /* begun by a timer, a hook or another agent */
	bool rewritten; /* the mark given did not hold */
	bool partial; /* the last line is not finished yet */
	/* File or store, as opened. */
	uint64_t dev, inode;
	int64_t bytes, mtime_ns, ctime_ns;
	/* Up to the last message given; from the mark on, if there was one. */
	int64_t lines, messages, compactions;
	int64_t context_tokens, output_tokens; /* last usage record; 0: none */
	int64_t bad_lines; /* left out; the first and why: */
	int64_t bad_line;
	const char *bad_reason; /* NULL if none */
};

/* Stored as text, see transcript_mark_write(). */
struct transcript_mark {
	int64_t offset, line; /* next to read; line: lines (or seq) done */
	unsigned char sum[SHA256_BYTES]; /* of samples of what lies before */
	char last_id[80]; /* of the last record, where they form a tree */
	char generation[80]; /* of stores */
	bool tainted; /* the turn goes on */
};

struct transcript_opts {
	const char *format; /* a row's name, NULL: by contents */
	const char *session; /* of a store; NULL: the newest one */
	unsigned want; /* TRANSCRIPT_WANT_…; 0: text */
	const struct transcript_mark *from; /* NULL: the start */
	/* Also a last line that ends without a line break, if it is whole. Not
	 * for those who keep marks: the mark stays before it. */
	bool last_line;
	size_t max_line; /* bytes; longer ones are left out; 0: 16 MiB */
};

struct transcript;

/*
 * Opens a file, or one talk of a store. REMEM_ENOTFOUND; REMEM_EPERM for what
 * belongs to another user; REMEM_EFORMAT for what no row knows;
 * REMEM_EINVAL for a format that does not exist.
 */
int transcript_open(struct transcript **out, const char *path,
		    const struct transcript_opts *o, struct remem_err *err);
/* *out NULL: the end. Bad lines are counted and passed over. */
int transcript_next(struct transcript *t,
		    const struct transcript_message **out,
		    struct remem_err *err);
/* Of what was read so far; borrowed. Who and where is known after open where
 * the file begins with it. */
const struct transcript_info *transcript_info(const struct transcript *t);
/* Behind the line of the last message given. Only where no part of it is left,
 * which transcript_rests() tells. */
int transcript_mark(struct transcript *t, struct transcript_mark *out,
		    struct remem_err *err);
/*
 * An open file with the records as they are, one a line: line n is record n of
 * the messages. Those of a store that were taken back are empty lines. The
 * caller closes it.
 */
int transcript_raw(int *fd, struct transcript *t, struct remem_err *err);
bool transcript_rests(const struct transcript *t);
void transcript_close(struct transcript *t);

/* The talks of a store, in order of their sessions. */
struct transcript_talk {
	const char *session;
	const char *stamp; /* changes whenever the talk does; no tabs */
	const char *skip; /* NULL, or why it is not to be read */
};

/* All in the arena. REMEM_EBUSY: it is being written to, try again later. */
int transcript_talks(struct transcript_talk **out, size_t *count,
		     struct arena *a, const char *path, const char *format,
		     struct remem_err *err);

void transcript_mark_write(struct buf *b, const struct transcript_mark *m);
bool transcript_mark_read(struct transcript_mark *m, const char *text);

/* "user", "assistant", "tool", "system"; "owner", "agent", … */
const char *transcript_role_name(enum transcript_role role);
const char *transcript_origin_name(enum transcript_origin origin);

/* Names of the rows, NULL behind the last. */
const char *transcript_format_at(int i);

#endif
