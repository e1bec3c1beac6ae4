/* Inside of what asks a model: a conversation as quoted data. */
#ifndef MEMORY_FLUSH_PROMPT_H
#define MEMORY_FLUSH_PROMPT_H

#include "base/buf.h"
#include "memory/talk.h"

/* Its newest lines within max_tokens, between two lines with a boundary that
 * nobody can guess. */
void flush_prompt_talk(struct buf *out, const struct talk *t,
		       int64_t max_tokens);

#endif
