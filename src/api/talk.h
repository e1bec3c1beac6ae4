/* What flush and snapshot have in common: a conversation, its record in the
 * state, and that one process at a time works on it. */
#ifndef API_TALK_H
#define API_TALK_H

#include "api/handle.h"
#include "memory/memory.h"
#include "memory/talk.h"

struct talk_call {
	struct remem *r;
	struct remem_talk_opts o;
	struct arena a;
	struct remem_actor actor;
	enum remem_origin ceiling; /* of what is written */
	struct memory m;
	bool writes; /* m is open, the lock is held */
	struct lock lock;
	struct state *state; /* r's, or a reader of its own, or NULL */
	struct talk talk;
	struct chat *chat; /* NULL until asked for */
	const char *degraded; /* why no model helped that was set, or NULL */
};

/* Takes options, opens what writing needs (not with check or dry_run), and
 * waits for another process that works on the same conversation. */
int talk_call_begin(struct talk_call *c, struct remem *r,
		    const struct remem_talk_opts *opts, struct remem_err *err);
void talk_call_end(struct talk_call *c);
/* The record of kind ("flush", "snapshot") of the conversation that options
 * name; NULL if there is none. The second needs writes. */
const char *talk_call_record(struct talk_call *c, const char *kind);
int talk_call_keep(struct talk_call *c, const char *kind, const char *value,
		   struct remem_err *err);
int talk_call_read(struct talk_call *c, int64_t after_line,
		   int64_t only_if_bytes, size_t last, bool raw,
		   struct remem_err *err);
/* The chat model if one is set, else NULL; what is wrong becomes degraded. */
struct chat *talk_call_chat(struct talk_call *c);
/* "claude-code" or what else names the host, for headings. */
const char *talk_call_host(const struct talk_call *c);

#endif
