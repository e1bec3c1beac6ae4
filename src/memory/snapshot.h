/*
 * The last messages of a conversation as a note of their own:
 *
 *   # Session 2026-11-30 14:05 (+0800)
 *
 *   - session: …        - host: …        - reason: …
 *
 *   ## Summary                          only where a model was asked
 *
 *   ## Conversation
 *
 *   user: "…"                            each text as one JSON string, so
 *   assistant: "…"                       that none can begin another line
 */
#ifndef MEMORY_SNAPSHOT_H
#define MEMORY_SNAPSHOT_H

#include "chat/chat.h"
#include "memory/slug.h"
#include "memory/talk.h"

#define SNAPSHOT_CHAT_MS 5000 /* nobody waits longer for a name */

/* "role: <JSON string>", one line each; U+0085, 2028 and 2029 escaped. */
void snapshot_lines(struct buf *out, const struct talk *t);

struct snapshot_head {
	int64_t at_ms; /* of the conversation */
	const char *zone; /* of the user, NULL or "": the system's */
	const char *reason, *summary; /* or NULL */
};

void snapshot_note(struct buf *out, const struct talk *t,
		   const struct snapshot_head *h);
/* The bytes from "## Conversation" on: what tells two snapshots apart. */
const char *snapshot_body(const char *note, size_t len, size_t *body_len);

/* Name and summary in one question, within SNAPSHOT_CHAT_MS; summary is
 * appended. What the model says is checked; the name is "" if it is no good. */
int snapshot_ask(char slug[SLUG_BYTES], struct buf *summary, struct chat *c,
		 const struct talk *t, struct remem_err *err);

#endif
