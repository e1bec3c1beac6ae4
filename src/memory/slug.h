/*
 * A short name for a conversation, good as part of a file's name: what the
 * user spoke of, in its own script. 深圳-发布, tide-table.
 */
#ifndef MEMORY_SLUG_H
#define MEMORY_SLUG_H

#include "memory/talk.h"

#define SLUG_CHARS 30 /* of characters, as the original */
#define SLUG_BYTES (SLUG_CHARS * 4 + 1)

/* From what is said, by rules; "" when nothing tells it. */
void slug_by_rules(char out[SLUG_BYTES], const struct talk *t);
/* What a model proposed, made safe; "" when it is an excuse or a sentence. */
void slug_of_answer(char out[SLUG_BYTES], const char *answer, size_t len);

#endif
