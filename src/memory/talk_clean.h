/*
 * The words of a message, without what hosts, tools and templates put around
 * them: elements of tool calls and injected context, elements of roles, chat
 * template tokens, HTML comments, invisible characters.
 */
#ifndef MEMORY_TALK_CLEAN_H
#define MEMORY_TALK_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends what is left of text, trimmed. Time is linear. */
void talk_clean(struct buf *out, const char *text, size_t len);
/* "/new", "/model gpt", "NO_REPLY", "HEARTBEAT_OK": nothing anybody said. */
bool talk_is_command(const char *text, size_t len);
/* NO_REPLY as models answer it, also as JSON; empty counts. */
bool talk_no_reply(const char *text, size_t len);

/* What our own prompts begin with: a talk of remem itself is none to keep. */
#define TALK_PROMPT_MARK "[remem-request]"

#endif
