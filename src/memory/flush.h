/*
 * What matters of a conversation, into today's note: entries found by rules
 * (extract.h), or written by a model and checked here, each with the line of
 * the transcript it comes from; appended in one block, what tools or the web
 * brought in a second one of its own origin.
 */
#ifndef MEMORY_FLUSH_H
#define MEMORY_FLUSH_H

#include "chat/chat.h"
#include "memory/append.h"
#include "memory/extract.h"
#include "memory/talk.h"

struct flush_entry {
	const char *text, *kind, *who; /* kind, who: or NULL */
	size_t len;
	int64_t line; /* of the transcript, 0: not known */
	enum remem_origin origin;
};

struct flush {
	struct arena *a;
	const struct talk *talk; /* may be empty */
	const char *root; /* of the workspace, for what is known already */
	int32_t today;
	enum remem_origin ceiling; /* no entry is better than the writer */
	/* what came of it */
	struct flush_entry *entries;
	size_t n, cap;
	struct extract_stats stats;
	int64_t secrets; /* masked in an answer */
};

/* Fills entries from the talk by rules. */
int flush_by_rules(struct flush *f, struct remem_err *err);
/*
 * Fills entries from what a model answered: lines of a list, each of its own.
 * They get the worst origin of the talk; orders to assistants, repetitions and
 * what is too long are left out. NO_REPLY gives none. REMEM_EFORMAT when there
 * is text but no list.
 */
int flush_by_answer(struct flush *f, const char *answer, size_t len,
		    struct remem_err *err);
/* Asks a model over the talk, as quoted data, and takes its answer. */
int flush_by_chat(struct flush *f, struct chat *c, int64_t max_tokens,
		  struct remem_err *err);

/* The instructions alone, for a model that has the conversation at hand. */
void flush_prompt(struct buf *out);

struct flush_done {
	const char *path, *citation; /* of the first block; NULL: none */
	int64_t journal[2]; /* 0: no such block */
	bool duplicate; /* nothing of it was new */
};

/* title: what the heading says of the conversation. REMEM_… as
 * append_lines(). With dry_run nothing is written. */
int flush_write(struct flush_done *out, struct flush *f, struct memory *m,
		const char *title, const struct remem_actor *actor,
		bool dry_run, struct remem_err *err);

/* "claude-code:5f1c8a52#L12" in the arena; NULL when the line is not known. */
const char *flush_source(struct arena *a, const struct talk *t, int64_t line);

#endif
