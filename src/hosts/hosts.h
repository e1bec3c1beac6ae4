/*
 * Programs of agents: what each calls its events, what it gives to a hook and
 * wants back. One file and one row of hosts.def for each.
 */
#ifndef HOSTS_HOSTS_H
#define HOSTS_HOSTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

enum hook_event {
	HOOK_SESSION_START,
	HOOK_PROMPT,
	HOOK_STOP, /* a turn has ended */
	HOOK_PRE_COMPACT,
	HOOK_SESSION_END,
	HOOK_TOOL_USE,
	HOOK_EVENTS
};

/* "session-start", …; -1 for any other name. */
const char *hook_event_name(enum hook_event e);
int hook_event_find(const char *name);

struct setup;

struct host {
	const char *name; /* "claude-code" */
	const char *title; /* "Claude Code" */
	const char *transcripts; /* row of transcripts.def */
	int max_chars; /* of one injected text */
	/* What the host calls its events, NULL where it has none. */
	const char *events[HOOK_EVENTS];
	/* Writes the answer that puts text in front of the model; text "" is
	 * an answer that adds nothing. Writes nothing where nothing is due. */
	void (*answer)(struct buf *out, const struct host *h,
		       enum hook_event e, const char *text);
	/* Says by setup_member() and its kin what belongs into its settings. */
	void (*plan)(struct setup *s);
	bool no_project; /* has settings for the user alone */
};

/* The i-th row of hosts.def, NULL behind the last. */
const struct host *host_at(int i);
const struct host *host_find(const char *name);

/* {"hookSpecificOutput":{"hookEventName","additionalContext"}}, as several
 * hosts take it; nothing for an empty text. */
void answer_hook_specific(struct buf *out, const struct host *h,
			  enum hook_event e, const char *text);

#endif
