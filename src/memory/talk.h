/*
 * A conversation as memory takes it: what user and model said, cleaned
 * (talk_clean.h), secrets masked, each message with its line and with whom it
 * comes from. Left out are tool output, commands, what the host or a memory
 * put in, what only repeats recalled memory, and mirrored messages.
 */
#ifndef MEMORY_TALK_H
#define MEMORY_TALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "remem.h"

struct talk_line {
	bool user; /* else the model */
	enum remem_origin origin; /* owner, agent or untrusted */
	int64_t line, time_ms; /* time 0: not known */
	const char *text; /* NUL-terminated */
	size_t len;
};

struct talk {
	struct talk_line *lines;
	size_t n, cap;
	const char *host, *session; /* "" when not known */
	const char *title; /* or NULL */
	int64_t started_ms, last_ms; /* 0: not known */
	int64_t bytes, last_line; /* of the file; of the last message */
	int64_t compactions, context_tokens, output_tokens;
	int64_t after_tokens; /* estimate of what came after that usage */
	int64_t secrets; /* masked */
	int64_t left_out; /* messages */
	bool own; /* a talk of remem's own request: nothing of it counts */
};

struct talk_opts {
	const char *path, *format, *session; /* format, session: or NULL */
	int64_t after_line; /* only messages behind it */
	int64_t only_if_bytes; /* after_line holds while the file is as large */
	size_t last; /* only so many at the end, 0: all */
	unsigned mask; /* SECRET_…: more that is masked */
	bool raw; /* secrets stay in: the caller masks what it uses */
};

/* Everything in the arena. Errors as transcript_open() has them; a file that
 * was renamed to PATH.reset.* or PATH.deleted.* is found. */
int talk_read(struct talk *out, struct arena *a, const struct talk_opts *o,
	      struct remem_err *err);
/* The worst origin of all, REMEM_ORIGIN_AGENT at best. */
enum remem_origin talk_origin(const struct talk *t);

#endif
