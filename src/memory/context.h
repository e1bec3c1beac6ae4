/*
 * The block for the start of a conversation: what of memory fits a budget.
 *
 * Sections stand in the order of how seldom they change, so that a prompt
 * cache keeps the head: guidance, USER.md, MEMORY.md, standing items,
 * yesterday, today, what belongs to the task. An entry is shown whole or not
 * at all; what is left out is said.
 */
#ifndef MEMORY_CONTEXT_H
#define MEMORY_CONTEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "source/source.h"
#include "text/note.h"

struct context_hit { /* best passages for a task, best first */
	const char *text, *citation;
};

struct context_opts {
	const struct source_opts *source;
	struct note_opts note;
	int32_t today;
	int daily_days; /* today and days before it */
	int daily_chars; /* of one daily note, 0: no bound */
	int budget_tokens; /* by token_estimate() of the whole block */
	int max_chars; /* of the block, 0: no bound */
	bool shared; /* no private memory: the guidance alone */
	const char *guidance; /* "" for none */
	const struct context_hit *hits;
	int hit_count;
	/* Whether an entry of a file may be shown unasked, by its lines as they
	 * stand there; NULL: all may. */
	bool (*trusted)(void *ctx, const char *path, const char *text,
			size_t len);
	/* Told of each entry that is shown, as it is shown; NULL: nobody. */
	void (*shown)(void *ctx, const char *text, size_t len);
	void *ctx; /* of both */
};

enum context_why { /* an entry is not shown */
	CONTEXT_SHOWN,
	CONTEXT_BUDGET,
	CONTEXT_FLAGGED, /* reads like an order to the assistant */
	CONTEXT_UNTRUSTED,
	CONTEXT_SUPERSEDED
};

struct context_left {
	const char *path;
	enum context_why why;
	int entries;
};

struct context_block { /* in the arena */
	const char *text; /* "" when nothing fits */
	size_t len, tokens;
	int entries;
	struct context_left *left;
	int left_count;
};

const char *context_why_name(enum context_why why);

/* Only memory can fail. The bounds hold for the text as it is given. */
int context_make(struct context_block *out, struct arena *a,
		 const struct context_opts *o, struct remem_err *err);

#endif
